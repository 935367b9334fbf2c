"""Windows: the messages around each message in its session, and how much they add to its score.

Adjacent messages are found by row pointers, because rows of different sessions interleave. Window vectors are not stored: the
score of a window is a weighted sum over adjacent rows at query time, divided by a norm that is computed when rows are added.
"""

from itertools import combinations

import numkong
import numpy as np
import numpy.typing as npt

from cloister.index.exact.columns import Column
from cloister.index.interface import WINDOW_REACH

SEMANTIC_REACH = 2
DECAY = 0.5
_FULL_WORDS = 12

NONE = -1
"""The pointer to a missing row. As an index it means the last element, so arrays indexed by it have a spare one at the end."""


class Windows:
    def __init__(self) -> None:
        self._before = [Column(np.intp) for _ in range(2 * SEMANTIC_REACH)]
        self._after = [Column(np.intp) for _ in range(WINDOW_REACH)]
        self._products = [Column(np.float32) for _ in range(2 * SEMANTIC_REACH + 1)]
        self._lent = Column(np.float32)
        self._borrowed = Column(np.float32)
        self._norms = Column(np.float32)

    @property
    def _columns(self) -> list[Column[np.intp] | Column[np.float32]]:
        return [*self._before, *self._after, *self._products, self._lent, self._borrowed, self._norms]

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self._columns)

    @property
    def lent(self) -> npt.NDArray[np.float32]:
        """The weight of each message in the windows of others: less for long messages, which would dominate the window."""
        return self._lent.live

    @property
    def borrowed_lengths(self) -> npt.NDArray[np.float32]:
        """The number of words, weighted, that each message gets from the others in its window."""
        return self._borrowed.live

    @property
    def norms(self) -> npt.NDArray[np.float32]:
        """The norm of each window's summed vector."""
        return self._norms.live

    def adjacent_rows(self, distance: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        return self._before[distance - 1].live, self._after[distance - 1].live

    def reserve(self, count: int) -> None:
        for column in self._columns:
            column.reserve(count)

    def extend(
        self,
        previous: npt.NDArray[np.intp],
        lengths: npt.NDArray[np.float32],
        vectors: npt.NDArray[np.float16],
    ) -> None:
        """Add rows, given the preceding row of each in its session, or `NONE`. The other arguments are of all rows."""
        begin = len(lengths) - len(previous)
        rows = np.arange(begin, len(lengths), dtype=np.intp)
        for column in self._after:
            column.extend(len(rows))[:] = NONE
        self._lent.extend(len(rows))[:] = lent_shares(lengths[begin:])
        self._borrowed.extend(len(rows))
        self._norms.extend(len(rows))
        self._link(rows, previous)
        self._multiply(rows, vectors)
        before = np.concatenate([column.live[rows] for column in self._before[:WINDOW_REACH]])
        earlier = np.unique(before[(before != NONE) & (before < begin)])
        self._measure(np.concatenate((earlier, rows)), lengths)

    def keep(self, rows: npt.NDArray[np.intp], new_rows: npt.NDArray[np.intp]) -> None:
        """Keep only `rows`, which are whole sessions; `new_rows` is the new number of each old row."""
        for column in self._columns:
            column.keep(rows)
        spared = np.append(new_rows, NONE)
        for column in (*self._before, *self._after):
            column.live[:] = spared[column.live]

    def semantic(self, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The scores of windows, from the scores of single messages."""
        lent = np.empty(len(scores) + 1, np.float32)
        np.multiply(scores, self.lent, out=lent[:-1])
        lent[-1] = 0
        total = scores.copy()
        for distance in range(1, SEMANTIC_REACH + 1):
            before, after = self.adjacent_rows(distance)
            total += np.float32(DECAY**distance) * (lent.take(before, mode="wrap") + lent.take(after, mode="wrap"))
        total /= self._norms.live
        return total

    def spread(
        self,
        into: npt.NDArray[np.float32],
        lines: npt.NDArray[np.intp] | None,
        rows: npt.NDArray[np.intp],
        counts: npt.NDArray[np.float32],
    ) -> None:
        """Add the counts of rows, and their weighted counts for adjacent rows, to a flattened grid.

        Each line of the grid has a spare cell at its end. `lines` are the offsets at which lines begin; None for a single line. No
        row may occur twice in one line.
        """
        into[rows if lines is None else lines + rows] += counts
        lending = counts * self.lent[rows]
        for distance in range(1, WINDOW_REACH + 1):
            lending *= np.float32(DECAY)
            for pointers in self.adjacent_rows(distance):
                cells = pointers[rows]
                into[cells if lines is None else lines + cells] += lending

    def _link(self, rows: npt.NDArray[np.intp], previous: npt.NDArray[np.intp]) -> None:
        step, pointers = self._before[0], previous
        for distance, column in enumerate(self._before, 1):
            if distance > 1:
                pointers = np.where(pointers == NONE, NONE, step.live[pointers])
            column.extend(len(rows))[:] = pointers
            if distance <= WINDOW_REACH:
                linked = pointers != NONE
                self._after[distance - 1].live[pointers[linked]] = rows[linked]

    def _multiply(self, rows: npt.NDArray[np.intp], vectors: npt.NDArray[np.float16]) -> None:
        """Dot products of each new row's vector with itself and with those before it."""
        self._products[0].extend(len(rows))[:] = row_products(vectors[rows[0] :], vectors[rows[0] :])
        for distance, column in enumerate(self._before, 1):
            products = self._products[distance].extend(len(rows))
            products[:] = 0
            before = column.live[rows]
            adjacent = before == rows - distance
            start = max(rows[0], distance)
            if adjacent.any():
                near = row_products(vectors[start:], vectors[start - distance : len(vectors) - distance])
                products[start - rows[0] :] = near
                products[~adjacent] = 0
            apart = np.flatnonzero(~adjacent & (before != NONE))
            if len(apart):
                products[apart] = row_products(vectors[rows[apart]], vectors[before[apart]])

    def _measure(self, rows: npt.NDArray[np.intp], lengths: npt.NDArray[np.float32]) -> None:
        borrowed = np.zeros(len(rows), np.float32)
        for distance in range(1, WINDOW_REACH + 1):
            for pointers in self.adjacent_rows(distance):
                borrowed += np.float32(DECAY**distance) * self._lent_words(pointers[rows], lengths)
        self._borrowed.live[rows] = borrowed
        self._norms.live[rows] = self._window_norms(rows)

    def _lent_words(self, rows: npt.NDArray[np.intp], lengths: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return np.where(rows == NONE, np.float32(0), lengths[rows] * self.lent[rows])

    def _window_norms(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
        """Norms of the summed vectors of windows, from the dot products of single vectors."""
        members = {0: rows}
        for distance in range(1, SEMANTIC_REACH + 1):
            before, after = self.adjacent_rows(distance)
            members |= {-distance: before[rows], distance: after[rows]}
        shares = {
            offset: np.where(row == NONE, np.float32(0), np.float32(DECAY ** abs(offset)) * self.lent[row])
            for offset, row in members.items()
        } | {0: np.ones(len(rows), np.float32)}
        squares = np.zeros(len(rows), np.float32)
        for offset, row in members.items():
            squares += shares[offset] ** 2 * self._products[0].live[row]
        for earlier, later in combinations(sorted(members), 2):
            product = self._products[later - earlier].live[members[later]]
            squares += 2 * shares[earlier] * shares[later] * product
        return np.sqrt(np.maximum(squares, 1e-6))


def lent_shares(lengths: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The weight of messages in the windows of others, by their numbers of words."""
    return np.minimum(1, _FULL_WORDS / np.maximum(lengths, 1))


def row_products(left: npt.NDArray[np.float16], right: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """Dot products of the rows of `left` with those of `right`, or with one vector; releases the GIL."""
    products = np.empty(len(left), np.float32)
    if len(left):
        numkong.dot(left, right, out=products)
    return products


def preceding_rows(
    last_rows: dict[int, int], sessions: npt.NDArray[np.int64], begin: int, none: int = NONE
) -> npt.NDArray[np.intp]:
    """The preceding row in the same session for each new row from `begin` on, or `none`. `last_rows` has the last row of each
    session, and is updated."""
    order = np.argsort(sessions, kind="stable")
    grouped = sessions[order]
    first = np.concatenate(([True], grouped[1:] != grouped[:-1]))
    previous = np.empty(len(sessions), np.intp)
    previous[order[1:]] = order[:-1] + begin
    previous[order[first]] = [last_rows.get(session, none) for session in grouped[first].tolist()]
    last = np.append(first[1:], True)
    last_rows.update(zip(grouped[last].tolist(), (order[last] + begin).tolist(), strict=True))
    return previous
