"""Turns what classifiers read in a message into facts, in the words of extracted memories (MEM-12)."""

from collections.abc import Iterator, Sequence

from cloister.models.rules.changes.stated import Family, Stated, overlap, value_words
from cloister.models.rules.changes.supersession import NewMemory
from cloister.models.rules.facts import Fact, Speaker, fact
from cloister.models.rules.grammar import of_the_speaker, predicate
from cloister.models.rules.learned.readings import LIKELY, SURE, Reading, readings

_STATUS = {
    "dating": "in a relationship",
    "single": "single",
    "divorced": "divorced",
    "widowed": "widowed",
    "engaged": "engaged",
}
_BY_TITLE = ("head ", "director ", "chief ", "vp ", "vice ")
_SAME = {
    "dating": ("relationship",),
    "single": ("single", "broken up"),
    "married": ("married",),
    "engaged": ("engaged",),
}


def news(
    parts: Sequence[str], speaker: Speaker, known: Sequence[Stated], patterns: Sequence[NewMemory]
) -> Iterator[Fact]:
    """Facts of the families that `patterns` did not find in this message, each at most once. That something ended is not concluded
    where patterns understood the sentence: they know what is partial, as "not on Fridays" is."""
    covered = {memory.family for memory in patterns}
    mentioned = " ".join(memory.content for memory in patterns)
    best: dict[Family, Reading] = {}
    ended: list[Reading] = []
    for reading in readings(parts, known):
        if reading.family in covered:
            continue
        if reading.what.startswith("former"):
            ended.append(reading)
        elif reading.chance > getattr(best.get(reading.family), "chance", 0.0):
            best[reading.family] = reading
    for family, reading in best.items():
        of_family = [one for one in known if _is_same_kind(one, family) and one.positive]
        is_likely = reading.chance >= (LIKELY if of_family else SURE)
        if is_likely and not _is_known(reading, of_family) and (stated := _fact(reading, speaker)):
            yield stated
    for reading in ended:
        was_known = any(
            one.family == reading.family and overlap(one.words, value_words(reading.value)) for one in known
        )
        is_over = reading.family not in best and reading.value not in mentioned and reading.chance >= LIKELY
        if was_known and is_over and (stated := _ended(reading, speaker)):
            yield stated


def _is_same_kind(one: Stated, family: Family) -> bool:
    return one.family == family and (family != "attribute" or one.subject in ("name", "called", "first name"))


def _is_known(reading: Reading, known: Sequence[Stated]) -> bool:
    """Whether nothing would change. A status is what it was if the known one says the same in other words."""
    if reading.family == "relationship":
        return any(one.words[:1] and one.words[0] in _SAME.get(reading.what, (reading.what,)) for one in known)
    return any(overlap(one.words, value_words(reading.value)) for one in known)


def _fact(reading: Reading, speaker: Speaker) -> Fact | None:
    who, value = speaker.subject, reading.value
    match reading.what:
        case "home":
            return fact("place", f"{who} lives in {value} now")
        case "employer":
            return fact("work", f"{who} works at {value} now")
        case "role":
            return fact("work", f"{who} is {_with_article(value)} now")
        case "age":
            return fact("self", f"{who} is {value} years old")
        case "own name":
            return fact("name", f"{speaker.whose} name is {value} now")
        case "married":
            return fact("family", f"{who} is married now (“{reading.text.rstrip('.')}”)")
        case status:
            return fact("family", f"{who} is {_STATUS[status]} now (“{reading.text.rstrip('.')}”)")


def _with_article(role: str) -> str:
    if role.lower().startswith(_BY_TITLE) or role.isupper():
        return role
    return f"{'an' if role[0].lower() in 'aeiou' else 'a'} {role}"


def _ended(reading: Reading, speaker: Speaker) -> Fact | None:
    match reading.what:
        case "former home":
            return fact("change", f"{speaker.subject} no longer lives in {reading.value}")
        case "former employer":
            return fact("change", f"{speaker.subject} no longer works at {reading.value}")
        case "former role":
            return fact("change", f"{speaker.subject} is no longer {_with_article(reading.value)}")
        case _:
            return None


def reversed_fact(text: str, of: Stated, speaker: Speaker) -> Fact | None:
    """A memory of a text by which something known is over: its words, as said of the speaker if it begins with "I"."""
    bare = text.rstrip(".")
    if bare.startswith("I ") and ". " not in bare and (said := predicate(bare.removeprefix("I "), "I")):
        return fact("preference", f"{speaker.subject} {of_the_speaker(said.shown)}")
    return fact("preference", f"{speaker.subject} said of {of.words[-1]}: “{bare}”")
