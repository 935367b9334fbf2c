"""Pages of memories that a filter lets pass (MEM-14): reads on until a page is full or the list ends."""

from typing import Protocol

from cloister.domain.memory import StoredMemory
from cloister.domain.recall.filter import Filter, FilteredRow, matches
from cloister.storage.interface import CursorKey

_FIRST_READ = 200


class ReadMemories(Protocol):
    """Reads a page of memories, oldest first, after a cursor."""

    def __call__(self, *, limit: int, after: CursorKey) -> list[StoredMemory]: ...


def memory_page(read: ReadMemories, wanted: Filter | None, *, limit: int, after: CursorKey) -> list[StoredMemory]:
    """A page of `limit` memories. Each read is twice as long as the one before, so that their number stays small."""
    if wanted is None:
        return read(limit=limit, after=after)
    found: list[StoredMemory] = []
    size = max(limit, _FIRST_READ)
    while True:
        batch = read(limit=size, after=after)
        found += [stored for stored in batch if passes(wanted, stored)]
        if len(found) >= limit or len(batch) < size:
            return found[:limit]
        after = (batch[-1].memory.created_at, batch[-1].memory.id)
        size *= 2


def passes(wanted: Filter, stored: StoredMemory) -> bool:
    """Whether a filter lets a memory pass."""
    return matches(wanted, _row_of(stored))


def _row_of(stored: StoredMemory) -> FilteredRow:
    memory = stored.memory
    return FilteredRow(
        kind="memory",
        created_at=memory.valid_from,
        session=stored.session,
        user=stored.user,
        categories=memory.categories,
        metadata=memory.metadata,
    )
