"""Words of a query against the words of a pool: BM25 over windows of messages, and over whole sessions.

Names and dates count as words of a message though they are stored as neither.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.index import terms
from cloister.index.columns import Column
from cloister.index.dates import Dates
from cloister.index.postings import Postings
from cloister.index.speakers import Speakers
from cloister.index.spelling import near_words
from cloister.index.windows import Windows

_K1 = 1.5
_B = 0.75
_MOST_TERMS = 64
_MOST_REPAIRS = 4
_STOP_WORD_WEIGHT = 0.5
_GRID = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A query as this pool understands it; `derived` are the rows whose name or date holds a term."""

    text: str
    words: Sequence[str]
    terms: Sequence[int]
    idf: npt.NDArray[np.float32]
    derived: dict[int, npt.NDArray[np.intp]]

    def weigh(self, words: Sequence[str]) -> list[float]:
        """How telling words of the query are in this pool."""
        known = dict(zip(self.terms, self.idf.tolist(), strict=True))
        return [_mean([known.get(term, 0.0) for term in terms.term_list(word)]) for word in words]


class Lexicon:
    def __init__(self, speakers: Speakers, dates: Dates, windows: Windows) -> None:
        self._speakers = speakers
        self._dates = dates
        self._windows = windows
        self._postings = Postings()
        self._lengths = Column(np.float32)
        self._extra = Column(np.float32)
        self._slots = Column(np.intp)
        self._slot_of: dict[int, int] = {}
        self._session_lengths = Column(np.float32)

    @property
    def lengths(self) -> npt.NDArray[np.float32]:
        """The number of terms of each message's own text."""
        return self._lengths.live

    @property
    def nbytes(self) -> int:
        columns = (self._lengths, self._extra, self._slots, self._session_lengths)
        return self._postings.nbytes + sum(column.nbytes for column in columns)

    def extend(
        self, stored: Sequence[bytes], extra: npt.NDArray[np.float32], session_ids: npt.NDArray[np.int64]
    ) -> None:
        """Take up the terms of new rows, and how many name and date words each has beside them."""
        begin = len(self._lengths.live)
        sizes = np.fromiter(map(len, stored), np.int64, len(stored)) // 4
        self._lengths.extend(len(stored))[:] = sizes
        self._extra.extend(len(stored))[:] = extra
        rows = np.repeat(np.arange(begin, begin + len(stored)), sizes)
        self._postings.add(np.frombuffer(b"".join(stored), "<u4"), rows)
        self._count_sessions(begin, session_ids)

    def keep(
        self, rows: npt.NDArray[np.intp], new_rows: npt.NDArray[np.intp], session_ids: npt.NDArray[np.int64]
    ) -> None:
        self._postings.renumber(new_rows)
        for column in (self._lengths, self._extra):
            column.keep(rows)
        self._slots, self._slot_of, self._session_lengths = Column(np.intp), {}, Column(np.float32)
        self._count_sessions(0, session_ids)

    def ask(self, query: str) -> Asked:
        words = list(dict.fromkeys(terms.words(query)))
        repaired = self._repair(query, words)
        if repaired != query:
            words = list(dict.fromkeys(terms.words(repaired)))
        asked = list(dict.fromkeys(term for word in words if (term := terms.term(word))))
        frequencies = self._postings.frequencies(asked)
        derived: dict[int, npt.NDArray[np.intp]] = {}
        for at, term in enumerate(asked):
            mask = self._derived(term)
            if mask is not None:
                derived[term] = np.flatnonzero(mask)
                frequencies[at] += len(derived[term]) - int(mask[self._postings.matches([term]).rows].sum())
        idf = np.log1p((len(self._lengths.live) - frequencies + 0.5) / (frequencies + 0.5)).astype(np.float32)
        return Asked(text=repaired, words=words, terms=asked, idf=idf, derived=derived)

    def score(self, asked: Asked) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """BM25 of each message's window, and of the session it stands in (there without speakers' names)."""
        count, sessions = len(self._lengths.live), len(self._session_lengths.live)
        lexical, prior = np.zeros(count, np.float32), np.zeros(sessions, np.float32)
        chosen = np.argsort(-asked.idf, kind="stable")[:_MOST_TERMS].tolist()
        dampers = _dampers(self._lengths.live + self._windows.borrowed_lengths + self._extra.live)
        session_dampers = _dampers(self._session_lengths.live)
        shares = self._speakers.shares(0)
        at_once = max(1, _GRID // (count + 1))
        for begin in range(0, len(chosen), at_once):
            batch = chosen[begin : begin + at_once]
            batch_terms = [asked.terms[at] for at in batch]
            found = self._postings.matches(batch_terms)
            grid = np.zeros(len(batch) * (count + 1), np.float32)
            self._windows.spread(grid, found.terms * (count + 1), found.rows, found.counts)
            grid = grid.reshape(len(batch), count + 1)
            for at, term in enumerate(batch_terms):
                if term in asked.derived:
                    grid[at, asked.derived[term]] += 1
            idf = asked.idf[batch]
            lexical += _bm25(grid[:, :count], dampers, idf)
            topical = idf * np.array([not self._speakers.is_name(term) for term in batch_terms], np.float32)
            in_sessions = np.bincount(
                found.terms * sessions + self._slots.live[found.rows],
                found.counts * shares[found.rows],
                len(batch) * sessions,
            )
            prior += _bm25(in_sessions.astype(np.float32).reshape(len(batch), sessions), session_dampers, topical)
        return lexical, prior[self._slots.live]

    def _derived(self, term: int) -> npt.NDArray[np.bool_] | None:
        by_name, by_date = self._speakers.with_term(term), self._dates.with_term(term)
        if by_name is None or by_date is None:
            return by_date if by_name is None else by_name
        return by_name | by_date

    def _repair(self, query: str, words: Sequence[str]) -> str:
        """The query with words unknown to the pool replaced by its most frequent word one slip away."""
        candidates = [word for word in words if terms.term(word)]
        frequencies = self._postings.frequencies([terms.term(word) for word in candidates])
        unknown = [
            word
            for word, frequency in zip(candidates, frequencies.tolist(), strict=True)
            if not frequency and self._derived(terms.term(word)) is None
        ]
        for word in unknown[:_MOST_REPAIRS]:
            near = near_words(word)
            if near:
                frequencies = self._postings.frequencies(terms.terms_of(near))
                best = int(frequencies.argmax())
                if frequencies[best]:
                    query = re.sub(rf"(?<![^\W_]){word}(?![^\W_])", near[best], query, flags=re.IGNORECASE)
        return query

    def _count_sessions(self, begin: int, session_ids: npt.NDArray[np.int64]) -> None:
        known, inverse = np.unique(session_ids, return_inverse=True)
        slots = np.array([self._slot_of.setdefault(session, len(self._slot_of)) for session in known.tolist()], np.intp)
        self._slots.extend(len(session_ids))[:] = slots[inverse]
        self._session_lengths.extend(len(self._slot_of) - len(self._session_lengths.live))[:] = 0
        counted = self._lengths.live[begin:] * self._speakers.shares(begin)
        np.add.at(self._session_lengths.live, slots[inverse], counted)


def _dampers(lengths: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The part of BM25's denominator that grows with length."""
    average = float(lengths.mean()) if len(lengths) else 0.0
    if not average:
        return np.full(len(lengths), _K1, np.float32)
    return np.float32(_K1 * (1 - _B)) + np.float32(_K1 * _B / average) * lengths


def _bm25(
    counts: npt.NDArray[np.float32], dampers: npt.NDArray[np.float32], idf: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    parts = counts + dampers
    np.divide(counts, parts, out=parts)
    parts *= (idf * np.float32(_K1 + 1))[:, None]
    return parts.sum(axis=0)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else _STOP_WORD_WEIGHT
