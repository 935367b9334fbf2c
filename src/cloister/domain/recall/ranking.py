"""Combines the evidence for each candidate of a query into one score and order. Pure arithmetic: no text, no scope, no storage.

The candidates may be a whole pool or those an index returned. Min-max scaling is over the given candidates, or between the bounds
of the whole pool where an index gives them, so that a candidate's score does not depend on which others are candidates.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_DIGITS = 6
_TIE = 10.0**-_DIGITS


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """The lowest and highest value of each scaled column in the whole pool."""

    lexical: tuple[float, float]
    semantic: tuple[float, float]
    session_prior: tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The evidence for each candidate, as columns of equal length. `roles` are positions in `conversation.ROLES`; `size` is the
    number of different messages in the pool, of which the candidates may be only some."""

    size: int
    ids: npt.NDArray[np.int64]
    session_ids: npt.NDArray[np.int64]
    roles: npt.NDArray[np.int8]
    lexical: npt.NDArray[np.float32]
    semantic: npt.NDArray[np.float32]
    author: npt.NDArray[np.float32]
    date: npt.NDArray[np.float32]
    session_prior: npt.NDArray[np.float32]
    coverage: npt.NDArray[np.float32]
    """How much of the query's words a candidate has, from 0 to about 1; words that no message of the pool has count too."""
    own_coverage: npt.NDArray[np.float32] | None = None
    """The same share of a candidate's own words, without those of the messages around it."""
    own_semantic: npt.NDArray[np.float32] | None = None
    """The similarity of a candidate's own vector, without those of the messages around it."""
    copies: npt.NDArray[np.int32] | None = None
    """The same number for candidates of the same words, -1 for those whose words no other message has, -2 for those of which the
    index does not know it; None if it does not know it of any."""
    bounds: Bounds | None = None
    """Given if the candidates are only a part of the pool."""
    second: npt.NDArray[np.float32] | None = None
    """The similarity by an additional embedder, NaN where a message has no vector of it; None without such an embedder."""
    own_second: npt.NDArray[np.float32] | None = None
    """The same of a candidate's own vector."""
    usual_second: float = 0.0
    """The similarity by the additional embedder that is usual in the pool: models differ in that."""

    def __len__(self) -> int:
        return len(self.ids)


def no_evidence() -> Evidence:
    """The evidence of an empty pool."""
    nothing = np.empty(0, np.float32)
    return Evidence(
        size=0,
        ids=np.empty(0, np.int64),
        session_ids=np.empty(0, np.int64),
        roles=np.empty(0, np.int8),
        lexical=nothing,
        semantic=nothing,
        author=nothing,
        date=nothing,
        session_prior=nothing,
        coverage=nothing,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The weight of each kind of evidence. They were measured; the optimum is flat. `author` multiplies the rest."""

    lexical: float = 0.5
    semantic: float = 0.5
    author: float = 0.38
    date: float = 0.1
    session_prior: float = 0.1
    favour_author: bool = True
    second_share: float = 0.4
    """The share of an additional embedder in the semantic evidence."""


def rank(evidence: Evidence, weights: Weights | None = None) -> npt.NDArray[np.float32]:
    """One score per candidate; higher is better."""
    by = weights or Weights()
    scores = np.float32(by.date) * evidence.date
    bounds = evidence.bounds
    semantic_limits = bounds.semantic if bounds and evidence.second is None else None
    for column, weight, limits in (
        (evidence.lexical, by.lexical, bounds and bounds.lexical),
        (blended_semantic(evidence, by.second_share), by.semantic, semantic_limits),
        (evidence.session_prior, by.session_prior, bounds and bounds.session_prior),
    ):
        _add_scaled(scores, column, weight, limits)
    if by.favour_author:
        scores *= 1 + np.float32(by.author) * evidence.author
    return scores


def blended_semantic(evidence: Evidence, share: float) -> npt.NDArray[np.float32]:
    """The semantic evidence of both embedders; where a message has no vector of the additional one, the table's stands for both."""
    if evidence.second is None:
        return evidence.semantic
    known = np.flatnonzero(~np.isnan(evidence.second))
    blended = np.zeros(len(evidence), np.float32)
    _add_scaled(blended, evidence.semantic, 1, evidence.bounds and evidence.bounds.semantic)
    second = np.zeros(len(known), np.float32)
    _add_scaled(second, evidence.second[known], 1, None)
    blended[known] += np.float32(share) * (second - blended[known])
    return blended


def best(
    evidence: Evidence,
    scores: npt.NDArray[np.float32],
    limit: int,
    where: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.intp]:
    """Positions of the `limit` best candidates, best first; equal scores are ordered by id, so that the order is deterministic."""
    rows = None if where is None else where.nonzero()[0]
    values = scores if rows is None else scores[rows]
    if limit <= 0 or not len(values):
        return np.empty(0, np.intp)
    lowest = np.partition(values, -limit)[-limit] - np.float32(_TIE) if limit < len(values) else values.min()
    near = (values >= lowest).nonzero()[0]
    near = near if rows is None else rows[near]
    return in_order(evidence, scores, near)[:limit]


def in_order(
    evidence: Evidence, scores: npt.NDArray[np.float32], positions: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """These positions, those of the highest scores first; equal scores are ordered by id."""
    order = np.lexsort((evidence.ids[positions], -scores[positions].astype(np.float64).round(_DIGITS)))
    return positions[order]


def _add_scaled(
    scores: npt.NDArray[np.float32],
    column: npt.NDArray[np.float32],
    weight: float,
    bounds: tuple[float, float] | None,
) -> None:
    """Add `weight` times the column scaled to 0…1; a constant column, as of a single candidate, is clipped instead of scaled."""
    if not len(column):
        return
    low, high = bounds or (float(column.min()), float(column.max()))
    if high - low > 1e-9:
        scores += (column - np.float32(low)) * np.float32(weight / (high - low))
    else:
        scores += np.float32(weight * min(max(high, 0.0), 1.0))
