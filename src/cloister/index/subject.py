"""The subject of a query: how much each of its words counts for whether a message is about it (CTX-6)."""

import math
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.domain.recall.relative_dates import RELATIVE_WORDS, relative_date_words
from cloister.domain.recall.wording.requests import REQUEST_WORDS
from cloister.index import bm25, terms

# How much a word that half of all messages have counts at least, as a share of the highest idf.
_COMMON_SHARE = 0.5
# The idf of a word that half of all messages have.
_COMMON = math.log(2) + 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """How much each term of a query counts, 0 if not at all; and the sum of it."""

    weights: npt.NDArray[np.float32]
    total: float

    @property
    def unit(self) -> np.float32:
        """What a sum of weights is multiplied by to be a share of the whole."""
        return np.float32(1 / self.total if self.total else 0)


def subject_of(
    text: str,
    stems: Mapping[str, Sequence[int]],
    idf: Mapping[int, float],
    *,
    size: int,
    names: Container[int],
    derived: Container[int],
) -> Subject:
    """The subject of a query in a pool of `size` messages, by the idf of its terms, in their order. Not the `names` of
    speakers; nor, where the query names a relative date ("last week"), its words, which are answered by when something was
    said; nor, unless there are no others, the words of requests ("an overview of"). A word that no message has counts as one
    that a single message has: in a pool of few messages it would outweigh all others. A word that most messages have is the
    subject of the pool, and counts more than its idf says, unless it is `derived`: of an author's name or a date."""
    dates: Collection[int] = ()
    if not RELATIVE_WORDS.isdisjoint(stems):
        dates = frozenset(terms.term_list(relative_date_words(text)))
    counted = {term for term in idf if term not in dates and term not in names}
    if not REQUEST_WORDS.isdisjoint(stems):
        requested = {term for word, found in stems.items() if word in REQUEST_WORDS for term in found}
        counted = (counted - requested) or counted
    highest = bm25.highest_idf(size)
    least = _COMMON_SHARE * highest
    weights = [
        0.0 if term not in counted else max(found, least) if found <= _COMMON and term not in derived else found
        for term, found in idf.items()
    ]
    return Subject(weights=np.array(weights, np.float32), total=sum(min(weight, highest) for weight in weights))
