"""The dates of a pool's messages: the date words each is found by, and how near it is to the dates in a query.

Days are UTC. Date words are derived from the day, never stored.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from cloister.domain.recall.named_dates import NamedDate
from cloister.domain.recall.passage import MONTHS
from cloister.domain.recall.question import Question
from cloister.domain.recall.relative_dates import DaySpan
from cloister.index import terms
from cloister.index.exact.columns import Column

_MICROSECONDS_A_DAY = 86_400_000_000
_MONTH_AFTER = 0.5
_DAY_GIVEN = 0.6
_DAYS_NEAR = 7
_RECENT_DAYS = 30
# A relative date counts for more than a date by its name, which is found as a word too.
_SPAN_WEIGHT = 3


class Dates:
    def __init__(self) -> None:
        self._days = Column(np.int32)
        self._months = Column(np.int32)

    @property
    def nbytes(self) -> int:
        return self._days.nbytes + self._months.nbytes

    def reserve(self, count: int) -> None:
        for column in (self._days, self._months):
            column.reserve(count)

    def extend(self, created_at: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Add rows; returns the number of date words of each."""
        days = created_at // _MICROSECONDS_A_DAY
        months = days.astype("datetime64[D]").astype("datetime64[M]")
        self._days.extend(len(days))[:] = days
        self._months.extend(len(days))[:] = months.astype(np.int64)
        day_of_month = days - months.astype("datetime64[D]").astype(np.int64) + 1
        return np.where(day_of_month >= 10, 3, 2).astype(np.float32)

    def keep(self, rows: npt.NDArray[np.intp]) -> None:
        self._days.keep(rows)
        self._months.keep(rows)

    def with_term(self, term: int) -> npt.NDArray[np.bool_] | None:
        """The rows whose date words include a term, or None if the term is no date word."""
        kind, number = _date_terms().get(term, ("", 0))
        if not kind:
            return None
        span, at = self._span()
        if kind == "month":
            return (span % 12 == number - 1)[at]
        if kind == "year":
            return (span // 12 == number - 1970)[at]
        return self._days.live == (_first_days(span) + number - 1)[at]

    def nearness(self, question: Question) -> npt.NDArray[np.float32]:
        """How near each row's date is to the nearest date of the question, from 0 to 1. Where it asks for what is recent and
        names no date, rows count up to half of that, the newer they are, compared with the newest of the pool."""
        bonus = np.zeros(len(self._days.live), np.float32)
        for named in question.dates:
            np.maximum(bonus, self._near(named), out=bonus)
        for span in question.spans:
            np.maximum(bonus, self._near_span(span), out=bonus)
        if question.wants_recent and not question.dates and len(bonus):
            age = self._days.live.max() - self._days.live
            np.maximum(bonus, np.exp2(-1 - age / np.float32(_RECENT_DAYS)).astype(np.float32), out=bonus)
        return bonus

    def _near_span(self, span: DaySpan) -> npt.NDArray[np.float32]:
        """The full weight within the span, less outside it, the farther the row is; the longer the span, the less exact it is."""
        days = self._days.live
        apart = np.maximum(span.first - days, 0) + np.maximum(days - span.last, 0)
        return (_SPAN_WEIGHT * np.maximum(0, 1 - apart / (_DAYS_NEAR + span.last - span.first))).astype(np.float32)

    def _near(self, named: NamedDate) -> npt.NDArray[np.float32]:
        span, at = self._span()
        if named.month is None:
            return (span // 12 + 1970 == named.year).astype(np.float32)[at]
        since = span - ((named.year or 1970) - 1970) * 12 - (named.month - 1)
        if named.year is None:
            since %= 12
        in_month = _DAY_GIVEN if named.day else 1.0
        bonus = np.where(since == 0, in_month, np.where(since == 1, _MONTH_AFTER, 0)).astype(np.float32)[at]
        if named.day is None:
            return bonus
        near = np.flatnonzero(bonus)
        apart = np.abs(self._days.live[near] - (_first_days(span - since) + named.day - 1)[at[near]])
        bonus[near] += np.float32(1 - _DAY_GIVEN) * np.maximum(0, 1 - apart / _DAYS_NEAR).astype(np.float32)
        return bonus

    def _span(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """All months from the pool's first to its last, and the position of each row's month in them."""
        months = self._months.live
        if not len(months):
            return months, months
        first = months.min()
        return np.arange(first, months.max() + 1, dtype=np.int32), months - first


def _first_days(months: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int32)


@cache
def _date_terms() -> dict[int, tuple[str, int]]:
    days = {terms.term(str(day)): ("day", day) for day in range(10, 32)}
    years = {terms.term(str(year)): ("year", year) for year in range(1970, 2200)}
    months = {terms.term(name.lower()): ("month", number) for number, name in enumerate(MONTHS, 1)}
    return days | years | months
