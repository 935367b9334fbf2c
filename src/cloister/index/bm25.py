"""BM25: inverse document frequency, length normalisation and term saturation, and the weights of a query's words."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cloister.index import terms

_K1 = 1.5
_B = 0.75
_STOP_WORD_WEIGHT = 0.5
HIGHEST = _K1 + 1
"""The limit of a term's BM25 for an idf of one."""


def idf(frequencies: npt.NDArray[np.integer], total: int) -> npt.NDArray[np.float32]:
    return np.log1p((total - frequencies + 0.5) / (frequencies + 0.5)).astype(np.float32)


def dampers(lengths: npt.NDArray[np.float32], average: float) -> npt.NDArray[np.float32]:
    """The part of BM25's denominator that grows with length."""
    if not average:
        return np.full(len(lengths), _K1, np.float32)
    return np.float32(_K1 * (1 - _B)) + np.float32(_K1 * _B / average) * lengths


def saturated(
    counts: npt.NDArray[np.float32], damped: npt.NDArray[np.float32], weights: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """BM25 of each term (row, weighted by its idf) in each text (column), to be summed over the terms."""
    parts = counts + damped
    np.divide(counts, parts, out=parts)
    parts *= (weights * np.float32(HIGHEST))[:, None]
    return parts


def weigh(words: Sequence[str], known: Mapping[int, float]) -> list[float]:
    """The weight of each word: the mean idf of its terms. A stop word has no term and a fixed weight."""
    return [_mean([known.get(term, 0.0) for term in terms.term_list(word)]) for word in words]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else _STOP_WORD_WEIGHT
