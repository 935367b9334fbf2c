"""Relations between two names of one sentence: who works where, who lives where, who is whose sister (MEM-17).

Only what stands between two names that follow each other is read, and only in the present: "used to work at" states no relation.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cloister.domain.extraction import EntityType
from cloister.domain.patterns import IGNORECASE, Anchored, anchored
from cloister.models.rules.tables.notation import word_list

_REACH = 60
_KIN = word_list(
    "mother mom mum father dad sister brother twin son daughter husband wife partner boyfriend girlfriend fiancé fiancée fiance "
    "fiancee grandmother grandma grandfather grandpa grandson granddaughter aunt uncle cousin niece nephew stepmother stepfather "
    "stepson stepdaughter mother-in-law father-in-law sister-in-law brother-in-law godson goddaughter godmother godfather friend "
    "colleague coworker co-worker boss manager teacher mentor coach neighbour neighbor roommate flatmate classmate student"
)
_SPELLINGS = {
    "mom": "mother",
    "mum": "mother",
    "dad": "father",
    "grandma": "grandmother",
    "grandpa": "grandfather",
    "neighbor": "neighbour",
    "co-worker": "colleague",
    "coworker": "colleague",
    "fiancé": "fiance",
    "fiancée": "fiance",
    "fiancee": "fiance",
}
_TOGETHER = {
    "siblings": "sibling of",
    "married": "married to",
    "friends": "friend of",
    "best friends": "friend of",
    "colleagues": "colleague of",
    "neighbours": "neighbour of",
    "neighbors": "neighbour of",
    "cousins": "cousin of",
    "dating": "dating",
}
_NOW = r"(?:(?:now|currently|still|also|just|recently|has) ){0,2}"
_PEOPLE: frozenset[EntityType] = frozenset({"person", "other"})
_ORGANISATIONS: frozenset[EntityType] = frozenset({"organisation", "other"})
_LOCATIONS: frozenset[EntityType] = frozenset({"place", "other"})
_ANYTHING: frozenset[EntityType] = frozenset({"organisation", "project", "product", "event", "other"})
_BETWEEN: tuple[tuple[str, Anchored, frozenset[EntityType]], ...] = (
    (
        "works at",
        anchored(
            rf",? (?:who )?{_NOW}(?:works|is working|got a job|started(?: working)?|has started|interns|teaches)"
            r"(?: as (?:an? )?[\w'-]{1,20}(?: [\w'-]{1,20})?)? (?:at|for) (?:the )?$",
            IGNORECASE,
        ),
        _ORGANISATIONS,
    ),
    ("works at", anchored(rf",? (?:who )?{_NOW}joined (?:the )?$", IGNORECASE), frozenset({"organisation"})),
    (
        "lives in",
        anchored(rf",? (?:who )?{_NOW}(?:lives|is living|moved|relocated)(?: back)? (?:in|to) (?:the )?$", IGNORECASE),
        frozenset({"place"}),
    ),
    (
        "studies at",
        anchored(rf",? (?:who )?{_NOW}(?:studies|is studying)(?: [a-z]{{1,20}}){{0,3}} at (?:the )?$", IGNORECASE),
        _ORGANISATIONS,
    ),
    ("from", anchored(r",? (?:who )?(?:is|comes) (?:originally )?from (?:the )?$", IGNORECASE), _LOCATIONS),
    ("founded", anchored(r",? (?:who )?(?:founded|co-founded) (?:the )?$", IGNORECASE), _ANYTHING),
    ("married to", anchored(r" (?:is married to|married|got married to) $", IGNORECASE), _PEOPLE),
    ("dating", anchored(rf" {_NOW}(?:is dating|dates) $", IGNORECASE), _PEOPLE),
    ("works with", anchored(rf" {_NOW}(?:works|is working) with $", IGNORECASE), _PEOPLE),
)
_ROLE_OF = anchored(
    rf"(?: is|,) (?:the |an? )?(?P<role>{_KIN}|ceo|cto|cfo|founder|co-founder|owner|director|head) of (?:the )?$",
    IGNORECASE,
)
_HIS_KIN = anchored(
    rf"'s (?:(?:little|big|older|younger|elder|best|new|twin) )?(?P<role>{_KIN})(?: is|,)?(?: called| named)? $",
    IGNORECASE,
)
_IS = anchored(r" is $", IGNORECASE)
_AND = anchored(r" and $", IGNORECASE)
_KIN_AFTER = anchored(rf"'s (?:(?:little|big|older|younger|elder|best|new|twin) )?(?P<role>{_KIN})\b", IGNORECASE)
_TOGETHER_AFTER = anchored(rf" are (?:(?:now|also|old|good) )?(?P<what>{'|'.join(_TOGETHER)})\b", IGNORECASE)


class Named(NamedTuple):
    """A name at its position in a sentence."""

    name: str
    type: EntityType
    begin: int
    end: int


class Related(NamedTuple):
    subject: str
    relation: str
    other: str


def relations(text: str, found: Sequence[Named]) -> Iterator[Related]:
    """What a sentence says of each two of its names that follow each other; `found` is in the order of the sentence."""
    for first, second in pairwise(found):
        between, after = text[first.end : second.begin], text[second.end :][:_REACH]
        if len(between) > _REACH or first.name == second.name:
            continue
        if related := _related(first, second, between, after):
            yield related


def _related(first: Named, second: Named, between: str, after: str) -> Related | None:
    if first.type in _PEOPLE:
        for relation, cue, objects in _BETWEEN:
            if second.type in objects and cue.match(between):
                return Related(first.name, relation, second.name)
        if (role := _ROLE_OF.match(between)) and second.type != "place":
            return Related(first.name, f"{_spelt(role.group('role'))} of", second.name)
    if not {first.type, second.type} <= _PEOPLE:
        return None
    if kin := _HIS_KIN.match(between):
        return Related(second.name, f"{_spelt(kin.group('role'))} of", first.name)
    if _IS.match(between) and (kin := _KIN_AFTER.match(after)):
        return Related(first.name, f"{_spelt(kin.group('role'))} of", second.name)
    if _AND.match(between) and (together := _TOGETHER_AFTER.match(after)):
        return Related(first.name, _TOGETHER[together.group("what").casefold()], second.name)
    return None


def _spelt(role: str) -> str:
    folded = role.casefold()
    return _SPELLINGS.get(folded, folded)
