"""The exact index: each pool in use is a block in memory, made only of that pool's rows and scanned whole.

The rows beside the messages are the truth; a block follows them by the pool's version, whoever wrote. Nothing is shared between
blocks, and the least recently used give way under a byte limit.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from cloister.domain.identifiers import SessionId
from cloister.domain.recall.ranking import Evidence
from cloister.index.exact.block import EmbedQuery, PoolBlock
from cloister.index.exact.columns import rows_of
from cloister.index.exact.derived import DerivedBlocks
from cloister.index.interface import (
    DerivedReader,
    EntityPoint,
    EntityReader,
    Point,
    PoolIndex,
    PoolReader,
    Row,
    SnapshotTooOld,
)

# So many rows are still in the processor's cache when they are copied into columns.
_CHUNK = 4_000


class ExactIndex:
    """Blocks by pool. What storage committed is found by the next question."""

    immediate = True

    def __init__(self, embed_query: EmbedQuery, dimension: int, byte_limit: int) -> None:
        self._embed_query = embed_query
        self._dimension = dimension
        self._byte_limit = byte_limit
        self._blocks: OrderedDict[tuple[int, int], _Held] = OrderedDict()
        self._derived = DerivedBlocks(embed_query, dimension)
        self._lock = threading.Lock()

    def within(self, pool: PoolReader) -> "_ExactPool":
        return _ExactPool(self._hold(pool), pool, self._embed_query, self)

    def memories_within(self, pool: DerivedReader) -> PoolIndex:
        return self._derived.within(pool)

    def entities_within(self, place: EntityReader) -> PoolIndex:
        return self._derived.within(place)

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        """The rows themselves are the index."""

    def forget_sessions(self, sessions: Sequence[int]) -> None:
        """The rows themselves are the index."""

    def forget_messages(self, messages: Sequence[int]) -> None:
        """The rows themselves are the index."""

    def put_entities(self, entities: Sequence[EntityPoint]) -> None:
        """The rows themselves are the index."""

    def forget_entities(self, entities: Sequence[int]) -> None:
        """The rows themselves are the index."""

    def close(self) -> None:
        self._derived.clear()
        with self._lock:
            self._blocks.clear()

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(stored.nbytes for stored in self._blocks.values())

    def make_room(self) -> None:
        """Let go of the least recently used blocks; the last one used stays, whatever its size."""
        with self._lock:
            total = sum(stored.nbytes for stored in self._blocks.values())
            while total > self._byte_limit and len(self._blocks) > 1:
                _, oldest = self._blocks.popitem(last=False)
                total -= oldest.nbytes

    def _hold(self, pool: PoolReader) -> "_Held":
        key = (pool.tenant, pool.pool)
        with self._lock:
            stored = self._blocks.get(key)
            if stored is None:
                stored = self._blocks[key] = _Held(self._dimension)
            self._blocks.move_to_end(key)
            return stored


class _ExactPool:
    """One pool at one moment."""

    def __init__(self, stored: "_Held", pool: PoolReader, embed_query: EmbedQuery, index: ExactIndex) -> None:
        self._stored = stored
        self._pool = pool
        self._embed_query = embed_query
        self._index = index

    def evidence(self, question: str) -> Evidence:
        with self._stored.lock:
            changed = self._stored.follow(self._pool)
            evidence = self._stored.block.evidence(question, self._embed_query)
        if changed:
            self._index.make_room()
        return evidence


class _Held:
    """A block and the version of the pool that it shows."""

    def __init__(self, dimension: int) -> None:
        self.lock = threading.Lock()
        self._dimension = dimension
        self._empty()

    def _empty(self) -> None:
        self.block = PoolBlock(self._dimension)
        self.nbytes = 0
        self._version: int | None = None

    def follow(self, pool: PoolReader) -> bool:
        """Bring the block to the reader's snapshot; says whether anything changed. A failure half-way empties the block."""
        version, removed_version = pool.state()
        if self._version == version:
            return False
        if self._version is not None and self._version > version:
            raise SnapshotTooOld
        try:
            if self._version is None:
                self.block.reserve(pool.size())
                self._append(pool.all_rows())
            else:
                self._catch_up(pool, self._version, removed_version)
        except BaseException:
            self._empty()
            raise
        self._version = version
        self.nbytes = self.block.nbytes
        return True

    def _catch_up(self, pool: PoolReader, version: int, removed_version: int) -> None:
        stored = self.block.sessions
        gone = set(stored).difference(pool.members()) if removed_version > version else set[int]()
        changes = pool.changes(version)
        rebuilt = {session for session, rebuilt_version in changes if rebuilt_version > version}
        after = {session: 0 if session in rebuilt else stored.get(session, 0) for session, _ in changes}
        self.block.drop(gone | rebuilt)
        self._append(row for session in after for row in pool.session_rows(SessionId(session), after[session]))

    def _append(self, rows: Iterable[Row]) -> None:
        self.block.append(rows_of(rows, _CHUNK))
