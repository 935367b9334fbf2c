"""The index of what derives: memories of a pool, entities of a project. Few rows, so a block is made anew when they change.

The same kind of block as for messages, of rows without neighbours; always in memory and exact, whatever index the messages have.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Protocol

from cloister.domain.ranking import Evidence
from cloister.index.block import EmbedQuery, PoolBlock
from cloister.index.columns import rows_of
from cloister.index.interface import Row, SnapshotTooOld

_CHUNK = 4_000


class DerivedReader(Protocol):
    """The rows of one place at one moment. `kind` and `place` name it inside its tenant."""

    @property
    def kind(self) -> str: ...

    @property
    def tenant(self) -> int: ...

    @property
    def place(self) -> Hashable: ...

    def version(self) -> int | None:
        """None where there is no such place."""
        ...

    def all_rows(self) -> Iterator[Row]: ...


class DerivedIndex:
    """Blocks by kind, tenant and place; the least recently used give way under a byte limit."""

    def __init__(self, embed_query: EmbedQuery, dimension: int, byte_limit: int) -> None:
        self._embed_query = embed_query
        self._dimension = dimension
        self._byte_limit = byte_limit
        self._blocks: OrderedDict[tuple[str, int, Hashable], tuple[int, PoolBlock]] = OrderedDict()
        self._lock = threading.Lock()

    def evidence(self, reader: DerivedReader, question: str) -> Evidence | None:
        """What speaks for each row of the place; none where it is empty."""
        version = reader.version()
        block = None if version is None else self._block(reader, version)
        return None if block is None or not len(block) else block.evidence(question, self._embed_query)

    def _block(self, reader: DerivedReader, version: int) -> PoolBlock:
        key = (reader.kind, reader.tenant, reader.place)
        with self._lock:
            held = self._blocks.get(key)
            if held is not None:
                self._blocks.move_to_end(key)
        if held is not None and held[0] == version:
            return held[1]
        if held is not None and held[0] > version:
            raise SnapshotTooOld
        block = PoolBlock(self._dimension)
        block.append(rows_of(reader.all_rows(), _CHUNK))
        with self._lock:
            current = self._blocks.get(key)
            if current is None or current[0] < version:
                self._blocks[key] = (version, block)
            self._make_room()
        return block

    def _make_room(self) -> None:
        total = sum(block.nbytes for _, block in self._blocks.values())
        while total > self._byte_limit and len(self._blocks) > 1:
            _, (_, oldest) = self._blocks.popitem(last=False)
            total -= oldest.nbytes
