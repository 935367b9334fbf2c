"""Memories as people look through them: of one part of a tenant, newest first, and what happened to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from cloister.domain.identifiers import MemoryId, ProjectId, RevisionId
from cloister.domain.memory import MemoryStatus, StoredMemory
from cloister.domain.truth.revision import MemoryState, RevisionAction, state_from_json
from cloister.storage.interface import CursorKey, Transaction, Value, integers
from cloister.storage.stores.memories import MemoryStore

LAST_PAGE: CursorKey = ((1 << 63) - 1, (1 << 63) - 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPart:
    """Whose memories: those of one project, of no project, or of one user in all projects. In the first two cases of one user or,
    without a user, of the sessions without one; with `any_user` of all. Never more than the caller's reach."""

    kind: Literal["project", "none", "user"]
    project: ProjectId | None = None
    user: str | None = None
    any_user: bool = False

    @property
    def parameters(self) -> dict[str, Value]:
        return {
            "kind": self.kind,
            "project_id": self.project,
            "user_id": self.user,
            "any_user": int(self.any_user),
        }


class TimelineRow(NamedTuple):
    """Something that happened to a memory: it was learnt or, with a revision, it was changed."""

    happened_at: int
    id: int
    memory: MemoryId
    revision: RevisionId | None


class TimelineChange(NamedTuple):
    """A change of a memory by a person, with the state before it. `after` is None if nothing was changed since: then the memory is
    the state after it."""

    action: RevisionAction
    changed_by: str | None
    undone_at: int | None
    before: MemoryState
    after: MemoryState | None


class ReplacedMemory(NamedTuple):
    """A memory that another one took the place of."""

    id: MemoryId
    content: str


class ListedMemoryStore:
    """The memories of one part, as far as the caller reaches them."""

    def __init__(self, transaction: Transaction, part: MemoryPart) -> None:
        self._transaction = transaction
        self._part = part.parameters

    def page(
        self,
        *,
        limit: int,
        now: int,
        before: CursorKey = LAST_PAGE,
        status: MemoryStatus | None = None,
        pinned: bool | None = None,
    ) -> list[StoredMemory]:
        """A page of memories, newest first; `before` is the (created_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "listed_memories",
            **self._part,
            limit=limit,
            now=now,
            before_at=before[0],
            before_id=before[1],
            status=status,
            pinned=None if pinned is None else int(pinned),
        )
        return MemoryStore(self._transaction).stored(rows, now)

    def timeline(self, *, limit: int, before: CursorKey = LAST_PAGE) -> list[TimelineRow]:
        """A page of what happened, newest first; `before` is the (happened_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "timeline_rows", **self._part, limit=limit, before_at=before[0], before_id=before[1]
        )
        return [
            TimelineRow(happened_at, id, MemoryId(memory), RevisionId(id) if is_change else None)
            for happened_at, id, memory, is_change in cast(list[tuple[int, int, int, int]], rows)
        ]

    def memories(self, memories: Sequence[MemoryId], now: int) -> dict[MemoryId, StoredMemory]:
        if not memories:
            return {}
        rows = self._transaction.rows("timeline_memories", **self._part, memory_ids=integers(memories))
        return {stored.memory.id: stored for stored in MemoryStore(self._transaction).stored(rows, now)}

    def changes(
        self, memories: Sequence[MemoryId], revisions: Sequence[RevisionId]
    ) -> dict[RevisionId, TimelineChange]:
        """These changes of these memories."""
        if not revisions:
            return {}
        rows = self._transaction.rows(
            "timeline_changes", **self._part, memory_ids=integers(memories), revision_ids=integers(revisions)
        )
        return {
            RevisionId(revision): TimelineChange(
                action=action,
                changed_by=changed_by,
                undone_at=undone_at,
                before=state_from_json(before),
                after=None if after is None else state_from_json(after),
            )
            for revision, action, changed_by, undone_at, before, after in cast(list[tuple[Any, ...]], rows)
        }

    def first_states(self, memories: Sequence[MemoryId]) -> dict[MemoryId, MemoryState]:
        """The state that each of these memories had when it was learnt, without those that nobody changed."""
        if not memories:
            return {}
        rows = self._transaction.rows("timeline_first_states", **self._part, memory_ids=integers(memories))
        return {MemoryId(memory): state_from_json(before) for memory, before in cast(list[tuple[int, str]], rows)}

    def replaced(self, memories: Sequence[MemoryId]) -> dict[MemoryId, ReplacedMemory]:
        """For each of these memories that took the place of others, the latest of those."""
        if not memories:
            return {}
        rows = self._transaction.rows("timeline_replaced", **self._part, memory_ids=integers(memories))
        found: dict[MemoryId, ReplacedMemory] = {}
        for newer, older, content in cast(list[tuple[int, int, str]], rows):
            found.setdefault(MemoryId(newer), ReplacedMemory(MemoryId(older), content))
        return found
