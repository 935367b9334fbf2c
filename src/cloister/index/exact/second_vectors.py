"""The vectors of an additional embedder in memory: one matrix for each pool in use, beside the exact index or any other.

A matrix follows its pool's versions as a block does, and is made only of that pool's rows. It is asked for the similarities of ids
that an index returned; ids without a vector get NaN.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from cloister.domain.identifiers import SEQUENCE_BITS, PoolId, SessionId
from cloister.index import terms
from cloister.index.cache import CachePart, PoolCache, bytes_of
from cloister.index.exact.columns import Column
from cloister.index.exact.windows import NONE, Windows, preceding_rows, row_products
from cloister.index.interface import Row, SnapshotTooOld

_CHUNK = 4_000
# Of fewer messages the lowest similarity is what is usual.
_MANY = 20


class Similarities(NamedTuple):
    """The similarities of some messages to a question, NaN where a message has no vector: of their windows, and of themselves; and
    what is usual for a window of the whole pool."""

    windowed: npt.NDArray[np.float32]
    own: npt.NDArray[np.float32]
    usual: float


class VectorReader(Protocol):
    """The vectors of one model in one pool at one snapshot: (message id, vector, bytes of its terms)."""

    @property
    def tenant(self) -> int: ...

    @property
    def pool(self) -> PoolId: ...

    def state(self) -> tuple[int, int, int]: ...

    def members(self) -> list[SessionId]: ...

    def rebuilt(self, version: int) -> list[SessionId]: ...

    def extended(self, vectors_version: int) -> list[SessionId]: ...

    def all_rows(self) -> Iterator[Row]: ...

    def session_rows(self, session: SessionId, after: int) -> list[Row]: ...


class SecondVectors:
    """Cached matrices by pool, all of one model; a pool without vectors has none."""

    def __init__(self, cache: PoolCache) -> None:
        self._matrices = CachePart[_CachedMatrix](cache, "second vectors")

    def similarities(
        self, pool: VectorReader, ids: npt.NDArray[np.int64], query: npt.NDArray[np.float32]
    ) -> Similarities | None:
        """The similarities of messages to the query; None if none has a vector."""
        key = (pool.tenant, pool.pool)
        cached = self._matrices.get_or_make(key, _CachedMatrix)
        changed = True
        try:
            with cached.lock:
                changed = cached.follow(pool)
                return cached.matrix.similarities(ids, query)
        finally:
            if changed:
                self._matrices.resize(key, cached, cached.matrix.nbytes)


class _CachedMatrix:
    """A matrix, and the versions of the pool that it was built from."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._empty()

    def _empty(self) -> None:
        self.matrix = VectorMatrix()
        self._versions: tuple[int, int] | None = None

    def follow(self, pool: VectorReader) -> bool:
        """Update the matrix to the reader's snapshot; returns whether anything changed. A failure half-way empties it."""
        version, removed_version, vectors_version = pool.state()
        if self._versions == (version, vectors_version):
            return False
        if self._versions is not None and (self._versions[0] > version or self._versions[1] > vectors_version):
            raise SnapshotTooOld
        try:
            if self._versions is None:
                self.matrix.append(pool.all_rows())
            else:
                self._catch_up(pool, *self._versions, removed_version)
        except BaseException:  # a matrix that was changed by half would give wrong answers
            self._empty()
            raise
        self._versions = (version, vectors_version)
        return True

    def _catch_up(self, pool: VectorReader, version: int, vectors_version: int, removed_version: int) -> None:
        known = self.matrix.sessions
        gone = set(known).difference(pool.members()) if removed_version > version else set[int]()
        rebuilt = set(pool.rebuilt(version))
        self.matrix.drop(gone | rebuilt)
        known = self.matrix.sessions
        for session in sorted(rebuilt.union(pool.extended(vectors_version))):
            self.matrix.append(pool.session_rows(session, known.get(session, 0)))


class VectorMatrix:
    """The vectors of messages, their ids, and their windows. Rows of one session come in the order of their ids."""

    def __init__(self) -> None:
        self._ids = Column(np.int64)
        self._lengths = Column(np.float32)
        self._vectors = Column(np.float16, 0)
        self._windows = Windows()
        self._last_rows: dict[int, int] = {}
        self._asked: npt.NDArray[np.int64] | None = None
        self._rows_asked = np.empty(0, np.intp)

    @property
    def sessions(self) -> dict[int, int]:
        """The id of the last message of each session in the matrix."""
        ids = self._ids.live
        return {session: int(ids[row]) for session, row in self._last_rows.items()}

    @property
    def nbytes(self) -> int:
        """The bytes of all rows, and of the ids that were asked for last; 0 without rows."""
        if not self._last_rows:
            return 0
        columns = sum(part.nbytes for part in (self._ids, self._lengths, self._vectors, self._windows))
        return columns + bytes_of(self._last_rows) + 2 * self._ids.nbytes

    def append(self, rows: Iterable[Row]) -> None:
        remaining = iter(rows)
        while batch := list(islice(remaining, _CHUNK)):
            self._add(cast(list[tuple[int, bytes, int]], batch))
        self._asked = None

    def _add(self, rows: Sequence[tuple[int, bytes, int]]) -> None:
        if not self._last_rows:
            self._vectors = Column(np.float16, len(rows[0][1]) // 2)
        width = self._vectors.live.shape[1]
        rows = [row for row in rows if len(row[1]) == 2 * width]
        if not rows:
            return
        begin = len(self._ids.live)
        self._ids.extend(len(rows))[:] = [row[0] for row in rows]
        self._lengths.extend(len(rows))[:] = [row[2] // terms.BYTES for row in rows]
        joined = np.frombuffer(b"".join(row[1] for row in rows), "<f2")
        self._vectors.extend(len(rows))[:] = joined.reshape(len(rows), width)
        sessions = self._ids.live[begin:] >> SEQUENCE_BITS
        previous = preceding_rows(self._last_rows, sessions, begin)
        self._windows.extend(previous, self._lengths.live, self._vectors.live)

    def drop(self, session_ids: Iterable[int]) -> None:
        """Remove whole sessions."""
        gone = [session for session in session_ids if session in self._last_rows]
        if not gone:
            return
        ids = self._ids.live
        kept = np.flatnonzero(~np.isin(ids >> SEQUENCE_BITS, gone))
        new_rows = np.full(len(ids), NONE, np.intp)
        new_rows[kept] = np.arange(len(kept))
        for part in (self._ids, self._lengths, self._vectors):
            part.keep(kept)
        self._windows.keep(kept, new_rows)
        for session in gone:
            del self._last_rows[session]
        self._last_rows = {session: int(new_rows[row]) for session, row in self._last_rows.items()}
        self._asked = None

    def similarities(self, ids: npt.NDArray[np.int64], query: npt.NDArray[np.float32]) -> Similarities | None:
        """See `SecondVectors`. A query of another length than the vectors finds nothing: the model was replaced under its name."""
        if not self._last_rows or len(query) != self._vectors.live.shape[1]:
            return None
        products = row_products(self._vectors.live, query.astype(np.float16))
        windowed = self._windows.semantic(products)
        rows = self._rows_of(ids)
        known = rows != NONE
        if not known.any():
            return None
        found, own = (np.full(len(ids), np.nan, np.float32) for _ in range(2))
        found[known], own[known] = windowed[rows[known]], products[rows[known]]
        usual = np.median(windowed) if len(windowed) >= _MANY else windowed.min()
        return Similarities(found, own, float(usual))

    def _rows_of(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """The row of each id, or `NONE`; the ids of the question before are often the same."""
        if self._asked is None or not np.array_equal(self._asked, ids):
            order = np.argsort(self._ids.live)
            at = np.minimum(np.searchsorted(self._ids.live, ids, sorter=order), len(order) - 1)
            rows = order[at]
            self._rows_asked = np.where(self._ids.live[rows] == ids, rows, NONE)
            self._asked = ids.copy()
        return self._rows_asked
