"""Selects the best rows while scores are computed part by part. The result does not depend on the parts or on row numbers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_PRUNED_AT = 4
Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


def best_positions(scores: Floats, ids: Ids, count: int) -> npt.NDArray[np.intp]:
    """Positions of the `count` highest scores, in no particular order; of equal scores, those of the lowest ids."""
    if len(scores) <= count:
        return np.arange(len(scores))
    kept = np.flatnonzero(scores >= np.partition(scores, -count)[-count])
    if len(kept) > count:
        kept = kept[np.lexsort((ids[kept], -scores[kept]))[:count]]
    return kept


class Best:
    """The `count` best rows. A row whose score is below `lowest` cannot be among them."""

    def __init__(self, ids: Ids, count: int) -> None:
        self._ids = ids
        self._count = count
        self._rows = np.empty(0, np.intp)
        self._scores = np.empty(0, np.float32)
        self.lowest = np.float32(-np.inf)

    def add(self, rows: npt.NDArray[np.intp], scores: Floats) -> None:
        self._rows = np.concatenate((self._rows, rows))
        self._scores = np.concatenate((self._scores, scores))
        if len(self._rows) > _PRUNED_AT * self._count:
            self._prune()
            self.lowest = self._scores.min()

    def rows(self) -> npt.NDArray[np.intp]:
        """The best rows, in no particular order."""
        self._prune()
        return self._rows

    def _prune(self) -> None:
        kept = best_positions(self._scores, self._ids[self._rows], self._count)
        self._rows, self._scores = self._rows[kept], self._scores[kept]


class BestOfRoles:
    """The `count` best rows of each role. Roles are codes from 0 on; rows of the role -1 are not selected."""

    def __init__(self, ids: Ids, roles: npt.NDArray[np.int8], kinds: int, count: int) -> None:
        self._ids = ids
        self._roles = roles
        self._count = count
        self._best = [Best(ids, count) for _ in range(kinds)]
        self._lowest = np.array([-np.inf] * kinds + [np.inf], np.float32)

    def add(self, begin: int, scores: Floats) -> None:
        """Consider the rows from `begin` on."""
        roles = self._roles[begin : begin + len(scores)]
        near = np.flatnonzero(scores >= self._lowest.take(roles, mode="wrap"))
        if not len(near):
            return
        found = roles[near]
        for role, best in enumerate(self._best):
            chosen = near[found == role]
            if len(chosen):
                best.add(chosen + begin, scores[chosen])
                self._lowest[role] = best.lowest

    def rows(self) -> Sequence[npt.NDArray[np.intp]]:
        return [best.rows() for best in self._best]
