"""Which memories of a pool are true (MEM-12): columns besides those of the index, read when the pool's memories have changed.

Time passes without a write, so what has expired is decided at every question and never stored.
"""

from collections.abc import Collection
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from cloister.domain.truth.subject_words import subject_name
from cloister.index.cache import CachePart, PoolCache, bytes_of
from cloister.storage.stores.memories import StoredMemories

Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
MOST_PINNED = 20
"""How many pinned memories a context has at most."""
_NEVER = (1 << 63) - 1
# The bytes of the object itself and of its arrays besides their data, and of a subject with its list.
_OBJECT_BYTES = 1_600
_SUBJECT_BYTES = 200


class MemoryValidity:
    """The columns of the memories of one pool, in the order of their ids."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        ordered = sorted(rows)
        said: dict[tuple[str | None, bytes], int] = {}
        self.ids: Ids = np.array([row[0] for row in ordered], np.int64)
        self._said = np.array([said.setdefault((row[1], row[2]), len(said)) for row in ordered], np.int64)
        self._created = np.array([row[3] for row in ordered], np.int64)
        self._from = np.array([row[4] for row in ordered], np.int64)
        self._until = _times([row[5] for row in ordered])
        self._current = np.array([row[6] is None for row in ordered], np.bool_)
        self._stands = np.array([row[7] is None for row in ordered], np.bool_)
        self._expires = _times([row[8] for row in ordered])
        self._pinned = np.array([bool(row[9]) for row in ordered], np.bool_)
        self._repeats = len(said) < len(ordered)
        self._subjects: dict[str, list[int]] = {}
        for at, row in enumerate(ordered):
            if row[10] is not None:
                self._subjects.setdefault(subject_name(row[10]), []).append(at)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        columns = (self.ids, self._said, self._created, self._from, self._until, self._expires)
        flags = (self._current, self._stands, self._pinned)
        positions = 8 * sum(map(len, self._subjects.values()))
        data = sum(column.nbytes for column in columns) + sum(flag.nbytes for flag in flags)
        return _OBJECT_BYTES + data + bytes_of(self._subjects, _SUBJECT_BYTES) + positions

    def true_at(self, now: int, *, as_of: int | None, with_past: bool) -> Mask:
        """The memories that are true now, or were at another time; with those of the past if the question asks for it. Never those
        that were retracted."""
        if as_of is not None:
            return self._stands & (self._from <= as_of) & (as_of < self._until) & (as_of < self._expires)
        true = self._stands & (now < self._expires)
        return true if with_past else true & self._current

    def among(self, ids: Ids) -> Mask:
        return np.isin(self.ids, ids)

    def distinct(self, mask: Mask) -> Mask:
        """Of equal memories of one user only the newest."""
        if not self._repeats:
            return mask
        positions = np.flatnonzero(mask)
        newest_first = positions[np.lexsort((-self.ids[positions], -self._created[positions]))]
        _, first = np.unique(self._said[newest_first], return_index=True)
        kept = np.zeros(len(mask), np.bool_)
        kept[newest_first[first]] = True
        return kept

    def about(self, subjects: Collection[str], mask: Mask) -> list[int]:
        """The ids of memories about one of these subjects, newest first."""
        positions = [at for subject in subjects for at in self._subjects.get(subject, ()) if mask[at]]
        positions.sort(key=lambda at: (int(self._from[at]), int(self.ids[at])), reverse=True)
        return [int(self.ids[at]) for at in positions]

    def pinned(self, mask: Mask) -> list[int]:
        """The ids of pinned memories, oldest first."""
        positions = np.flatnonzero(mask & self._pinned)
        order = np.lexsort((self.ids[positions], self._created[positions]))
        return self.ids[positions[order]].tolist()


class Validities:
    """The columns by tenant and pool, each of one version of the pool."""

    def __init__(self, cache: PoolCache) -> None:
        self._known = CachePart[tuple[int, MemoryValidity]](cache, "validity")

    def of(self, rows: StoredMemories) -> MemoryValidity:
        """The columns at the snapshot of the reader."""
        key, version = (rows.tenant, rows.partition), rows.version()
        known = self._known.get(key)
        if known is not None and known[0] == version:
            return known[1]
        found = cast(list[tuple[Any, ...]], rows.validity_rows())
        read = MemoryValidity(found) if found else _NOTHING
        # Another thread may put a later version meanwhile: a question of that version then reads the rows again.
        if version is not None and (known is None or known[0] < version):
            self._known.put(key, (version, read), read.nbytes if found else 0)
        return read


def _times(given: list[int | None]) -> Ids:
    return np.array([_NEVER if time is None else time for time in given], np.int64)


_NOTHING = MemoryValidity([])
