"""The inverted index of one pool: which messages have which term, and how often. In memory and exact.

It consists of sorted segments of decreasing size, as a log-structured merge tree does: an append adds a small segment, and
segments of similar size are merged, so that a term is found by a few binary searches. Very large segments are not merged: copying
them would cost more than another binary search.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_MERGE_RATIO = 4
_MOST_MERGED = 4_000_000
_MOST_COUNTED = 255
# The bytes of a segment and of its arrays besides their data.
_SEGMENT_BYTES = 700
_NO_ROWS = np.empty(0, np.int32)
_NO_COUNTS = np.empty(0, np.uint8)


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """Occurrences of terms: `terms` are positions in the list asked for, and rows are distinct within a term."""

    terms: npt.NDArray[np.intp]
    rows: npt.NDArray[np.intp]
    counts: npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Segment:
    """`rows[starts[i]:starts[i + 1]]` have `terms[i]`, `counts` times each."""

    terms: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        return _SEGMENT_BYTES + self.terms.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes

    def find(self, terms: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The range of each term's rows; an empty one where there are none."""
        at = self.terms.searchsorted(terms)
        at[at == len(self.terms)] = 0
        begins = self.starts[at]
        return begins, np.where(self.terms[at] == terms, self.starts[at + 1], begins)

    def count(
        self, begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], alive: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int64]:
        """The number of live rows of each range."""
        found = np.zeros(len(begins), np.int64)
        for at in np.flatnonzero(ends > begins).tolist():
            found[at] = np.count_nonzero(alive[self.rows[begins[at] : ends[at]]])
        return found


class Postings:
    def __init__(self) -> None:
        self._segments: tuple[_Segment, ...] = ()
        self._gathered: list[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], int]] = []

    @property
    def segments(self) -> "tuple[_Segment, ...]":
        """The segments; another object whenever they change."""
        return self._segments

    @property
    def nbytes(self) -> int:
        return sum(segment.nbytes for segment in self._segments)

    def gather(self, terms: npt.NDArray[np.uint32], sizes: npt.NDArray[np.int64], begin: int) -> None:
        """Add the terms of rows from `begin` on, `sizes` of each; the rows are new. They are found after `settle`."""
        self._gathered.append((terms, sizes, begin))

    def settle(self) -> None:
        """Turn all gathered rows into one segment: sorting once is cheaper than merging often."""
        gathered, self._gathered = self._gathered, []
        keys = _keys(gathered)
        if not len(keys):
            return
        segments = [*self._segments, _segment(keys)]
        while len(segments) > 1 and _worth_merging(len(segments[-2].rows), len(segments[-1].rows)):
            newer, older = segments.pop(), segments.pop()
            segments.append(_merged(older, newer))
        self._segments = tuple(segments)

    def renumber(self, new_rows: npt.NDArray[np.int32] | npt.NDArray[np.int64]) -> None:
        """Give row `i` the number `new_rows[i]`, or remove it if that is negative."""
        renumbered = (_renumbered(segment, new_rows) for segment in self._segments)
        self._segments = tuple(segment for segment in renumbered if len(segment.rows))

    def locate(
        self, terms: Sequence[int] | npt.NDArray[np.uint32], alive: npt.NDArray[np.bool_] | None = None
    ) -> "Locations":
        """Where terms are found; with `alive`, only in the rows that it selects."""
        asked = np.asarray(terms, np.uint32)
        ranges = [(segment, *segment.find(asked)) for segment in self._segments]
        frequencies = np.zeros(len(asked), np.int64)
        for segment, begins, ends in ranges:
            frequencies += ends - begins if alive is None else segment.count(begins, ends, alive)
        return Locations(
            frequencies=frequencies,
            ranges=[(segment, begins.tolist(), ends.tolist()) for segment, begins, ends in ranges],
            alive=alive,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Locations:
    """Where several terms are found; `frequencies` is the number of rows that have each."""

    frequencies: npt.NDArray[np.int64]
    ranges: Sequence[tuple[_Segment, list[int], list[int]]]
    alive: npt.NDArray[np.bool_] | None

    def limited_to(self, positions: Sequence[int]) -> "Locations":
        """Where some of the terms are found, given by their positions in the list located."""
        return Locations(
            frequencies=self.frequencies[positions],
            ranges=[
                (segment, [begins[at] for at in positions], [ends[at] for at in positions])
                for segment, begins, ends in self.ranges
            ],
            alive=self.alive,
        )

    def matches(self, positions: Sequence[int]) -> Matches:
        """The occurrences of some of the terms, given by their positions in the list located."""
        rows = [_NO_ROWS]
        counts = [_NO_COUNTS]
        terms = [0]
        sizes = [0]
        for segment, begins, ends in self.ranges:
            for at, position in enumerate(positions):
                begin, end = begins[position], ends[position]
                if begin < end:
                    rows.append(segment.rows[begin:end])
                    counts.append(segment.counts[begin:end])
                    terms.append(at)
                    sizes.append(end - begin)
        found = Matches(
            terms=np.array(terms, np.intp).repeat(sizes),
            rows=np.concatenate(rows, dtype=np.intp),
            counts=np.concatenate(counts, dtype=np.float32),
        )
        if self.alive is None:
            return found
        kept = np.flatnonzero(self.alive[found.rows])
        return Matches(terms=found.terms[kept], rows=found.rows[kept], counts=found.counts[kept])


def _worth_merging(older: int, newer: int) -> bool:
    return newer * _MERGE_RATIO >= older and older + newer <= _MOST_MERGED


def _keys(gathered: Sequence[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], int]]) -> npt.NDArray[np.uint64]:
    """One integer per occurrence, with the term in the high half and the row in the low half."""
    keys = np.empty(sum(len(terms) for terms, _, _ in gathered), "<u8")
    halves = keys.view("<u4").reshape(-1, 2)
    end = 0
    for terms, sizes, first in gathered:
        begin, end = end, end + len(terms)
        halves[begin:end, 1] = terms
        halves[begin:end, 0] = np.repeat(np.arange(first, first + len(sizes), dtype=np.uint32), sizes)
    return keys


def _segment(keys: npt.NDArray[np.uint64]) -> _Segment:
    """The segment of `_keys`, which it sorts in place. It copies little: a cold start spends much time on page faults."""
    keys.sort()
    repeats = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    if len(repeats):
        keys = np.delete(keys, repeats)
    row_and_term = keys.view("<u4").reshape(-1, 2)
    counts = np.ones(len(keys), np.uint8)
    repeated, times = np.unique(repeats - np.arange(1, len(repeats) + 1), return_counts=True)
    counts[repeated] = np.minimum(times + 1, _MOST_COUNTED)
    terms = row_and_term[:, 1]
    begins = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1])))
    return _Segment(
        terms=terms[begins],
        starts=np.append(begins, len(keys)),
        rows=row_and_term[:, 0].astype(np.int32),
        counts=counts,
    )


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    """Every row of `newer` is above those of `older`, so a term's rows are the older ones, then the newer."""
    terms = np.union1d(older.terms, newer.terms)
    at_older, at_newer = np.searchsorted(terms, older.terms), np.searchsorted(terms, newer.terms)
    older_sizes = np.zeros(len(terms), np.int64)
    older_sizes[at_older] = np.diff(older.starts)
    sizes = older_sizes.copy()
    sizes[at_newer] += np.diff(newer.starts)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    rows = np.empty(starts[-1], np.int32)
    counts = np.empty(starts[-1], np.uint8)
    for segment, begins in ((older, starts[at_older]), (newer, starts[at_newer] + older_sizes[at_newer])):
        to = np.repeat(begins - segment.starts[:-1], np.diff(segment.starts)) + np.arange(len(segment.rows))
        rows[to] = segment.rows
        counts[to] = segment.counts
    return _Segment(terms=terms, starts=starts, rows=rows, counts=counts)


def _renumbered(segment: _Segment, new_rows: npt.NDArray[np.int32] | npt.NDArray[np.int64]) -> _Segment:
    rows = new_rows[segment.rows]
    kept = rows >= 0
    kept_before = np.concatenate(([0], np.cumsum(kept)))[segment.starts]
    stored = np.diff(kept_before) > 0
    return _Segment(
        terms=segment.terms[stored],
        starts=np.append(kept_before[:-1][stored], kept_before[-1]),
        rows=rows[kept].astype(np.int32),
        counts=segment.counts[kept],
    )
