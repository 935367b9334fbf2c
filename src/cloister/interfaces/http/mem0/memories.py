"""Memories as mem0's clients know them. The agent and the app are entries of metadata here, and the session is the run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MemoryId, format_memory_id
from cloister.domain.memory import StoredMemory
from cloister.domain.patterns import anchored
from cloister.domain.prompts.speaker import attributed
from cloister.domain.text import Metadata, checked_name
from cloister.domain.timestamps import as_datetime, iso
from cloister.domain.truth.revision import Revision

# The name that `DefaultSessions` gives the session of memories that were added without a run.
_WITHOUT_RUN = anchored(r"mem0-[0-9a-f]{32}")
LABELS = ("agent_id", "app_id")
_EVENTS = {"create": "ADD", "correct": "UPDATE", "retract": "DELETE", "restore": "UPDATE"}
SHOWN = (
    *("id", "memory", "user_id", "agent_id", "app_id", "run_id", "metadata", "categories"),
    *("created_at", "updated_at", "expiration_date", "score"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What a filter can ask of a memory, and what is answered of it."""

    stored: StoredMemory
    changed_at: int | None
    names_user: bool = False
    """Whether its text names its user (MEM-11): in lists and searches of a shared project, which end up in prompts."""

    @property
    def id(self) -> MemoryId:
        return self.stored.memory.id

    @property
    def metadata(self) -> Metadata:
        return self.stored.memory.metadata

    @property
    def created_at(self) -> int:
        """When it was said, which is what mem0 calls its creation."""
        return self.stored.memory.valid_from

    @property
    def run_id(self) -> str | None:
        return run_of(self.stored.session)

    def field(self, name: str) -> Any:
        match name:
            case "user_id":
                return self.stored.user
            case "run_id":
                return self.run_id
            case "agent_id" | "app_id":
                return self.metadata.get(name)
            case "keywords":
                return self.stored.memory.content
            case "created_at":
                return self.created_at
            case "updated_at":
                return self.created_at if self.changed_at is None else self.changed_at
            case "categories":
                return self.stored.memory.categories
            case _:
                return format_memory_id(self.id)

    def shape(self, score: float | None = None, fields: Iterable[str] | None = None) -> dict[str, Any]:
        """The memory as JSON; with `fields`, only these and the id."""
        memory = self.stored.memory
        expires = None if memory.expires_at is None else as_datetime(memory.expires_at - 1).date().isoformat()
        whole: dict[str, Any] = {
            "id": format_memory_id(self.id),
            "memory": attributed(memory.content, self.stored.user, named=self.names_user),
            "user_id": self.stored.user,
            "agent_id": self.metadata.get("agent_id"),
            "app_id": self.metadata.get("app_id"),
            "run_id": self.run_id,
            "metadata": {name: value for name, value in self.metadata.items() if name not in LABELS},
            "categories": list(memory.categories),
            "created_at": iso(self.created_at),
            "updated_at": iso(self.field("updated_at")),
            "expiration_date": expires,
            **({} if score is None else {"score": score}),
        }
        return whole if fields is None else {name: whole[name] for name in whole if name in {"id", *fields}}


def run_of(session: str) -> str | None:
    """The run of a session: none for the session of memories that were added without a run."""
    return None if _WITHOUT_RUN.fullmatch(session) else session


def labelled(metadata: Mapping[str, Any] | None, agent_id: str | None, app_id: str | None) -> dict[str, Any]:
    """The metadata of a request with its agent and app."""
    labels = {name: value for name, value in zip(LABELS, (agent_id, app_id), strict=True) if value is not None}
    for name, value in labels.items():
        checked_name(value, name)
    for name in LABELS:
        if metadata is not None and name in metadata and metadata[name] != labels.get(name):
            raise InvalidRequest(f"metadata.{name}", f"is the {name} of the memory: send it as {name}.")
    return {**(metadata or {}), **labels}


def history_shape(revisions: Sequence[Revision], now: StoredMemory) -> list[dict[str, Any]]:
    """The changes of a memory, oldest first, each with its text before and after."""
    befores = [revision.before for revision in revisions[1:]]
    texts = [*(before.content for before in befores if before is not None), now.memory.content]
    return [
        {
            "id": f"{format_memory_id(revision.memory)}:{number}",
            "memory_id": format_memory_id(revision.memory),
            "input": [],
            "old_memory": None if number == 0 else texts[number - 1],
            "new_memory": texts[number],
            "event": _EVENTS[revision.action],
            "user_id": now.user,
            "created_at": iso(revision.changed_at),
            "updated_at": iso(revision.changed_at),
        }
        for number, revision in enumerate(revisions)
    ]
