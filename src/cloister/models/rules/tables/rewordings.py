"""Everyday wordings of facts with one value at a time, put into the plain words that the other rules know (MEM-12): "I found work
as a baker" → "I work as a baker now". Each pattern matches a whole segment, or its beginning up to "and"."""

from cloister.domain.patterns import IGNORECASE, Anchored, Match, anchored, linear
from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.single_values import NAME
from cloister.models.rules.tables.words import NAMES, OCCUPATION

_LONGEST = 160
_MAY_BE = linear(
    r"\b(?:work|job|shifts|called?|calls|name|single|seeing|dating|going out|together|of us|find me|new|gone|went|go by|hired"
    r"|live with)\b",
    IGNORECASE,
)
_END = r"(?: (?:and|where|which|so|near|by|with) .{1,80})?$"
_A_HOME = r"(?:place|flat|apartment|house|home|condo|studio|loft|cottage)"
_REWORDINGS: tuple[tuple[Anchored, str], ...] = (
    # Work and role.
    (
        anchored(rf"(?i:I have (?:got )?a (?:[\w-]{{1,20}} )?job (?:at|with)) (?P<value>{NAME}){_END}"),
        "I work at {value}",
    ),
    (
        anchored(rf"(?i:I (?:do|work|have) (?:\w+ )?shifts (?:at|for)) (?P<value>{NAME})(?P<now> now)?(?: instead)?$"),
        "I work at {value}{now}",
    ),
    (
        anchored(
            r"I (?:have )?(?:just |finally )?(?:found|got|landed) (?:a (?:new )?)?job (?:at|with)"
            r" (?P<value>(?:the|a|an) (?:[\w'-]+ ){0,2}?[\w'-]+)(?: and started.{0,40})?$",
            IGNORECASE,
        ),
        "I work at {value} now",
    ),
    (
        anchored(rf"(?i:I work (?:in|at|for) an? (?:[\w'-]+ ){{0,2}}?[\w'-]+ (?:called|named)) (?P<value>{NAME})$"),
        "I work at {value}",
    ),
    (
        anchored(
            r"I (?:have )?(?:just |finally )?(?:found|got|picked up) (?:some |new |steady )?(?:work|employment)"
            r" as (?P<value>an? .{2,60})$",
            IGNORECASE,
        ),
        "I work as {value} now",
    ),
    (
        anchored(
            r"they (?:have )?(?:hired|took|taken) me (?:on )?(?:full[- ]time|permanently|on the spot|straight away)?"
            r" ?as (?P<value>an? .{2,60})$",
            IGNORECASE,
        ),
        "I work as {value} now",
    ),
    (
        anchored(
            rf"(?i:I (?:have )?(?:gone|went|moved up|progressed) from (?:being )?(?:an? )?)[a-z][\w' -]{{2,40}}?"
            rf" (?i:to (?:being )?(?:an? )?)(?P<value>(?:[\w'/&+-]+ ){{0,3}}?{OCCUPATION})$"
        ),
        "I work as a {value} now",
    ),
    # Home.
    (
        anchored(rf"(?P<who>I|i|[Ww]e) live with (?P<whom>(?:[a-z'-]+ ){{1,5}}?)in (?P<value>{NAME})$"),
        "{who} live in {value} with {whom}",
    ),
    (
        anchored(rf"(?i:(?:the|all) (?:two|three|four|five|six) of us live in) (?P<value>{NAME})(?P<now> now)?$"),
        "We live in {value}{now}",
    ),
    (
        anchored(rf"(?i:you (?:will|can) find me in) (?P<value>{NAME})(?: (?:now|these days|nowadays))?$"),
        "I live in {value} now",
    ),
    (
        anchored(rf"(?i:(?:I|we) have (?:got )?a new (?P<home>{_A_HOME}) in) (?P<value>{NAME}){_END}"),
        "My new {home} is in {value}",
    ),
    # Names.
    (
        anchored(
            rf"(?i:I (?:would rather|would prefer it if|would like it if) (?:you|people|everyone|everybody)"
            rf" (?:call|called|would call)(?: me)?|I would rather be called) (?P<value>{NAMES})$"
        ),
        "I want to be called {value}",
    ),
    (anchored(rf"(?i:I use the name) (?P<value>{NAMES})(?: (?:here|now|online|these days))?$"), "I go by {value}"),
    (
        anchored(rf"(?i:(?:nobody|no one) calls me) (?P<value>{NAMES})(?: (?:any ?more|any longer|now|these days))?$"),
        "I stopped going by {value}",
    ),
    (
        anchored(
            r"(?i:I (?:have )?(?:went back|gone back|returned|reverted|switched back) to (?:using )?my maiden name),?"
            rf" (?:which is )?(?P<value>{NAMES})$"
        ),
        "My {part} is {value} now",
    ),
    (anchored(r"(?i:my name is) (?P<lower>[a-z]{3,20})(?P<now> now)?$"), "My name is {lower}{now}"),
    # Relationship.
    (
        anchored(
            r"(?i:I (?:have )?(?:just )?(?:started|begun|began) (?:seeing|dating|going out with)"
            rf"(?: (?:a|this|some) (?:[\w'-]+ ){{0,2}}?(?:guy|girl|man|woman|boy|lady|person|bloke|someone) (?:called|named))?)"
            rf" (?P<value>{NAMES})$"
        ),
        "I am dating {value} now",
    ),
    (anchored(r"(?i:I have been single (?:for|since) .{2,40})$"), "I am single"),
    (
        anchored(
            r"(?i:(?:me and (?P<first>[\w'-]{2,30})|(?P<second>[\w'-]{2,30}) and (?:me|I))"
            r" (?:are|have) (?:not (?:been )?|no longer )together(?: (?:any ?more|any longer|now))?)$"
        ),
        "{partner} and I split up",
    ),
)
_NO_NAME = words("not mud now the unknown on too also what that here there it legion changed spelled spelt pronounced")
_KINSHIP = words("my mum mom dad brother sister wife husband son daughter we they he she you it")


def reworded(text: str) -> str:
    """The segment in plain words, if it is one of these wordings; else as it is."""
    if len(text) > _LONGEST or _MAY_BE.search(text) is None:
        return text
    for pattern, plain in _REWORDINGS:
        if found := pattern.match(text):
            return _filled(found, plain) or text
    return text


def _filled(found: Match[str], plain: str) -> str | None:
    named = {name: value or "" for name, value in found.groupdict().items()}
    if lower := named.get("lower"):
        if lower in _NO_NAME:
            return None
        named["lower"] = lower.capitalize()
    partner = named.get("first") or named.get("second") or ""
    if partner:
        if partner.lower() in _KINSHIP:
            return None
        named["partner"] = partner[:1].upper() + partner[1:]
    named["part"] = "name" if " " in named.get("value", "") else "last name"
    return plain.format(**named).strip()
