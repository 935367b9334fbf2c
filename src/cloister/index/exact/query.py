"""Reads a query in terms of one pool: which of its words the pool has, how rare they are, and what misspelt words may mean.

The author's name and the date count as words of a message, though they are not part of its text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cloister.domain.patterns import linear
from cloister.index import bm25, terms
from cloister.index.exact.dates import Dates
from cloister.index.exact.postings import Locations, Postings
from cloister.index.exact.speakers import Speakers
from cloister.index.spelling import near_words
from cloister.index.subject import Subject, subject_of

_MOST_REPAIRS = 4
_WORD = linear(r"[^\W_]+")
Alive = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A query in terms of this pool of `count` messages. `derived` has, by term, the rows whose author or date has it."""

    text: str
    words: Sequence[str]
    stems: Mapping[str, Sequence[int]]
    terms: Sequence[int]
    located: Locations
    idf: npt.NDArray[np.float32]
    known: Mapping[int, float]
    """The idf by term."""
    derived: dict[int, npt.NDArray[np.intp]]
    count: int

    def weigh(self, words: Sequence[str]) -> list[float]:
        """The weight of words of the query in this pool, by their idf."""
        return bm25.weigh(words, self.stems, self.known)

    def subject(self, speakers: Speakers) -> Subject:
        """See `subject_of`."""
        names = frozenset(filter(speakers.is_name, self.terms))
        return subject_of(self.text, self.stems, self.known, size=self.count, names=names, derived=self.derived)


class QueryReader:
    """Reads queries against the postings, authors and dates of a pool."""

    def __init__(self, postings: Postings, speakers: Speakers, dates: Dates) -> None:
        self._postings = postings
        self._speakers = speakers
        self._dates = dates
        self._spoken: Sequence[terms.Language] = ()
        self._spoken_in: object = None

    def read(self, query: str, count: int, alive: Alive | None = None) -> Query:
        """The query in terms of a pool of `count` messages; with `alive`, only of the rows that it selects."""
        words, asked, located = self._locate(query, alive)
        if 0 in located.frequencies.tolist():
            repaired = self._repair(query, words, dict(zip(asked, located.frequencies.tolist(), strict=True)), alive)
            if repaired != query:
                query = repaired
                words, asked, located = self._locate(query, alive)
        frequencies = located.frequencies.copy()
        derived: dict[int, npt.NDArray[np.intp]] = {}
        for at, term in enumerate(asked):
            mask = self._derived(term)
            if mask is not None:
                derived[term] = (mask if alive is None else mask & alive).nonzero()[0]
                frequencies[at] += len(derived[term]) - np.count_nonzero(mask[located.matches([at]).rows])
        idf = bm25.idf(frequencies, count)
        return Query(
            text=query,
            words=words.words,
            stems=words.terms,
            terms=asked,
            located=located,
            idf=idf,
            known=dict(zip(asked, idf.tolist(), strict=True)),
            derived=derived,
            count=count,
        )

    def _locate(self, query: str, alive: Alive | None) -> tuple[terms.QueryWords, Sequence[int], Locations]:
        words = terms.read_query(query, self._languages(alive))
        if words.ambiguous:
            possible = list(words.distinct())
            located = self._postings.locate(possible, alive)
            known = {
                term
                for term, frequency in zip(possible, located.frequencies.tolist(), strict=True)
                if frequency or self._derived(term) is not None
            }
            words = words.limited_to(known)
            asked = list(words.distinct())
            return words, asked, located.limited_to([possible.index(term) for term in asked])
        asked = list(words.distinct())
        return words, asked, self._postings.locate(asked, alive)

    def _languages(self, alive: Alive | None) -> Sequence[terms.Language]:
        """The languages of the pool's messages besides English."""
        if alive is None and self._spoken_in is self._postings.segments:
            return self._spoken
        marks = self._postings.locate(list(terms.LANGUAGE_TERMS.values()), alive).frequencies.tolist()
        spoken = [language for language, found in zip(terms.LANGUAGE_TERMS, marks, strict=True) if found]
        if alive is None:
            self._spoken, self._spoken_in = spoken, self._postings.segments
        return spoken

    def _derived(self, term: int) -> npt.NDArray[np.bool_] | None:
        by_name, by_date = self._speakers.with_term(term), self._dates.with_term(term)
        if by_name is None or by_date is None:
            return by_date if by_name is None else by_name
        return by_name | by_date

    def _repair(self, query: str, words: terms.QueryWords, frequencies: dict[int, int], alive: Alive | None) -> str:
        """The query with each word unknown to the pool replaced by the pool's most frequent word at edit distance one."""
        unknown = [
            word
            for word, stems in words.terms.items()
            if not any(frequencies[stem] or self._derived(stem) is not None for stem in stems)
        ]
        repaired: dict[str, str] = {}
        for word in unknown[:_MOST_REPAIRS]:
            plain = word if words.language is terms.Language.ENGLISH else terms.without_marks(word)
            proposed = _near_terms(plain, words.language)
            if not len(proposed):
                continue
            named = self._speakers.frequencies(_near_terms(plain, terms.Language.ENGLISH))
            known = self._postings.locate(proposed, alive).frequencies + named
            if known.any():
                repaired[word] = near_words(plain)[int(known.argmax())]
        if not repaired:
            return query
        return _WORD.sub(lambda word: repaired.get(word.group().lower(), word.group()), query)


@lru_cache(maxsize=1024)
def _near_terms(word: str, language: terms.Language) -> npt.NDArray[np.uint32]:
    return np.array(terms.terms_of(near_words(word), language), np.uint32)
