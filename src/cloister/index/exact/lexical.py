"""Lexical search in a pool: BM25 over windows of messages, and over whole sessions.

The author's name and the date count as words of a message, though they are not part of its text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cloister.domain.patterns import linear
from cloister.index import bm25, terms
from cloister.index.exact.columns import Column
from cloister.index.exact.dates import Dates
from cloister.index.exact.postings import Locations, Matches, Postings
from cloister.index.exact.speakers import Speakers
from cloister.index.exact.windows import Windows
from cloister.index.spelling import near_words

_MOST_TERMS = 64
_MOST_REPAIRS = 4
_GRID = 65_536
_WORD = linear(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A query in terms of this pool. `derived` has, by term, the rows whose author or date has it."""

    text: str
    words: Sequence[str]
    stems: Mapping[str, Sequence[int]]
    terms: Sequence[int]
    located: Locations
    idf: npt.NDArray[np.float32]
    derived: dict[int, npt.NDArray[np.intp]]

    def weigh(self, words: Sequence[str]) -> list[float]:
        """The weight of words of the query in this pool, by their idf."""
        return bm25.weigh(words, self.stems, dict(zip(self.terms, self.idf.tolist(), strict=True)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """Lexical scores of each message. `session_prior` and `coverage` leave out speakers' names."""

    lexical: npt.NDArray[np.float32]
    session_prior: npt.NDArray[np.float32]
    coverage: npt.NDArray[np.float32]


class Lexicon:
    def __init__(self, speakers: Speakers, dates: Dates, windows: Windows) -> None:
        self._speakers = speakers
        self._dates = dates
        self._windows = windows
        self._postings = Postings()
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
        dampers = self._dampers.nbytes + self._session_dampers.nbytes
        return self._postings.nbytes + dampers + sum(column.nbytes for column in columns)

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
        read, asked, located = self._locate(query)
        if not located.frequencies.all():
            repaired = self._repair(query, read, dict(zip(asked, located.frequencies.tolist(), strict=True)))
            if repaired != query:
                query = repaired
                read, asked, located = self._locate(query)
        frequencies = located.frequencies.copy()
        derived: dict[int, npt.NDArray[np.intp]] = {}
        for at, term in enumerate(asked):
            mask = self._derived(term)
            if mask is not None:
                derived[term] = np.flatnonzero(mask)
                frequencies[at] += len(derived[term]) - np.count_nonzero(mask[located.matches([at]).rows])
        idf = bm25.idf(frequencies, len(self._lengths.live))
        return Query(
            text=query,
            words=read.words,
            stems=read.terms,
            terms=asked,
            located=located,
            idf=idf,
            derived=derived,
        )

    def score(self, asked: Query) -> Scores:
        """BM25 of each message's window and of its session, and the coverage of the query."""
        count, sessions = len(self._lengths.live), len(self._session_lengths.live)
        lexical, prior = np.zeros(count, np.float32), np.zeros(sessions, np.float32)
        names = np.zeros(count, np.float32)
        chosen: list[int] = np.argsort(-asked.idf, kind="stable")[:_MOST_TERMS].tolist()
        at_once = max(1, _GRID // (count + 1))
        for begin in range(0, len(chosen), at_once):
            batch = chosen[begin : begin + at_once]
            found = asked.located.matches(batch)
            windows = self._in_windows(found, [asked.terms[at] for at in batch], asked.derived)
            parts = bm25.saturated(windows, self._dampers, asked.idf[batch])
            lexical += _summed(parts)
            named = np.array([self._speakers.is_name(asked.terms[at]) for at in batch])
            if named.any():
                names += _summed(parts[named])
            if not named.all():
                in_sessions = self._in_sessions(found, len(batch))
                session_idf = bm25.idf(np.count_nonzero(in_sessions, axis=1), sessions)
                session_idf[named] = 0
                prior += _summed(bm25.saturated(in_sessions, self._session_dampers, session_idf))
        wanted = sum(
            idf for term, idf in zip(asked.terms, asked.idf.tolist(), strict=True) if not self._speakers.is_name(term)
        )
        coverage = (
            (lexical - names) * np.float32(1 / (bm25.HIGHEST * wanted)) if wanted else np.zeros(count, np.float32)
        )
        return Scores(lexical=lexical, session_prior=prior[self._slots.live], coverage=coverage)

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

    def _locate(self, query: str) -> tuple[terms.QueryWords, Sequence[int], Locations]:
        read = terms.read_query(query, self._languages())
        if read.ambiguous:
            possible = list(read.distinct())
            located = self._postings.locate(possible)
            known = {
                term
                for term, frequency in zip(possible, located.frequencies.tolist(), strict=True)
                if frequency or self._derived(term) is not None
            }
            read = read.limited_to(known)
        asked = list(read.distinct())
        return read, asked, self._postings.locate(asked)

    def _languages(self) -> Sequence[terms.Language]:
        """The languages of the pool's messages besides English."""
        if self._spoken is None:
            marks = self._postings.locate(list(terms.LANGUAGE_TERMS.values())).frequencies.tolist()
            self._spoken = [language for language, found in zip(terms.LANGUAGE_TERMS, marks, strict=True) if found]
        return self._spoken

    def _derived(self, term: int) -> npt.NDArray[np.bool_] | None:
        by_name, by_date = self._speakers.with_term(term), self._dates.with_term(term)
        if by_name is None or by_date is None:
            return by_date if by_name is None else by_name
        return by_name | by_date

    def _repair(self, query: str, read: terms.QueryWords, frequencies: dict[int, int]) -> str:
        """The query with each word unknown to the pool replaced by the pool's most frequent word at edit distance one."""
        unknown = [
            word
            for word, stems in read.terms.items()
            if not any(frequencies[stem] or self._derived(stem) is not None for stem in stems)
        ]
        repaired: dict[str, str] = {}
        for word in unknown[:_MOST_REPAIRS]:
            plain = word if read.language is terms.Language.ENGLISH else terms.without_marks(word)
            proposed = _near_terms(plain, read.language)
            if not len(proposed):
                continue
            named = self._speakers.frequencies(_near_terms(plain, terms.Language.ENGLISH))
            known = self._postings.locate(proposed).frequencies + named
            if known.any():
                repaired[word] = near_words(plain)[int(known.argmax())]
        if not repaired:
            return query
        return _WORD.sub(lambda word: repaired.get(word.group().lower(), word.group()), query)

    def measure(self) -> None:
        """Recompute the BM25 length terms, which change only when rows do."""
        self._spoken: Sequence[terms.Language] | None = None
        self._dampers = _dampers(self._full_lengths.live + self._windows.borrowed_lengths)
        self._session_dampers = _dampers(self._session_lengths.live)

    def _count_sessions(self, begin: int, session_ids: npt.NDArray[np.int64]) -> None:
        known, inverse = np.unique(session_ids, return_inverse=True)
        slots = np.array([self._slot_of.setdefault(session, len(self._slot_of)) for session in known.tolist()], np.intp)
        self._slots.extend(len(session_ids))[:] = slots[inverse]
        self._session_lengths.extend(len(self._slot_of) - len(self._session_lengths.live))[:] = 0
        shares = self._shares.extend(len(session_ids))
        shares[:] = self._speakers.shares(begin)
        np.add.at(self._session_lengths.live, slots[inverse], self._lengths.live[begin:] * shares)


@lru_cache(maxsize=1024)
def _near_terms(word: str, language: terms.Language) -> npt.NDArray[np.uint32]:
    return np.array(terms.terms_of(near_words(word), language), np.uint32)


def _dampers(lengths: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return bm25.dampers(lengths, float(lengths.mean()) if len(lengths) else 0.0)


def _summed(parts: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The sum over the terms."""
    return parts[0] if len(parts) == 1 else parts.sum(axis=0)
