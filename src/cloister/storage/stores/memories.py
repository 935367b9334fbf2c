"""Memories of sessions. Every change updates the counts of sessions and projects and the versions of pools."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from cloister.domain.errors import DamagedRow, NotFound
from cloister.domain.extraction import KnownMemory
from cloister.domain.identifiers import MemoryId, MessageId, PoolId, ProjectId, SessionId, format_memory_id
from cloister.domain.maintenance.checksum import text_checksum
from cloister.domain.memory import Memory, MemoryStatus, StoredMemory
from cloister.domain.prompts.profile import ProfileMemory
from cloister.domain.truth.subject_words import searchable_text
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction, integers
from cloister.storage.stores.messages import Indexed

_THOUSANDTHS = 1_000


class KnownMemories(NamedTuple):
    """The memories of a session, and of its user's other sessions in the same pool, that are true now; newest first."""

    of_session: list[KnownMemory]
    of_user: list[KnownMemory]


class SameMemory(NamedTuple):
    """The memory of a session that has a given digest."""

    id: MemoryId
    superseded_by: MemoryId | None
    is_retracted: bool
    expires_at: int | None


class MemoryStore:
    """The memories of sessions that the caller found through `SessionStore`."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, memory: Memory, digest: bytes, indexed: Indexed) -> bool:
        """Add a memory with its sources; false, and nothing is written, if the session has the same memory already."""
        categories = json.dumps(memory.categories, ensure_ascii=False)
        metadata = json.dumps(memory.metadata, ensure_ascii=False)
        row = self._transaction.row(
            "insert_memory",
            memory_id=memory.id,
            session_id=memory.session,
            digest=digest,
            importance=thousandths(memory.importance),
            created_at=memory.created_at,
            content=memory.content,
            valid_from=memory.valid_from,
            source=memory.source,
            subject=memory.subject,
            categories=categories,
            metadata=metadata,
            checksum=text_checksum(memory.id, memory.subject, metadata, memory.content, categories),
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

    def get(self, memory: MemoryId, now: int) -> StoredMemory:
        row = self._transaction.row("memory", memory_id=memory)
        if row is None:
            raise NotFound("memory", format_memory_id(memory))
        return self.stored([row], now)[0]

    def of_session(
        self,
        session: SessionId,
        *,
        limit: int,
        now: int,
        after: CursorKey = FIRST_PAGE,
        status: MemoryStatus | None = None,
    ) -> list[StoredMemory]:
        """A page of memories, oldest first; `after` is the (created_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "session_memories",
            session_id=session,
            limit=limit,
            after_created_at=after[0],
            after_memory_id=after[1],
            status=status,
            now=now,
        )
        return self.stored(rows, now)

    def of_user(
        self,
        user: str,
        *,
        limit: int,
        now: int,
        after: CursorKey = FIRST_PAGE,
        status: MemoryStatus | None = None,
    ) -> list[StoredMemory]:
        rows = self._transaction.rows(
            "user_memories",
            user_id=user,
            limit=limit,
            after_created_at=after[0],
            after_memory_id=after[1],
            status=status,
            now=now,
        )
        return self.stored(rows, now)

    def known(self, session: SessionId, pool: PoolId, user: str | None, limit: int, now: int) -> KnownMemories:
        """The memories that an extraction in this session may see: the session's, and those of its user in the same pool, as far as
        they are true now."""
        rows = self._transaction.rows(
            "known_memories", session_id=session, pool_id=pool, user_id=user, limit=limit, now=now
        )
        found = [
            (KnownMemory(id=MemoryId(memory), content=content, subject=subject, valid_from=valid_from), here)
            for memory, content, subject, valid_from, here in cast(list[tuple[int, str, str | None, int, int]], rows)
        ]
        of_user: dict[str, KnownMemory] = {}
        for known, here in found:
            if not here:
                of_user.setdefault(known.content, known)
        return KnownMemories(of_session=[known for known, here in found if here], of_user=list(of_user.values()))

    def change_times(self, memories: Sequence[MemoryId]) -> dict[MemoryId, int]:
        """When people last changed these memories, without those that nobody changed or that are out of reach."""
        if not memories:
            return {}
        rows = self._transaction.rows("memory_change_times", memory_ids=integers(memories))
        return {MemoryId(memory): changed_at for memory, changed_at in cast(list[tuple[int, int]], rows)}

    def derived_from(self, message: MessageId) -> list[MemoryId]:
        return _ids(self._transaction.rows("memories_of_message", message_id=message))

    def ids(self, session: SessionId) -> list[MemoryId]:
        return _ids(self._transaction.rows("session_memory_ids", session_id=session))

    def contents(self, memories: Sequence[MemoryId]) -> list[str]:
        if not memories:
            return []
        return [cast(str, row[0]) for row in self._transaction.rows("memory_contents", memory_ids=integers(memories))]

    def with_digest(self, session: SessionId, digest: bytes) -> SameMemory | None:
        """The memory of the session with this digest."""
        row = self._transaction.row("memory_by_digest", session_id=session, digest=digest)
        if row is None:
            return None
        memory, superseded_by, retracted_at, expires_at = cast(tuple[Any, ...], row)
        return SameMemory(MemoryId(memory), superseded_by, retracted_at is not None, expires_at)

    def remove(self, session: SessionId, memories: Sequence[MemoryId]) -> int:
        """Delete memories with their revisions; returns how many there were."""
        if not memories:
            return 0
        self._transaction.execute("delete_memory_sources", memory_ids=integers(memories))
        self._transaction.execute("delete_memory_revisions", memory_ids=integers(memories))
        self._transaction.execute("delete_replacements", memory_ids=integers(memories))
        self._transaction.execute("delete_replacements_by_newer", memory_ids=integers(memories))
        removed = self._transaction.execute("delete_memories", session_id=session, memory_ids=integers(memories))
        self.count(session, -removed)
        return removed

    def stored(self, rows: Iterable[Row], now: int) -> list[StoredMemory]:
        found = list(rows)
        sources = self._sources([cast(int, row[0]) for row in found])
        return [_stored(row, sources.get(cast(int, row[0]), ()), now) for row in found]

    def sources(self, memory: MemoryId) -> set[MessageId]:
        """The messages that a memory came from."""
        return set(self._sources([memory]).get(memory, ()))

    def _sources(self, memories: Sequence[int]) -> dict[int, tuple[MessageId, ...]]:
        if not memories:
            return {}
        sources: dict[int, tuple[MessageId, ...]] = {}
        rows = self._transaction.rows("memory_sources", memory_ids=integers(memories))
        for memory, message in cast(list[tuple[int, int]], rows):
            sources[memory] = (*sources.get(memory, ()), MessageId(message))
        return sources


class ProfileStore:
    """What is true now in one pool, for a profile (MEM-16); the caller has checked that the pool is within reach."""

    def __init__(self, transaction: Transaction, pool: PoolId) -> None:
        self._transaction = transaction
        self._pool = pool

    def of_user(self, user: str | None, session: SessionId | None, *, now: int, limit: int) -> list[ProfileMemory]:
        """The memories of a user, the most important first; without a user those of the session."""
        rows = self._transaction.rows(
            "profile_memories", pool_id=self._pool, user_id=user, session_id=session, now=now, limit=limit
        )
        return list(_profile_memories(rows))

    def equal(self, memories: Sequence[MemoryId], *, now: int) -> dict[MemoryId, list[tuple[MemoryId, str]]]:
        """For each of these memories the others of the same user that say the same, newest first, each with its session."""
        if not memories:
            return {}
        rows = self._transaction.rows("equal_memories", pool_id=self._pool, memory_ids=integers(memories), now=now)
        found: dict[MemoryId, list[tuple[MemoryId, str]]] = {}
        for memory, other, session in cast(list[tuple[int, int, str]], rows):
            found.setdefault(MemoryId(memory), []).append((MemoryId(other), session))
        return found

    def decisions(self, *, now: int, limit: int) -> list[ProfileMemory]:
        """The memories of all users of the pool that are decisions, or pinned."""
        rows = self._transaction.rows("project_decisions", pool_id=self._pool, now=now, limit=limit)
        return list(_profile_memories(rows))


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
        return self._version

    @cached_property
    def _version(self) -> int | None:
        """Read once: all is read in one snapshot."""
        row = self._transaction.row("memory_state", pool_id=self._pool)
        return None if row is None else cast(int, row[0])

    def validity_rows(self) -> list[Row]:
        """(id, user, digest, created at, valid from, valid until, superseded by, retracted at, expires at, pinned, subject) of
        every memory."""
        return self._transaction.rows("memory_validity_rows", pool_id=self._pool)

    def all_rows(self) -> Iterator[Row]:
        return self._transaction.stream("memory_pool_rows", pool_id=self._pool, generation=self._generation)

    def stale_words(self, limit: int) -> list[tuple[int, int, str]]:
        """(id, created at, text to be indexed) of the newest memories that another index generation wrote."""
        rows = self._transaction.rows(
            "stale_memory_words", pool_id=self._pool, generation=self._generation, limit=limit
        )
        found = cast(list[tuple[int, int, str, str | None]], rows)
        return [(id, created_at, searchable_text(content, subject)) for id, created_at, content, subject in found]

    def stale(self) -> int:
        """How many memories another index generation wrote."""
        row = self._transaction.row("stale_memories_in_pool", pool_id=self._pool, generation=self._generation)
        return 0 if row is None else cast(int, row[0])

    def page(
        self, *, now: int, limit: int, after: CursorKey = FIRST_PAGE, with_past: bool = False
    ) -> list[StoredMemory]:
        """A page of the memories of the pool that are true now, or `with_past` of all, oldest first; `after` is the
        (created_at, id) of the one before it."""
        rows = self._transaction.rows(
            "pool_memory_page",
            pool_id=self._pool,
            now=now,
            limit=limit,
            after_created_at=after[0],
            after_memory_id=after[1],
            past=int(with_past),
        )
        return MemoryStore(self._transaction).stored(rows, now)

    def found(self, ids: Sequence[int], now: int) -> dict[int, StoredMemory]:
        """The memories with these ids that are in this pool now; other ids, and damaged memories, are left out."""
        try:
            rows = self._transaction.rows("pool_memories", pool_id=self._pool, memory_ids=integers(ids))
            return {stored.memory.id: stored for stored in MemoryStore(self._transaction).stored(rows, now)}
        except DamagedRow:
            if len(ids) == 1:
                return {}
            return {found: stored for one in ids for found, stored in self.found([one], now).items()}


def thousandths(importance: float | None) -> int | None:
    """An importance as it is stored."""
    return None if importance is None else round(importance * _THOUSANDTHS)


def _profile_memories(rows: Sequence[Row]) -> Iterator[ProfileMemory]:
    """The memories of these rows, but for damaged ones."""
    for row in rows:
        memory, content, _, subject, categories, *_, metadata, checksum, _, _ = cast(tuple[Any, ...], row)
        if checksum is None or checksum == text_checksum(memory, subject, metadata, content, categories):
            yield _profile_memory(row)


def _profile_memory(row: Row) -> ProfileMemory:
    memory, content, digest, subject, categories, source, pinned, valid_from, _, _, session, user = cast(
        tuple[Any, ...], row
    )
    return ProfileMemory(
        id=MemoryId(memory),
        content=content,
        digest=bytes(digest),
        subject=subject,
        categories=() if categories == "[]" else tuple(json.loads(categories)),
        source=source,
        pinned=bool(pinned),
        valid_from=valid_from,
        session=session,
        user=user,
    )


def _ids(rows: Sequence[Row]) -> list[MemoryId]:
    return [MemoryId(cast(int, row[0])) for row in rows]


def _stored(row: Row, sources: tuple[MessageId, ...], now: int) -> StoredMemory:
    memory, session, content, importance, created_at, *rest, name, user, project = cast(tuple[Any, ...], row)
    valid_from, valid_until, superseded_by, retracted_at, expires_at, pinned, source, subject, *texts = rest
    categories, metadata, checksum = texts
    if checksum is not None and checksum != text_checksum(memory, subject, metadata, content, categories):
        raise DamagedRow("memory", format_memory_id(memory))
    found = Memory(
        id=MemoryId(memory),
        session=SessionId(session),
        content=content,
        importance=None if importance is None else importance / _THOUSANDTHS,
        sources=sources,
        created_at=created_at,
        valid_from=valid_from,
        valid_until=valid_until,
        superseded_by=superseded_by,
        retracted_at=retracted_at,
        expires_at=expires_at,
        pinned=bool(pinned),
        source=source,
        subject=subject,
        categories=tuple(json.loads(categories)),
        metadata=json.loads(metadata),
    )
    return StoredMemory(memory=found, session=name, user=user, project=project, status=found.status_at(now))
