"""Lexical search in a large pool: BM25 over windows and sessions, computed only where a term of the query occurs.

It gives the scores of `exact/lexical.py`. Rows that were removed count nowhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.index import bm25
from cloister.index.cache import bytes_of
from cloister.index.exact.columns import Column
from cloister.index.exact.dates import Dates
from cloister.index.exact.large.chains import Chains, Floats
from cloister.index.exact.postings import Postings
from cloister.index.exact.query import Alive, Query, QueryReader
from cloister.index.exact.speakers import Speakers
from cloister.index.interface import WINDOW_REACH
from cloister.index.subject import Subject

_MOST_TERMS = 64
# Lengths are summed as integers, so that the sum does not depend on the order in which rows came and went.
_FIXED_POINT = 2**16
# A term that touches more than one row in so many is scored for all rows: that is faster than picking them out.
_DENSE_SHARE = 8
_CHUNK = 32_768
_NO_ROWS = np.empty(0, np.intp)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """`lexical` and `coverage` of each row (0 for removed rows), and the prior of each session's slot. The prior leaves out
    speakers' names, and the coverages all that is not of the query's subject."""

    asked: Query
    subject: Subject
    lexical: Floats
    adjusted: Floats | None
    dampers: Floats
    prior: Floats
    lexical_bounds: tuple[float, float]
    prior_bounds: tuple[float, float]

    def coverage(self, rows: npt.NDArray[np.intp]) -> Floats:
        found = self.lexical[rows] if self.adjusted is None else self.lexical[rows] + self.adjusted[rows]
        return found * bm25.unlengthened(self.dampers[rows]) * (self.subject.unit / np.float32(bm25.HIGHEST))

    def own_coverage(self, rows: npt.NDArray[np.intp]) -> Floats:
        """The share of the subject's words in the rows' own texts, authors and dates."""
        asked, weights, found = self.asked, self.subject.weights, np.zeros(len(rows), np.float32)
        has_term = np.zeros(len(self.lexical), np.bool_)
        for at in _chosen(asked):
            if not weights[at]:
                continue
            matched = [asked.located.matches([at]).rows, asked.derived.get(asked.terms[at], _NO_ROWS)]
            for each in matched:
                has_term[each] = True
            found += np.where(has_term[rows], weights[at], np.float32(0))
            for each in matched:
                has_term[each] = False
        return found * self.subject.unit


class LargeLexicon:
    def __init__(self, speakers: Speakers, dates: Dates, chains: Chains) -> None:
        self._speakers = speakers
        self._chains = chains
        self._postings = Postings()
        self._reader = QueryReader(self._postings, speakers, dates)
        self._full_lengths = Column(np.float32)
        self._slots = Column(np.int32)
        for column in (self._full_lengths, self._slots):
            column.extend(1)[:] = 0
        self._slot_of: dict[int, int] = {}
        self._session_lengths = Column(np.float32)
        self._session_alive = Column(np.bool_)
        self._sessions = 0
        self._count = 0
        self._total = 0
        self._dampers: Floats | None = None

    @property
    def slots(self) -> npt.NDArray[np.int32]:
        """The slot of each row's session in the session prior."""
        return self._slots.live

    @property
    def nbytes(self) -> int:
        columns = (self._full_lengths, self._slots, self._session_lengths, self._session_alive)
        dampers = self._full_lengths.nbytes
        return self._postings.nbytes + dampers + bytes_of(self._slot_of) + sum(column.nbytes for column in columns)

    def reserve(self, count: int) -> None:
        for column in (self._full_lengths, self._slots):
            column.reserve(count)

    def slot_of(self, session: int) -> int | None:
        return self._slot_of.get(session)

    def extend(
        self, stored: Sequence[bytes], sizes: npt.NDArray[np.int64], extra: Floats, session_ids: npt.NDArray[np.int64]
    ) -> None:
        """Add the terms of new rows. Their windows are counted by `count`, and their terms are found after `settle`."""
        begin = len(self._slots.live)
        self._full_lengths.extend(len(sizes))[:] = sizes + extra
        self._postings.gather(np.frombuffer(b"".join(stored), "<u4"), sizes, begin)
        known, inverse = np.unique(session_ids, return_inverse=True)
        slots = np.array(
            [self._slot_of.setdefault(session, len(self._slot_of)) for session in known.tolist()], np.int32
        )
        added = len(self._slot_of) - len(self._session_lengths.live)
        self._session_lengths.extend(added)[:] = 0
        self._session_alive.extend(added)[:] = True
        self._sessions += added
        self._slots.extend(len(sizes))[:] = slots[inverse]
        np.add.at(self._session_lengths.live, slots[inverse], sizes.astype(np.float32) * self._speakers.shares(begin))

    def settle(self) -> None:
        self._postings.settle()

    def count(self, rows: npt.NDArray[np.integer] | slice, sign: int = 1) -> None:
        """Add the window lengths of rows to the average, or take them out of it with the sign -1."""
        lengths = self._full_lengths.live[rows] + self._chains.borrowed_lengths[rows]
        self._count += sign * len(lengths)
        self._dampers = None
        self._total += sign * int(np.rint(lengths.astype(np.float64) * _FIXED_POINT).astype(np.int64).sum())

    def remove(self, rows: npt.NDArray[np.intp], sessions: Sequence[int]) -> None:
        self.count(rows, -1)
        for session in sessions:
            # The slot stays taken: the removed rows still point to it.
            slot = self._slot_of[session]
            self._slot_of[_removed_key(slot)] = self._slot_of.pop(session)
            self._session_alive.live[slot] = False
            self._session_lengths.live[slot] = 0
        self._sessions -= len(sessions)

    def keep(self, rows: npt.NDArray[np.intp], new_rows: npt.NDArray[np.int32]) -> None:
        """Keep `rows`, which are row 0 and whole sessions; `new_rows` is the new number of each old row, or -1."""
        self._dampers = None
        self._postings.renumber(new_rows)
        self._full_lengths.keep(rows)
        slots = np.flatnonzero(self._session_alive.live)
        new_slots = np.zeros(len(self._session_alive.live), np.int32)
        new_slots[slots] = np.arange(len(slots), dtype=np.int32)
        self._slots.keep(rows)
        self._slots.live[1:] = new_slots[self._slots.live[1:]]
        kept = set(slots.tolist())
        self._slot_of = {session: int(new_slots[slot]) for session, slot in self._slot_of.items() if slot in kept}
        self._session_lengths.keep(slots)
        self._session_alive.keep(slots)

    def ask(self, query: str, alive: Alive | None) -> Query:
        return self._reader.read(query, self._count, alive)

    def score(self, asked: Query) -> Scores:
        count, sessions = len(self._slots.live), len(self._session_lengths.live)
        dampers = self._window_dampers()
        lexical, scratch = np.zeros(count + WINDOW_REACH, np.float32), np.zeros(count + WINDOW_REACH, np.float32)
        prior = np.zeros(sessions, np.float32)
        subject = asked.subject(self._speakers)
        adjusted: Floats | None = None
        session_average = float(self._session_lengths.live.sum(dtype=np.float64)) / max(self._sessions, 1)
        session_dampers = bm25.dampers(self._session_lengths.live, session_average)
        for at in _chosen(asked):
            term, weight = asked.terms[at], asked.idf[at : at + 1]
            found = asked.located.matches([at])
            named = self._speakers.is_name(term)
            into = [(lexical, np.float32(1))]
            if subject.weights[at] != asked.idf[at]:
                adjusted = np.zeros(len(lexical), np.float32) if adjusted is None else adjusted
                into.append((adjusted, subject.weights[at] / asked.idf[at] - 1))
            self._add_windows(into, scratch, found.rows, found.counts, asked.derived.get(term), weight, dampers)
            if not named and len(found.rows):
                shares = found.counts * self._speakers.shares_of(found.rows)
                counts = np.bincount(self._slots.live.take(found.rows), shares, sessions).astype(np.float32)
                idf = bm25.idf(np.count_nonzero(counts, keepdims=True), self._sessions)
                prior += bm25.saturated(counts[None], session_dampers, idf)[0]
        lexical = lexical[:count]
        return Scores(
            asked=asked,
            subject=subject,
            lexical=lexical,
            adjusted=adjusted,
            dampers=dampers,
            prior=prior,
            lexical_bounds=_bounds(lexical, self._count),
            prior_bounds=_bounds(prior, self._sessions),
        )

    def _add_windows(
        self,
        into: Sequence[tuple[Floats, np.float32]],
        scratch: Floats,
        rows: npt.NDArray[np.intp],
        counts: Floats,
        derived: npt.NDArray[np.intp] | None,
        weight: Floats,
        dampers: Floats,
    ) -> None:
        """Add multiples of the BM25 of one term in each window. `scratch` is zero before and after."""
        touched = self._chains.spread(scratch, rows, counts) if len(rows) else []
        if derived is not None:
            scratch[derived] += 1
            touched.append(derived)
        count = len(self._slots.live)
        scratch[0] = 0
        scratch[count:] = 0
        if sum(map(len, touched)) * _DENSE_SHARE > count:
            for begin in range(0, count, _CHUNK):
                cells = slice(begin, min(begin + _CHUNK, count))
                parts = bm25.saturated(scratch[cells][None], dampers[cells], weight)[0]
                for column, times in into:
                    column[cells] += parts if times == 1 else parts * times
            scratch[:] = 0
            return
        for near in touched:
            cells = near[near < count]
            # A row may be in several of these arrays, or several times in one. It is added the first time, and is zero afterwards.
            parts = bm25.saturated(scratch[cells][None], dampers[cells], weight)[0]
            for column, times in into:
                column[cells] += parts if times == 1 else parts * times
            scratch[cells] = 0

    def _window_dampers(self) -> Floats:
        """The BM25 length term of each row, which changes only when rows do."""
        if self._dampers is None:
            average = self._total / _FIXED_POINT / self._count if self._count else 0.0
            self._dampers = bm25.dampers(self._full_lengths.live + self._chains.borrowed_lengths, average)
        return self._dampers


def _chosen(asked: Query) -> list[int]:
    """The positions of the rarest terms, which are scored."""
    return np.argsort(-asked.idf, kind="stable")[:_MOST_TERMS].tolist()


def _removed_key(slot: int) -> int:
    """A key that no session id equals."""
    return -1 - slot


def _bounds(values: Floats, count: int) -> tuple[float, float]:
    """The lowest and highest of `count` values that are not negative, among others that are 0 and do not count."""
    found = values[values > 0] if np.count_nonzero(values) >= count else None
    low = float(found.min()) if found is not None and len(found) else 0.0
    return low, float(values.max(initial=0))
