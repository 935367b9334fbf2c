"""Which messages of a pool have the same words: the same terms in the same order, apart from greetings at their ends (CTX-7).

A number is given to each group of such messages, -1 to a message whose words no other has, and -2 to one of function words only,
which the index does not know. Nor does it know who said them: whoever shows messages compares their texts.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cloister.index import terms
from cloister.index.cache import bytes_of
from cloister.index.exact.columns import Column

_ALONE = -1
_UNKNOWN = -2
_NO_WORDS = 0
# All rows are grouped anew if one in so many is new.
_BULK = 4
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
    def __init__(self) -> None:
        self._digests = Column(np.int64)
        self._groups = Column(np.int32)
        self._group_of: dict[int, int] = {}
        self._next = 0
        self._settled = 0
        self._has_unknown = False
        self._surplus: int | None = 0

    @property
    def surplus(self) -> int:
        """How many rows more there are than different ones."""
        if self._surplus is None:
            members = np.bincount(self._groups.live[self._groups.live >= 0], minlength=1)
            self._surplus = int(members.sum()) - int(np.count_nonzero(members))
        return self._surplus

    @property
    def nbytes(self) -> int:
        return self._digests.nbytes + self._groups.nbytes + bytes_of(self._group_of)

    def reserve(self, count: int) -> None:
        self._digests.reserve(count)
        self._groups.reserve(count)

    @property
    def groups(self) -> npt.NDArray[np.int32]:
        """The group of each row, as it is now."""
        if not self._group_of and not self._has_unknown:
            return np.broadcast_to(np.int32(_ALONE), len(self._groups.live))
        return self._groups.live.copy()

    def groups_of(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
        return self._groups.live[rows]

    def rows_of(self, groups: npt.NDArray[np.int32], most: int) -> npt.NDArray[np.intp]:
        """The rows of these groups, the last `most` of them."""
        wanted = np.zeros(self._next + 1, np.bool_)
        wanted[groups[groups >= 0]] = True
        return np.flatnonzero(wanted[np.maximum(self._groups.live, _ALONE)])[-most:]

    def extend(self, stored: Sequence[bytes]) -> None:
        """Add the encoded terms of new rows. Call `settle` afterwards."""
        digests = np.fromiter(map(_digest, stored), np.int64, len(stored))
        self._digests.extend(len(stored))[:] = digests
        self._groups.extend(len(stored))[:] = np.where(digests == _NO_WORDS, np.int32(_UNKNOWN), np.int32(_ALONE))
        self._has_unknown = self._has_unknown or not digests.all()
        self._surplus = None

    def settle(self) -> None:
        """Group the rows that were added since."""
        begin, self._settled = self._settled, len(self._digests.live)
        if _BULK * (self._settled - begin) > self._settled:
            self._regroup()
            return
        added = np.unique(self._digests.live[begin:])
        rows = np.flatnonzero(_is_among(self._digests.live, added))
        for digest in added[added != _NO_WORDS].tolist():
            same = rows[self._digests.live[rows] == digest]
            if len(same) > 1:
                group = self._group_of.get(digest)
                self._groups.live[same] = self._new_group(digest) if group is None else group

    def _new_group(self, digest: int) -> int:
        self._group_of[digest] = group = self._next
        self._next += 1
        return group

    def _regroup(self) -> None:
        """Number the groups of all rows. Numbers of groups say nothing, and may change."""
        digests = self._digests.live
        ordered = np.sort(digests)
        repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        repeated = repeated[repeated != _NO_WORDS]
        self._group_of = {digest: group for group, digest in enumerate(repeated.tolist())}
        self._next = len(repeated)
        self._has_unknown = not digests.all()
        self._groups.live[:] = np.where(digests == _NO_WORDS, np.int32(_UNKNOWN), np.int32(_ALONE))
        rows = np.flatnonzero(_is_among(digests, repeated))
        self._groups.live[rows] = np.searchsorted(repeated, digests[rows])

    def remove(self, rows: npt.NDArray[np.intp]) -> None:
        """Forget the words of rows, which keep their numbers."""
        self._digests.live[rows] = _NO_WORDS
        self._groups.live[rows] = _ALONE
        self._surplus = None

    def keep(self, rows: npt.NDArray[np.intp]) -> None:
        self._digests.keep(rows)
        self._groups.keep(rows)
        self._settled = len(rows)
        self._surplus = None
        self._regroup()


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
