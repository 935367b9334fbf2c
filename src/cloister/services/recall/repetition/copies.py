"""The copies of a message: an index says which candidates have the same words, and one of them represents the others (CTX-7).

Copies that are candidates are always found together, whatever the floor of relevance and however many there are. Only some are
read: a pool may have thousands of "Noted.".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cloister.domain.recall.ranking import Evidence, in_order

# So many copies of a message are read: the best, and the last by id.
_MOST_BEST = 12
_MOST_LAST = 12
Positions = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, slots=True)
class Representatives:
    """The candidates to choose from, `whole` and, in `mask`, with only one of each group of copies; and how well each matches: a
    representative as well as the best of its group."""

    whole: npt.NDArray[np.bool_]
    mask: npt.NDArray[np.bool_]
    matches: npt.NDArray[np.float32]
    members: Mapping[int, Positions] = field(default_factory=dict[int, Positions])
    """The positions of a group, best first, by the position that represents it."""

    def count_with(self, position: int) -> int:
        """How many candidates the one at this position represents."""
        return len(self.members.get(position, (position,)))

    def read_with(self, position: int) -> Sequence[int]:
        """The position, and the copies that are read with it."""
        members = self.members.get(position)
        if members is None:
            return (position,)
        if len(members) <= _MOST_BEST + _MOST_LAST:
            return members.tolist()
        rest = np.sort(members[_MOST_BEST:])
        return [*members[:_MOST_BEST].tolist(), *rest[-_MOST_LAST:].tolist()]

    def unread_with(self, position: int) -> Sequence[int]:
        """The copies that are not read."""
        members = self.members.get(position)
        if members is None or len(members) <= _MOST_BEST + _MOST_LAST:
            return ()
        return np.sort(members[_MOST_BEST:])[:-_MOST_LAST].tolist()


def representatives(
    evidence: Evidence,
    scores: npt.NDArray[np.float32],
    matches: npt.NDArray[np.float32],
    mask: npt.NDArray[np.bool_],
) -> Representatives:
    """The candidates that a mask selects, with one for each group of copies among them: the one of the highest score."""
    copies = evidence.copies
    if copies is None:
        return Representatives(whole=mask, mask=mask, matches=matches)
    rows = (mask & (copies >= 0)).nonzero()[0]
    rows = rows[copies[rows].argsort(kind="stable")]
    groups = copies[rows]
    is_same = groups[1:] == groups[:-1]
    if not is_same.any():  # at most one row of each group
        return Representatives(whole=mask, mask=mask, matches=matches)
    ranked = in_order(evidence, scores, rows)
    by_group = ranked[copies[ranked].argsort(kind="stable")]
    begins = np.concatenate(([0], (~is_same).nonzero()[0] + 1))
    chosen = by_group[begins]
    whole, mask, matches = mask, mask.copy(), matches.copy()
    mask[rows] = False
    mask[chosen] = True
    matches[chosen] = np.maximum.reduceat(matches[by_group], begins)
    bounds = pairwise([*begins.tolist(), len(rows)])
    members = {int(by_group[begin]): by_group[begin:end] for begin, end in bounds if end - begin > 1}
    return Representatives(whole=whole, mask=mask, matches=matches, members=members)
