"""Whom somebody lives with, how old they are, what they are called, and what they eat (MEM-12)."""

from dataclasses import replace

from cloister.domain.patterns import IGNORECASE, Anchored, anchored, linear
from cloister.models.rules.changes.habits import likings_and_habits
from cloister.models.rules.changes.stated import Stated, value_words
from cloister.models.rules.changes.times import LONG_AGO, RECENTLY
from cloister.models.rules.grammar import Predicate
from cloister.models.rules.tables import single_values as table
from cloister.models.rules.tables.names import GIVEN_NAMES
from cloister.models.rules.tables.notation import entries
from cloister.models.rules.tables.words import NAMES

_STATUSES: tuple[tuple[str, Anchored], ...] = tuple(
    (status, anchored(f"(?i:{pattern})"))
    for status, _, pattern in (entry.partition("=") for entry in entries(table.STATUSES))
)
_PARTNER = linear(rf"\b(?:to|with|dating|seeing|married|called|named|dumped) (?P<value>{table.NAME})")
_ALONE_AGAIN = anchored(
    r"be (?:back to being single|(?:all )?on (?:my|their) own again|solo again)(?: now)?$", IGNORECASE
)
_HAS_NO = anchored(r"have no (?=boyfriend|girlfriend|partner|wife|husband)", IGNORECASE)
_WITH = anchored(rf"be with (?P<value>{NAMES})$")
_FORMER_PARTNER = linear(
    r"\b(?:ex|ex-\w+|first (?:wife|husband)|(?:old|former) (?:boyfriend|girlfriend|partner))\b", IGNORECASE
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_SPELLED = rf"(?:(?P<teens>{'|'.join(_TEENS)})|(?P<tens>{'|'.join(_TENS)})(?:[ -](?P<units>{'|'.join(_UNITS)}))?)"
_YEARS = r"(?: years?[ -](?:old|young)| ?y/?o| ?yrs?(?: old)?)?"
_AFTER_AGE = rf"(?= (?:and|but|so) |(?: {RECENTLY}){{0,3}}$|,(?! ?\d)| (?:as of|since|for) )"
_AGE = anchored(
    rf"(?:be|have been) (?:(?P<age>\d{{1,3}})|{_SPELLED}){_YEARS}{_AFTER_AGE}"
    rf"|(?:be|have been) an? (?P<aged>\d{{1,3}})[ -]years?[ -]old\b",
    IGNORECASE,
)
_TURNED = anchored(
    rf"(?:(?:have )?(?:turned|hit|reached|became|become)|celebrated turning|turn(?=.* today$)) (?:the (?:big"
    rf"|ripe old age of) )?(?:(?P<age>\d{{1,3}})"
    rf"|(?P<dashed>\d-(?:\d|oh|o))|{_SPELLED}){_YEARS}{_AFTER_AGE}",
    IGNORECASE,
)
_JUST = linear(r" (?:today|yesterday|this \w+)$", IGNORECASE)
_BIRTHDAY = anchored(
    r"(?:have )?(?:had|celebrated|marked) (?:my|their) (?P<age>\d{1,3})(?:st|nd|rd|th)(?: birthday| bday| b-day)\b",
    IGNORECASE,
)
_CHANGED_NAME = anchored(
    rf"(?:have )?(?:(?:legally|officially) )?changed (?:my|their) (?P<part>(?:(?:last|first|family|legal|full) )?(?:name"
    rf"|surname)) to"
    rf" (?P<value>{NAMES})"
)
_CALLED = anchored(
    rf"(?:want to be called|prefer to be called|like to be called|go by(?: the name)?|be going by|be called|be named"
    rf"|(?:have )?started going by"
    rf"|prefer the name|use the name) (?P<value>{NAMES})(?P<by> by )?"
)
_NOT_CALLED = anchored(rf"(?:have )?stopped going by (?P<value>{NAMES})$")
_IS_NAMED = anchored(rf"be (?P<value>{NAMES})$")
_DIET = anchored(
    r"(?:be|have been|became|have become|went|have gone|turned|have turned)(?: back to)? (?:a |an )?(?:strict |strictly "
    r"|mostly |fully |full |completely )?"
    r"(?P<value>vegan|vegetarian|pescatarian|plant-based|carnivore|omnivore|keto)\b",
    IGNORECASE,
)
_STOPPED_DIET = anchored(
    r"(?:have )?(?:stopped|quit|gave up|given up|dropped|ditched)(?: being)?(?: an?| the| my| their)? (?P<value>vegan"
    r"|vegetarian|pescatarian|keto)(?:ism)?\b",
    IGNORECASE,
)
_EATS_MEAT = anchored(
    r"(?:eat|(?:have )?(?:started|went back to|gone back to|be back to) eating|be eating) (?:(?P<meat>meat|chicken|beef|pork"
    r"|steak|bacon|burgers"
    r"|lamb|turkey)|(?P<fish>fish|seafood|salmon|tuna))\b",
    IGNORECASE,
)


def relationship(key: str, said: Predicate, *, marked: bool = False) -> tuple[Stated, ...]:
    """The status that a predicate's key states. That of a former partner says nothing about the present one."""
    if _ALONE_AGAIN.match(said.key) and not said.negated:
        return (Stated(family="relationship", subject="relationship", words=("single",)),)
    nobody = _HAS_NO.match(key)
    key = f"have a {key[nobody.end() :]}" if nobody else key
    for status, pattern in _STATUSES:
        if pattern.match(key):
            if _FORMER_PARTNER.search(key):
                return ()
            partner = _PARTNER.search(key)
            words = (status, *value_words(partner["value"] if partner else ""))
            dated = bool(LONG_AGO.search(key))
            return (
                Stated(
                    family="relationship",
                    subject="relationship",
                    words=words,
                    positive=said.negated is bool(nobody),
                    marked=marked,
                    dated=dated,
                ),
            )
    return ()


def with_partner(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """ "is with Marco now", of a name that people have."""
    found = _WITH.match(key)
    if found is None or not marked or said.negated or value_words(found["value"])[0] not in GIVEN_NAMES:
        return ()
    words = ("relationship", *value_words(found["value"]))
    return (Stated(family="relationship", subject="relationship", words=words, marked=True),)


def age(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """The age that a predicate's key states; what is too small or too great to be one is none."""
    if said.negated:
        return ()
    found = _AGE.match(key) or _TURNED.match(key) or _BIRTHDAY.match(key)
    if found is None:
        return ()
    named = found.groupdict()
    number = named.get("age") or named.get("aged")
    if dashed := named.get("dashed"):
        number = dashed[0] + ("0" if dashed[-1] in "ohOH" else dashed[-1])
    elif teens := named.get("teens"):
        number = str(13 + _TEENS.index(teens.lower()))
    elif tens := named.get("tens"):
        number = str(_number(tens, named.get("units")))
    if number is None or LONG_AGO.search(key):
        return ()
    marked = marked or bool(_JUST.search(key, found.end()))
    return (Stated(family="age", subject="age", words=(number,), marked=marked),)


def name(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    """The name that a predicate's key states: "goes by Sam", "changed their last name to Klein"."""
    if (stopped := _NOT_CALLED.match(key)) and not said.negated:
        return (_attribute("called", stopped["value"], positive=False, marked=True),)
    if (called := _CALLED.match(key)) and not (called["by"] and not marked):
        stated = _attribute("called", called["value"], positive=not said.negated, marked=marked)
        return (stated, replace(stated, subject="name", exact=False)) if marked and stated.positive else (stated,)
    if said.negated:
        return ()
    if changed := _CHANGED_NAME.match(key):
        subject = {"surname": "last name", "family name": "last name", "first name": "first name"}.get(changed["part"])
        subject = subject or ("last name" if changed["part"] == "last name" else "name")
        if subject == "name":
            return full_name(changed["value"], marked=True)
        return (_attribute(subject, changed["value"], marked=True),)
    if (named := _IS_NAMED.match(key)) and value_words(named["value"])[0] in GIVEN_NAMES:
        return full_name(named["value"], marked=marked)
    return ()


def full_name(value: str, *, marked: bool) -> tuple[Stated, ...]:
    """A name; a new one with several words has a new last name, too."""
    whole = _attribute("name", value, marked=marked)
    if not marked:
        return (whole,)
    if len(whole.words) < 2:
        return (whole, replace(_attribute("called", value, marked=True), exact=False))
    return (whole, Stated(family="attribute", subject="last name", words=whole.words[-1:], marked=True))


def _attribute(subject: str, value: str, *, positive: bool = True, marked: bool) -> Stated:
    return Stated(family="attribute", subject=subject, words=value_words(value), positive=positive, marked=marked)


def diet(key: str, said: Predicate, *, marked: bool) -> tuple[Stated, ...]:
    if (stopped := _STOPPED_DIET.match(key)) and not said.negated:
        return (Stated(family="diet", subject="diet", words=(stopped["value"].lower(),), positive=False, marked=True),)
    if found := _DIET.match(key):
        words = (found["value"].lower(),)
        return (Stated(family="diet", subject="diet", words=words, positive=not said.negated, marked=marked),)
    if (eats := _EATS_MEAT.match(key)) and not said.negated:
        habit = likings_and_habits(key, said, marked=marked)
        is_meat = eats["meat"] is not None and eats["meat"].lower() == "meat"
        if not is_meat and not (marked or key.startswith(("started", "have started", "went back", "have gone back"))):
            return habit
        return (
            Stated(family="diet", subject="diet", words=("meat" if eats["meat"] else "fish",), marked=marked),
            *habit,
        )
    return ()


def _number(tens: str, units: str | None) -> int:
    return 10 * (_TENS.index(tens.lower()) + 2) + (_UNITS.index(units.lower()) + 1 if units else 0)
