"""Memories of sessions. Every change updates the counts of sessions and projects and the versions of pools."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MemoryId, MessageId, PoolId, ProjectId, SessionId, format_memory_id
from cloister.domain.memory import Memory, StoredMemory
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction, integers
from cloister.storage.stores.messages import Indexed

_THOUSANDTHS = 1_000


class KnownMemories(NamedTuple):
    """The memories of a session, and of its user's other sessions in the same pool; newest first."""

    of_session: list[str]
    of_user: list[str]


class MemoryStore:
    """The memories of sessions that the caller found through `SessionStore`."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, memory: Memory, digest: bytes, indexed: Indexed) -> bool:
        """Add a memory with its sources; false, and nothing is written, if the session has the same memory already."""
        row = self._transaction.row(
            "insert_memory",
            memory_id=memory.id,
            session_id=memory.session,
            digest=digest,
            importance=None if memory.importance is None else round(memory.importance * _THOUSANDTHS),
            created_at=memory.created_at,
            content=memory.content,
            **indexed.columns,
        )
        if row is None:
            return False
        self._transaction.execute_each(
            "insert_memory_source", [{"message_id": source, "memory_id": memory.id} for source in memory.sources]
        )
        return True

    def count(self, session: SessionId, more: int) -> None:
        """Add to the memory counts of a session and its project, and raise the memory version of its pool."""
        row = self._transaction.row("add_session_memories", session_id=session, memories=more)
        if row is None:
            return
        project, pool = cast(tuple[int | None, int | None], row)
        if pool is not None:
            self.note_change(PoolId(pool))
        if project is not None:
            self._transaction.execute("add_project_memories", project_id=project, memories=more)

    def note_change(self, pool: PoolId) -> None:
        self._transaction.execute("raise_memory_version", pool_id=pool)

    def move(self, count: int, *, old: ProjectId | None, new: ProjectId | None) -> None:
        """Move the count of a session's memories from one project to another. Updates projects in id order to avoid deadlock."""
        changes = [(project, change) for project, change in ((old, -count), (new, count)) if project is not None]
        for project, change in sorted(changes):
            self._transaction.execute("add_project_memories", project_id=project, memories=change)

    def get(self, memory: MemoryId) -> StoredMemory:
        row = self._transaction.row("memory", memory_id=memory)
        if row is None:
            raise NotFound("memory", format_memory_id(memory))
        return self.stored([row])[0]

    def of_session(self, session: SessionId, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[StoredMemory]:
        """A page of memories, oldest first; `after` is the (created_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "session_memories", session_id=session, limit=limit, after_created_at=after[0], after_memory_id=after[1]
        )
        return self.stored(rows)

    def of_user(self, user: str, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[StoredMemory]:
        rows = self._transaction.rows(
            "user_memories", user_id=user, limit=limit, after_created_at=after[0], after_memory_id=after[1]
        )
        return self.stored(rows)

    def known(self, session: SessionId, pool: PoolId, user: str | None, limit: int) -> KnownMemories:
        """The memories that an extraction in this session may see: the session's, and those of its user in the same pool."""
        rows = self._transaction.rows("known_memories", session_id=session, pool_id=pool, user_id=user, limit=limit)
        found = cast(list[tuple[str, int]], rows)
        return KnownMemories(
            of_session=[content for content, here in found if here],
            of_user=list(dict.fromkeys(content for content, here in found if not here)),
        )

    def derived_from(self, message: MessageId) -> list[MemoryId]:
        return _ids(self._transaction.rows("memories_of_message", message_id=message))

    def ids(self, session: SessionId) -> list[MemoryId]:
        return _ids(self._transaction.rows("session_memory_ids", session_id=session))

    def contents(self, memories: Sequence[MemoryId]) -> list[str]:
        if not memories:
            return []
        return [cast(str, row[0]) for row in self._transaction.rows("memory_contents", memory_ids=integers(memories))]

    def remove(self, session: SessionId, memories: Sequence[MemoryId]) -> int:
        """Delete memories; returns how many there were."""
        if not memories:
            return 0
        self._transaction.execute("delete_memory_sources", memory_ids=integers(memories))
        removed = self._transaction.execute("delete_memories", session_id=session, memory_ids=integers(memories))
        self.count(session, -removed)
        return removed

    def stored(self, rows: Iterable[Row]) -> list[StoredMemory]:
        found = list(rows)
        sources = self._sources([cast(int, row[0]) for row in found])
        return [_stored(row, sources.get(cast(int, row[0]), ())) for row in found]

    def _sources(self, memories: Sequence[int]) -> dict[int, tuple[MessageId, ...]]:
        if not memories:
            return {}
        sources: dict[int, tuple[MessageId, ...]] = {}
        rows = self._transaction.rows("memory_sources", memory_ids=integers(memories))
        for memory, message in cast(list[tuple[int, int]], rows):
            sources[memory] = (*sources.get(memory, ()), MessageId(message))
        return sources


class StoredMemories:
    """The memories of one pool in one snapshot, for an index."""

    kind = "memory"

    def __init__(self, transaction: Transaction, pool: PoolId, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation
        self._pool = pool
        self.tenant = int(transaction.reach.tenant)
        self.partition = int(pool)

    def version(self) -> int | None:
        row = self._transaction.row("memory_state", pool_id=self._pool)
        return None if row is None else cast(int, row[0])

    def all_rows(self) -> Iterator[Row]:
        return self._transaction.stream("memory_pool_rows", pool_id=self._pool, generation=self._generation)

    def page(self, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[StoredMemory]:
        """A page of the pool's memories, oldest first; `after` is the (created_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "pool_memory_page", pool_id=self._pool, limit=limit, after_created_at=after[0], after_memory_id=after[1]
        )
        return MemoryStore(self._transaction).stored(rows)

    def found(self, ids: Sequence[int]) -> dict[int, StoredMemory]:
        """The memories with these ids that are in this pool now; other ids are left out."""
        rows = self._transaction.rows("pool_memories", pool_id=self._pool, memory_ids=integers(ids))
        return {stored.memory.id: stored for stored in MemoryStore(self._transaction).stored(rows)}


def _ids(rows: Sequence[Row]) -> list[MemoryId]:
    return [MemoryId(cast(int, row[0])) for row in rows]


def _stored(row: Row, sources: tuple[MessageId, ...]) -> StoredMemory:
    memory, session, content, importance, created_at, name, user, project = cast(tuple[Any, ...], row)
    return StoredMemory(
        memory=Memory(
            id=MemoryId(memory),
            session=SessionId(session),
            content=content,
            importance=None if importance is None else importance / _THOUSANDTHS,
            sources=sources,
            created_at=created_at,
        ),
        session=name,
        user=user,
        project=project,
    )
