"""Which messages of a pool have the same words: the same terms in the same order, apart from greetings at their ends (CTX-7).

A number is given to each group of such messages, -1 to a message whose words no other has, and -2 to one of function words only,
which the index does not know. Nor does it know who said them: whoever shows messages compares their texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.index import terms
from cloister.index.cache import bytes_of
from cloister.index.exact.columns import Column

_ALONE = -1
_UNKNOWN = -2
_NO_WORDS = 0
# All rows are grouped anew if one in so many is new; segments are merged if the newer has one in so many.
_BULK = 4
# The bytes of a segment and of its arrays besides their data.
_SEGMENT_BYTES = 360
_NO_ROWS = np.empty(0, np.intp)
_AT_ENDS = (
    "hi",
    "hello",
    "hey",
    "thanks",
    "thank",
    "um",
    "btw",
    "fyi",
    "actually",
    "anyway",
    "reminder",
    "remember",
    "note",
)
_WORDS_AT_ENDS = frozenset(terms.encode(word) for word in _AT_ENDS)


class Copies:
    """Adding rows, and finding those of a group, costs what is added or found: digests are sorted in segments of decreasing size,
    as in `postings.py`."""

    def __init__(self) -> None:
        self._digests = Column(np.int64)
        self._groups = Column(np.int32)
        self._segments: list[_Segment] = []
        self._group_of: dict[int, int] = {}
        self._digest_of: list[int] = []
        self._members: list[int] = []
        self._settled = 0
        self._has_unknown = False
        self._has_removed = False
        self._is_read = False
        self.surplus = 0
        """How many rows more there are than different ones."""

    @property
    def nbytes(self) -> int:
        tables = bytes_of(self._group_of) + bytes_of(self._digest_of, 0) + bytes_of(self._members, 0)
        return self._digests.nbytes + self._groups.nbytes + tables + sum(part.nbytes for part in self._segments)

    def reserve(self, count: int) -> None:
        self._digests.reserve(count)
        self._groups.reserve(count)

    @property
    def groups(self) -> npt.NDArray[np.int32]:
        """The group of each row, as it is now. The array does not change: the groups of these rows are copied before they do."""
        if not self._group_of and not self._has_unknown:
            return np.broadcast_to(np.int32(_ALONE), len(self._groups.live))
        self._is_read = True
        return self._groups.live

    def groups_of(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
        return self._groups.live[rows]

    def rows_of(self, groups: npt.NDArray[np.int32], most: int) -> npt.NDArray[np.intp]:
        """The rows of these groups, the last `most` of them."""
        wanted: list[int] = np.unique(groups[groups >= 0]).tolist()
        found = [self._rows_with(self._digest_of[group], most) for group in wanted]
        return np.sort(np.concatenate(found))[-most:] if found else np.empty(0, np.intp)

    def extend(self, stored: Sequence[bytes]) -> None:
        """Add the encoded terms of new rows. Call `settle` afterwards."""
        digests = np.fromiter(map(_digest, stored), np.int64, len(stored))
        self._digests.extend(len(stored))[:] = digests
        self._groups.extend(len(stored))[:] = np.where(digests == _NO_WORDS, np.int32(_UNKNOWN), np.int32(_ALONE))
        self._has_unknown = self._has_unknown or not digests.all()

    def settle(self) -> None:
        """Group the rows that were added since."""
        begin, self._settled = self._settled, len(self._digests.live)
        if _BULK * (self._settled - begin) > self._settled:
            self._regroup()
            return
        segment = _segment(self._digests.live[begin:], begin)
        added, counts = np.unique(segment.digests, return_counts=True)
        for digest in added[self._are_known(added) | (counts > 1)].tolist():
            self._group(digest, segment.rows_with(digest))
        if len(segment.digests):
            self._segments.append(segment)
        while len(self._segments) > 1 and self._segments[-1].is_near(self._segments[-2]):
            newer, older = self._segments.pop(), self._segments.pop()
            self._segments.append(_merged(older, newer))

    def _group(self, digest: int, rows: npt.NDArray[np.intp]) -> None:
        """Put new rows of the same words into one group with the earlier ones, if there are any."""
        group = self._group_of.get(digest)
        if group is None:
            earlier = self._rows_with(digest)
            rows = np.concatenate((earlier, rows))
            if len(rows) == 1:
                return
            self._group_of[digest] = group = len(self._digest_of)
            self._digest_of.append(digest)
            self._members.append(0)
            if self._is_read and len(earlier):
                self._groups.keep(np.arange(len(self._groups.live)))
                self._is_read = False
        self._groups.live[rows] = group
        self._count(group, len(rows))

    def _count(self, group: int, change: int) -> None:
        before, after = self._members[group], self._members[group] + change
        self._members[group] = after
        self.surplus += max(after - 1, 0) - max(before - 1, 0)

    def _are_known(self, digests: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which digests, sorted, are those of earlier rows."""
        known = np.zeros(len(digests), np.bool_)
        for segment in self._segments:
            at = np.minimum(np.searchsorted(segment.digests, digests), len(segment.digests) - 1)
            known |= segment.digests[at] == digests
        return known

    def _rows_with(self, digest: int, most: int | None = None) -> npt.NDArray[np.intp]:
        """The rows of these words, in order; with `most`, at least the last so many."""
        last = None if most is None or self._has_removed else -most
        found = np.concatenate([_NO_ROWS, *(segment.rows_with(digest)[last:] for segment in self._segments)])
        return found[self._digests.live[found] == digest] if self._has_removed else found

    def _regroup(self) -> None:
        """Number the groups of all rows. Numbers of groups say nothing, and may change."""
        digests = self._digests.live
        segment = _segment(digests, 0)
        self._segments = [segment] if len(segment.digests) else []
        ordered = segment.digests
        repeated, members = np.unique(ordered, return_counts=True)
        repeated, members = repeated[members > 1], members[members > 1]
        self._digest_of, self._members = repeated.tolist(), members.tolist()
        self._group_of = {digest: group for group, digest in enumerate(self._digest_of)}
        self.surplus = int(members.sum()) - len(members)
        self._has_unknown, self._has_removed = not digests.all(), False
        if self._is_read:
            self._groups.keep(np.arange(len(digests)))
            self._is_read = False
        self._groups.live[:] = np.where(digests == _NO_WORDS, np.int32(_UNKNOWN), np.int32(_ALONE))
        grouped = _is_among(ordered, repeated)
        self._groups.live[segment.rows[grouped]] = np.searchsorted(repeated, ordered[grouped])

    def remove(self, rows: npt.NDArray[np.intp]) -> None:
        """Forget the words of rows, which keep their numbers."""
        groups, counts = np.unique(self._groups.live[rows], return_counts=True)
        for group, count in zip(groups.tolist(), counts.tolist(), strict=True):
            if group >= 0:
                self._count(group, -count)
                if not self._members[group]:
                    del self._group_of[self._digest_of[group]]
        self._has_removed = True
        self._digests.live[rows] = _NO_WORDS
        self._groups.live[rows] = _ALONE

    def keep(self, rows: npt.NDArray[np.intp]) -> None:
        self._digests.keep(rows)
        self._groups.keep(rows)
        self._is_read = False
        self._settled = len(rows)
        self._regroup()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Segment:
    """The digests of some rows, sorted, and the row of each; rows of one digest are in order."""

    digests: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        return _SEGMENT_BYTES + self.digests.nbytes + self.rows.nbytes

    def rows_with(self, digest: int) -> npt.NDArray[np.intp]:
        begin = np.searchsorted(self.digests, digest)
        return self.rows[begin : np.searchsorted(self.digests, digest, "right")].astype(np.intp)

    def is_near(self, older: "_Segment") -> bool:
        return _BULK * len(self.digests) >= len(older.digests)


def _segment(digests: npt.NDArray[np.int64], begin: int) -> _Segment:
    """The segment of rows from `begin` on; those without words are left out."""
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    worded = ordered != _NO_WORDS
    return _Segment(digests=ordered[worded], rows=(order[worded] + begin).astype(np.int32))


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    digests = np.concatenate((older.digests, newer.digests))
    order = np.argsort(digests, kind="stable")
    return _Segment(digests=digests[order], rows=np.concatenate((older.rows, newer.rows))[order])


def _is_among(values: npt.NDArray[np.int64], some: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which values are among some others, which are sorted and few."""
    if not len(some):
        return np.zeros(len(values), np.bool_)
    if len(some) == 1:
        return values == some[0]
    return some[np.searchsorted(some, values) % len(some)] == values


def _digest(stored: bytes) -> int:
    """A number of the terms of a text; 0 if it has none. It is of this process only: Python hashes bytes with a secret of its
    own."""
    whole = stored
    while stored[: terms.BYTES] in _WORDS_AT_ENDS:
        stored = stored[terms.BYTES :]
    while stored[-terms.BYTES :] in _WORDS_AT_ENDS:
        stored = stored[: -terms.BYTES]
    return hash(stored or whole) if whole else _NO_WORDS
