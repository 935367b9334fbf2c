"""BM25: inverse document frequency, length normalisation and term saturation, and the weights of a query's words."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cloister.index import terms

_K1 = 1.5
_B = 0.75
_STOP_WORD_WEIGHT = 0.5
# The length term of a text of three times the average length.
_MOST_DAMPED = _K1 * (1 - _B + 3 * _B)
HIGHEST = _K1 + 1
"""The limit of a term's BM25 for an idf of one."""


def idf(frequencies: npt.NDArray[np.integer], total: int) -> npt.NDArray[np.float32]:
    return np.log1p((total - frequencies + 0.5) / (frequencies + 0.5)).astype(np.float32)


@lru_cache(maxsize=1_024)
def highest_idf(total: int) -> float:
    """The idf of a term that one of so many messages has."""
    return float(idf(np.ones(1, np.int64), total)[0])


def dampers(lengths: npt.NDArray[np.float32], average: float) -> npt.NDArray[np.float32]:
    """The part of BM25's denominator that grows with length."""
    if not average:
        return np.full(len(lengths), _K1, np.float32)
    return np.float32(_K1 * (1 - _B)) + np.float32(_K1 * _B / average) * lengths


def unlengthened(damped: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """By how much the BM25 of a word that a text has once has to be multiplied, so that length counts only up to a limit: a
    long text that has the word is about it too, in one of its passages."""
    return ((1 + damped) / (1 + np.minimum(damped, np.float32(_MOST_DAMPED)))).astype(np.float32, copy=False)


def rescaled(damped: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The share of its limit that the BM25 of a word has which a text has once, where these length terms were made with another
    average length than that of the texts; length counts up to the limit of `unlengthened`."""
    lengths = np.maximum(damped - _K1 * (1 - _B), 0.01)
    own = _K1 * (1 - _B) + _K1 * _B * lengths / lengths.mean()
    return (1 / (1 + np.minimum(own, _MOST_DAMPED))).astype(np.float32)


def saturated(
    counts: npt.NDArray[np.float32], damped: npt.NDArray[np.float32], weights: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """BM25 of each term (row, weighted by its idf) in each text (column), to be summed over the terms."""
    parts = counts + damped
    np.divide(counts, parts, out=parts)
    parts *= (weights * np.float32(HIGHEST))[:, None]
    return parts


def weigh(words: Sequence[str], stems: Mapping[str, Sequence[int]], known: Mapping[int, float]) -> list[float]:
    """The weight of each word: the mean idf of its parts, by the known idf of their stems. A stop word has no stem and a fixed
    weight."""
    return [
        _mean([max(known.get(stem, 0.0) for stem in stems[part]) for part in terms.words(word) if part in stems])
        for word in words
    ]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else _STOP_WORD_WEIGHT
