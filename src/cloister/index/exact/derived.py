"""The index of what derives: memories of a pool, entities of a project. Few rows, so a block is made anew when they change.

The same kind of block as for messages, of rows without neighbours; always in memory and exact.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable

from cloister.domain.recall.ranking import Evidence, no_evidence
from cloister.index.exact.block import EmbedQuery, PoolBlock
from cloister.index.exact.columns import rows_of
from cloister.index.interface import DerivedReader, SnapshotTooOld

_CHUNK = 4_000
_MOST_BYTES = 64_000_000


class DerivedBlocks:
    """Blocks by kind, tenant and place; the least recently used give way under a byte limit."""

    def __init__(self, embed_query: EmbedQuery, dimension: int, byte_limit: int = _MOST_BYTES) -> None:
        self._embed_query = embed_query
        self._dimension = dimension
        self._byte_limit = byte_limit
        self._blocks: OrderedDict[tuple[str, int, Hashable], tuple[int, PoolBlock]] = OrderedDict()
        self._lock = threading.Lock()

    def within(self, reader: DerivedReader) -> "_DerivedPlace":
        return _DerivedPlace(self, reader, self._embed_query)

    def block(self, reader: DerivedReader) -> PoolBlock | None:
        """What the place holds at the reader's moment; none where there is no such place."""
        version = reader.version()
        if version is None:
            return None
        key = (reader.kind, reader.tenant, reader.partition)
        with self._lock:
            stored = self._blocks.get(key)
            if stored is not None:
                self._blocks.move_to_end(key)
        if stored is not None and stored[0] == version:
            return stored[1]
        if stored is not None and stored[0] > version:
            raise SnapshotTooOld
        block = PoolBlock(self._dimension)
        block.append(rows_of(reader.all_rows(), _CHUNK))
        with self._lock:
            current = self._blocks.get(key)
            if current is None or current[0] < version:
                self._blocks[key] = (version, block)
            self._make_room()
        return block

    def clear(self) -> None:
        with self._lock:
            self._blocks.clear()

    def _make_room(self) -> None:
        total = sum(block.nbytes for _, block in self._blocks.values())
        while total > self._byte_limit and len(self._blocks) > 1:
            _, (_, oldest) = self._blocks.popitem(last=False)
            total -= oldest.nbytes


class _DerivedPlace:
    """One place at one moment."""

    def __init__(self, blocks: DerivedBlocks, reader: DerivedReader, embed_query: EmbedQuery) -> None:
        self._blocks = blocks
        self._reader = reader
        self._embed_query = embed_query

    def evidence(self, question: str) -> Evidence:
        block = self._blocks.block(self._reader)
        return block.evidence(question, self._embed_query) if block is not None and len(block) else no_evidence()
