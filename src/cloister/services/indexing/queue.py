"""The queue of messages, memories and entities that are stored but not yet indexed: the rows whose `indexed_at` is NULL.

With the static embedder and the exact index it is always empty. With a slow embedder the vectors, and with an external index the
points, are made by the process that drains the queue; after a crash the rows are still in it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from cloister.domain.identifiers import EntityId, MessageId, SessionId, TenantId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.index.interface import WINDOW_REACH, ExternalIndex, Point
from cloister.services.indexing.entities import PUT_MICROSECONDS, EntityIndexing
from cloister.services.indexing.indexer import Indexer
from cloister.services.indexing.memories import MemoryIndexing
from cloister.storage.interface import Database, Row
from cloister.storage.stores.indexing.index_rows import IndexStore

T = TypeVar("T")
_CHUNK = 200


class IndexQueue:
    """Every step is idempotent, so several processes may drain it at once. `external` is None with the exact index."""

    def __init__(
        self,
        database: Database,
        external: ExternalIndex | None,
        indexer: Indexer,
        memories: MemoryIndexing,
        entities: EntityIndexing,
        clock: Clock,
    ) -> None:
        self._database = database
        self._external = external
        self._indexer = indexer
        self._memories = memories
        self._entities = entities
        self._clock = clock

    def waiting(self) -> int:
        """How many messages, memories and entities are not indexed yet, plus the removals that are due."""
        maintenance = self._database.maintenance
        unindexed = maintenance.rows("count_unindexed")
        removals = maintenance.rows("count_index_removals", now=self._clock())
        return sum(cast(tuple[int, int, int], unindexed[0])) + cast(int, removals[0][0])

    def drain(self, stopped: Callable[[], bool] = lambda: False) -> int:
        """Index all that is in the queue, or until stopped, and carry out removals; returns how many messages, memories and
        entities were indexed."""
        done = 0
        while True:
            self.remove_forgotten()
            indexed = sum(self._index_all(waiting, index, stopped) for waiting, index in self._kinds())
            done += indexed
            if not indexed or stopped():
                return done

    def _kinds(self) -> Sequence[tuple[Callable[[], list[Row]], Callable[[Reach, Any], int]]]:
        """For each kind: the (tenant, owner) pairs in the queue, and what indexes some rows of an owner, a session or a project."""
        maintenance = self._database.maintenance
        return (
            (lambda: maintenance.rows("unindexed_messages", limit=_CHUNK), self._index_session),
            (lambda: maintenance.rows("unindexed_memories", limit=_CHUNK), self._memories.index_waiting),
            (lambda: maintenance.rows("unindexed_entities", limit=_CHUNK), self._entities.index_waiting),
        )

    def _index_all(
        self, waiting: Callable[[], list[Row]], index: Callable[[Reach, Any], int], stopped: Callable[[], bool]
    ) -> int:
        done = 0
        while not stopped() and (pending := waiting()):
            for tenant, owner in dict.fromkeys(cast(list[tuple[int, int]], pending)):
                done += index(Reach(tenant=TenantId(tenant)), owner)
        return done

    def remove_forgotten(self) -> None:
        """Remove from the external index what storage has forgotten."""
        while removals := self._database.maintenance.rows("index_removals", now=self._clock(), limit=_CHUNK):
            for tenant, removal, session, message, entity in cast(list[tuple[int, int, int, int, int]], removals):
                reach = Reach(tenant=TenantId(tenant))
                if entity:
                    self._entities.take_out(reach, removal, EntityId(entity))
                    continue
                if self._external is not None and message:
                    self._external.forget_messages(tenant, [message])
                elif self._external is not None:
                    self._external.forget_sessions(tenant, [session])
                settle = partial(
                    IndexStore.settle_removal,
                    removal=removal,
                    session=SessionId(session),
                    message=MessageId(message) if message else None,
                )
                self._write(reach, settle)

    def _index_session(self, reach: Reach, session: SessionId) -> int:
        with self._database.read(reach) as transaction:
            waiting = IndexStore(transaction, self._indexer.generation).waiting(session, limit=_CHUNK)
        if not waiting:
            return 0
        words = [entry for entry in waiting if not entry.embedded]
        if words:
            said = [(entry.content, entry.author, entry.created_at) for entry in words]
            entries = self._indexer.embed_messages(said, self._clock())
            pairs = [(entry.id, indexed) for entry, indexed in zip(words, entries, strict=True)]
            self._write(reach, lambda rows: rows.set_indexed(session, pairs))
        ids = [entry.id for entry in waiting]
        if self._external is not None:
            return len(waiting) if self._put(self._external, reach, session, ids) else 0
        now = self._clock()
        self._write(reach, lambda rows: rows.mark_indexed(ids, now))
        return len(waiting)

    def _put(self, external: ExternalIndex, reach: Reach, session: SessionId, waiting: Sequence[MessageId]) -> bool:
        """Put messages, and again those around them, whose scores they change. Their removals are queued first, and cancelled at
        the end, so that a message that is deleted meanwhile is removed though this process is killed. A deleted message may have
        contributed to the scores of the others: then these stay in the queue, and this is False."""
        near = [point.message for point in self._run(reach, session, waiting[0], waiting[-1], WINDOW_REACH)]
        if not near:
            return self._mark_put(reach, session, waiting, (), 0)
        run = self._run(reach, session, near[0], near[-1], WINDOW_REACH)
        put = [MessageId(point.message) for point in run if near[0] <= point.message <= near[-1]]
        if not put:
            return False
        due_at = self._clock() + PUT_MICROSECONDS
        removal = self._write(reach, lambda rows: rows.note_put(session, put, due_at=due_at))
        external.put(run, near[0], near[-1])
        left = {point.message for point in self._run(reach, session, near[0], near[-1], 0)}
        gone = [message for message in put if message not in left]
        external.forget_messages(reach.tenant, gone)
        return self._mark_put(reach, session, () if gone else waiting, put, removal)

    def _mark_put(
        self,
        reach: Reach,
        session: SessionId,
        waiting: Sequence[MessageId],
        put: Sequence[MessageId],
        removal: int,
    ) -> bool:
        """Cancel the removals of the messages that were `put`, and mark those that were `waiting` as indexed; returns whether there
        were any. A message whose removal was carried out meanwhile stays in the queue."""
        now = self._clock()

        def mark(rows: IndexStore) -> None:
            removed = set(put) - rows.settle_put(session, put, removal) if put else set[MessageId]()
            rows.mark_indexed([message for message in waiting if message not in removed], now)

        self._write(reach, mark)
        return bool(waiting)

    def _run(self, reach: Reach, session: SessionId, first: int, last: int, around: int) -> list[Point]:
        with self._database.read(reach) as transaction:
            found = IndexStore(transaction, self._indexer.generation).points(
                session, first=first, last=last, around=around
            )
        return [
            Point(
                message=cast(int, message),
                tenant=reach.tenant,
                session=session,
                role=cast(str, role),
                author=cast(str | None, author),
                created_at=cast(int, created_at),
                vector=cast(bytes | None, vector),
                terms=cast(bytes, terms),
            )
            for message, role, author, created_at, vector, terms in found
        ]

    def _write(self, reach: Reach, work: Callable[[IndexStore], T]) -> T:
        return self._database.write(reach, lambda transaction: work(IndexStore(transaction, self._indexer.generation)))
