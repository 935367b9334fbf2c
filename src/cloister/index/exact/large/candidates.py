"""The candidates of one query in a large pool: which rows are worth better evidence, and the evidence for some rows.

Rows are selected by the same ranking that orders the answer, for each role and for a session, because the caller picks by these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cloister.domain.conversation import ROLES
from cloister.domain.identifiers import SEQUENCE_BITS
from cloister.domain.recall.ranking import Bounds, Evidence, rank
from cloister.index.exact.large.lexicon import Scores
from cloister.index.exact.large.selection import BestOfRoles, best_positions

CHUNK = 16_384
"""So many rows are scored at once that their numbers stay in the CPU cache."""
# Candidates of each role beyond those asked for, and how many times as many are estimated from both bits.
_MARGIN = 60
_ESTIMATED = 16
# The highest and lowest windows by the estimate, among which the true highest and lowest are.
_EXTREMES = 12

Floats = npt.NDArray[np.float32]
Positions = npt.NDArray[np.intp]
Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """All columns are of the whole pool. `slots` are the positions of rows in the session prior, `session` is one of them."""

    ids: npt.NDArray[np.int64]
    alive: npt.NDArray[np.bool_]
    roles: npt.NDArray[np.int8]
    slots: npt.NDArray[np.int32]
    words: Scores
    author: npt.NDArray[np.bool_] | None
    date: Floats | None
    session: int | None
    _nothing: Floats = field(default_factory=lambda: np.zeros(CHUNK, np.float32))

    def select(self, semantic: Floats, depth: int) -> tuple[Positions, Positions]:
        """The best rows by estimated scores, and the rows of extreme semantic scores."""
        count = _ESTIMATED * (depth + _MARGIN)
        extremes = self._extremes(semantic)
        bounds = _range(semantic[extremes])
        best = BestOfRoles(self.ids, self.roles, len(ROLES), count)
        for begin in range(0, len(semantic), CHUNK):
            rows = slice(begin, min(begin + CHUNK, len(semantic)))
            best.add(begin, rank(self.evidence(rows, semantic[rows], bounds)))
        found = list(best.rows())
        if self.session is not None:
            rows = np.flatnonzero(self.slots == self.session)
            scores = rank(self.evidence(rows, semantic[rows], bounds))
            found.append(rows[best_positions(scores, self.ids[rows], count)])
        return _union(found), extremes

    def narrow(self, rows: Positions, extremes: Positions, semantic: Floats, depth: int) -> Positions:
        """The best of these sorted rows by better estimates of their semantic scores, and the extremes, which are among them."""
        bounds = _range(semantic[np.searchsorted(rows, extremes)])
        scores = rank(self.evidence(rows, semantic, bounds))
        roles = self.roles[rows]
        groups = [np.flatnonzero(roles == role) for role in range(len(ROLES))]
        if self.session is not None:
            groups.append(np.flatnonzero(self.slots[rows] == self.session))
        found = [rows[of[best_positions(scores[of], self.ids[rows[of]], depth + _MARGIN)]] for of in groups]
        return _union([*found, extremes])

    def _extremes(self, semantic: Floats) -> Positions:
        """The live rows of the highest and of the lowest semantic scores."""
        roles = np.where(self.alive, np.int8(0), np.int8(-1))
        ends = [BestOfRoles(self.ids, roles, 1, _EXTREMES) for _ in range(2)]
        for begin in range(0, len(semantic), CHUNK):
            part = semantic[begin : begin + CHUNK]
            for best, scores in zip(ends, (part, -part), strict=True):
                best.add(begin, scores)
        return _union([rows for best in ends for rows in best.rows()])

    def evidence(self, rows: Positions | slice, semantic: Floats, bounds: Range) -> Evidence:
        """The evidence for rows of these semantic scores, which lie within `bounds` in the whole pool."""
        ids = self.ids[rows]
        nothing = self._nothing[: len(ids)] if len(ids) <= CHUNK else np.zeros(len(ids), np.float32)
        return Evidence(
            ids=ids,
            session_ids=ids >> SEQUENCE_BITS,
            roles=self.roles[rows],
            lexical=self.words.lexical[rows],
            semantic=semantic,
            author=nothing if self.author is None else self.author[rows].astype(np.float32),
            date=nothing if self.date is None else self.date[rows],
            session_prior=self.words.prior[self.slots[rows]],
            coverage=nothing if isinstance(rows, slice) else self.words.coverage(rows),
            bounds=Bounds(lexical=self.words.lexical_bounds, semantic=bounds, session_prior=self.words.prior_bounds),
        )


def _range(values: Floats) -> Range:
    return float(values.min()), float(values.max())


def _union(rows: Sequence[Positions]) -> Positions:
    return np.unique(np.concatenate(rows))
