"""The exact index: each pool in use is cached as a block in memory, made only of that pool's rows. Small pools are scanned in
full; large ones in two stages, which read the vectors of candidates from storage.

Index rows in the database are authoritative; a block is brought up to date by comparing pool versions, whichever process wrote
the rows. Blocks share nothing but the limit of their cache; a pool without messages has none.
"""

import threading
from collections.abc import Callable, Iterable
from itertools import chain

from cloister.domain.identifiers import SessionId
from cloister.domain.recall.ranking import Evidence, no_evidence
from cloister.index.cache import CachePart, PoolCache
from cloister.index.exact.block import EmbedQuery, PoolBlock
from cloister.index.exact.columns import Rows, rows_of
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
        self.cache = PoolCache(byte_limit)
        self._blocks = CachePart[_CachedBlock](self.cache, "messages")
        self._derived = DerivedBlocks(embed_query, dimension, self.cache)

    def within(self, pool: PoolReader) -> "_ExactPool":
        return _ExactPool(self._blocks, self._new_block, pool, self._embed_query)

    def memories_within(self, pool: DerivedReader) -> PoolIndex:
        return self._derived.within(pool)

    def entities_within(self, entities: EntityReader) -> PoolIndex:
        return self._derived.within(entities)

    def close(self) -> None:
        self.cache.clear()

    def _new_block(self) -> "_CachedBlock":
        return _CachedBlock(self._dimension, self._large)


class _ExactPool:
    """The index of one pool at one snapshot."""

    def __init__(
        self,
        blocks: "CachePart[_CachedBlock]",
        new_block: "Callable[[], _CachedBlock]",
        pool: PoolReader,
        embed_query: EmbedQuery,
    ) -> None:
        self._blocks = blocks
        self._new_block = new_block
        self._pool = pool
        self._embed_query = embed_query

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        key = (self._pool.tenant, self._pool.pool)
        cached = self._blocks.get_or_make(key, self._new_block)
        changed = True
        try:
            with cached.lock:
                changed = cached.follow(self._pool)
                return cached.evidence(question, asked_at, self._embed_query, self._pool, depth, session, allowed)
        finally:
            if changed:
                self._blocks.resize(key, cached, cached.nbytes)


class _CachedBlock:
    """A block and the version of the pool that it was built from; no block of a pool without rows. A pool becomes a large block
    when it has grown to `large` rows, and a small one again when it has shrunk to half of that."""

    def __init__(self, dimension: int, large: int) -> None:
        self.lock = threading.Lock()
        self._dimension = dimension
        self._large = large
        self._empty()

    def _empty(self) -> None:
        self._block: PoolBlock | LargeBlock | None = None
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
        if self._block is None:
            return no_evidence()
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
            if self._block is None or self._version is None:
                block = self._loaded(pool, pool.size())
            else:
                block = self._updated(self._block, pool, self._version, removed_version)
                if self._outgrown(block):
                    block = self._loaded(pool, len(block))
        except BaseException:  # a block that was changed by half would give wrong answers
            self._empty()
            raise
        if block is None or not len(block):
            self._empty()
        else:
            self._block, self._version, self.nbytes = block, version, block.nbytes
        return True

    def _outgrown(self, block: PoolBlock | LargeBlock) -> bool:
        if isinstance(block, LargeBlock):
            return 2 * len(block) < self._large
        return len(block) >= self._large

    def _loaded(self, pool: PoolReader, size: int) -> PoolBlock | LargeBlock | None:
        """A block of all rows of the pool, about `size` of them; None if it has none."""
        batches = rows_of(pool.all_rows(), _CHUNK)
        first = next(batches, None)
        if first is None:
            return None
        block = LargeBlock(self._dimension) if size >= self._large else PoolBlock(self._dimension)
        block.reserve(max(size, len(first)))
        _append(block, pool, chain((first,), batches))
        return block

    def _updated(
        self, block: PoolBlock | LargeBlock, pool: PoolReader, version: int, removed_version: int
    ) -> PoolBlock | LargeBlock:
        gone = block.sessions.difference(pool.members()) if removed_version > version else set[int]()
        changes = pool.changes(version)
        rebuilt = {session for session, rebuilt_version in changes if rebuilt_version > version}
        after = {session: 0 if session in rebuilt else block.last_message(session) for session, _ in changes}
        block.drop(gone | rebuilt)
        rows: Iterable[Row] = (
            row for session in after for row in pool.session_rows(SessionId(session), after[session])
        )
        _append(block, pool, rows_of(rows, _CHUNK))
        return block


def _append(block: PoolBlock | LargeBlock, pool: PoolReader, batches: Iterable[Rows]) -> None:
    if isinstance(block, LargeBlock):
        block.append(batches, pool.vectors)
    else:
        block.append(batches)
