"""The exact index: each pool in use is cached as a block in memory, made only of that pool's rows. Small pools are scanned in
full; large ones in two stages, which read the vectors of candidates from storage.

Index rows in the database are authoritative; a block is brought up to date by comparing pool versions, whichever process wrote
the rows. Blocks share nothing, and the least recently used are evicted above a byte limit.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from cloister.domain.identifiers import SessionId
from cloister.domain.recall.ranking import Evidence
from cloister.index.exact.block import EmbedQuery, PoolBlock
from cloister.index.exact.columns import rows_of
from cloister.index.exact.derived import DerivedBlocks
from cloister.index.exact.large.block import LargeBlock
from cloister.index.interface import (
    DEPTH,
    DerivedReader,
    EntityReader,
    Ids,
    PoolIndex,
    PoolReader,
    Row,
    SnapshotTooOld,
)

# So many rows still fit into the CPU cache when they are copied into columns.
_CHUNK = 4_000
LARGE = 32_768
"""The number of messages from which a pool is answered in two stages: below it a full scan is about as fast."""


class ExactIndex:
    """Cached blocks by pool. It reads committed rows itself, so the next question already finds them."""

    def __init__(self, embed_query: EmbedQuery, dimension: int, byte_limit: int, large: int = LARGE) -> None:
        """Pools of at least `large` messages are answered in two stages, all others by a full scan."""
        self._large = large
        self._embed_query = embed_query
        self._dimension = dimension
        self._byte_limit = byte_limit
        self._blocks: OrderedDict[tuple[int, int], _CachedBlock] = OrderedDict()
        self._derived = DerivedBlocks(embed_query, dimension)
        self._lock = threading.Lock()

    def within(self, pool: PoolReader) -> "_ExactPool":
        return _ExactPool(self._cached_block(pool), pool, self._embed_query, self)

    def memories_within(self, pool: DerivedReader) -> PoolIndex:
        return self._derived.within(pool)

    def entities_within(self, entities: EntityReader) -> PoolIndex:
        return self._derived.within(entities)

    def close(self) -> None:
        self._derived.clear()
        with self._lock:
            self._blocks.clear()

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(cached.nbytes for cached in self._blocks.values())

    def make_room(self) -> None:
        """Evict the least recently used blocks; the most recently used one stays, whatever its size."""
        with self._lock:
            total = sum(cached.nbytes for cached in self._blocks.values())
            while total > self._byte_limit and len(self._blocks) > 1:
                _, oldest = self._blocks.popitem(last=False)
                total -= oldest.nbytes

    def _cached_block(self, pool: PoolReader) -> "_CachedBlock":
        key = (pool.tenant, pool.pool)
        with self._lock:
            cached = self._blocks.get(key)
            if cached is None:
                cached = self._blocks[key] = _CachedBlock(self._dimension, self._large)
            self._blocks.move_to_end(key)
            return cached


class _ExactPool:
    """The index of one pool at one snapshot."""

    def __init__(self, cached: "_CachedBlock", pool: PoolReader, embed_query: EmbedQuery, index: ExactIndex) -> None:
        self._cached = cached
        self._pool = pool
        self._embed_query = embed_query
        self._index = index

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        with self._cached.lock:
            changed = self._cached.follow(self._pool)
            evidence = self._cached.evidence(question, asked_at, self._embed_query, self._pool, depth, session, allowed)
        if changed:
            self._index.make_room()
        return evidence


class _CachedBlock:
    """A block and the version of the pool that it was built from. A pool becomes a large block when it has grown to `large` rows,
    and a small one again when it has shrunk to half of that."""

    def __init__(self, dimension: int, large: int) -> None:
        self.lock = threading.Lock()
        self._dimension = dimension
        self._large = large
        self._empty()

    def _empty(self) -> None:
        self._block: PoolBlock | LargeBlock = PoolBlock(self._dimension)
        self.nbytes = 0
        self._version: int | None = None

    def evidence(
        self,
        question: str,
        asked_at: int,
        embed_query: EmbedQuery,
        pool: PoolReader,
        depth: int,
        session: SessionId | None,
        allowed: Ids | None,
    ) -> Evidence:
        if isinstance(self._block, LargeBlock):
            return self._block.evidence(question, embed_query, pool.vectors, depth, session, asked_at, allowed)
        return self._block.evidence(question, embed_query, asked_at)

    def follow(self, pool: PoolReader) -> bool:
        """Update the block to the reader's snapshot; returns whether anything changed. A failure half-way empties the block."""
        version, removed_version = pool.state()
        if self._version == version:
            return False
        if self._version is not None and self._version > version:
            raise SnapshotTooOld
        try:
            if self._version is None:
                self._load(pool, pool.size() >= self._large)
            else:
                self._catch_up(pool, self._version, removed_version)
            if self._outgrown():
                self._load(pool, len(self._block) >= self._large)
        except BaseException:  # a block that was changed by half would give wrong answers
            self._empty()
            raise
        self._version = version
        self.nbytes = self._block.nbytes
        return True

    def _outgrown(self) -> bool:
        if isinstance(self._block, LargeBlock):
            return 2 * len(self._block) < self._large
        return len(self._block) >= self._large

    def _load(self, pool: PoolReader, large: bool) -> None:
        self._block = LargeBlock(self._dimension) if large else PoolBlock(self._dimension)
        self._block.reserve(pool.size())
        self._append(pool, pool.all_rows())

    def _catch_up(self, pool: PoolReader, version: int, removed_version: int) -> None:
        gone = self._block.sessions.difference(pool.members()) if removed_version > version else set[int]()
        changes = pool.changes(version)
        rebuilt = {session for session, rebuilt_version in changes if rebuilt_version > version}
        after = {session: 0 if session in rebuilt else self._block.last_message(session) for session, _ in changes}
        self._block.drop(gone | rebuilt)
        self._append(pool, (row for session in after for row in pool.session_rows(SessionId(session), after[session])))

    def _append(self, pool: PoolReader, rows: Iterable[Row]) -> None:
        batches = rows_of(rows, _CHUNK)
        if isinstance(self._block, LargeBlock):
            self._block.append(batches, pool.vectors)
        else:
            self._block.append(batches)
