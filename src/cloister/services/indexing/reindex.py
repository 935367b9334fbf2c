"""Rebuild the index after a change of embedder or tokeniser, or from scratch. Search keeps working meanwhile.

Every row has the generation that indexed it, and only rows of the current generation are ranked; `recall/current_rows.py` makes
those of other generations anew while they are read. Memories and entities are rebuilt first, then messages, so that a pool whose
messages are of this generation has nothing stale.

The newest generation is rebuilt by itself, in the background; an older process beside a newer one does not undo it.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from cloister.domain.identifiers import MessageId, PoolId, ProjectId, SessionId, TenantId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.indexer import Indexer
from cloister.services.indexing.memories import MemoryIndexing
from cloister.services.indexing.queue import IndexQueue
from cloister.services.indexing.vectors import VectorQueue
from cloister.services.processes import Processes
from cloister.storage.interface import Database
from cloister.storage.stores.indexing.index_rows import IndexStore, Words

Progress = Callable[[int, int], None]
_Kind = Literal["messages", "memories", "entities"]
_CHUNK = 200
_NEVER = float("-inf")
_RECOUNT_SECONDS = 5.0
_RECOUNT_NOTHING_SECONDS = 600.0
_RECOUNT_NOTHING_WITH_OTHERS_SECONDS = 30.0
"""While other processes serve the database: one of them may be older, and write rows of its generation."""
# No row has this generation, so all rows count as stale.
_NO_GENERATION = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexCounts:
    """How many rows were rebuilt, or are stale; `vectors` are messages that got a vector of the additional embedder."""

    messages: int = 0
    memories: int = 0
    entities: int = 0
    vectors: int = 0

    @property
    def total(self) -> int:
        return self.messages + self.memories + self.entities


class _Counted(NamedTuple):
    at: float
    counts: IndexCounts


class Reindexer:
    """Works pool by pool in small transactions; it can be interrupted at any point and started again."""

    def __init__(
        self,
        database: Database,
        indexer: Indexer,
        memories: MemoryIndexing,
        entities: EntityIndexing,
        queue: IndexQueue,
        clock: Clock,
        processes: Processes,
        vectors: VectorQueue | None = None,
    ) -> None:
        self._database = database
        self._processes = processes
        self._indexer = indexer
        self._memories = memories
        self._entities = entities
        self._queue = queue
        self._clock = clock
        self._vectors = vectors
        self._lock = threading.Lock()
        self._was_counted = False
        self._counted = _Counted(_NEVER, IndexCounts())

    def stale_lately(self) -> IndexCounts:
        """The number of rows of other generations, counted some seconds ago at most, or some minutes ago if there were none and no
        other process serves the database: for callers that ask often. Counting reads every memory and entity; who asks meanwhile
        gets what was counted before."""
        if self._is_outdated(self._counted) and self._lock.acquire(blocking=not self._was_counted):
            try:
                if self._is_outdated(self._counted):
                    self._counted = _Counted(time.monotonic(), self.stale())
                    self._was_counted = True
            finally:
                self._lock.release()
        return self._counted.counts

    def _count_again(self) -> None:
        """The number has changed: it is counted again when it is next asked for."""
        self._counted = self._counted._replace(at=_NEVER)

    def _is_outdated(self, counted: "_Counted") -> bool:
        age = time.monotonic() - counted.at
        if counted.counts.total:
            return age >= _RECOUNT_SECONDS
        if age < _RECOUNT_NOTHING_WITH_OTHERS_SECONDS or age >= _RECOUNT_NOTHING_SECONDS:
            return age >= _RECOUNT_NOTHING_SECONDS
        return self._processes.are_others_serving()

    def is_newest(self) -> bool:
        """Whether no newer embedder or tokeniser has been used on this database."""
        newest = cast(int, self._database.maintenance.rows("newest_generation")[0][0])
        return self._indexer.generation == newest

    def rebuild(self) -> Iterator[int]:
        """Rebuild the rows of other generations; yields after each transaction how many rows it rebuilt. Several processes may do
        it at once: each begins with another pool."""
        for _, count in self._steps(everything=False):
            self._count_again()
            yield count
        self._count_again()

    def stale(self) -> IndexCounts:
        """The number of rows of other generations."""
        messages = self._database.maintenance.rows("count_stale", generation=self._indexer.generation)
        return self._with_derived(cast(int, messages[0][0]), self._indexer.generation)

    def run(self, *, everything: bool = False, progress: Progress = lambda done, total: None) -> IndexCounts:
        """Rebuild the rows of other generations, or all rows, and then embed what has no vector of the additional embedder. Raises
        `ModelUnavailable` if that fails; the rows are rebuilt by then."""
        if everything and self._vectors is not None:
            self._vectors.start_over()
        total = (self._stored() if everything else self.stale()).total
        rebuilt: dict[_Kind, int] = {"messages": 0, "memories": 0, "entities": 0}
        total += 0 if self._vectors is None else self._vectors.waiting()
        progress(0, total)
        for kind, count in self._steps(everything):
            self._count_again()
            rebuilt[kind] += count
            done = sum(rebuilt.values())
            progress(done, max(done, total))
        self._queue.drain()
        if self._vectors is None:
            return IndexCounts(**rebuilt)
        done = sum(rebuilt.values())
        vectors = self._vectors.drain(report=lambda embedded: progress(done + embedded, max(done + embedded, total)))
        self._vectors.remove_unused(at_once=True)
        return IndexCounts(**rebuilt, vectors=vectors)

    def _stored(self) -> IndexCounts:
        messages = cast(int, self._database.maintenance.rows("totals")[0][3])
        return self._with_derived(messages, _NO_GENERATION)

    def _with_derived(self, messages: int, generation: int) -> IndexCounts:
        counted = self._database.maintenance.rows("count_stale_derived", generation=generation)
        memories, entities = cast(tuple[int, int], counted[0])
        return IndexCounts(messages=messages, memories=memories, entities=entities)

    def _steps(self, everything: bool) -> Iterator[tuple[_Kind, int]]:
        """Yields the kind and number of rows after each transaction."""
        maintenance = self._database.maintenance
        generation = _NO_GENERATION if everything else self._indexer.generation
        for tenant, session in cast(list[tuple[int, int]], maintenance.rows("stale_memories", generation=generation)):
            reach = Reach(tenant=TenantId(tenant))
            for count in self._memories.rebuild(reach, SessionId(session), everything=everything):
                yield "memories", count
        for tenant, project in cast(list[tuple[int, int]], maintenance.rows("stale_entities", generation=generation)):
            reach = Reach(tenant=TenantId(tenant))
            for count in self._entities.rebuild(reach, ProjectId(project), everything=everything):
                yield "entities", count
        pools = cast(list[tuple[int, int]], maintenance.rows("stale_pools", generation=generation))
        random.shuffle(pools)
        for tenant, pool in pools:
            for count in self._rebuild_pool(Reach(tenant=TenantId(tenant)), PoolId(pool), everything):
                yield "messages", count

    def _rebuild_pool(self, reach: Reach, pool: PoolId, everything: bool) -> Iterator[int]:
        for session in self._members(reach, pool):
            yield from self._rebuild_session(reach, session, everything)
        self._database.write(reach, lambda transaction: IndexStore(transaction, self._indexer.generation).settle(pool))

    def _members(self, reach: Reach, pool: PoolId) -> list[SessionId]:
        with self._database.read(reach) as transaction:
            return IndexStore(transaction, self._indexer.generation).members(pool)

    def _rebuild_session(self, reach: Reach, session: SessionId, everything: bool) -> Iterator[int]:
        after: MessageId | None = None
        while words := self._words(reach, session, after, everything):
            entries = self._indexer.embed_messages(
                [(entry.content, entry.author, entry.created_at) for entry in words], self._clock()
            )
            pairs = [(entry.id, indexed) for entry, indexed in zip(words, entries, strict=True)]
            self._database.write(
                reach,
                lambda transaction, pairs=pairs: IndexStore(transaction, self._indexer.generation).set_indexed(
                    session, pairs
                ),
            )
            after = words[-1].id
            yield len(words)

    def _words(self, reach: Reach, session: SessionId, after: MessageId | None, everything: bool) -> list[Words]:
        with self._database.read(reach) as transaction:
            rows = IndexStore(transaction, self._indexer.generation)
            return rows.words(session, after=after, limit=_CHUNK, all_generations=everything)
