"""The copies of a message: an index says which candidates have the same words, and one of them represents the others (CTX-7).

Copies that are candidates are always found together, whatever the floor of relevance and however many there are. Only some are
read: a pool may have thousands of "Noted.".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    rows = np.empty(0, np.intp) if copies is None else np.flatnonzero(mask & (copies >= 0))
    if copies is None or not len(rows):
        return Representatives(whole=mask, mask=mask, matches=matches)
    ranked = in_order(evidence, scores, rows)
    by_group = ranked[np.argsort(copies[ranked], kind="stable")]
    begins = np.flatnonzero(np.diff(copies[by_group], prepend=np.int32(-1)))
    groups = np.split(by_group, begins[1:])
    chosen = by_group[begins]
    whole, mask, matches = mask, mask.copy(), matches.copy()
    mask[rows] = False
    mask[chosen] = True
    matches[chosen] = np.maximum.reduceat(matches[by_group], begins)
    members = {int(group[0]): group for group in groups if len(group) > 1}
    return Representatives(whole=whole, mask=mask, matches=matches, members=members)
