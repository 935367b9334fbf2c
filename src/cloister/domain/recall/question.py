"""Parses a query: the dates it names, and whose messages it asks for.

English only. It does not know the pool, so the index matches the names of speakers (`index/exact/speakers.py`).
"""

from dataclasses import dataclass
from datetime import date
from enum import Enum

from cloister.domain.patterns import DOTALL, IGNORECASE, VERBOSE, Match, linear
from cloister.domain.recall.passage import MONTHS


class Wanted(Enum):
    """Whose messages answer a query that names no speaker."""

    USER = "user"
    ASSISTANT = "assistant"
    ANYONE = "anyone"


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedDate:
    """A date as a query gives it: at least a month or a year, and a day only with a month."""

    year: int | None = None
    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What was parsed from a query."""

    dates: tuple[NamedDate, ...]
    wanted: Wanted


_MONTH_NUMBERS = {name.lower(): number for number, name in enumerate(MONTHS, 1)} | {
    name[:3].lower(): number for number, name in enumerate(MONTHS, 1)
}
_MONTH_NUMBERS["sept"] = 9
_AMBIGUOUS = frozenset({"may", "march", "mar", "april", "june", "august", "jan", "jun", "sep", "dec"})
_DATE_CUE = (
    r"in|on|of|since|by|until|till|during|before|after|from|to|between|around|and|or|"
    r"last|next|this|past|early|late|mid|end|beginning|every|each"
)
_MONTH = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_LONGEST_END = 2_048
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
_OF_BOTH = linear(
    r"\b(?:our|we|we've|we'd)\b.{0,40}\b(?:conversation|chat|discussion|talk|session|discuss|talked|spoke|chatted)",
    IGNORECASE | DOTALL,
)
_OF_ASSISTANT = linear(
    r"""\b(?:
        (?:did|have|had|do|were|could|can|would)\s+you\b
      | you\s+(?:\w+ly\s+)?(?:'ve\s+|'d\s+|had\s+|have\s+)?
        (?:said|told|recommend|suggest|mention|advise|propos|explain|list|provid|gave|give|wrote|describe|refer|shar)
      | you(?:'ve|'d)\b
      | your\s+(?:\w+\s+)?(?:suggestion|recommendation|advice|answer|reply|response|list|explanation|example|idea|tip)
      | remind\s+me\s+(?:what|which|who|where|when|how|of|about|the)
      | the\s+assistant
    )""",
    IGNORECASE | VERBOSE,
)


def asked_part(query: str) -> str:
    """The part of a query that is searched for: all of it, or, if it is longer than 4,096 characters, its beginning and end. A
    question stands before or after pasted text, and the cost of a query must be bounded (ISO-13)."""
    if len(query) <= 2 * _LONGEST_END:
        return query
    return f"{query[:_LONGEST_END]} {query[-_LONGEST_END:]}"


def parse_question(query: str) -> Question:
    return Question(dates=_dates(query), wanted=_wanted(query))


def _wanted(query: str) -> Wanted:
    if _OF_BOTH.search(query):
        return Wanted.ANYONE
    return Wanted.ASSISTANT if _OF_ASSISTANT.search(query) else Wanted.USER


def _dates(query: str) -> tuple[NamedDate, ...]:
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
