"""Words of time in a memory: that something changed, that it has not happened yet, or that it happened long ago."""

from cloister.domain.patterns import IGNORECASE, linear

MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"

_ENDING = linear(
    r" (now|again|any ?more|any longer|these days|nowadays|at last|currently|instead|already|for good|permanently|officially"
    r"|from now on"
    r"|at the moment|right now|for now|at present)$"
    r"|(?<=turned \d\d) (today)$",
    IGNORECASE,
)
_LONGEST_ENDING = 15
_MOST_ENDINGS = 3
_CHANGE_WORDS = frozenset(
    {"now", "again", "these days", "nowadays", "instead", "for good", "permanently", "officially", "from now on"}
)
SINCE = linear(
    r" (?:as of|since|starting) (?:(?:early|late|mid|last|this|the|my|our|a|two|three|on) )*(?:last|this|today|yesterday"
    rf"|spring|summer|autumn|fall|winter|weekend|week|month|year|move|wedding|couple|few|weeks|months|{MONTHS}|{WEEKDAYS})\b",
    IGNORECASE,
)
NOT_YET = linear(
    r"\b(?:next|tomorrow|soon|going to(?! (?:the|a|my|their|church|yoga|school|work|bed|bars|pubs|clubs|concerts|therapy"
    r"|meetings)\b)|about to|almost|nearly|from (?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)|in (?:a|two|three|four|six|\d+) (?:days?|weeks?|months?|years?))\b(?! to\b)",
    IGNORECASE,
)
LONG_AGO = linear(
    r"\b(?:(?:years|decades) ago|back in|when (?:i|they) (?:was|were)|as a (?:child|kid|student|teenager)|originally|once"
    r"|in (?:19|20)\d\d|before that|at first)\b",
    IGNORECASE,
)
RECENTLY = (
    rf"(?:in the meantime|since then|today|yesterday|recently|now|already|again|officially|(?:this|last) \w+|on \w+"
    rf"|in (?:{MONTHS})|{WEEKDAYS})"
)
"""What may follow an event that just happened: "turned 40 last week". Part of a pattern that ignores case."""


def without_endings(text: str) -> tuple[str, bool]:
    """The text without "now", "any more" and the like at its end, and whether one of them says that something changed."""
    marked = False
    for _ in range(_MOST_ENDINGS):
        ending = _ENDING.search(text, max(0, len(text) - _LONGEST_ENDING))
        if ending is None:
            break
        marked = marked or ending.group().strip().lower() in _CHANGE_WORDS
        text = text[: ending.start()]
    return text, marked
