"""Lexical search in a pool: BM25 over windows of messages, and over whole sessions.

The author's name and the date count as words of a message, though they are not part of its text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.index import bm25
from cloister.index.cache import bytes_of
from cloister.index.exact.columns import Column
from cloister.index.exact.dates import Dates
from cloister.index.exact.postings import Matches, Postings
from cloister.index.exact.query import Query, QueryReader
from cloister.index.exact.speakers import Speakers
from cloister.index.exact.windows import Windows

_MOST_TERMS = 64
_GRID = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """Lexical scores of each message. `session_prior` leaves out speakers' names, and the coverages all that is not of the query's
    subject."""

    lexical: npt.NDArray[np.float32]
    session_prior: npt.NDArray[np.float32]
    coverage: npt.NDArray[np.float32]
    own_coverage: npt.NDArray[np.float32]


class Lexicon:
    def __init__(self, speakers: Speakers, dates: Dates, windows: Windows) -> None:
        self._speakers = speakers
        self._windows = windows
        self._postings = Postings()
        self._reader = QueryReader(self._postings, speakers, dates)
        self._lengths = Column(np.float32)
        self._full_lengths = Column(np.float32)
        self._slots = Column(np.intp)
        self._slot_of: dict[int, int] = {}
        self._shares = Column(np.float32)
        self._session_lengths = Column(np.float32)
        self.measure()

    @property
    def lengths(self) -> npt.NDArray[np.float32]:
        """The number of terms of each message's own text."""
        return self._lengths.live

    @property
    def nbytes(self) -> int:
        columns = (self._lengths, self._full_lengths, self._slots, self._shares, self._session_lengths)
        dampers = self._dampers.nbytes + self._unlengthened.nbytes + self._session_dampers.nbytes
        return self._postings.nbytes + dampers + bytes_of(self._slot_of) + sum(column.nbytes for column in columns)

    def reserve(self, count: int) -> None:
        for column in (self._lengths, self._full_lengths, self._slots, self._shares):
            column.reserve(count)

    def extend(
        self, stored: Sequence[bytes], extra: npt.NDArray[np.float32], session_ids: npt.NDArray[np.int64]
    ) -> None:
        """Add the terms of new rows; `extra` is how many name and date words each has. Call `settle` and `measure` afterwards."""
        begin = len(self._lengths.live)
        sizes = np.fromiter(map(len, stored), np.int64, len(stored)) // 4
        self._lengths.extend(len(stored))[:] = sizes
        self._full_lengths.extend(len(stored))[:] = sizes + extra
        self._postings.gather(np.frombuffer(b"".join(stored), "<u4"), sizes, begin)
        self._count_sessions(begin, session_ids)

    def settle(self) -> None:
        self._postings.settle()

    def keep(
        self, rows: npt.NDArray[np.intp], new_rows: npt.NDArray[np.intp], session_ids: npt.NDArray[np.int64]
    ) -> None:
        self._postings.renumber(new_rows)
        for column in (self._lengths, self._full_lengths):
            column.keep(rows)
        self._slots, self._slot_of = Column(np.intp), {}
        self._shares, self._session_lengths = Column(np.float32), Column(np.float32)
        self._count_sessions(0, session_ids)
        self.measure()

    def ask(self, query: str) -> Query:
        return self._reader.read(query, len(self._lengths.live))

    def score(self, asked: Query) -> Scores:
        """BM25 of each message's window and of its session, and the coverage of the query."""
        count, sessions = len(self._lengths.live), len(self._session_lengths.live)
        lexical, prior = np.zeros(count, np.float32), np.zeros(sessions, np.float32)
        subject, adjusted = asked.subject(self._speakers), np.zeros(count, np.float32)
        own = np.zeros(count, np.float32)
        chosen: list[int] = (-asked.idf).argsort(kind="stable")[:_MOST_TERMS].tolist()
        at_once = max(1, _GRID // (count + 1))
        for begin in range(0, len(chosen), at_once):
            batch = chosen[begin : begin + at_once]
            found = asked.located.matches(batch)
            windows = self._in_windows(found, [asked.terms[at] for at in batch], asked.derived)
            parts = bm25.saturated(windows, self._dampers, asked.idf[batch])
            lexical += _summed(parts)
            named = np.array([self._speakers.is_name(asked.terms[at]) for at in batch])
            weights = subject.weights[batch]
            factors = weights / asked.idf[batch] - 1
            if factors.any():
                adjusted += factors @ parts
            own += np.bincount(found.rows, weights[found.terms], count).astype(np.float32)
            for at in batch:
                if subject.weights[at] and asked.terms[at] in asked.derived:
                    rows = asked.derived[asked.terms[at]]
                    own[np.setdiff1d(rows, asked.located.matches([at]).rows)] += subject.weights[at]
            if not named.all():
                in_sessions = self._in_sessions(found, len(batch))
                session_idf = bm25.idf(np.add.reduce(in_sessions != 0, axis=1, dtype=np.intp), sessions)
                session_idf[named] = 0
                prior += _summed(bm25.saturated(in_sessions, self._session_dampers, session_idf))
        return Scores(
            lexical=lexical,
            session_prior=prior[self._slots.live],
            coverage=(lexical + adjusted) * self._unlengthened * (subject.unit / np.float32(bm25.HIGHEST)),
            own_coverage=own * subject.unit,
        )

    def _in_windows(
        self, found: Matches, batch: Sequence[int], derived: dict[int, npt.NDArray[np.intp]]
    ) -> npt.NDArray[np.float32]:
        """How often each term of the batch occurs in each message's window; one row per term."""
        width = len(self._lengths.live) + 1
        grid = np.zeros(len(batch) * width, np.float32)
        lines = found.terms * width if len(batch) > 1 else None
        self._windows.spread(grid, lines, found.rows, found.counts)
        grid = grid.reshape(len(batch), width)
        for at, term in enumerate(batch):
            if term in derived:
                grid[at, derived[term]] += 1
        return grid[:, :-1]

    def _in_sessions(self, found: Matches, terms_asked: int) -> npt.NDArray[np.float32]:
        sessions = len(self._session_lengths.live)
        cells = found.terms * sessions + self._slots.live[found.rows]
        shares = found.counts * self._shares.live[found.rows]
        return np.bincount(cells, shares, terms_asked * sessions).astype(np.float32).reshape(terms_asked, sessions)

    def measure(self) -> None:
        """Recompute the BM25 length terms, which change only when rows do."""
        self._dampers = _dampers(self._full_lengths.live + self._windows.borrowed_lengths)
        self._unlengthened = bm25.unlengthened(self._dampers)
        self._session_dampers = _dampers(self._session_lengths.live)

    def _count_sessions(self, begin: int, session_ids: npt.NDArray[np.int64]) -> None:
        known, inverse = np.unique(session_ids, return_inverse=True)
        slots = np.array([self._slot_of.setdefault(session, len(self._slot_of)) for session in known.tolist()], np.intp)
        self._slots.extend(len(session_ids))[:] = slots[inverse]
        self._session_lengths.extend(len(self._slot_of) - len(self._session_lengths.live))[:] = 0
        shares = self._shares.extend(len(session_ids))
        shares[:] = self._speakers.shares(begin)
        np.add.at(self._session_lengths.live, slots[inverse], self._lengths.live[begin:] * shares)


def _dampers(lengths: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return bm25.dampers(lengths, float(lengths.mean()) if len(lengths) else 0.0)


def _summed(parts: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The sum over the terms."""
    return parts[0] if len(parts) == 1 else np.add.reduce(parts, axis=0)
