"""The order of messages in the sessions of a large pool: the row before and after each row, and what a window needs of them.

Row 0 is no message: it stands for a missing row, so that no pointer has to be tested. Most sessions lie in adjacent rows, where
the row at a distance is found by arithmetic, many times faster than by pointers. Links between rows that are not adjacent are
broken: those of sessions that grew after others were added. Rows near a broken link are `ragged`, and use the pointers.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cloister.index.exact.columns import Column
from cloister.index.exact.windows import DECAY, SEMANTIC_REACH, Windows, lent_shares
from cloister.index.exact.windows import NONE as NO_LOCAL_ROW
from cloister.index.interface import WINDOW_REACH

NONE = 0
TAIL = 2 * WINDOW_REACH
"""How many rows of a session before a new one are needed to compute the windows that it changes."""
Pointers = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


class Chains:
    def __init__(self) -> None:
        self._previous = Column(np.int32)
        self._following = Column(np.int32)
        self._lengths = Column(np.float32)
        self._lent = Column(np.float32)
        self._norms = Column(np.float32)
        self._borrowed = Column(np.float32)
        self._room_before = Column(np.uint8)
        self._room_after = Column(np.uint8)
        self._ragged = Column(np.bool_)
        for column in self._columns:
            column.extend(1)[:] = 0
        self._norms.live[:] = 1
        self._broken: int = 0

    @property
    def _columns(self) -> "list[Column[np.int32] | Column[np.float32] | Column[np.uint8] | Column[np.bool_]]":
        floats = (self._lengths, self._lent, self._norms, self._borrowed)
        return [self._previous, self._following, *floats, self._room_before, self._room_after, self._ragged]

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns)

    @property
    def broken(self) -> int:
        """The number of links between rows that are not adjacent."""
        return self._broken

    @property
    def borrowed_lengths(self) -> Floats:
        return self._borrowed.live

    def reserve(self, count: int) -> None:
        for column in self._columns:
            column.reserve(count)

    def before(self, rows: npt.NDArray[np.integer], reach: int) -> list[Pointers]:
        """The row at each distance before rows, up to `reach`."""
        return _steps(self._previous.live, rows, reach)

    def after(self, rows: npt.NDArray[np.integer], reach: int) -> list[Pointers]:
        return _steps(self._following.live, rows, reach)

    def tails(self, previous: Pointers) -> Pointers:
        """The rows that are needed to add rows which follow these."""
        followed = previous[previous != NONE]
        if not len(followed):
            return followed
        rows = np.unique(np.concatenate([followed, *self.before(followed, TAIL - 1)]))
        return rows[rows != NONE]

    def extend(self, previous: Pointers, tails: Pointers, sizes: Floats, vectors: npt.NDArray[np.float16]) -> None:
        """Add rows, given the preceding row of each in its session, or `NONE`. `vectors` are those of the tails and of the new
        rows."""
        begin = len(self._previous.live)
        rows = np.arange(begin, begin + len(previous), dtype=np.int32)
        windows = self._local_windows(previous, tails, sizes, vectors, begin)
        self._previous.extend(len(rows))[:] = previous
        self._following.extend(len(rows))[:] = NONE
        linked = np.flatnonzero(previous != NONE)
        self._following.live[previous[linked]] = rows[linked]
        for column in (self._room_before, self._room_after, self._ragged):
            column.extend(len(rows))[:] = 0
        self._find_room(begin)
        self._find_ragged(rows)
        self._lengths.extend(len(rows))[:] = sizes
        self._lent.extend(len(rows))[:] = lent_shares(sizes)
        self._norms.extend(len(rows))[:] = windows.norms[len(tails) :]
        self._borrowed.extend(len(rows))[:] = windows.borrowed_lengths[len(tails) :]
        changed = self.changed_by(previous, begin)
        self._borrowed.live[changed] = windows.borrowed_lengths[np.searchsorted(tails, changed)]
        renormed = self._near_ends(previous, begin, SEMANTIC_REACH)
        self._norms.live[renormed] = windows.norms[np.searchsorted(tails, renormed)]

    def changed_by(self, previous: Pointers, begin: int) -> Pointers:
        """The rows whose windows change when rows from `begin` on are added after `previous`."""
        return self._near_ends(previous, begin, WINDOW_REACH)

    def keep(self, rows: npt.NDArray[np.intp], new_rows: npt.NDArray[np.int32]) -> None:
        """Keep `rows`, which are row 0 and whole sessions, in this order; `new_rows` is the new number of each old row."""
        for column in self._columns:
            column.keep(rows)
        for column in (self._previous, self._following):
            column.live[:] = new_rows[column.live]
        self._ragged.live[:] = False
        self._broken = 0
        if len(rows) > 1:
            self._find_room(1)
            self._find_ragged(np.arange(1, len(rows), dtype=np.int32))

    def spread(self, into: Floats, rows: npt.NDArray[np.intp], counts: Floats) -> list[npt.NDArray[np.intp]]:
        """Add the counts of distinct rows, and their weighted counts for adjacent rows. `into` has `WINDOW_REACH` more cells than
        there are rows. Returns the cells that were added to; row 0 and the additional cells mean nothing."""
        into[rows] += counts
        touched = [rows]
        lending = counts * self._lent.live[rows]
        if self._broken:
            ragged = self._ragged.live[rows]
            touched += self._spread_ragged(into, rows[ragged], lending[ragged])
            rows, lending = rows[~ragged], lending[~ragged]
        rooms = (self._room_before.live[rows], -1), (self._room_after.live[rows], 1)
        for distance in range(1, WINDOW_REACH + 1):
            lending *= np.float32(DECAY)
            for room, direction in rooms:
                cells = rows + direction * distance
                np.add.at(into, cells, lending * (room >= distance))
                touched.append(cells)
        return touched

    def _spread_ragged(self, into: Floats, rows: npt.NDArray[np.intp], lending: Floats) -> list[npt.NDArray[np.intp]]:
        touched: list[npt.NDArray[np.intp]] = []
        for pair in zip(self.before(rows, WINDOW_REACH), self.after(rows, WINDOW_REACH), strict=True):
            lending = lending * np.float32(DECAY)
            for pointers in pair:
                cells = pointers.astype(np.intp)
                np.add.at(into, cells, lending)
                touched.append(cells)
        return touched

    def windowed(self, products: Floats, begin: int, end: int, first: int) -> Floats:
        """Scores of the windows of rows from `begin` to `end`, from the products of single rows from `first` on, which reach at
        least two rows further on both sides, as far as there are so many. Those of ragged rows are wrong."""
        last = first + len(products)
        room = self._room_before.live[first:last]
        lent = products * self._lent.live[first:last]
        total = products.copy()
        for distance in range(1, SEMANTIC_REACH + 1):
            if len(products) > distance:
                linked = (room[distance:] >= distance) * np.float32(DECAY**distance)
                total[distance:] += lent[:-distance] * linked
                total[:-distance] += lent[distance:] * linked
        total = total[begin - first : end - first]
        total /= self._norms.live[begin:end]
        return total

    def ragged_rows(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self._ragged.live) if self._broken else np.empty(0, np.intp)

    def window_rows(self, rows: npt.NDArray[np.intp]) -> list[npt.NDArray[np.integer]]:
        """The rows of the windows of some rows: themselves, then those at each distance before and after."""
        near = zip(self.before(rows, SEMANTIC_REACH), self.after(rows, SEMANTIC_REACH), strict=True)
        return [rows, *(cells for pair in near for cells in pair)]

    def scores(self, window_rows: list[npt.NDArray[np.integer]], products: Floats) -> Floats:
        """The scores of windows, from the products of their rows, one line for each item of `window_rows`."""
        total = products[0].copy()
        for at, (cells, found) in enumerate(zip(window_rows[1:], products[1:], strict=True)):
            total += np.float32(DECAY ** (at // 2 + 1)) * (found * self._lent.live[cells])
        return total / self._norms.live[window_rows[0]]

    def _local_windows(
        self, previous: Pointers, tails: Pointers, sizes: Floats, vectors: npt.NDArray[np.float16], begin: int
    ) -> Windows:
        """The windows of the tails and the new rows alone. Those of the earliest tails lack what is before them."""
        pointers = np.concatenate((self._previous.live[tails], previous)).astype(np.intp)
        new = pointers >= begin
        at = np.searchsorted(tails, pointers)
        known = np.isin(pointers, tails)
        local = np.where(new, pointers - begin + len(tails), np.where(known, at, NO_LOCAL_ROW))
        windows = Windows()
        windows.extend(local, np.concatenate((self._lengths.live[tails], sizes)), vectors)
        return windows

    def _find_room(self, begin: int) -> None:
        """Count, for rows from `begin` on and shortly before, how many adjacent rows on both sides are of the same session."""
        first = max(begin - WINDOW_REACH, 1)
        previous = self._previous.live[first:]
        joined = (previous != NONE) & (previous == np.arange(first - 1, first - 1 + len(previous)))
        before, after = np.zeros(len(joined), np.uint8), np.zeros(len(joined), np.uint8)
        linked = joined.astype(np.uint8)
        for distance in range(1, min(WINDOW_REACH, len(joined)) + 1):
            before += linked
            after[:-distance] += linked[distance:]
            linked[1:] = linked[:-1] & joined[1:]
            linked[0] = 0
        self._room_before.live[begin:] = before[begin - first :]
        self._room_after.live[first:] = after

    def _find_ragged(self, rows: Pointers) -> None:
        """Mark the new rows that are near a broken link, and the rows near a link that they break."""
        chain = [rows, *self.before(rows, WINDOW_REACH)]
        for at, (later, earlier) in enumerate(pairwise(chain)):
            broken = np.flatnonzero((earlier != NONE) & (earlier != later - 1))
            self._ragged.live[rows[broken]] = True
            if not at:
                self._broken += broken.size
                for near in chain[1:]:
                    self._ragged.live[near[broken]] = True
        self._ragged.live[NONE] = False

    def _near_ends(self, previous: Pointers, begin: int, reach: int) -> Pointers:
        """The earlier rows at most `reach` before a new row."""
        ends = previous[(previous != NONE) & (previous < begin)]
        if not len(ends):
            return ends
        rows = np.unique(np.concatenate([ends, *self.before(ends, reach - 1)]))
        return rows[rows != NONE]


def _steps(pointers: Pointers, rows: npt.NDArray[np.integer], reach: int) -> list[Pointers]:
    found: list[Pointers] = []
    for _ in range(reach):
        rows = pointers.take(rows)
        found.append(rows)
    return found
