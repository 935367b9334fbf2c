"""Rebuild the index: after a change of embedder or tokeniser, or from nothing. Searching goes on meanwhile.

Rows carry the generation that indexed them, and only rows of one generation are ever ranked together: a pool half rebuilt answers
with its rebuilt half, never with a mixture.
"""

from collections.abc import Callable, Iterator
from typing import cast

from cloister.domain.identifiers import MessageId, PoolId, SessionId, TenantId
from cloister.domain.moments import Clock
from cloister.domain.scope import Reach
from cloister.services.index_queue import IndexQueue
from cloister.services.indexing import Indexer
from cloister.storage.indexing import IndexRows, Words
from cloister.storage.interface import Database

Progress = Callable[[int, int], None]
_CHUNK = 200


class Reindexer:
    """Works pool by pool in small transactions; it can be stopped at any point and begun again."""

    def __init__(self, database: Database, indexer: Indexer, queue: IndexQueue, clock: Clock) -> None:
        self._database = database
        self._indexer = indexer
        self._queue = queue
        self._clock = clock

    def stale_messages(self) -> int:
        """How many messages wait to be rebuilt."""
        row = self._database.maintenance.rows("count_stale", generation=self._indexer.generation)[0]
        return cast(int, row[0])

    def run(self, *, everything: bool = False, progress: Progress = lambda done, total: None) -> int:
        """Rebuild what is of another generation, or everything; returns how many messages were rebuilt."""
        maintenance = self._database.maintenance
        total = cast(int, maintenance.rows("totals")[0][3]) if everything else self.stale_messages()
        pools = maintenance.rows("stale_pools", generation=-1 if everything else self._indexer.generation)
        done = 0
        progress(done, total)
        for tenant, pool in cast(list[tuple[int, int]], pools):
            reach = Reach(tenant=TenantId(tenant))
            for session in self._members(reach, PoolId(pool)):
                for rebuilt in self._rebuild(reach, session, everything):
                    done += rebuilt
                    progress(done, max(done, total))
            self._database.write(
                reach,
                lambda transaction, pool=pool: IndexRows(transaction, self._indexer.generation).settle(PoolId(pool)),
            )
        self._queue.drain()
        return done

    def _members(self, reach: Reach, pool: PoolId) -> list[SessionId]:
        with self._database.read(reach) as transaction:
            return IndexRows(transaction, self._indexer.generation).members(pool)

    def _rebuild(self, reach: Reach, session: SessionId, everything: bool) -> Iterator[int]:
        after: MessageId | None = None
        while words := self._words(reach, session, after, everything):
            entries = self._indexer.embed(
                [(entry.content, entry.author, entry.created_at) for entry in words], self._clock()
            )
            pairs = [(entry.id, indexed) for entry, indexed in zip(words, entries, strict=True)]
            self._database.write(
                reach,
                lambda transaction, pairs=pairs: IndexRows(transaction, self._indexer.generation).set_indexed(
                    session, pairs
                ),
            )
            after = words[-1].id
            yield len(words)

    def _words(self, reach: Reach, session: SessionId, after: MessageId | None, everything: bool) -> list[Words]:
        with self._database.read(reach) as transaction:
            rows = IndexRows(transaction, self._indexer.generation)
            return rows.words(session, after=after, limit=_CHUNK, all_generations=everything)
