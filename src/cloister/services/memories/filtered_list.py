"""Pages of what a filter lets pass (MEM-14): of memories, entities, mentions and observations. Reads on until a page is full or the
list ends. What is read is the caller's own list, so a filter chooses among what the caller can list without one."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from cloister.domain.entity import Entity
from cloister.domain.memory import StoredMemory
from cloister.domain.observation import StoredObservation
from cloister.domain.recall.filter import Filter, FilteredRow, matches
from cloister.storage.interface import CursorKey
from cloister.storage.stores.pools import PoolMessage

_FIRST_READ = 200
Item = TypeVar("Item")


class ReadPage(Protocol[Item]):
    """Reads a page of a list, after a cursor in the order of the list."""

    def __call__(self, *, limit: int, after: CursorKey) -> list[Item]: ...


def filtered_page(
    read: ReadPage[Item],
    passes: Callable[[Item], bool],
    key: Callable[[Item], CursorKey],
    *,
    limit: int,
    after: CursorKey,
    first_read: int | None = None,
) -> list[Item]:
    """A page of `limit` items that pass. Each read is twice as long as the one before, so that their number stays small; where
    nearly all are known to pass, the first may be short."""
    found: list[Item] = []
    size = first_read or max(limit, _FIRST_READ)
    while True:
        batch = read(limit=size, after=after)
        found += filter(passes, batch)
        if len(found) >= limit or len(batch) < size:
            return found[:limit]
        after = key(batch[-1])
        size *= 2


def memory_page(
    read: ReadPage[StoredMemory], wanted: Filter | None, *, limit: int, after: CursorKey
) -> list[StoredMemory]:
    if wanted is None:
        return read(limit=limit, after=after)
    return filtered_page(
        read,
        lambda stored: passes(wanted, stored),
        lambda stored: (stored.memory.created_at, stored.memory.id),
        limit=limit,
        after=after,
    )


def entity_page(read: ReadPage[Entity], wanted: Filter | None, *, limit: int, after: CursorKey) -> list[Entity]:
    if wanted is None:
        return read(limit=limit, after=after)
    return filtered_page(
        read,
        lambda entity: matches(wanted, FilteredRow(kind="entity", created_at=entity.created_at, user=entity.user)),
        lambda entity: (entity.created_at, entity.id),
        limit=limit,
        after=after,
    )


def observation_page(
    read: ReadPage[StoredObservation], wanted: Filter | None, *, limit: int, after: CursorKey
) -> list[StoredObservation]:
    if wanted is None:
        return read(limit=limit, after=after)
    return filtered_page(
        read,
        lambda stored: observation_passes(wanted, stored),
        lambda stored: (stored.observation.said_at, stored.observation.id),
        limit=limit,
        after=after,
    )


def passes(wanted: Filter, stored: StoredMemory) -> bool:
    """Whether a filter lets a memory pass."""
    memory = stored.memory
    row = FilteredRow(
        kind="memory",
        created_at=memory.valid_from,
        session=stored.session,
        user=stored.user,
        categories=memory.categories,
        metadata=memory.metadata,
    )
    return matches(wanted, row)


def observation_passes(wanted: Filter, stored: StoredObservation) -> bool:
    """Whether a filter lets an observation pass."""
    row = FilteredRow(
        kind="observation", created_at=stored.observation.said_at, session=stored.session, user=stored.user
    )
    return matches(wanted, row)


def message_passes(wanted: Filter, said: PoolMessage) -> bool:
    """Whether a filter lets a message pass."""
    message = said.message
    row = FilteredRow(
        kind="message",
        created_at=message.created_at,
        session=said.session,
        user=said.user,
        role=message.role,
        author=message.author,
        categories=message.categories,
        metadata=message.metadata,
    )
    return matches(wanted, row)
