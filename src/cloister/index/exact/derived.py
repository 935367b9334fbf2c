"""The exact index of memories (by pool) and entities (by project). They are few, so a block is rebuilt whenever they change.

It uses the same blocks as messages do, with every row in a session of its own.
"""

from collections.abc import Hashable

from cloister.domain.identifiers import SessionId
from cloister.domain.recall.ranking import Evidence, no_evidence
from cloister.index.cache import CachePart, PoolCache
from cloister.index.exact.block import EmbedQuery, PoolBlock
from cloister.index.exact.columns import rows_of
from cloister.index.interface import DEPTH, DerivedReader, Ids, SnapshotTooOld

_CHUNK = 4_000


class DerivedBlocks:
    """Blocks by kind, tenant and partition, each with its version; a partition without rows has a version and no block."""

    def __init__(self, embed_query: EmbedQuery, dimension: int, cache: PoolCache) -> None:
        self._embed_query = embed_query
        self._dimension = dimension
        self._blocks = CachePart[tuple[int, PoolBlock | None]](cache, "derived")

    def within(self, reader: DerivedReader) -> "_DerivedPartition":
        return _DerivedPartition(self, reader, self._embed_query)

    def block(self, reader: DerivedReader) -> PoolBlock | None:
        """The block of the reader's partition at its snapshot, or None if it has no rows."""
        version = reader.version()
        if version is None:
            return None
        key: Hashable = (reader.kind, reader.tenant, reader.partition)
        stored = self._blocks.get(key)
        if stored is not None and stored[0] == version:
            return stored[1]
        if stored is not None and stored[0] > version:
            raise SnapshotTooOld
        block = PoolBlock(self._dimension)
        block.append(rows_of(reader.all_rows(), _CHUNK))
        found = block if len(block) else None
        current = self._blocks.get(key)
        # Another thread may put a later version meanwhile: a question of that version then reads the rows again.
        if current is None or current[0] < version:
            self._blocks.put(key, (version, found), 0 if found is None else found.nbytes)
        return found


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
        if block is None:
            return no_evidence()
        return block.evidence(question, self._embed_query, asked_at)
