"""The candidates of one query in a large pool: which rows are worth better evidence, and the evidence for some rows.

Rows are selected by the same ranking that orders the answer, for each role and for a session, because the caller picks by these.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cloister.domain.conversation import ROLES
from cloister.domain.identifiers import SEQUENCE_BITS
from cloister.domain.recall.ranking import Bounds, Evidence, rank
from cloister.index.exact.columns import distinct
from cloister.index.exact.large.lexicon import Scores
from cloister.index.exact.large.selection import Best, BestOfRoles, best_positions

# So many rows are scored at once that their numbers stay in the CPU cache; at first fewer, to find the scores that matter cheaply.
_FIRST_CHUNK, _CHUNK = 4_096, 32_768
# How many rows of each role are estimated better, and how many candidates at most there are, for a depth of 0 and for each further
# one asked for (measured by `benchmarks/stages.py`). The numbers "once" are for pools that keep their vectors.
_ESTIMATED, _ESTIMATED_EACH = 300, 8
_ESTIMATED_ONCE, _ESTIMATED_ONCE_EACH = 100, 5
_MOST, _MOST_EACH = 40, 2
# The highest and lowest windows by the first estimate, and by the second, among which the true highest and lowest are looked for.
_EXTREMES = 128
_EXTREMES_ONCE = 160
_NARROW_EXTREMES = 12

Floats = npt.NDArray[np.float32]
Positions = npt.NDArray[np.intp]
Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """All columns are of the whole pool, which has `size` different live rows. Rows with the role -1 are not selected. `slots`
    are the positions of rows in the session prior, `session` is one of them."""

    size: int
    ids: npt.NDArray[np.int64]
    alive: npt.NDArray[np.bool_]
    roles: npt.NDArray[np.int8]
    slots: npt.NDArray[np.int32]
    words: Scores
    author: npt.NDArray[np.bool_] | None
    date: Floats | None
    session: int | None

    def select(self, semantic: Floats, depth: int, *, narrowed: bool) -> tuple[Positions, Positions]:
        """The best rows by estimated scores, and the rows of extreme semantic scores: more if `narrow` follows."""
        count = _ESTIMATED + _ESTIMATED_EACH * depth if narrowed else _ESTIMATED_ONCE + _ESTIMATED_ONCE_EACH * depth
        extremes = self._extremes(semantic, _EXTREMES if narrowed else _EXTREMES_ONCE)
        bounds = _range(semantic[extremes])
        best = BestOfRoles(self.ids, self.roles, len(ROLES), count)
        estimate = _Estimate(self, bounds)
        for begin, end in chunks(len(semantic)):
            best.add(begin, estimate.scores(slice(begin, end), semantic))
        found = list(best.rows())
        if self.session is not None:
            rows = np.flatnonzero((self.slots == self.session) & (self.roles >= 0))
            scores = rank(self.evidence(rows, semantic[rows], bounds))
            found.append(rows[best_positions(scores, self.ids[rows], count)])
        return distinct(*found), extremes

    def narrow(self, rows: Positions, extremes: Positions, semantic: Floats, depth: int, doubt: float) -> Positions:
        """The best of these sorted rows by better estimates of their semantic scores, which may be wrong by `doubt`; and the
        furthest of the extremes, which are among them."""
        ends = semantic[np.searchsorted(rows, extremes)]
        bounds = _range(ends)
        scores = rank(self.evidence(rows, semantic, bounds))
        doubt = _Estimate(self, bounds).most_by(doubt)
        groups = [self.roles[rows] == role for role in range(len(ROLES))]
        if self.session is not None:
            groups.append((self.slots[rows] == self.session) & (self.roles[rows] >= 0))
        found = [rows[self._near_best(rows, scores, np.flatnonzero(group), depth, doubt)] for group in groups]
        ids = self.ids[extremes]
        furthest = [extremes[best_positions(by, ids, _NARROW_EXTREMES)] for by in (ends, -ends)]
        return distinct(*found, *furthest)

    def _near_best(self, rows: Positions, scores: Floats, among: Positions, depth: int, doubt: float) -> Positions:
        """Of some positions those that may be among the `depth` best, if scores are wrong by `doubt`."""
        if 0 < depth < len(among):
            lowest = np.partition(scores[among], -depth)[-depth] - np.float32(doubt)
            among = among[scores[among] >= lowest]
        return among[best_positions(scores[among], self.ids[rows[among]], _MOST + _MOST_EACH * depth)]

    def _extremes(self, semantic: Floats, count: int) -> Positions:
        """The live rows of the highest and of the lowest semantic scores."""
        ends = [Best(self.ids, count) for _ in range(2)]
        for begin, end in chunks(len(semantic)):
            part = semantic[begin:end]
            for best, scores in zip(ends, (part, -part), strict=True):
                near = np.flatnonzero(scores >= best.lowest)
                near = near[self.alive[begin + near]]
                if len(near):
                    best.add(near + begin, scores[near])
        return distinct(*(best.rows() for best in ends))

    def evidence(self, rows: Positions, semantic: Floats, bounds: Range) -> Evidence:
        """The evidence for rows of these semantic scores, which lie within `bounds` in the whole pool."""
        ids = self.ids[rows]
        nothing = np.zeros(len(ids), np.float32)
        return Evidence(
            size=self.size,
            ids=ids,
            session_ids=ids >> SEQUENCE_BITS,
            roles=self.roles[rows],
            lexical=self.words.lexical[rows],
            semantic=semantic,
            author=nothing if self.author is None else self.author[rows].astype(np.float32),
            date=nothing if self.date is None else self.date[rows],
            session_prior=self.words.prior[self.slots[rows]],
            coverage=self.words.coverage(rows),
            bounds=self._bounds(bounds),
        )

    def exact_evidence(
        self, rows: Positions, semantic: Floats, own: Floats, bounds: Range, copies: npt.NDArray[np.int32] | None
    ) -> Evidence:
        """The same, with what the answer needs: the evidence of the rows' own texts, and which of them have the same words."""
        found = self.evidence(rows, semantic, bounds)
        return replace(found, own_coverage=self.words.own_coverage(rows), own_semantic=own, copies=copies)

    def made_up_scores(self, columns: Floats, semantic: Range, *, author: bool) -> list[float]:
        """The scores of made-up rows, given as lexical score, semantic score, session prior and date."""
        nothing = np.zeros(len(columns), np.int64)
        evidence = Evidence(
            size=self.size,
            ids=nothing,
            session_ids=nothing,
            roles=nothing.astype(np.int8),
            lexical=columns[:, 0],
            semantic=columns[:, 1],
            session_prior=columns[:, 2],
            date=columns[:, 3],
            author=np.full(len(columns), author, np.float32),
            coverage=nothing.astype(np.float32),
            bounds=self._bounds(semantic),
        )
        return rank(evidence).tolist()

    def _bounds(self, semantic: Range) -> Bounds:
        return Bounds(lexical=self.words.lexical_bounds, semantic=semantic, session_prior=self.words.prior_bounds)


class _Estimate:
    """Ranks many rows at once. For rows without a wanted author `rank` is a sum of multiples of the columns, and a wanted author
    multiplies this sum or adds to it. The numbers are found by ranking a few made-up rows."""

    def __init__(self, pool: Candidates, semantic: Range) -> None:
        ends = [pool.words.lexical_bounds[1], semantic[1], pool.words.prior_bounds[1], 1.0]
        steps = np.array([end or 1.0 for end in ends], np.float32)
        columns = np.concatenate((np.zeros((1, 4)), np.diag(steps), steps[None])).astype(np.float32)
        none, lexical, near, prior, date, every = pool.made_up_scores(columns, semantic, author=False)
        without, *_, wanted = pool.made_up_scores(columns, semantic, author=True)
        multiples = (np.array([lexical, near, prior, date]) - none) / steps
        self._pool = pool
        self._lexical, self._semantic, prior_multiple, self._date = multiples.astype(np.float32)
        self._prior = none + prior_multiple * pool.words.prior
        factor = (wanted - without) / (every - none) if every != none else 1.0
        self._factor, self._bonus = np.float32(factor - 1), np.float32(without - factor * none)

    def most_by(self, difference: float) -> float:
        """How much a difference of semantic scores can change a score."""
        return abs(difference * float(self._semantic) * max(1.0, 1.0 + float(self._factor)))

    def scores(self, rows: slice, semantic: Floats) -> Floats:
        pool = self._pool
        found = semantic[rows] * self._semantic
        found += pool.words.lexical[rows] * self._lexical
        found += self._prior.take(pool.slots[rows])
        if pool.date is not None:
            found += pool.date[rows] * self._date
        if pool.author is not None:
            author = pool.author[rows].astype(np.float32)
            found *= 1 + self._factor * author
            found += self._bonus * author
        return found


def chunks(count: int) -> Iterator[tuple[int, int]]:
    """The begin and end of parts of `count` rows."""
    begin, size = 0, _FIRST_CHUNK
    while begin < count:
        end = min(begin + size, count)
        yield begin, end
        begin, size = end, min(2 * size, _CHUNK)


def _range(values: Floats) -> Range:
    return float(values.min()), float(values.max())
