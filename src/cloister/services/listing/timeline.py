"""The timeline of a project or a user: what was learnt and what changed, newest first.

Nothing is stored for it. It is read from the memories and their revisions, so what was forgotten is in no timeline.
"""

from dataclasses import dataclass
from typing import Literal

from cloister.domain.memory import StoredMemory
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.domain.truth.revision import MemoryState, creation_of, state_of
from cloister.services.listing.project_memories import PartOfProject, checked_part, part_of
from cloister.storage.interface import CursorKey, Database, Transaction
from cloister.storage.stores.listing.listed_memories import (
    LAST_PAGE,
    ListedMemoryStore,
    MemoryPart,
    ReplacedMemory,
    TimelineChange,
    TimelineRow,
)

TimelineKind = Literal["learnt", "superseded", "corrected", "changed", "retracted", "restored"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelineEntry:
    """One thing that happened to a memory. `superseded`: it took the place of `replaced`. `corrected`: its text was changed from
    `before` to `after`; `changed`: something else of it. `memory` is as it is now, `after` as it was then."""

    row: TimelineRow
    kind: TimelineKind
    memory: StoredMemory
    before: str | None
    after: str | None
    replaced: ReplacedMemory | None = None
    changed_by: str | None = None
    undone_at: int | None = None

    @property
    def cursor(self) -> CursorKey:
        return self.row.happened_at, self.row.id


class Timelines:
    """Each call reads one snapshot, and only what is within the caller's reach."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def of_project(
        self, reach: Reach, part: PartOfProject, *, limit: int, before: CursorKey | None = None
    ) -> list[TimelineEntry]:
        """A page of what happened in a part of a project."""
        checked_part(part)
        with self._database.read(reach) as transaction:
            return self._page(transaction, part_of(transaction, part), limit, before)

    def of_user(self, reach: Reach, user: str, *, limit: int, before: CursorKey | None = None) -> list[TimelineEntry]:
        """A page of what happened to the memories of a user, in all projects within reach (MEM-8)."""
        checked_name(user, "user_id")
        part = MemoryPart(kind="user", user=reach.user_of(user))
        with self._database.read(reach) as transaction:
            return self._page(transaction, part, limit, before)

    def _page(
        self, transaction: Transaction, part: MemoryPart, limit: int, before: CursorKey | None
    ) -> list[TimelineEntry]:
        store = ListedMemoryStore(transaction, part)
        rows = store.timeline(limit=limit, before=before or LAST_PAGE)
        ids = sorted({row.memory for row in rows})
        memories = store.memories(ids, self._clock())
        changes = store.changes(ids, [row.revision for row in rows if row.revision is not None])
        replaced, first = store.replaced(ids), store.first_states(ids)
        entries: list[TimelineEntry] = []
        for row in rows:
            memory = memories[row.memory]
            if row.revision is None:
                entries.append(_learnt(row, memory, first.get(row.memory), replaced.get(row.memory)))
            else:
                entries.append(_changed(row, memory, changes[row.revision]))
        return entries


def _learnt(
    row: TimelineRow, memory: StoredMemory, first: MemoryState | None, replaced: ReplacedMemory | None
) -> TimelineEntry:
    learnt = first or state_of(memory.memory)
    return TimelineEntry(
        row=row,
        kind="learnt" if replaced is None else "superseded",
        memory=memory,
        before=None if replaced is None else replaced.content,
        after=learnt.content,
        replaced=replaced,
        changed_by=creation_of(memory.memory, learnt.source).changed_by,
    )


def _changed(row: TimelineRow, memory: StoredMemory, change: TimelineChange) -> TimelineEntry:
    after = memory.memory.content if change.after is None else change.after.content
    is_other_text = after != change.before.content
    kinds: dict[str, TimelineKind] = {"retract": "retracted", "restore": "restored"}
    kind = kinds.get(change.action) or ("corrected" if is_other_text else "changed")
    return TimelineEntry(
        row=row,
        kind=kind,
        memory=memory,
        before=change.before.content if is_other_text else None,
        after=after if is_other_text else None,
        changed_by=change.changed_by,
        undone_at=change.undone_at,
    )
