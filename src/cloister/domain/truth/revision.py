"""Changes of a memory by people (MEM-13): each is a revision, with what was before, and can be undone for a day."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cloister.domain.identifiers import MemoryId, RevisionId
from cloister.domain.memory import Memory, MemorySource

RevisionAction = Literal["create", "correct", "retract", "restore"]
UNDO_MICROSECONDS = 24 * 3_600 * 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryState:
    """What a person can change of a memory, as it was or will be."""

    content: str
    importance: float | None
    expires_at: int | None
    pinned: bool
    categories: tuple[str, ...]
    metadata: Mapping[str, object]
    source: MemorySource
    retracted_at: int | None

    def as_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """One change. `changed_by` is the id of the API key, `extraction` or `import` for the creation of a memory, and None in a
    process that opened the database itself. `before` is None for the creation."""

    id: RevisionId
    memory: MemoryId
    action: RevisionAction
    changed_at: int
    changed_by: str | None
    undone_at: int | None
    before: MemoryState | None


def state_of(memory: Memory) -> MemoryState:
    return MemoryState(
        content=memory.content,
        importance=memory.importance,
        expires_at=memory.expires_at,
        pinned=memory.pinned,
        categories=memory.categories,
        metadata=memory.metadata,
        source=memory.source,
        retracted_at=memory.retracted_at,
    )


def state_from_json(text: str) -> MemoryState:
    fields: dict[str, Any] = json.loads(text)
    fields["categories"] = tuple(fields["categories"])
    return MemoryState(**fields)


def creation_of(memory: Memory, source: MemorySource) -> Revision:
    """The first entry of a history: how the memory came to be. `source` is the one that it had before it was corrected."""
    by: Mapping[MemorySource, str] = {"extracted": "extraction", "imported": "import"}
    return Revision(
        id=RevisionId(0),
        memory=memory.id,
        action="create",
        changed_at=memory.created_at,
        changed_by=by.get(source),
        undone_at=None,
        before=None,
    )
