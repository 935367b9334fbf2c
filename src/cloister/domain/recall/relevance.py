"""How likely a recalled message is about the question: a number from 0 to 1 that means the same in every pool (CTX-6).

The score of `ranking.py` orders the messages of one pool for one question, and its best is high whether or not anything is related.
Relevance is made of values that do not depend on the other messages: the cosine of a message's window with the question, and the
share of the question's words that the window has. By chance both grow with the logarithm of the pool's size, so they are divided by
a level for that size. A message is as relevant as it is itself, but not more than the best of all is: that decides whether the pool
has anything on the subject.

The curve was fitted on questions with known answers against questions about something else, half of each: a relevance of 0.5 was
right every other time, in pools of 5 to 10,866 messages (docs/decisions/044-relevance.md).
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.ranking import Evidence

Strength = Literal["strong", "weak"]
DEFAULT_MIN_RELEVANCE = 0.2


class Floors(NamedTuple):
    """The relevance that the best message has to reach for anything to be recalled, and that of the others; None if it is the
    same."""

    best: float
    others: float | None = None


FILLING_FLOORS = Floors(0.15, 0.02)
"""The default while a budget of tokens is to be filled: the best decides whether the pool has anything on the subject."""
STRONG = 0.5
"""The relevance from which a message more likely belongs to the question than not."""
_COVERAGE_WEIGHT = 1.25
_LEVEL = 0.06
_LEVEL_PER_LOG = 0.0455
_LOWEST_LEVEL = 0.19
_OWN_SHARE = 0.55
_MIDPOINT = 1.4
_STEEPNESS = 4
# How relevant a message without any match of its own can be by the messages around it.
_BY_WINDOW = 0.35


def matches(evidence: Evidence) -> npt.NDArray[np.float32]:
    """How well each candidate matches the question, compared with chance in a pool of this size: about 1 is chance."""
    return _compared(evidence, evidence.coverage, _semantic(evidence))


def own_matches(evidence: Evidence) -> npt.NDArray[np.float32] | None:
    """The same of each candidate's own words, without the messages around it; None if the index does not know it."""
    if evidence.own_coverage is None or evidence.own_semantic is None:
        return None
    second = _above_usual(evidence, evidence.own_second)
    own = evidence.own_semantic if second is None else np.maximum(evidence.own_semantic, second)
    return _compared(evidence, evidence.own_coverage, own)


def _compared(
    evidence: Evidence, coverage: npt.NDArray[np.float32], semantic: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    level = max(_LEVEL + _LEVEL_PER_LOG * math.log(max(evidence.size, 1)), _LOWEST_LEVEL)
    weighted = np.multiply(coverage, _COVERAGE_WEIGHT / level, dtype=np.float32)
    return np.add(weighted, np.multiply(semantic, 1 / level, dtype=np.float32), dtype=np.float32)


def _semantic(evidence: Evidence) -> npt.NDArray[np.float32]:
    """The cosine, or where an additional embedder says more, its similarity."""
    second = _above_usual(evidence, evidence.second)
    return evidence.semantic if second is None else np.maximum(evidence.semantic, second)


def _above_usual(evidence: Evidence, second: npt.NDArray[np.float32] | None) -> npt.NDArray[np.float32] | None:
    """A similarity by an additional embedder, from 0, which is what is usual in the pool, to 1."""
    if second is None:
        return None
    usual = np.float32(evidence.usual_second)
    return np.nan_to_num((second - usual) / max(1 - usual, np.float32(1e-3)), nan=0.0).astype(np.float32)


def relevance(match: float, best: float, own: float = math.inf) -> float:
    """The relevance of a candidate by its match, the best match of all candidates, and the match of its own words: a message
    that only stands near others which match is weak."""
    found = _probability(min(match / _OWN_SHARE, best))
    return found if own == math.inf else min(found, _BY_WINDOW + (1 - _BY_WINDOW) * _probability(own))


def _probability(match: float) -> float:
    strength = max(match, 0.0) ** _STEEPNESS
    return strength / (strength + _MIDPOINT**_STEEPNESS)


def lowest_match(floor: float) -> float:
    """The match below which no candidate reaches this relevance, whatever the others are."""
    if floor <= 0:
        return -math.inf
    if floor >= 1:
        return math.inf
    return _OWN_SHARE * _MIDPOINT * (floor / (1 - floor)) ** (1 / _STEEPNESS)


def strength_of(found: float) -> Strength:
    return "strong" if found >= STRONG else "weak"


def checked_min_relevance(given: object, field: str = "min_relevance") -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InvalidRequest(field, "must be a number from 0 (everything) to 1.")
    return float(given)
