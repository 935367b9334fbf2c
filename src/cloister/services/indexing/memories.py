"""Index memories: at a write, or later where the embedder is slow or has changed.

Memories are never points of an external index, so only a slow embedder leaves them in the queue.
"""

from collections.abc import Iterator, Sequence

from cloister.domain.identifiers import SessionId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.indexing.indexer import Indexer
from cloister.storage.interface import Database
from cloister.storage.stores.indexing.derived_index_rows import MemoryIndexStore, MemoryWords
from cloister.storage.stores.messages import Indexed

_CHUNK = 200


class MemoryIndexing:
    """Every step is idempotent, and may run in two processes at once."""

    def __init__(self, database: Database, indexer: Indexer, clock: Clock) -> None:
        self._database = database
        self._indexer = indexer
        self._clock = clock

    def prepare(self, contents: Sequence[str], now: int) -> list[Indexed]:
        """The index rows of new memories; a slow embedder leaves the vectors to the queue."""
        if not contents:
            return []
        return self._indexer.prepare([(content, None, now) for content in contents], now, is_a_point=False)

    def index_waiting(self, reach: Reach, session: SessionId) -> int:
        """Index some of a session's memories in the queue; returns how many."""
        with self._database.read(reach) as transaction:
            waiting = MemoryIndexStore(transaction, self._indexer.generation).waiting(session, limit=_CHUNK)
        if waiting:
            self._keep(reach, session, waiting)
        return len(waiting)

    def rebuild(self, reach: Reach, session: SessionId, *, everything: bool) -> Iterator[int]:
        """Index a session's memories of other generations, or all; yields how many after each step."""
        after = 0
        while words := self._words(reach, session, after, everything):
            self._keep(reach, session, words)
            after = words[-1].id
            yield len(words)

    def _words(self, reach: Reach, session: SessionId, after: int, everything: bool) -> list[MemoryWords]:
        with self._database.read(reach) as transaction:
            rows = MemoryIndexStore(transaction, self._indexer.generation)
            return rows.words(session, after=after, limit=_CHUNK, all_generations=everything)

    def _keep(self, reach: Reach, session: SessionId, words: Sequence[MemoryWords]) -> None:
        """Embed and store; no transaction is open while the embedder works."""
        said = [(one.content, None, one.created_at) for one in words]
        indexed = self._indexer.embed(said, self._clock(), is_a_point=False)
        entries = [(one.id, made) for one, made in zip(words, indexed, strict=True)]
        self._database.write(
            reach,
            lambda transaction: MemoryIndexStore(transaction, self._indexer.generation).set_indexed(session, entries),
        )
