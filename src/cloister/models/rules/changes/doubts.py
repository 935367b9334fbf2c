"""Memories that look like a change of a fact and may be none: temporary, partial, long past, or of another partner (MEM-12).

In doubt nothing is withdrawn: such a memory is remembered, and has no subject.
"""

from cloister.domain.patterns import IGNORECASE, linear
from cloister.models.rules.tables.districts import AREAS
from cloister.models.rules.tables.names import PRODUCTS

_SPAN = r"(?:days?|weeks?|months?|semesters?|terms?|seasons?|summers?|winters?|springs?|autumns?|falls?)"
_TEMPORARY = linear(
    r"\b(?:temporar(?:y|ily)|for the time being|all (?:day|night|week)(?: long)?)\b"
    rf"|\b(?:moved|relocated|went|living|staying|working)\b[\w' ]{{1,60}}? for (?:[\w-]+ ){{1,3}}?{_SPAN}\b"
    rf"|\b(?:living|staying|working|based)\b[\w' ]{{1,60}}? this {_SPAN}\b",
    IGNORECASE,
)
_GOES_ON = linear(r"\bbeen (?:working|living|based)\b[\w' ]{1,80} now$", IGNORECASE)
_BACK_AGAIN = linear(r"\b(?:moved|came|come|went|am|is|are|we're|i'm) back\b", IGNORECASE)
_LEFT_FOR = linear(r"\b(?:moved|relocated|went) to\b", IGNORECASE)
_EVENT = (
    r"\b(?:lost (?:their|my) job|(?:was|were|been|got|gotten) (?:fired|sacked|laid off|let go|made redundant)|divorced|married"
    r"|widowed|quit|resigned|graduated|promoted)\b"
)
_LONG_PAST = linear(
    rf"{_EVENT}[\w' ,]{{0,60}}?\b(?:once|twice|(?:two|three|four|several|many|a few) times|in (?:19|20)\d\d|(?:years|decades) ago"
    r"|in (?:their|my) (?:teens|twenties|thirties|forties|fifties)|when (?:they|i) (?:was|were))\b",
    IGNORECASE,
)
_PARTLY = linear(
    r"\b(?:part[- ]time|volunteer(?:s|ing|ed)?|(?:second|side|weekend|evening|holiday|summer|other) (?:job|gig|role|position)"
    r"|side (?:job|gig|hustle)|on the side|seasonal(?:ly)?"
    r"|(?:in the|at|on|over the|during the) (?:evenings?|nights?|weekends?|holidays|summers?|winters?)"
    r"|in (?:january|february|march|april|june|july|august|september|october|november|december))$",
    IGNORECASE,
)
_EARLIER_WORDS = linear(r"\b(?:part[- ]time|volunteer(?:s|ing|ed)?|second job|side (?:job|gig|hustle))\b", IGNORECASE)
_OFFICE = linear(r"\bworks? (?:for|at|in|from|out of) the [\w' -]{1,40}? (?:office|branch|site|campus|department)$")
_JOINED = linear(r"\bjoined (?:the )?[\w'.&-]++(?: [A-Z][\w'.&-]+){0,3}(?: for [\w ]{1,40})?$")
_APART = linear(
    r"\bsplit up (?:at|inside|outside|in the|for (?:a|an|the|lunch|dinner))\b|\bdivorced from (?![A-Z]|their )"
)
_PARTNER = linear(r"\b(?:divorced|separated|broke up|split up|split) (?:from|with) ([A-Z][\w'-]+)")
_COUPLE = linear(r"\b(?:married|engaged|together|relationship|dating|seeing)\b(?: to| with)? ([A-Z][\w'-]+)")
_IN = linear(r"\b(?:lives?|living) (?:in|on) ([A-Z]\w+)")
_LONGEST = 240
_JOB = linear(r"\b(?:works?|working|job|employed|joined)\b", IGNORECASE)


def is_doubtful(content: str) -> bool:
    """Whether the memory may be true besides what was true before."""
    text = content.strip().removesuffix(".")
    if len(text) > _LONGEST:
        return True
    if (_TEMPORARY.search(text) and not _GOES_ON.search(text)) or _LONG_PAST.search(text) or _APART.search(text):
        return True
    if _JOB.search(text) and (_PARTLY.search(text) or _EARLIER_WORDS.search(text) or _OFFICE.search(text)):
        return True
    somewhere = _IN.search(text)
    return bool(_JOINED.search(text)) or (somewhere is not None and somewhere[1].lower() in PRODUCTS)


def says_returned(message: str) -> bool:
    """Whether a message says that somebody went somewhere and came back, so that it changed no home."""
    return _LEFT_FOR.search(message) is not None and _BACK_AGAIN.search(message) is not None


def is_of_another(new: str, old: str) -> bool:
    """Whether the new memory ends something with a partner who is not the one that the old memory names."""
    partner, couple = _PARTNER.search(new), _COUPLE.search(old)
    return partner is not None and couple is not None and partner[1] != couple[1]


def is_same_area(one: str, other: str) -> bool:
    """Whether one of two homes is known to be a part of the other, by their names in lower case."""
    return other in AREAS.get(one, ()) or one in AREAS.get(other, ())
