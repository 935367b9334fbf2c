"""Facts whose subject belongs to the speaker: the name, "my favourite …", "my job", family and animals."""

from cloister.domain.patterns import IGNORECASE, Anchored, Pattern, anchored, linear
from cloister.models.rules import refusals
from cloister.models.rules.categories import Category, category_of
from cloister.models.rules.changes.times import without_endings
from cloister.models.rules.changes.values import category_of_value, without_idioms
from cloister.models.rules.facts import Fact, Speaker, fact
from cloister.models.rules.grammar import Person, Predicate, is_past, of_others, of_the_speaker, predicate
from cloister.models.rules.tables.names import GIVEN_NAMES
from cloister.models.rules.tables.notation import alternatives, opening
from cloister.models.rules.tables.words import MINE, NAMES, PET, RELATION

_NAMED = rf"((?-i:{NAMES}))"
_OWN_NAME = anchored(
    r"my ((?:(?:full|first|last|middle|real|maiden|given|family|legal|preferred|new|actual|married) )*"
    rf"(?:name|surname|nickname(?: at \w+)?))(?: is|'s| has been changed to| was changed to| (?:has )?changed to"
    rf"| became)(?: actually| now| really)? {_NAMED}(?![\w'])",
    IGNORECASE,
)
_CORRECTION = anchored(r", not [\w'-]{1,40}$")
_CALL_ME = anchored(
    r"(?:(?:you can|please|just|feel free to|pls|from now on,?|now|I (?:would |really )*(?:like|want|need|prefer|love) you to) )*"
    rf"(?:call me|start calling me|refer to me as|address me as|use the name(?=.* for me\b)"
    rf"|use(?=.* for me\b)) {_NAMED}(?P<not>, not [\w'-]{{1,40}})?(?= |$)",
    IGNORECASE,
)
_NOT_CALLED = anchored(
    rf"(?:please )?(?:stop calling|do not call|quit calling) me {_NAMED}(?: any ?more| now)?$", IGNORECASE
)
_WANTS_TO_BE = anchored(
    rf"I (?:would )?(?:much |really )?(?:prefer|like|rather|want|prefer it|love)(?: to)? (?:be called|go by|be known as"
    rf"|be addressed as) {_NAMED}(?= |$)",
    IGNORECASE,
)
_PREFERS = anchored(rf"I (?:now )?prefer {_NAMED}(?: now| instead| from now on)$", IGNORECASE)
_TOOK_NAME = anchored(
    r"I (?:(?:have|just|recently|also) )*(?:took|taken|went back to|gone back to|reverted to|kept|use|am using|am back to"
    r"|(?:went|gone) back to using|am back to using)"
    r" (?:my|the|our) (?:(?:husband's|wife's|partner's|spouse's|maiden|married|birth|mother's|father's|last|family|old) ){0,3}"
    rf"(?:name|surname),?(?: of| it is)? {_NAMED}(?![\w'])",
    IGNORECASE,
)
_AM_NOW = anchored(
    rf"I am (?:now {_NAMED}|{_NAMED} (?:now|these days|since (?:\w+ ){{0,2}}\w+|as of (?:\w+ ){{0,2}}\w+))$", IGNORECASE
)
_NO_CALL = anchored(
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|june|july|august|september|october"
    r"|november"
    r"|december|christmas|easter|later|back|tomorrow)\b",
    IGNORECASE,
)
_THEY_CALL_ME = anchored(
    r"(my (?:friends|family|colleagues|mates)|everyone|everybody|they|people|most people|friends)(?: just| now)? calls? me"
    rf" {_NAMED}(?P<now> now| these days)?$",
    IGNORECASE,
)
_GO_BY = anchored(
    rf"I (?:(?:now|actually|just|mostly|mainly) )?(go by(?: the name)?|am called|am named) {_NAMED}(?= |$)", IGNORECASE
)
_I_AM = anchored(rf"I am {_NAMED}$", IGNORECASE)
_NO_NAME = anchored(
    r"(?:sorry|fine|ok|okay|ready|back|here|done|good|not|so|very|really|just|yes|no|all|in|on|at|the|a|an|from|your|off|out|up"
    r"|god|batman|mr|mrs|\w+(?:ing|ed|ish|ese|ic|sh|ch|ist))$",
    IGNORECASE,
)

_ATTRIBUTES: tuple[tuple[Category, str, str], ...] = (
    ("preference", r"favou?rite(?: (?!of|part|bit|one|thing|moment|scene)[\w-]+){1,4}?|hobby|hobbies|passion", ""),
    ("place", "hometown|home town|home|address|time ?zone|office", ""),
    ("work", "boss|manager|employer|workplace", r"called|named|an?|from|my|[A-Z]\w*"),
    (
        "work",
        "job|job title|title|gig|role|position|profession|occupation|major|degree|thesis|dissertation|field|specialty|speciality",
        "",
    ),
    ("work", "company|business|startup|school|university|college", r"called|named|an?|in|at|based|the|[A-Z]\w*"),
    ("plan", "goal|dream|ambition|plan|resolution", r"to|an?|\d[\d.,]*"),
    (
        "plan",
        "exam|wedding|surgery|interview|appointment|flight|due date|graduation|deadline",
        r".*\b(?:\d\w*|next|on|in|at)",
    ),
    ("health", "diet|allergies|blood type", ""),
    ("possession", MINE, r"an?|the|my|called|named|from|made|\d{4}|[A-Z]\w*"),
    (
        "self",
        "birthday|pronouns|email|email address|e-mail|phone number|native language|mother tongue|first language|height"
        "|relationship status|marital status|star sign|zodiac sign|religion|nationality|anniversary",
        "",
    ),
    ("self", "age", r"\d{1,3}"),
    ("family", "boyfriend|girlfriend|partner|fiancé|fiancée", r"called|named|[A-Z]\w*"),
)
"""The category, the attributes, and what a value must begin with to be a lasting fact."""
_ATTRIBUTE = anchored(
    r"my ((?:(?:current|new|main|biggest|old|next|own|all-time|whole|day) )*"
    rf"(?:{'|'.join(names for _, names, _ in _ATTRIBUTES)})) (is now|are now|now is|is|are|was|were|(?:has )?changed to"
    rf"|has become) (.+)$",
    IGNORECASE,
)
_ANYTHING = anchored("")
_KINDS: tuple[tuple[Category, Pattern[str], Anchored], ...] = tuple(
    (category, linear(rf"\b(?:{names})$"), anchored(rf"(?:{begins})(?!\w)" if begins else ""))
    for category, names, begins in _ATTRIBUTES
)
_SAYS_NOTHING = opening(
    r"""
that|this|it|what|how|like|when|where|and|here|there|about|not|so|too|very|really|always|just|still|definitely|probably
to (be honest|say|help you|get an answer|figure|find|understand|see)
the (same|best|worst|one|problem|reason|way)
broken|slow|late|bad|good|great|fine|ok|okay|ready|over|done|gone|cancelled|canceled|delayed|on fire|boring|stressful
up|off|down|dead|full|amazing|awesome|beautiful|nice|hard|tough
making|acting|doing|getting|going|being|coming|asking|telling|looking
"""
)
_FAVOURITE = anchored(
    r"(.{2,50}?) (is|are) my ((?:all-time |absolute |current |new )?favou?rite [\w-]+(?: [\w-]+){0,3}?)(?P<now> now| these days)?$",
    IGNORECASE,
)
_NO_FAVOURITE = opening(
    r"it|this|that|these|those|he|she|they|which|what|who|one|here|there|such|both|your?|and|but|or"
    r"|the (?:first|second|last|other)"
)

_PET = anchored(PET)
_DEGREES = "late|older|younger|big|little|elder|eldest|oldest|youngest|twin|half|first|second|ex|new|other|only|paternal|maternal"
_KIN = anchored(
    rf"(?:my|our) ((?:(?:{_DEGREES}|\d+-year-old) )*)({RELATION}|{PET})(?:,? {_NAMED})?(?=[ '])", IGNORECASE
)
_CONTRACTED_IS = linear(r"^'s (?=(?:a|an|the|in|from|not|\w+ing)\b)")
_KIN_NAMED = anchored(
    rf"(?:my|our) ((?:\w+ )?(?:{RELATION}|{PET}|boss|manager|company|business|startup|teacher|landlord|doctor|car|boat|house|team))"
    rf"('s name (?:is|was)| (?:is|are|was) (?:called|named)|'s (?:called|named)) {_NAMED}",
    IGNORECASE,
)
_OF_KIN = anchored(
    alternatives(
        r"""
passed away\b|died\b|started (school|college|university)
be (\d{1,3}\b|(a|an) (\w+[ -]){0,2}?(year|month|week)s?[ -]old|(a|an) (?=[A-Z]))
be (called |named |pregnant|expecting|due |deaf|blind|vegan|vegetarian|diabetic|divorced|retired)
be in (college|high school|the army|the navy|a care home)
be starting (school|college|university|a|her|his|kindergarten)
"""
    )
)
_OF_A_COUPLE = anchored(
    r"(?:have )?(?:broke|broken|split) up\b|(?:have )?separated\b|got (?:back together|married|engaged|divorced)\b"
    r"|be (?:dating|engaged|married|divorced|separated)\b"
)
_WITH_A_NAME = anchored(rf"({NAMES}) and I (?=\S)")
_TOGETHER = anchored(
    rf"(?:my ({RELATION})(?: (?-i:{NAMES}))? and I|me and my ({RELATION})|I and my ({RELATION})) (?=\S)", IGNORECASE
)


def fact_of_mine(text: str, speaker: Speaker, *, introduces: bool) -> Fact | None:
    """The fact in a segment without contractions; `introduces`: "I'm Marta" alone gives a name."""
    return (
        _name(text, speaker, introduces=introduces)
        or _favourite(text, speaker)
        or _attribute(text, speaker)
        or _name_of_kin(text, speaker)
        or _kin(text, speaker)
        or _together(text, speaker)
    )


def _name(text: str, speaker: Speaker, *, introduces: bool) -> Fact | None:
    if match := _OWN_NAME.match(text):
        correction = _CORRECTION.match(text, match.end())
        changed = correction.group() if correction else ""
        return fact("name", f"{speaker.whose} {match.group(1).lower()} is {match.group(2)}{changed}")
    if (match := _WANTS_TO_BE.match(text) or _CALL_ME.match(text)) and not _NO_CALL.match(match.group(1)):
        return fact("name", f"{speaker.subject} wants to be called {match.group(1)}")
    if match := _NOT_CALLED.match(text):
        return fact("name", f"{speaker.subject} does not want to be called {match.group(1)}")
    if match := _THEY_CALL_ME.match(text):
        now = "now " if match["now"] else ""
        return fact(
            "name", f"{speaker.subject} is {now}called {match.group(2)} by {of_the_speaker(match.group(1).lower())}"
        )
    if match := _TOOK_NAME.match(text):
        return fact("name", f"{speaker.whose} last name is {match.group(1)} now")
    if (match := _PREFERS.match(text)) and _is_given(match.group(1)):
        return fact("name", f"{speaker.subject} prefers to be called {match.group(1)} now")
    if (match := _AM_NOW.match(text)) and _is_given(found := match.group(1) or match.group(2)):
        return fact("name", f"{speaker.whose} name is {found} now")
    if match := _GO_BY.match(text):
        verb = "goes by" if match.group(1).lower().startswith("go by") else "is called"
        return fact("name", f"{speaker.subject} {verb} {match.group(2)}")
    if introduces and (match := _I_AM.match(text)) and not _NO_NAME.match(match.group(1)):
        return fact("name", f"{speaker.subject} is {match.group(1)}")
    return None


def _is_given(name: str) -> bool:
    return name.split(" ", 1)[0].casefold() in GIVEN_NAMES


def _favourite(text: str, speaker: Speaker) -> Fact | None:
    """ "Sushi is my favourite food"."""
    match = _FAVOURITE.match(text)
    if match is None or _NO_FAVOURITE.match(match.group(1)):
        return None
    thing, verb, favourite = match.group(1, 2, 3)
    return fact("preference", f"{thing[0].upper()}{thing[1:]} {verb} {speaker.inside}'s {favourite}")


def _attribute(text: str, speaker: Speaker) -> Fact | None:
    """ "My favourite colour is green", "My exam is on June 14th"."""
    match = _ATTRIBUTE.match(text)
    if match is None:
        return None
    attribute, verb, value = match.group(1).lower(), match.group(2).lower().replace("now is", "is now"), match.group(3)
    category, begins = _kind_of(attribute)
    if _SAYS_NOTHING.match(value) or not begins.match(value):
        return None
    vague = refusals.has_unresolved_reference(value) and attribute != "pronouns"
    if vague or refusals.is_of_the_moment(without_endings(value)[0], category):
        return None
    return fact(category, f"{speaker.whose} {attribute} {verb} {of_the_speaker(value)}")


def _kind_of(attribute: str) -> tuple[Category, Anchored]:
    for category, names, begins in _KINDS:
        if names.search(attribute):
            return category, begins
    return "self", _ANYTHING


def _name_of_kin(text: str, speaker: Speaker) -> Fact | None:
    """ "My wife's name is Joanna", "My company is called Brightleaf"."""
    match = _KIN_NAMED.match(text)
    if match is None:
        return None
    kin = match.group(1).lower()
    linked = "'s name is" if "name" in match.group(2) else " is called"
    return fact(_category_of_kin(kin), f"{speaker.whose} {kin}{linked} {match.group(3)}")


def _kin(text: str, speaker: Speaker) -> Fact | None:
    """ "My sister Anna lives in Graz"."""
    match = _KIN.match(text)
    if match is None:
        return None
    degree, relation, name = match.group(1).strip().lower(), match.group(2).lower(), match.group(3)
    rest = _CONTRACTED_IS.sub(" is ", text[match.end() :])
    said = predicate(rest.strip(), _person(relation)) if rest.startswith(" ") else None
    if said is None or not _is_lasting(said) or refusals.speaks_of_the_reader(said.key):
        return None
    who = " ".join(filter(None, (degree, relation, name)))
    return fact(_category_of_kin(relation), f"{speaker.whose} {who} {of_others(said.shown, speaker.inside)}")


def _person(relation: str) -> Person:
    return "they" if relation.endswith("s") or relation in ("children", "fish", "sheep") else "he"


def _is_lasting(said: Predicate) -> bool:
    known = category_of(said.key, negated=said.negated, adverbs=said.adverbs)
    if not known and not _OF_KIN.match(said.key):
        return False
    return not refusals.is_of_the_moment(said.key, "change" if is_past(said.key.split(" ", 1)[0]) else "family")


def _category_of_kin(kin: str) -> Category:
    last = kin.rsplit(" ", 1)[-1]
    if _PET.fullmatch(kin) or _PET.fullmatch(last) or last in ("car", "boat", "house"):
        return "possession"
    return "work" if last in ("boss", "manager", "company", "business", "startup", "team") else "family"


def _together(text: str, speaker: Speaker) -> Fact | None:
    """ "My partner and I have been together for nine years"."""
    if (named := _WITH_A_NAME.match(text)) and (both := predicate(text[named.end() :], "they")):
        is_lasting = _OF_A_COUPLE.match(both.key) or category_of_value(both, of_both=True)
        is_lasting = is_lasting and not refusals.has_unresolved_reference(without_idioms(both.key))
        return (
            fact("family", f"{speaker.subject} and {named.group(1)} {of_the_speaker(both.shown)}")
            if is_lasting
            else None
        )
    match = _TOGETHER.match(text)
    said = predicate(text[match.end() :], "they") if match else None
    if match is None or said is None or refusals.has_unresolved_reference(without_idioms(said.key)):
        return None
    category = category_of(said.key, negated=said.negated, adverbs=said.adverbs)
    category = category or category_of_value(said, of_both=True)
    if category is None or refusals.is_of_the_moment(said.key, category):
        return None
    relation = next(filter(None, match.groups())).lower()
    return fact("family", f"{speaker.subject} and their {relation} {of_the_speaker(said.shown)}")
