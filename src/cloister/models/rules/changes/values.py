"""The value that a memory states, of a fact that has one value at a time: "The user lives in Oslo." → home, Oslo (MEM-12).

It is read from the memory's text in the third person, so that new memories and known ones are read alike.
"""

from dataclasses import replace
from typing import Literal

from cloister.domain.patterns import IGNORECASE, Anchored, anchored, linear
from cloister.models.rules.changes.habits import keeps_subject, likings_and_habits
from cloister.models.rules.changes.stated import Stated, subject_key, value_words
from cloister.models.rules.facts import Speaker
from cloister.models.rules.grammar import Predicate, predicate
from cloister.models.rules.tables import single_values as table
from cloister.models.rules.tables.notation import alternatives, entries
from cloister.models.rules.tables.words import NAMES, OCCUPATION, RELATION

_LONGEST = 240
_ENDING = linear(
    r" (now|again|any ?more|these days|nowadays|at last|currently|instead)$|(?<=turned \d\d) (today)$", IGNORECASE
)
_MOST_ENDINGS = 3
_CHANGE_WORDS = frozenset({"now", "again", "these days", "nowadays", "instead"})
_SINCE = linear(
    r" (?:as of|since|starting) (?:last|this|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    IGNORECASE,
)
_NOT_YET = linear(
    r"\b(?:next|tomorrow|soon|going to|about to|from (?:january|february|march|april|may|june|july|august|september|october"
    r"|november|december)|in (?:a|two|three|four|six|\d+) (?:days?|weeks?|months?|years?))\b(?! to\b)",
    IGNORECASE,
)
_LONG_AGO = linear(
    r"\b(?:(?:years|decades) ago|back in|when (?:i|they) (?:was|were)|as a (?:child|kid|student|teenager)|originally|once"
    r"|in (?:19|20)\d\d|before that|at first)\b",
    IGNORECASE,
)

_NAME = rf"(?P<value>{table.NAME})"
_LIVES = anchored(rf"{table.LIVES_IN} (?:{table.A_HOME_IN} )?{_NAME}")
_LIVES_UNCAPITALISED = anchored(rf"{table.LIVES_IN} (?P<value>[a-z][\w-]{{2,30}})$")
_MOVED = anchored(rf"(?:{table.MOVED_TO}|{table.SETTLED}) (?:{table.A_HOME_IN} )?{_NAME}")
_SELF_EMPLOYED = anchored(
    r"be (?:self-employed|freelancing|a freelancer)\b|work (?:for themselves|freelance)\b|freelance\b"
)
_WORKS = anchored(rf"{table.WORKS_AT} {_NAME}")
_WORKS_SOMEWHERE = anchored(
    rf"{table.WORKS_AT} (?P<value>(?:a|an|the|my|our|their) (?:[\w'-]+ ){{0,4}}?[\w'-]+)"
    r"(?= (?:in|as|for|since|and|on|at|near|that|of)\b|,|$)"
)
_STARTED = anchored(rf"{table.JOINED} {_NAME}")
_STARTED_SOMEWHERE = anchored(
    r"(?:have )?started working (?:at|for) (?P<value>(?:a|an|the|my|their) (?:[\w'-]+ ){0,3}?[\w'-]+)"
    r"(?= (?:in|as|on|last|this)\b|,|$)"
)
_OUT_OF_WORK = anchored(rf"{alternatives(table.OUT_OF_WORK)}(?: (?:at|with|from) (?P<value>[\w' .&-]{{1,60}}))?")
_PARTLY = anchored(table.PARTLY, IGNORECASE)
_AS_A_JOB = linear(r" (?:as an? |team\b|department\b|to (?:lead|manage|work on)\b)")
_TEAM = anchored(r" (?:team|department|division|group|account|project)\b", IGNORECASE)
_NO_LEAVING = anchored(table.NO_LEAVING, IGNORECASE)
_MOVED_AWAY = anchored(rf"{table.MOVED_AWAY} {_NAME}")
_CHANGED_NAME = anchored(rf"(?:have )?changed (?:my|their) name to (?P<value>{NAMES})")
_LEFT = anchored(rf"{table.LEFT} {_NAME}")
_WITH = anchored(rf"be (?:with|at) {_NAME}")
_JOB = rf"(?P<value>(?:[\w'/&+-]+ ){{0,4}}?{OCCUPATION})(?![\w'-])"
_IS_A = anchored(rf"(?:be|have been) an? {_JOB}")
_WORKS_AS = anchored(
    rf"{table.WORKS_AS} (?:an? |the )?(?P<value>(?:[\w'/&+-]+ ){{0,4}}?[\w'/&+-]+)(?= (?:at|in|for|with|on)\b|,|$)"
)
_BECAME = anchored(rf"{table.BECAME} (?:an? |the )?{_JOB}")
_PROMOTED = anchored(rf"{table.PROMOTED} (?:an? |the )?(?P<value>[\w'/&+-]+(?: [\w'/&+-]+){{0,5}})")
_STOPPED_BEING = anchored(rf"(?:have )?(?:stopped|quit|gave up|given up) (?:being|working as) an? {_JOB}")
_GRADUATED = anchored(r"(?:have )?graduated\b")
_STATUSES: tuple[tuple[str, Anchored], ...] = tuple(
    (status, anchored(f"(?i:{pattern})"))
    for status, _, pattern in (entry.partition("=") for entry in entries(table.STATUSES))
)
_PARTNER = linear(rf"\b(?:to|with|dating|seeing|married|called|named) (?P<value>{table.NAME})")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_AGE = anchored(
    r"(?:be (?P<age>\d{1,3})(?= (?:years? old|and)\b|$|,)|(?:have )?turned (?P<turned>\d{1,3})(?= (?:last|this|on|in|and)\b|$|,)"
    rf"|(?:be|turned|have turned) (?P<tens>{'|'.join(_TENS)})(?:[ -](?P<units>{'|'.join(_UNITS)}))?(?= years old\b|$))",
    IGNORECASE,
)
_CALLED = anchored(rf"(?:want to be called|go by|be called|be named) (?P<value>{NAMES})(?! by )")
_DIET = anchored(
    r"(?:be|have been|became|have become|went|have gone) (?:a |an )?(?:strict |mostly |fully )?"
    r"(?P<value>vegan|vegetarian|pescatarian|plant-based|carnivore|omnivore|keto)\b",
    IGNORECASE,
)
_EATS_MEAT = anchored(r"(?:eat|(?:have )?(?:started|went back to|gone back to) eating) meat\b", IGNORECASE)

_MODIFIERS = r"(?P<modifiers>(?:(?:current|new|main|present|own|all-time|absolute|official) )*)"
_ATTRIBUTE = anchored(
    rf"{_MODIFIERS}(?P<name>[\w' -]{{2,60}}?) (?:is|are)(?: called| named)? (?P<value>.+)$", IGNORECASE
)
_ATTRIBUTES: tuple[tuple[str, Anchored], ...] = (
    ("last name", anchored(r"(?:last name|surname|family name)$")),
    ("name", anchored(r"(?:(?:full|real|legal|given) )?name$")),
    ("first name", anchored(r"(?:first|preferred) name$")),
    ("role", anchored(r"(?:job title|profession|occupation|role|position|job)$")),
    ("email", anchored(r"e-?mail(?: address)?$")),
    ("favourite", anchored(r"favou?rite (?!.*s$)[\w -]+$|favou?rite \w+(?:us|ss)$")),
    (
        "",
        anchored(
            r"(?:home|employer|company|business|boss|manager|address|age|diet|pronouns|major|phone number|time ?zone|nickname"
            r"|office|school|university|college|team|landlord)$"
        ),
    ),
)
_FAVOURITE = anchored(
    r"(?P<value>.{2,50}?) (?:is|are) (?P<whose>.{2,80}'s) (?P<modifiers>)(?P<name>favou?rite [\w -]{2,40})$"
)
_UNNAMED = frozenset({"address", "pronouns", "email", "phone number", "time zone", "timezone", "major"})
"""Attributes whose values need not be names."""
_A_JOB = anchored(rf"(?:an? )?{_JOB}")
_CORRECTION = linear(r", not .{1,60}$")
_TOGETHER = anchored(rf"and (?:their (?:{RELATION})|(?P<value>{NAMES})) (?=\S)")


def stated_values(content: str, speaker: Speaker) -> tuple[Stated, ...]:
    """What the memory may state of this speaker, the likeliest first; nothing if it is about somebody else."""
    text = content.strip().removesuffix(".")
    if len(text) > _LONGEST:
        return ()
    if text.startswith(f"{speaker.whose} "):
        return _of_attribute(text[len(speaker.whose) + 1 :])
    if text.startswith(f"{speaker.subject} "):
        rest = text[len(speaker.subject) + 1 :]
        if together := _TOGETHER.match(rest):
            said = predicate(rest[together.end() :], "they")
            return _of_both(said, value_words(together["value"] or "")) if said else ()
        said = predicate(rest, "he")
        return _of_predicate(said) if said else ()
    favourite = _FAVOURITE.match(without_endings(text)[0])
    if favourite and favourite["whose"] == f"{speaker.inside}'s":
        return _attribute_value(favourite["name"], favourite["value"], marked=False)
    return ()


def _of_both(said: Predicate, partner: tuple[str, ...]) -> tuple[Stated, ...]:
    """What the speaker and somebody else did: where they live, and whether they are together."""
    key, marked = without_endings(said.key)
    together = _relationship(key, said)
    if together:
        return tuple(replace(stated, words=(*stated.words[:1], *partner)) for stated in together)
    return () if _NOT_YET.search(said.key) else _home(key, said, marked=marked)


def _of_predicate(said: Predicate) -> tuple[Stated, ...]:
    if _NOT_YET.search(said.key):
        return ()
    if said.key.startswith("used to "):
        before = predicate(said.key.removeprefix("used to "), "I")
        return _of_predicate(replace(before, negated=True)) if before and not before.negated else ()
    key, marked = without_endings(said.key)
    marked = marked or not {"now", "recently", "longer"}.isdisjoint(said.adverbs) or bool(_SINCE.search(key))
    return (
        _home(key, said, marked=marked)
        or _employer(key, said, marked=marked)
        or _left(key, said)
        or _relationship(key, said)
        or _age_or_name(key, said, marked=marked)
        or _diet(key, said, marked=marked)
        or _role(key, said, marked=marked)
        or likings_and_habits(key, said, marked=marked)
    )


def without_endings(text: str) -> tuple[str, bool]:
    """The text without "now", "any more" and the like at its end, and whether one of them says that something changed."""
    marked = False
    for _ in range(_MOST_ENDINGS):
        ending = _ENDING.search(text, max(0, len(text) - 12))
        if ending is None:
            break
        marked = marked or ending.group().strip().lower() in _CHANGE_WORDS
        text = text[: ending.start()]
    return text, marked


def has_one_value(content: str, speaker: Speaker) -> bool:
    """Whether the memory states a fact with one value at a time, so that "now" at its end means a change, and not the moment."""
    return any(one.family != "habit" or keeps_subject(one) for one in stated_values(content, speaker))


def _home(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    moved = _MOVED.match(key)
    if moved and not _AS_A_JOB.search(key, moved.end()):
        dated = bool(_LONG_AGO.search(key, moved.end()))
        home = Stated(family="home", subject="home", words=value_words(moved["value"]), marked=True, dated=dated)
        return () if said.negated else (home,)
    if (away := _MOVED_AWAY.match(key)) and not said.negated:
        return (_ended("home", value_words(away["value"])),)
    lives = _LIVES.match(key) or _LIVES_UNCAPITALISED.match(key)
    if lives is None or lives["value"] in table.NO_TOWN or _is_partly(key, lives.end(), said):
        return ()
    return (
        Stated(
            family="home",
            subject="home",
            words=value_words(lives["value"]),
            positive=not said.negated,
            marked=marked,
        ),
    )


def _employer(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    if ended := _OUT_OF_WORK.match(key):
        words = value_words(ended["value"] or "")
        return () if said.negated else (_ended("employer", words),)
    started = _STARTED.match(key) or _STARTED_SOMEWHERE.match(key)
    if started:
        words = value_words(started["value"])
        rest = {*words, *value_words(key[started.end() :])}
        former = value_words(started.groupdict().get("former") or "")
        if said.negated or not rest.isdisjoint(table.NO_EMPLOYMENT) or not table.NO_EMPLOYER.isdisjoint(words):
            return ()
        dated = bool(_LONG_AGO.search(key, started.end()))
        return (Stated(family="employer", subject="employer", words=words, marked=True, dated=dated, former=former),)
    if marked and not said.negated and _SELF_EMPLOYED.match(key):
        return (Stated(family="employer", subject="employer", words=("self-employed",), marked=True, exact=False),)
    named = _WORKS.match(key)
    works = named or _WORKS_SOMEWHERE.match(key)
    if works is None or _TEAM.match(key, works.end()) or _is_partly(key, works.end(), said):
        return ()
    words = value_words(works["value"])
    if not words or words[0] in table.NO_EMPLOYMENT:
        return ()
    return (
        Stated(
            family="employer",
            subject="employer",
            words=words,
            positive=not said.negated,
            marked=marked,
            exact=named is not None,
        ),
    )


def _is_partly(key: str, end: int, said: Predicate) -> bool:
    """Whether the value holds at times only: "works at Acme on Fridays". A denial of more than the value denies little."""
    return bool(_PARTLY.match(key, end)) or (said.negated and end < len(key) and not _SINCE.match(key, end))


def _left(key: str, said: Predicate) -> tuple[Stated, ...]:
    """ "left Acme", "is not with Acme any more"."""
    left = _LEFT.match(key)
    if left and not said.negated and not _NO_LEAVING.match(key, left.end()):
        return (_ended("employer", value_words(left["value"])),)
    ended = "longer" in said.adverbs or key != said.key
    if (apart := _WITH.match(key)) and said.negated and ended:
        words = value_words(apart["value"])
        return (
            _ended("employer", words),
            Stated(family="relationship", subject="relationship", words=words, positive=False),
        )
    return ()


def _relationship(key: str, said: Predicate) -> tuple[Stated, ...]:
    for status, pattern in _STATUSES:
        if pattern.match(key):
            partner = _PARTNER.search(key)
            words = (status, *value_words(partner["value"] if partner else ""))
            return (Stated(family="relationship", subject="relationship", words=words, positive=not said.negated),)
    return ()


def _age_or_name(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    if said.negated:
        return ()
    if age := _AGE.match(key):
        number = age["age"] or age["turned"] or str(_number(age["tens"], age["units"]))
        return (Stated(family="age", subject="age", words=(number,), marked=marked),)
    if changed := _CHANGED_NAME.match(key):
        return (Stated(family="attribute", subject="name", words=value_words(changed["value"]), marked=True),)
    if called := _CALLED.match(key):
        return (Stated(family="attribute", subject="called", words=value_words(called["value"]), marked=marked),)
    return ()


def _diet(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    if diet := _DIET.match(key):
        words = (diet["value"].lower(),)
        return (Stated(family="diet", subject="diet", words=words, positive=not said.negated, marked=marked),)
    if _EATS_MEAT.match(key) and not said.negated:
        habit = likings_and_habits(key, said, marked=marked)
        return (Stated(family="diet", subject="diet", words=("meat",), marked=marked), *habit)
    return ()


def _role(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    if _GRADUATED.match(key) and not said.negated:
        return (_ended("role", ("student",)),)
    if (stopped := _STOPPED_BEING.match(key)) and not said.negated:
        return (_ended("role", value_words(stopped["value"])),)
    became, works = _PROMOTED.match(key) or _BECAME.match(key), _WORKS_AS.match(key)
    role = became or works or _IS_A.match(key)
    if role is None:
        return ()
    words = value_words(role["value"])
    if not words or (words[-1] in table.MAYBE_NO_JOB and not works):
        return ()
    dated = bool(_LONG_AGO.search(key, role.end()))
    return (
        Stated(
            family="role",
            subject="role",
            words=words,
            positive=not said.negated,
            marked=marked or became is not None,
            exact=works is not None,
            dated=dated,
        ),
    )


def _of_attribute(text: str) -> tuple[Stated, ...]:
    found = _ATTRIBUTE.match(text)
    if found is None:
        return ()
    return _attribute_value(found["name"], found["value"], marked="new" in found["modifiers"].lower().split())


def _attribute_value(name: str, value: str, *, marked: bool) -> tuple[Stated, ...]:
    attribute = name.casefold()
    subject = next((subject or attribute for subject, pattern in _ATTRIBUTES if pattern.match(attribute)), None)
    if subject is None:
        return ()
    if attribute == "job" and not _A_JOB.match(value):
        return ()
    value = _CORRECTION.sub("", value).removeprefix("in ")
    is_named = value[:1].isupper()
    value, changed = without_endings(value)
    marked = marked or changed
    words = value_words(value)
    match subject:
        case "age":
            return (Stated(family="age", subject="age", words=words[:1]),) if words and words[0].isdecimal() else ()
        case "favourite":
            subject = attribute.replace("favorite", "favourite", 1)
            return (Stated(family="attribute", subject=subject_key(subject), words=words),)
        case "home" | "employer" | "role":
            named = subject == "role" or is_named
            return (Stated(family=subject, subject=subject, words=words, marked=marked),) if named and words else ()
        case "diet":
            return (Stated(family="diet", subject="diet", words=words[:1]),) if words else ()
        case _:
            stated = Stated(family="attribute", subject=subject, words=words, marked=marked)
            return (stated,) if words and (is_named or subject in _UNNAMED) else ()


def _ended(family: Literal["home", "employer", "role"], words: tuple[str, ...]) -> Stated:
    return Stated(family=family, subject=family, words=words, positive=False, marked=True)


def _number(tens: str, units: str | None) -> int:
    return 10 * (_TENS.index(tens.lower()) + 2) + (_UNITS.index(units.lower()) + 1 if units else 0)
