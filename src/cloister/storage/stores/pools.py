"""Pools. `PoolStore` maintains their versions; `StoredPool` is the only way to read the messages of one."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

from cloister.domain.conversation import Message, Role, Speaker
from cloister.domain.errors import DamagedRow, StorageBusy
from cloister.domain.identifiers import MessageId, PoolId, ProjectId, SessionId, new_pool_id
from cloister.domain.scope import PoolKey, Scope
from cloister.storage.interface import Row, RowRemoved, Transaction, integers
from cloister.storage.stores.messages import message_of
from cloister.storage.stores.tenants import TenantStore


class PoolMessage(NamedTuple):
    """A message of a pool, with the outside id and the user of its session."""

    message: Message
    session: str
    user: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class DerivedState:
    """Whether a session can recall any memories, entities or observations; if not, they are not searched. `exclusions`: whether
    it excludes anything. `version` is that of the pool."""

    version: int
    memories: bool
    entities: bool
    observations: bool
    exclusions: bool


class PoolStore:
    """The tenant's pools. Every change of a pool's messages raises its version, in the same transaction."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def find(self, key: PoolKey) -> PoolId | None:
        row = self._row(key)
        return None if row is None else PoolId(row[0])

    def _row(self, key: PoolKey) -> tuple[int, int] | None:
        """The pool's id and index generation."""
        return cast(tuple[int, int] | None, self._transaction.row("pool", project_id=key.project, user_id=key.user))

    def ensure(self, key: PoolKey) -> PoolId:
        """The pool of this key, created if there is none."""
        pool = self.find(key)
        if pool is None:
            TenantStore(self._transaction).lock_shared()
        while pool is None:
            self._transaction.execute(
                "insert_pool",
                pool_id=new_pool_id(),
                project_id=key.project,
                user_id=key.user,
                generation=self._generation,
            )
            pool = self.find(key)
        return pool

    def raise_version(self, pool: PoolId) -> int:
        """Raise the version after an addition or change; also records if the pool now has messages of several index generations."""
        row = self._transaction.row("raise_pool_version", pool_id=pool)
        if row is None:
            raise StorageBusy("The pool was removed with its user just now. Try again.") from RowRemoved()
        version, generation = cast(tuple[int, int], row)
        if generation not in (self._generation, 0):
            self._transaction.execute("note_mixed_generations", pool_id=pool)
        return version

    def note_departure(self, pool: PoolId) -> None:
        """Raise the version after a session left."""
        self._transaction.execute("note_departure", pool_id=pool)

    def note_arrival(self, pool: PoolId, came_from: PoolId) -> None:
        """Record, after a session came from another pool, if its messages may be of another index generation."""
        self._transaction.execute("note_arrival", pool_id=pool, came_from=came_from)

    def lock(self, pool: PoolId) -> None:
        """Lock the pool against all transactions that append to it or remove from it. Sessions have to be locked before."""
        self._transaction.row("lock_pool", pool_id=pool)

    def derived(
        self, pool: PoolId, session: SessionId, project: ProjectId | None, notes_of: str | None
    ) -> DerivedState:
        """What a session can recall. With `notes_of`, observations of all sessions of that user in the pool count too."""
        row = self._transaction.row(
            "derived_state", pool_id=pool, session_id=session, project_id=project, user_id=notes_of
        )
        version, memories, entities, own, of_user, excludes = (0, 0, 0, 0, 0, 0) if row is None else row
        return DerivedState(
            version=cast(int, version),
            memories=bool(memories),
            entities=bool(entities),
            observations=bool(own or of_user),
            exclusions=bool(excludes),
        )

    def rows(self, scope: Scope) -> "StoredPool | None":
        """The pool that a scope may recall from; None if no session was ever in it."""
        if not self._transaction.reach.covers(scope):
            raise ValueError("a scope outside the transaction's reach")
        row = self._row(scope.pool)
        if row is None:
            return None
        pool, generation = row
        return StoredPool(self._transaction, PoolId(pool), self._generation, is_stale=generation != self._generation)


def move_between(pools: PoolStore, old: PoolId, new: PoolId) -> int:
    """Raise the versions of both pools after a session moved. Updates them in id order to avoid deadlock."""
    if old < new:
        pools.note_departure(old)
        version = pools.raise_version(new)
    else:
        version = pools.raise_version(new)
        pools.note_departure(old)
    pools.note_arrival(new, old)
    return version


class StoredPool:
    """One pool in one snapshot. Its methods take no scope, so they cannot read another pool."""

    def __init__(self, transaction: Transaction, pool: PoolId, generation: int, *, is_stale: bool = False) -> None:
        """`is_stale`: some of its messages may have been indexed by another generation."""
        self._transaction = transaction
        self._generation = generation
        self.tenant = transaction.reach.tenant
        self.pool = pool
        self.is_stale = is_stale

    def state(self) -> tuple[int, int]:
        """The pool's version, and its version when a session last left."""
        return cast(tuple[int, int], self._transaction.row("pool_state", pool_id=self.pool))

    def size(self) -> int:
        """The number of messages of the pool's sessions, including those that cannot be recalled."""
        return cast(tuple[int], self._transaction.row("pool_size", pool_id=self.pool))[0]

    def members(self) -> list[SessionId]:
        return [SessionId(cast(int, row[0])) for row in self._transaction.rows("pool_members", pool_id=self.pool)]

    def changes(self, version: int) -> list[tuple[SessionId, int]]:
        """The sessions changed since a version, each with the pool's version when it last changed other than by an append."""
        rows = cast(list[tuple[int, int]], self._transaction.rows("pool_changes", pool_id=self.pool, version=version))
        return [(SessionId(session), rebuilt) for session, rebuilt in rows]

    def all_rows(self) -> Iterator[Row]:
        """(message id, role, author, created at, vector, terms) of every message that can be recalled, by session, in order."""
        return self._transaction.stream("pool_rows", pool_id=self.pool, generation=self._generation)

    def session_rows(self, session: SessionId, after: int) -> list[Row]:
        """The same columns for one session's messages after an id."""
        return self._transaction.rows(
            "session_rows", pool_id=self.pool, session_id=session, after=after, generation=self._generation
        )

    def all_rows_with_words(self) -> Iterator[Row]:
        """The same columns as `all_rows`, and the text of messages that another index generation wrote, whose index columns do not
        count; None for the others."""
        return self._transaction.stream("pool_rows_with_words", pool_id=self.pool, generation=self._generation)

    def session_rows_with_words(self, session: SessionId, after: int) -> list[Row]:
        """The same columns for one session's messages after an id."""
        return self._transaction.rows(
            "session_rows_with_words", pool_id=self.pool, session_id=session, after=after, generation=self._generation
        )

    def stale(self) -> int:
        """How many messages another index generation wrote."""
        return self._stale

    def newest_stale(self, limit: int) -> Set[int]:
        """The ids of the last messages that another index generation wrote."""
        rows = self._transaction.rows(
            "newest_stale_in_pool", pool_id=self.pool, generation=self._generation, limit=limit
        )
        return {cast(int, row[0]) for row in rows}

    @cached_property
    def _stale(self) -> int:
        row = self._transaction.row("stale_in_pool", pool_id=self.pool, generation=self._generation)
        return 0 if row is None or not self.is_stale else cast(int, row[0])

    def waiting(self) -> int:
        """How many messages are of this generation, and not in an external index yet."""
        row = self._transaction.row("waiting_in_pool", pool_id=self.pool, generation=self._generation)
        return 0 if row is None else cast(int, row[0])

    def vectors(self, ids: Sequence[int]) -> dict[int, bytes]:
        """The vectors of the messages with these ids that are in this pool now; other ids, and messages without one, are left
        out."""
        rows = self._transaction.rows(
            "vectors_of_messages", pool_id=self.pool, message_ids=integers(ids), generation=self._generation
        )
        return dict(cast(list[tuple[int, bytes]], rows))

    def messages(self, ids: Sequence[MessageId]) -> dict[MessageId, PoolMessage]:
        """The messages with these ids that are in this pool now; other ids, and damaged messages, are left out."""
        try:
            rows = self._transaction.rows("pool_messages", pool_id=self.pool, message_ids=integers(ids))
            return {found.message.id: found for found in map(_found, rows)}
        except DamagedRow:
            if len(ids) == 1:
                return {}
            return {found: message for one in ids for found, message in self.messages([one]).items()}

    def speakers(self, ids: Sequence[MessageId]) -> Set[Speaker]:
        """Who said the messages with these ids that are in this pool now."""
        rows = self._transaction.rows("speakers_of_messages", pool_id=self.pool, message_ids=integers(ids))
        return {Speaker(*cast(tuple[Role, str | None, str | None], row)) for row in rows}

    def recent(self, role: Role, limit: int) -> list[PoolMessage]:
        """The last messages of a role in the whole pool, newest first."""
        rows = self._transaction.rows("pool_recent_messages", pool_id=self.pool, role=role, limit=limit)
        return [_found(row) for row in rows]


def _found(row: Row) -> PoolMessage:
    return PoolMessage(message_of(row[:-2]), cast(str, row[-2]), cast(str | None, row[-1]))
