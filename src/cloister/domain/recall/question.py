"""Parses a query: the dates it names, whether it asks for what is recent, and whose messages it asks for (CTX-9).

English only. It does not know the pool, so the index matches the names of speakers (`index/exact/speakers.py`).
"""

from dataclasses import dataclass
from enum import Enum

from cloister.domain.patterns import DOTALL, IGNORECASE, VERBOSE, linear
from cloister.domain.recall import other_languages
from cloister.domain.recall.named_dates import DATE_WORDS, NamedDate, named_dates
from cloister.domain.recall.relative_dates import RELATIVE_WORDS, DaySpan, relative_dates


class Wanted(Enum):
    """Whose messages answer a query that names no speaker."""

    USER = "user"
    ASSISTANT = "assistant"
    ANYONE = "anyone"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What was parsed from a query. `spans` are relative dates as days; `wants_recent` asks for what was said last."""

    dates: tuple[NamedDate, ...]
    spans: tuple[DaySpan, ...]
    wants_recent: bool
    wanted: Wanted

    @property
    def has_dates(self) -> bool:
        """Whether the date of a message counts."""
        return bool(self.dates or self.spans or self.wants_recent)


_LONGEST_END = 2_048
_DIGITS_OF_A_YEAR = 4
_WORD = linear(r"[^\W_]+")
_ASSISTANT_WORDS = frozenset({"you", "your", "remind", "assistant"})
_BOTH_WORDS = frozenset({"our", "we"})
_RECENT_WORDS = frozenset(
    {"lately", "recently", "recent", "latest", "newest", "nowadays", "days", "time", "now", "currently", "moment"}
)
_OF_BOTH = linear(
    r"\b(?:our|we|we've|we'd)\b.{0,40}\b(?:conversation|chat|discussion|talk|session|discuss|talked|spoke|chatted)",
    IGNORECASE | DOTALL,
)
_SAYING = (
    r"say|tell|recommend|suggest|mention|advise|propose|explain|list|provide|give|write|describe|refer|share|offer|answer|"
    r"call|name|show|quote|reply|come\s+up"
)
_SAID = (
    r"said|told|recommended|suggested|mentioned|advised|proposed|explained|listed|provided|gave|given|wrote|written|"
    r"described|referred|shared|offered|answered|called|named|showed|shown|quoted|replied|came\s+up|come\s+up"
)
_BY_ASSISTANT = linear(
    rf"""\b(?:
        did\s+you\s+(?:\w{{1,12}}ly\s+)?(?:{_SAYING})\b
      | (?:have|had)\s+you\s+(?:\w{{1,12}}ly\s+)?(?:{_SAID})\b
      | you(?:'ve|'d|\s+had|\s+have)?\s+(?:\w{{1,12}}ly\s+)?(?:{_SAID})\b
      | your\s+(?:\w{{1,20}}\s+)?
        (?:suggestion|recommendation|advice|answer|reply|replies|response|list|explanation|example|idea|tip)s?\b
      | remind\s+me\s+(?:what|which|who|where|when|how|of|about|the)\b
      | the\s+assistant\b
    )""",
    IGNORECASE | VERBOSE,
)
_BY_USER = linear(r"\bI(?:'ve|'d|\s+had|\s+have)?\s+(?:said|told|mentioned|asked|wrote|shared|described)\b", IGNORECASE)
_RECENT = linear(
    r"\b(?:lately|recently|recent|latest|newest|nowadays|these\s+days|last\s+time|just\s+now|currently|at\s+the\s+moment|most\s+recently)\b",
    IGNORECASE,
)


def asked_part(query: str) -> str:
    """The part of a query that is searched for: all of it, or, if it is longer than 4,096 characters, its beginning and end. A
    question stands before or after pasted text, and the cost of a query must be bounded (ISO-13)."""
    if len(query) <= 2 * _LONGEST_END:
        return query
    return f"{query[:_LONGEST_END]} {query[-_LONGEST_END:]}"


def parse_question(query: str, asked_at: int) -> Question:
    """Parse a query that is asked at this time, in microseconds since the epoch: "last week" is relative to it. A pattern is
    searched for only if the query has one of its words, because searching takes longer than looking up words."""
    words = frozenset(_WORD.findall(query.lower()))
    in_other_language = not query.isascii()
    has_year = any(len(word) == _DIGITS_OF_A_YEAR and word.isdigit() for word in words)
    dates = named_dates(query) if has_year or words & DATE_WORDS else ()
    if in_other_language or words & other_languages.DATE_WORDS:
        dates = (*dates, *other_languages.named_dates(query))
    return Question(
        dates=dates,
        spans=relative_dates(query, asked_at) if words & RELATIVE_WORDS else (),
        wants_recent=bool(words & _RECENT_WORDS) and _RECENT.search(query) is not None,
        wanted=_wanted(query, words, in_other_language=in_other_language),
    )


def _wanted(query: str, words: frozenset[str], *, in_other_language: bool) -> Wanted:
    """The assistant only for what it said before: "can you" and "do you" ask for something new."""
    if words & _ASSISTANT_WORDS and _BY_ASSISTANT.search(query) and not _BY_USER.search(query):
        return Wanted.ASSISTANT
    if (in_other_language or words & other_languages.ASSISTANT_WORDS) and other_languages.asks_assistant(query):
        return Wanted.ASSISTANT
    return Wanted.ANYONE if words & _BOTH_WORDS and _OF_BOTH.search(query) else Wanted.USER
