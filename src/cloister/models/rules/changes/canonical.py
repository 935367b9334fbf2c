"""Memories that a person or a program wrote, as sentences of the form that extracted memories have (MEM-12).

"User lives in Oslo", "I live in Oslo", "Lives in Oslo" and "Home: Oslo" are all "The user lives in Oslo.".
"""

from collections.abc import Iterable, Mapping

from cloister.domain.patterns import IGNORECASE, anchored
from cloister.models.rules.changes.stated import Family
from cloister.models.rules.changes.values import stated_values
from cloister.models.rules.facts import Speaker, speaker_named
from cloister.models.rules.memories import facts

_LONGEST = 240
_THE_USER = anchored(
    r"(?:the )?user(?=['’]s | (?!interface|base|experience|guide|manual|account|id\b|name\b))", IGNORECASE
)
_FIRST_PERSON = anchored(r"(?:I|I['’]\w+|[Mm]y|[Ww]e|[Ww]e['’]\w+)\b")
_KEYED = anchored(r"(?P<key>[A-Za-z][A-Za-z -]{1,30}?) ?[:=] ?(?P<value>\S.*)$")
_KEYS: Mapping[str, str] = {
    "location": "home",
    "city": "home",
    "residence": "home",
    "lives in": "home",
    "works at": "employer",
    "works for": "employer",
    "job title": "title",
}
_WITHOUT_VERB: frozenset[Family] = frozenset({"diet", "relationship", "age"})
"""What may be said without "is": "Vegetarian", "No longer single", "42 years old"."""
USER = speaker_named(None)
_NO_NAMES: Mapping[str, Speaker] = {}


def canonical(
    content: str, named: Mapping[str, Speaker] = _NO_NAMES, *, is_own: bool = True
) -> tuple[str, Speaker | None]:
    """The statement in the words of extracted memories, and of whom it is; the text as it is and None if that is not clear.
    `named` are the people whose names are known, in lower case. `is_own`: "I" in it is the user."""
    text = " ".join(content.split())
    if len(text) > _LONGEST:
        return content, None
    if user := _THE_USER.match(text):
        return _sentence(f"{USER.subject}{text[user.end() :]}"), USER
    if _FIRST_PERSON.match(text):
        stated = facts(text, None) if is_own else []
        return (stated[0].content, USER) if len(stated) == 1 else (content, None)
    if (statement := _of_named(text, named)) is not None:
        return statement
    for statement in _candidates(text):
        if stated_values(statement, USER):
            return statement, USER
    return content, None


def _of_named(text: str, named: Mapping[str, Speaker]) -> tuple[str, Speaker] | None:
    folded = text.casefold()
    for name, speaker in named.items():
        rest = text[len(name) :]
        is_named = folded.startswith(name) and len(text) == len(folded)
        if is_named and rest.startswith((" ", "'s ", "’s ")):
            return _sentence(f"{speaker.subject}{rest}"), speaker
    return None


def _candidates(text: str) -> Iterable[str]:
    """Texts without a subject as sentences about the user. The first that states a value of a fact is meant."""
    if keyed := _KEYED.match(text):
        key = keyed["key"].lower()
        yield _sentence(f"{USER.whose} {_KEYS.get(key, key)} is {keyed['value']}")
        return
    first, _, rest = text.partition(" ")
    if not first.isalnum() or not (first[1:].islower() or first.isdecimal()):
        return
    bare = f"{first.lower()} {rest}".rstrip()
    without_verb = _sentence(f"{USER.subject} is {bare}")
    if any(value.family in _WITHOUT_VERB for value in stated_values(without_verb, USER)):
        yield without_verb
    yield _sentence(f"{USER.subject} {bare}")


def _sentence(text: str) -> str:
    return f"{text.rstrip(' .!').replace('’', chr(39))}."
