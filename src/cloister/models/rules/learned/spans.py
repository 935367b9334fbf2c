"""The tokens of a text, and those among them that may be a value of a fact: names, workplaces, occupations and numbers (MEM-12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cloister.domain.patterns import IGNORECASE, anchored, linear
from cloister.models.rules.changes.times import MONTHS, WEEKDAYS
from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.words import LANGUAGE, OCCUPATION

SpanType = Literal["name", "workplace", "role", "number"]
MOST_TOKENS = 60

_TOKEN = linear(r"[^\W\d_](?:[\w]|['&.-](?=\w))*|\d+(?:-\d)?(?:st|nd|rd|th)?|[?!.,:;]")
_JOINS = words("of de da do del la le les den der van von the al el & on")
_TIME = anchored(rf"(?:{MONTHS}|{WEEKDAYS}|christmas|easter|ramadan|jan|feb|apr|aug|sept|sep|oct|nov|dec)$", IGNORECASE)
_LANGUAGE = anchored(rf"{LANGUAGE}$")
_NUMBER = anchored(r"\d{2,3}(?:st|nd|rd|th)?$|[2-9]-[0oO0]$")
_UNITS = words("one two three four five six seven eight nine")
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
_TEENS = words("thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_IN_WORDS = anchored(
    r"(?:(?P<tens>twent|thirt|fort|fift|sixt|sevent|eight|ninet)(?:y|ieth)(?:-(?P<unit>one|two|three|four|five|six|seven|eight"
    r"|nine|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth))?"
    r"|(?P<teens>thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)(?:th)?)$"
)
_ALL_TENS = ("twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet")
_ALL_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ALL_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ALL_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_WORKPLACES = words(
    "bank hospital museum office firm startup start-up bakery council library school university college clinic pharmacy hotel "
    "restaurant home airport garage centre center house company agency consultancy ministry non-profit nonprofit charity brewery "
    "supermarket shop store factory court embassy church theatre zoo farm bookshop bookstore café cafe practice lab laboratory"
)
_DETERMINERS = words("a an the my our their this that his her your")
_HEAD = anchored(
    rf"(?:{OCCUPATION}|ceo|cto|cfo|coo|cmo|cpo|vp|president|vice-president|head|lead|chief|postdoc|trainee|agent|representative"
    r"|adviser|advisor|aide|attendant|chef|chairman|chairwoman|chair|dean|principal|mayor|captain|sergeant|fellow|hostess|host"
    r"|worker|guard|guide|operator|specialist|strategist|owner|scientist|partner|associate|executive|controller|buyer|seller|rep"
    r"|developer|planner|buddhist|coordinator|dispatcher|zookeeper|surgeon|mathematician|electrician|custodian|comptroller)s?$",
    IGNORECASE,
)
_SUFFIXED = anchored(r"[a-z-]{3,}(?:ologist|ographer|keeper|smith|maker|grapher|ician|sman|swoman)$", IGNORECASE)
_NO_ROLE = words(
    "smoker vegan vegetarian pescatarian mom mum mother dad father parent grandmother grandfather twin widow widower landlord "
    "beginner citizen immigrant teetotaller non-smoker christian muslim catholic atheist hobbyist gamer model coach training"
)
_HOME_PARENTS = words("stay-at-home full-time")
_OF_ROLE = words("of for")
_NO_MODIFIER = words(
    "a an the my our their his her your this that as to from is am are was were be been being become became of in at on and or but "
    "not now longer me i we you he she it they them us just no new by with for into up over back than like also so then if when "
    "took role position job title work works working worked promoted named appointed made fully qualified finally officially it's "
    "i'm already currently today anymore still who what there here instead"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A word or mark of a text; `lower` is its form for comparison."""

    text: str
    lower: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The tokens `begin` to `end` of a text, which may be a value. `value` is the value itself; a number's is in digits."""

    type: SpanType
    begin: int
    end: int
    value: str


def tokens(text: str) -> list[Token]:
    return [
        Token(text=found.group(), lower=found.group().lower())
        for _, found in zip(range(MOST_TOKENS), _TOKEN.finditer(text), strict=False)
    ]


def is_time(token: Token) -> bool:
    return _TIME.match(token.lower) is not None


def spans(found: Sequence[Token], common: frozenset[str], towns: frozenset[str] = frozenset()) -> list[Span]:
    """All candidates. `common` are words that are no names although a sentence begins with them, `towns` names that are known also
    in a text without capitals."""
    uncapitalised = not any(token.text[0].isupper() and token.text != "I" for token in found[1:])
    return [
        *_roles(found),
        *_numbers(found),
        *_workplaces(found),
        *_names(found, common, towns if uncapitalised else frozenset()),
    ]


def _names(found: Sequence[Token], common: frozenset[str], towns: frozenset[str]) -> list[Span]:
    result: list[Span] = []
    at = 0
    while at < len(found):
        if not _begins_name(found, at, common) and found[at].lower not in towns:
            at += 1
            continue
        end = at + 1
        while end < len(found) and (_is_name(found[end]) or _joins(found, end)):
            end += 1
        value = " ".join(token.text for token in found[at:end])
        if value.islower():
            value = value.title()
        value = value.removesuffix("'s")
        result.append(Span(type="name", begin=at, end=end, value=value))
        at = end
    return result


def _is_name(token: Token) -> bool:
    return token.text[0].isupper() and token.lower not in ("i", "i'm", "i've", "i'd", "i'll") and not is_time(token)


def _begins_name(found: Sequence[Token], at: int, common: frozenset[str]) -> bool:
    if not _is_name(found[at]):
        return False
    if _LANGUAGE.match(found[at].text):
        return False
    starts = at == 0 or found[at - 1].text in ".!?:;"
    if (
        starts
        and found[at].lower in common
        and not (at + 1 < len(found) and _is_name(found[at + 1]) and found[at].lower == "new")
    ):
        return False
    return not (_HEAD.match(found[at].lower) and found[at].text.isupper())


def _joins(found: Sequence[Token], at: int) -> bool:
    return found[at].lower in _JOINS and found[at].text != "on" and at + 1 < len(found) and _is_name(found[at + 1])


def _workplaces(found: Sequence[Token]) -> list[Span]:
    result: list[Span] = []
    for at, token in enumerate(found):
        if token.text not in _WORKPLACES:
            continue
        begin = at
        while (
            begin > 0
            and at - begin < 3
            and found[begin - 1].text.isalpha()
            and found[begin - 1].lower not in _NO_MODIFIER
        ):
            begin -= 1
        if begin > 0 and found[begin - 1].lower in ("a", "an", "the", "our"):
            value = " ".join(one.text for one in found[begin - 1 : at + 1])
            result.append(Span(type="workplace", begin=begin - 1, end=at + 1, value=value))
    return result


def _roles(found: Sequence[Token]) -> list[Span]:
    result: list[Span] = []
    last = 0
    for at, token in enumerate(found):
        is_head = _HEAD.match(token.lower) or _SUFFIXED.match(token.lower)
        parent = at > 0 and found[at - 1].lower in _HOME_PARENTS
        if at < last or not is_head or (token.lower in _NO_ROLE and not parent):
            continue
        begin, end = at, at + 1
        while begin > last and at - begin < 3 and _modifies(found[begin - 1]):
            begin -= 1
        while (
            end < len(found) and end - at < 3 and (_HEAD.match(found[end].lower) or _SUFFIXED.match(found[end].lower))
        ):
            end += 1
        if end + 1 < len(found) and found[end].lower == "of" and found[end + 1].text.isalpha() and begin == at:
            end += 2
        elif token.lower in ("head", "lead", "chief") and end == at + 1 and begin == at:
            continue
        result.append(Span(type="role", begin=begin, end=end, value=" ".join(one.text for one in found[begin:end])))
        last = end
    return result


def _modifies(token: Token) -> bool:
    return token.text[0].isalpha() and token.lower not in _NO_MODIFIER and not token.lower.endswith(("n't", "'s", "ly"))


def _numbers(found: Sequence[Token]) -> list[Span]:
    result: list[Span] = []
    for at, token in enumerate(found):
        value = _age(token.lower)
        if value is None:
            continue
        end = at + 1
        if value % 10 == 0 and end < len(found) and found[end].lower in (*_ALL_UNITS, *_ALL_ORDINALS):
            value += _unit(found[end].lower)
            end += 1
        if 10 <= value <= 115:
            result.append(Span(type="number", begin=at, end=end, value=str(value)))
    return result


def _unit(word: str) -> int:
    return (_ALL_UNITS.index(word) if word in _ALL_UNITS else _ALL_ORDINALS.index(word)) + 1


def _age(word: str) -> int | None:
    if _NUMBER.match(word):
        return int(word[0]) * 10 if "-" in word else int(word.rstrip("stndrh"))
    named = _IN_WORDS.match(word)
    if named is None:
        return None
    if named["teens"]:
        return 13 + _ALL_TEENS.index(named["teens"])
    return 10 * (2 + _ALL_TENS.index(named["tens"])) + (_unit(named["unit"]) if named["unit"] else 0)
