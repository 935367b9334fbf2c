"""Relative dates in a query, as days before the moment of asking: "yesterday", "two weeks ago", "last Tuesday", "before Christmas".

English only. Days are UTC. A date without a year or a week means the last one before the moment of asking. "Since" reaches from
then to the moment of asking.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from cloister.domain.patterns import IGNORECASE, VERBOSE, Match, linear

_MICROSECONDS_A_DAY = 86_400_000_000
_FIRST_DAY = date(1970, 1, 1)
_FIRST_YEAR, _LAST_YEAR = 2, 9_998
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "several": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_UNIT_DAYS = {"day": 1, "night": 1, "week": 7, "month": 30, "year": 365}
# How many days "two weeks ago" may be off, in each direction.
_TOLERANCE = {"day": 0, "night": 0, "week": 3, "month": 14, "year": 120}
_MOST_COUNTED = 1_000
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_HOLIDAYS: Mapping[str, tuple[int, int]] = {
    "christmas": (12, 25),
    "xmas": (12, 25),
    "new year": (1, 1),
    "halloween": (10, 31),
    "valentine": (2, 14),
}
_AROUND_A_HOLIDAY = 5
_NEAR_A_HOLIDAY = 42
_HOLIDAY = "|".join(_HOLIDAYS).replace(" ", r"\s+")
RELATIVE_WORDS = frozenset(
    {
        *("yesterday", "today", "tonight", "night", "nights", "morning", "afternoon", "evening", "weekend"),
        *(word for unit in _UNIT_DAYS for word in (unit, f"{unit}s")),
        *_WEEKDAYS,
        *_SEASONS,
        *(word for holiday in _HOLIDAYS for word in holiday.split()),
    }
)
"""The words of which a query has one if it names a relative date."""
_PHRASE = linear(
    rf"""\b(?:(?P<since>since)\s+)?(?:
        (?P<before_yesterday>the\s+day\s+before\s+yesterday)
      | (?P<yesterday>yesterday|last\s+night)
      | (?P<today>today|tonight|this\s+(?:morning|afternoon|evening))
      | (?:in|over|during|within|for)?\s{{0,2}}(?:the\s+)?(?:last|past)\s+
        (?P<last_count>\d{{1,3}}|{"|".join(_NUMBERS)})\s+(?:of\s+)?(?P<last_unit>day|night|week|month|year)s?
      | (?P<ago_count>\d{{1,3}}|{"|".join(_NUMBERS)})\s+(?:of\s+)?(?P<ago_unit>day|night|week|month|year)s?\s+(?:ago|earlier|back)
      | (?P<which>last|past|previous|this)\s+(?P<period>weekend|week|month|year)
      | the\s+(?P<before_last>weekend|week|month|year)\s+before\s+last
      | (?:last|this|past|on)\s+(?P<weekday>{"|".join(_WEEKDAYS)})
      | since\s+(?P<since_weekday>{"|".join(_WEEKDAYS)})
      | (?P<which_season>last|this)\s+(?P<season>{"|".join(_SEASONS)})
      | (?P<side>before|after|since|until|at|on|over|around|during|last|this)\s+(?:the\s+)?(?:last\s+)?(?P<holiday>{_HOLIDAY})
    )\b""",
    IGNORECASE | VERBOSE,
)


class DaySpan(NamedTuple):
    """The first and the last day of a span, as days since the epoch."""

    first: int
    last: int


def relative_dates(query: str, asked_at: int) -> tuple[DaySpan, ...]:
    """The spans of days that a query names relative to the moment of asking, without duplicates."""
    today = _FIRST_DAY + timedelta(days=asked_at // _MICROSECONDS_A_DAY)
    if not _FIRST_YEAR <= today.year <= _LAST_YEAR:
        return ()
    return tuple(dict.fromkeys(_spans(query, today)))


def relative_date_words(query: str) -> str:
    """The words of a query that name dates relative to the moment of asking."""
    return " ".join(match[0] for match in _PHRASE.finditer(query))


def _spans(query: str, today: date) -> Iterator[DaySpan]:
    for match in _PHRASE.finditer(query):
        begin, end = _named(match, today)
        if match["since"] or match["since_weekday"]:
            end = max(today, end)
        yield DaySpan((begin - _FIRST_DAY).days, (end - _FIRST_DAY).days)


def _named(match: Match[str], today: date) -> tuple[date, date]:
    part = {name: (value or "").lower() for name, value in match.groupdict().items()}
    if part["today"]:
        return today, today
    if part["yesterday"]:
        return _earlier(today, 1), _earlier(today, 1)
    if part["before_yesterday"]:
        return _earlier(today, 2), _earlier(today, 2)
    if part["last_unit"]:
        return _earlier(today, _count(part["last_count"]) * _UNIT_DAYS[part["last_unit"]]), today
    if part["ago_unit"]:
        unit = part["ago_unit"]
        days = _count(part["ago_count"]) * _UNIT_DAYS[unit]
        return _earlier(today, days + _TOLERANCE[unit]), _earlier(today, max(days - _TOLERANCE[unit], 0))
    if part["period"]:
        return _period(part["which"], part["period"], today)
    if part["before_last"]:
        return _period("before last", part["before_last"], today)
    if weekday := part["weekday"] or part["since_weekday"]:
        day = _earlier(today, (today.weekday() - _WEEKDAYS.index(weekday) - 1) % 7 + 1)
        return day, day
    if part["season"]:
        return _season(_SEASONS[part["season"]], today, is_over=part["which_season"] == "last")
    side = "since" if part["since"] else part["side"]
    return _holiday(side, _HOLIDAYS[" ".join(part["holiday"].split())], today)


def _period(which: str, period: str, today: date) -> tuple[date, date]:
    """A calendar week, month or year, or a weekend; "past" counts back from today."""
    if which == "past" and period != "weekend":
        return _earlier(today, _UNIT_DAYS[period]), today
    back = {"this": 0, "before last": 2}.get(which, 1)
    if period == "year":
        return date(today.year - back, 1, 1), date(today.year - back, 12, 31)
    if period == "month":
        begin, end = today.replace(day=1), today
        for _ in range(back):
            end = _earlier(begin, 1)
            begin = end.replace(day=1)
        return begin, end
    monday = _earlier(today, today.weekday() + 7 * back)
    return (monday + timedelta(days=4 if period == "weekend" else 0)), monday + timedelta(days=6)


def _season(first_month: int, today: date, *, is_over: bool) -> tuple[date, date]:
    """The last season of these months that has begun and, if asked for, is over; by the months of the northern hemisphere."""
    for year in (today.year, today.year - 1, today.year - 2):
        begin = date(year, first_month, 1)
        end = _earlier(date(year + (first_month == 12), 3 if first_month == 12 else first_month + 3, 1), 1)
        if (end if is_over else begin) < today:
            return begin, end
    raise AssertionError("a season of two years ago is over")


def _holiday(side: str, at: tuple[int, int], today: date) -> tuple[date, date]:
    day = date(today.year, *at)
    if day > today:
        day = date(today.year - 1, *at)
    if side in ("before", "until"):
        return _earlier(day, _NEAR_A_HOLIDAY), _earlier(day, 1)
    if side == "since":
        return day, today
    if side == "after":
        return day + timedelta(days=1), day + timedelta(days=_NEAR_A_HOLIDAY)
    return _earlier(day, _AROUND_A_HOLIDAY), day + timedelta(days=_AROUND_A_HOLIDAY)


def _earlier(day: date, days: int) -> date:
    """The day so many days before, or the first day there is."""
    return date.fromordinal(max(day.toordinal() - days, 1))


def _count(word: str) -> int:
    return min(_NUMBERS.get(word) or int(word), _MOST_COUNTED)
