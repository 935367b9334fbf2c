"""Whether a newly stated value makes an older one untrue. In doubt it does not: what is true must not be withdrawn (MEM-12)."""

from cloister.domain.patterns import anchored
from cloister.models.rules.changes.doubts import is_same_area
from cloister.models.rules.changes.habits import reverses
from cloister.models.rules.changes.stated import Stated, overlap
from cloister.models.rules.tables import single_values as table

_LARGE_AREA = anchored(rf"(?:{table.LARGE_AREAS})$")
_OLDEST = 120
_TOGETHER = ("engaged", "reunited")
"""Statuses of those who have a boyfriend or a girlfriend, too."""


_WITH_ONE = ("relationship", "engaged", "married")
_BETROTHED = ("fiancé", "fiancée")
_NOT_MARRIED = ("boyfriend", "girlfriend", *_BETROTHED)
PARTNERS = (*_NOT_MARRIED, "partner")
"""Attributes whose value is the name of the one that a person is together with."""


def contradicts(new: Stated, old: Stated) -> bool:
    """Whether `old` is no longer true after `new` was said."""
    if new.dated:
        return False
    if new.family == "relationship" and old.subject in PARTNERS:
        return _partner_changed(new, old)
    if new.family != old.family:
        return False
    match new.family:
        case "relationship":
            return _relationship_changed(new, old)
        case "age":
            return int(old.words[0]) < int(new.words[0]) <= _OLDEST
        case "habit":
            return reverses(new, old)
        case "liking":
            return new.subject == old.subject and (new.positive != old.positive or new.words != old.words)
        case "diet":
            return _diet_changed(new, old)
        case "attribute":
            if not new.positive:
                return old.positive and new.subject == old.subject and overlap(new.words, old.words)
            return new.subject == old.subject and _value_changed(new, old)
        case "home" | "employer" | "role":
            return _one_of_several_changed(new, old)


def _one_of_several_changed(new: Stated, old: Stated) -> bool:
    """Homes, employers and roles: a person may have two, and may describe one in several ways."""
    if not new.positive:
        return old.positive and (not new.words or overlap(new.words, old.words))
    if not old.positive:
        return overlap(new.words, old.words)
    if new.former:
        return overlap(new.former, old.words)
    if new.family == "role":
        return new.words != old.words and (new.marked or (new.exact and old.exact))
    if overlap(new.words, old.words):
        return False
    if new.family == "home":
        if is_same_area(" ".join(new.words), " ".join(old.words)):
            return False
        return new.marked or (new.exact and _is_large(new) == _is_large(old))
    return new.marked or (new.exact and old.exact)


def _is_large(home: Stated) -> bool:
    """Whether a home is a country or a state: one may live in a town and in its country at once."""
    name = " ".join(home.words)
    return (len(home.words) == 1 and name in table.COUNTRIES) or bool(_LARGE_AREA.match(name))


def _partner_changed(new: Stated, old: Stated) -> bool:
    """Whether a partner who was named ("their girlfriend is Emma") is one no longer, or has become more than that."""
    partner = new.words[1:]
    if partner and not overlap(partner, old.words):
        return False
    if not new.positive:
        return bool(partner) or new.words[0] not in table.ENDED_BY
    if new.words[0] in ("engaged", "married"):
        return old.subject in _NOT_MARRIED and not (new.words[0] == "engaged" and old.subject in _BETROTHED)
    return new.words[0] in ("single", "broken up", "divorced", "widowed")


def _relationship_changed(new: Stated, old: Stated) -> bool:
    if not old.words:
        return False
    partner_before, partner = old.words[1:], new.words[1:]
    if not old.positive:
        began = new.words[0] == old.words[0] or (old.words[0] == "relationship" and new.words[0] in _TOGETHER)
        return new.positive and began and (not partner_before or overlap(partner, partner_before))
    if not new.positive:
        named = new.words[0] not in table.ENDED_BY
        if named:
            return overlap(new.words, partner_before)
        same = new.words[0] == old.words[0] or (new.words[0] == "relationship" and old.words[0] in _TOGETHER)
        return same and (not partner or not partner_before or overlap(partner, partner_before))
    if new.words[0] == old.words[0] and new.marked and partner and partner_before:
        return new.words[0] in _WITH_ONE and not overlap(partner, partner_before)
    ended = old.words[0] in table.ENDED_BY[new.words[0]]
    if ended and new.words[0] == "broken up" and partner and partner_before:
        return overlap(partner, partner_before)
    return ended


def _diet_changed(new: Stated, old: Stated) -> bool:
    if not new.positive:
        return old.positive and new.words == old.words
    if not old.positive:
        return new.words == old.words
    if new.words[0] == "meat":
        return old.words[0] in table.MEATLESS
    if new.words[0] == "fish":
        return old.words[0] in table.MEATLESS and old.words[0] != "pescatarian"
    return new.words != old.words and new.words[0] in table.DIETS and old.words[0] in table.DIETS


def _value_changed(new: Stated, old: Stated) -> bool:
    """A name with more or fewer words is the same name; any other value must be equal to be the same."""
    if new.subject.endswith("name") or new.subject == "called":
        is_short_form = not new.exact and old.words[0][:3] == new.words[0][:3]
        return old.positive and not overlap(new.words, old.words) and not is_short_form
    return new.words != old.words and (new.marked or new.subject not in table.OFTEN_SEVERAL)
