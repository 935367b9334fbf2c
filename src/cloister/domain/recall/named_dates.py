"""The calendar dates that a query names: "8 May 2023", "in June", "2021". English only. Not relative ones (`relative_dates.py`)."""

from dataclasses import dataclass
from datetime import date

from cloister.domain.patterns import IGNORECASE, VERBOSE, Match, linear
from cloister.domain.recall.passage import MONTHS


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedDate:
    """A date as a query gives it: at least a month or a year, and a day only with a month."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


_MONTH_NUMBERS = {name.lower(): number for number, name in enumerate(MONTHS, 1)} | {
    name[:3].lower(): number for number, name in enumerate(MONTHS, 1)
}
_MONTH_NUMBERS["sept"] = 9
DATE_WORDS = frozenset(_MONTH_NUMBERS)
"""The words of which a query has one, or a number, if it names a date."""
_AMBIGUOUS = frozenset({"may", "march", "mar", "april", "june", "august", "jan", "jun", "sep", "dec"})
_DATE_CUE = (
    r"in|on|of|since|by|until|till|during|before|after|from|to|between|around|and|or|"
    r"last|next|this|past|early|late|mid|end|beginning|every|each"
)
_MONTH = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_DATE = linear(
    rf"""\b(?:
        (?P<iso_year>{_YEAR})[-/](?P<iso_month>\d{{1,2}})(?:[-/](?P<iso_day>\d{{1,2}}))?
      | (?:(?P<cue>{_DATE_CUE})[\s-]+)?
        (?:the\s+)?(?:(?P<day_before>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+)?
        (?P<month>{_MONTH})\b\.?
        (?:\s+(?:the\s+)?(?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:))?
        (?:(?:\s*,\s*|\s+|\s+of\s+)(?P<year>{_YEAR}))?
      | (?P<lone_year>{_YEAR})
    )\b""",
    IGNORECASE | VERBOSE,
)


def named_dates(query: str) -> tuple[NamedDate, ...]:
    """The dates that a query names, without duplicates."""
    named = (_named_date(match) for match in _DATE.finditer(query))
    return tuple(dict.fromkeys(one for one in named if one is not None))


def _named_date(match: Match[str]) -> NamedDate | None:
    part = match.groupdict()
    if part["lone_year"]:
        return NamedDate(year=int(part["lone_year"]))
    if part["iso_year"]:
        return _checked(part["iso_year"], int(part["iso_month"]), part["iso_day"])
    word = part["month"].lower()
    day = part["day_before"] or part["day_after"]
    if word in _AMBIGUOUS and not (day or part["year"] or part["cue"]):
        return None
    return _checked(part["year"], _MONTH_NUMBERS[word], day)


def _checked(year: str | None, month: int, day: str | None) -> NamedDate | None:
    if not 1 <= month <= 12:
        return None
    named_year = int(year) if year else None
    try:
        date(named_year or 2000, month, int(day or 1))
    except ValueError:
        return NamedDate(year=named_year, month=month)
    return NamedDate(year=named_year, month=month, day=int(day) if day else None)
