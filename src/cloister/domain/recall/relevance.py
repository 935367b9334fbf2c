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
from typing import Literal

import numpy as np
import numpy.typing as npt

from cloister.domain.errors import InvalidRequest
from cloister.domain.recall.ranking import Evidence

Strength = Literal["strong", "weak"]
DEFAULT_MIN_RELEVANCE = 0.2
STRONG = 0.5
"""The relevance from which a message more likely belongs to the question than not."""
_COVERAGE_WEIGHT = 1.25
_LEVEL = 0.06
_LEVEL_PER_LOG = 0.0455
_LOWEST_LEVEL = 0.15
_OWN_SHARE = 0.55
_MIDPOINT = 1.4
_STEEPNESS = 4
_MANY = 20


def matches(evidence: Evidence) -> npt.NDArray[np.float32]:
    """How well each candidate matches the question, compared with chance in a pool of this size: about 1 is chance."""
    level = max(_LEVEL + _LEVEL_PER_LOG * math.log(max(evidence.size, 1)), _LOWEST_LEVEL)
    coverage = np.multiply(evidence.coverage, _COVERAGE_WEIGHT / level, dtype=np.float32)
    return np.add(coverage, np.multiply(_semantic(evidence), 1 / level, dtype=np.float32), dtype=np.float32)


def _semantic(evidence: Evidence) -> npt.NDArray[np.float32]:
    """The cosine, or where an additional embedder says more, its similarity: from 0, which is what is usual in the pool, because
    models differ in that, to 1. Usual is the median, or the lowest where there are few messages."""
    second = evidence.second
    if second is None or not np.isfinite(second).any():
        return evidence.semantic
    typical = np.float32(np.nanmedian(second) if len(second) >= _MANY else np.nanmin(second))
    above = np.nan_to_num((second - typical) / max(1 - typical, np.float32(1e-3)), nan=0.0)
    return np.maximum(evidence.semantic, above.astype(np.float32))


def relevance(match: float, best: float) -> float:
    """The relevance of a candidate by its match and the best match of all candidates."""
    strength = max(min(match / _OWN_SHARE, best), 0.0) ** _STEEPNESS
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
