"""The queue of messages that are recorded but not yet indexed: rows whose `indexed_at` is empty are the queue itself.

Nothing waits here with the static embedder and the exact index. A slow embedder leaves its vectors, and an index outside the
database its points, to whoever drains the queue; a crash in between leaves the rows in it.
"""

from typing import cast

from cloister.domain.identifiers import MessageId, SessionId, TenantId, session_of
from cloister.domain.moments import Clock
from cloister.domain.scope import Reach
from cloister.index.interface import NEIGHBOURS, Index, Point
from cloister.services.indexing import Indexer
from cloister.storage.indexing import IndexRows
from cloister.storage.interface import Database

_CHUNK = 200


class IndexQueue:
    """Draining it twice, or from two processes at once, does no harm: every step can be repeated."""

    def __init__(self, database: Database, index: Index, indexer: Indexer, clock: Clock) -> None:
        self._database = database
        self._index = index
        self._indexer = indexer
        self._clock = clock

    def waiting(self) -> int:
        return cast(int, self._database.maintenance.rows("count_unindexed")[0][0])

    def drain(self) -> int:
        """Index all that waits; returns how many messages that was."""
        done = 0
        while pending := self._database.maintenance.rows("unindexed_messages", limit=_CHUNK):
            sessions = dict.fromkeys(
                (tenant, session_of(MessageId(message))) for tenant, message in cast(list[tuple[int, int]], pending)
            )
            done += sum(self._index_session(Reach(tenant=TenantId(tenant)), session) for tenant, session in sessions)
        return done

    def _index_session(self, reach: Reach, session: SessionId) -> int:
        with self._database.read(reach) as transaction:
            words = IndexRows(transaction, self._indexer.generation).waiting(session, limit=_CHUNK)
        if not words:
            return 0
        entries = self._indexer.embed(
            [(entry.content, entry.author, entry.created_at) for entry in words], self._clock()
        )
        pairs = [(entry.id, indexed) for entry, indexed in zip(words, entries, strict=True)]
        self._database.write(
            reach, lambda transaction: IndexRows(transaction, self._indexer.generation).set_indexed(session, pairs)
        )
        if not self._index.immediate:
            self._put(reach, session, [entry.id for entry in words])
        return len(words)

    def _put(self, reach: Reach, session: SessionId, waiting: list[MessageId]) -> None:
        """A new message changes what its neighbours before it borrow, so they are put again with it."""
        first = waiting[0] - NEIGHBOURS
        with self._database.read(reach) as transaction:
            rows = IndexRows(transaction, self._indexer.generation).points(session, after=first - NEIGHBOURS - 1)
        run = [
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
            for message, role, author, created_at, vector, terms in rows
        ]
        self._index.put(run, first)
        now = self._clock()
        self._database.write(
            reach, lambda transaction: IndexRows(transaction, self._indexer.generation).mark_indexed(waiting, now)
        )
