"""The category of a predicate, or none if the predicate is not worth remembering."""

from typing import Literal

from cloister.domain.patterns import IGNORECASE, Anchored, anchored, linear
from cloister.models.rules.tables import predicates
from cloister.models.rules.tables.notation import entries, words
from cloister.models.rules.tables.words import OCCUPATION

Category = Literal[
    "name", "place", "work", "family", "possession", "preference", "health", "self", "plan", "decision", "change"
]

IMPORTANCE: dict[Category, float] = {
    "name": 0.9,
    "health": 0.9,
    "place": 0.8,
    "family": 0.7,
    "work": 0.7,
    "change": 0.7,
    "self": 0.6,
    "decision": 0.6,
    "plan": 0.5,
    "preference": 0.5,
    "possession": 0.4,
}

_TABLES: tuple[tuple[Category, str], ...] = (
    ("change", predicates.CHANGE),
    ("decision", predicates.DECISION),
    ("plan", predicates.PLAN),
    ("health", predicates.HEALTH),
    ("family", predicates.FAMILY),
    ("place", predicates.LOCATION),
    ("work", predicates.WORK),
    ("self", predicates.SELF),
    ("possession", predicates.POSSESSION),
    ("preference", predicates.PREFERENCE),
)
"""In the order in which they are tried: the more specific first."""
_RULES: tuple[tuple[Category, Anchored], ...] = tuple(
    (category, anchored(entry)) for category, table in _TABLES for entry in entries(table, predicates.FRAGMENTS)
)
_WORTHLESS_WHEN_DENIED: frozenset[Category] = frozenset({"plan", "change", "decision"})
_NOT_LASTING = words(
    "need want know think care remember see understand feel believe mind trust get have do be say mean worry hear find "
    "seem look wonder recall"
)

_AS = r"(?:be|was|have been) an? "
_ROLE = linear(rf"{_AS}(?:bit of an? )?(?:[\w'/&+-]+ ){{0,5}}?{OCCUPATION}(?![\w'])", IGNORECASE)
_NO_ROLE = anchored(rf"{_AS}(?:bit|little|lot|complete|total|huge|big|such|good|bad|great|terrible|mess|better|proud) ")
# "I'm not with Acme any more", "I'm no longer dating Ana".
_ENDED_STATE = anchored(
    r"be (?:(?:with|at) [A-ZÀ-ÖØ-Þ]|(?:dating|seeing) \w|in a relationship\b|single\b|the (?:\w+ ){1,3}(?:of|at) )"
)
_HABIT = anchored(entries(predicates.HABIT)[0])
_OFTEN = linear(entries(predicates.OFTEN)[0], IGNORECASE)
_OFTEN_ADVERBS = words("always usually never often rarely normally typically regularly mostly")
_OF_US = anchored(entries(predicates.OF_US)[0])


def category_of(key: str, *, negated: bool, adverbs: tuple[str, ...]) -> Category | None:
    """The category of the first table that matches. An occupation is work; a habit with a frequency is a preference."""
    if "longer" in adverbs or (negated and key.endswith((" anymore", " any more", " any longer"))):
        lasting = key.split(" ", 1)[0] not in _NOT_LASTING or _table_of(key, negated=True) or _ENDED_STATE.match(key)
        return "change" if lasting or (_ROLE.match(key) and not _NO_ROLE.match(key)) else None
    if category := _table_of(key, negated=negated):
        return category
    if _ROLE.match(key) and not _NO_ROLE.match(key):
        return "work"
    often = _OFTEN.search(key) or not _OFTEN_ADVERBS.isdisjoint(adverbs)
    return "preference" if often and _HABIT.match(key) else None


def said_of_both(key: str) -> bool:
    """Whether "we …" is true of the speaker: what a couple or a household does, not what a company does."""
    return bool(_OF_US.match(key)) and " together" not in key


def _table_of(key: str, *, negated: bool) -> Category | None:
    for category, pattern in _RULES:
        if not (negated and category in _WORTHLESS_WHEN_DENIED) and pattern.match(key):
            return category
    return None
