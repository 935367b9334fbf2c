"""Memories that a person or a program adds: what is given with them, how it is checked, and the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cloister.domain.conversation import Session
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import MemoryId, SessionId
from cloister.domain.memory import MAX_MEMORY, Memory, StoredMemory, checked_memory
from cloister.domain.text import Metadata, checked_categories, checked_metadata, checked_text

LARGEST_MEMORY_BATCH = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryLabels:
    """What is given with memories that are added together, for each of them."""

    categories: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict[str, object])
    importance: float | None = None

    @property
    def given(self) -> dict[str, object]:
        """The labels that are given, by name."""
        fields: dict[str, object] = {
            "categories": self.categories,
            "metadata": self.metadata,
            "importance": self.importance,
        }
        return {name: value for name, value in fields.items() if value not in ((), {}, None)}


NO_LABELS = MemoryLabels()


def checked_labels(
    *, categories: Sequence[str] = (), metadata: Metadata | None = None, importance: float | None = None
) -> MemoryLabels:
    """Check what is given with memories."""
    if importance is not None and not 0 <= importance <= 1:
        raise InvalidRequest("importance", "must be between 0 and 1.")
    checked_metadata(metadata or {})
    return MemoryLabels(
        categories=checked_categories(categories),
        metadata=metadata or {},
        importance=None if importance is None else float(importance),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryAdditions:
    """The memories that were new, and how many were duplicates."""

    memories: tuple[StoredMemory, ...]
    duplicates: int


def checked_memories(contents: Sequence[str]) -> list[str]:
    """Memories as they are stored. An error names the position of the invalid one."""
    if isinstance(contents, str):
        raise InvalidRequest("contents", "must be a list of texts, not one text.")
    if not contents:
        raise InvalidRequest("contents", "must not be empty.")
    if len(contents) > LARGEST_MEMORY_BATCH:
        raise TooLarge("contents", len(contents), LARGEST_MEMORY_BATCH, "memories")
    return [_checked(content, f"contents[{at}]") for at, content in enumerate(contents)]


def _checked(content: str, field: str) -> str:
    """The limit applies to the text as it was given, so that the error can name one number."""
    return checked_memory(checked_text(content, field, MAX_MEMORY), field)


def additions(session: Session, added: Sequence[Memory], given: int) -> MemoryAdditions:
    stored = tuple(
        StoredMemory(memory=memory, session=session.external_id, user=session.user_id, project=session.project)
        for memory in added
    )
    return MemoryAdditions(memories=stored, duplicates=given - len(added))


def added_before(kept: Sequence[Any], contents: Sequence[str], labels: MemoryLabels) -> list[Memory]:
    """The first answer again, from the stored ids and times and the content of the repeated request."""
    return [
        Memory(
            id=MemoryId(memory),
            session=SessionId(session),
            content=contents[int(position)],
            importance=labels.importance,
            categories=labels.categories,
            metadata=labels.metadata,
            sources=(),
            created_at=created_at,
            valid_from=created_at,
            source="written",
        )
        for memory, session, created_at, position in kept
    ]
