"""The exact index of memories (by pool) and entities (by project). They are few, so a block is rebuilt whenever they change.

It uses the same blocks as messages do, with every row in a session of its own.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

from cloister.domain.identifiers import SessionId
from cloister.domain.recall.ranking import Evidence, no_evidence
from cloister.index.exact.block import EmbedQuery, PoolBlock
from cloister.index.exact.columns import rows_of
from cloister.index.interface import DEPTH, DerivedReader, Ids, SnapshotTooOld

_CHUNK = 4_000
_MOST_BYTES = 64_000_000


class _StoredBlock(NamedTuple):
    """A block with the version that it was built at, and its size, which is counted once: there are thousands of blocks."""

    version: int
    block: PoolBlock
    nbytes: int


class DerivedBlocks:
    """Blocks by kind, tenant and partition; the least recently used are evicted above a byte limit."""

    def __init__(self, embed_query: EmbedQuery, dimension: int, byte_limit: int = _MOST_BYTES) -> None:
        self._embed_query = embed_query
        self._dimension = dimension
        self._byte_limit = byte_limit
        self._blocks: OrderedDict[tuple[str, int, Hashable], _StoredBlock] = OrderedDict()
        self._lock = threading.Lock()

    def within(self, reader: DerivedReader) -> "_DerivedPartition":
        return _DerivedPartition(self, reader, self._embed_query)

    def block(self, reader: DerivedReader) -> PoolBlock | None:
        """The block of the reader's partition at its snapshot, or None if there is no such partition."""
        version = reader.version()
        if version is None:
            return None
        key = (reader.kind, reader.tenant, reader.partition)
        with self._lock:
            stored = self._blocks.get(key)
            if stored is not None:
                self._blocks.move_to_end(key)
        if stored is not None and stored.version == version:
            return stored.block
        if stored is not None and stored.version > version:
            raise SnapshotTooOld
        block = PoolBlock(self._dimension)
        block.append(rows_of(reader.all_rows(), _CHUNK))
        with self._lock:
            current = self._blocks.get(key)
            if current is None or current.version < version:
                self._blocks[key] = _StoredBlock(version, block, block.nbytes)
            self._make_room()
        return block

    def clear(self) -> None:
        with self._lock:
            self._blocks.clear()

    def _make_room(self) -> None:
        total = sum(stored.nbytes for stored in self._blocks.values())
        while total > self._byte_limit and len(self._blocks) > 1:
            _, oldest = self._blocks.popitem(last=False)
            total -= oldest.nbytes


class _DerivedPartition:
    """The index of one partition at one snapshot."""

    def __init__(self, blocks: DerivedBlocks, reader: DerivedReader, embed_query: EmbedQuery) -> None:
        self._blocks = blocks
        self._reader = reader
        self._embed_query = embed_query

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        block = self._blocks.block(self._reader)
        if block is None or not len(block):
            return no_evidence()
        return block.evidence(question, self._embed_query, asked_at)
