"""A value that a memory states of a fact with one value at a time, and its words for comparison."""

from dataclasses import dataclass
from typing import Literal

from cloister.domain.patterns import linear

Family = Literal["home", "employer", "role", "relationship", "age", "diet", "attribute", "liking", "habit"]

_WORD = linear(r"[^\W_]++(?:['’&-][^\W_]++)*+")
_LONGEST_SUBJECT = 120
_EMPTY_WORDS = frozenset({"a", "an", "the", "my", "our", "their", "any", "of", "and"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Stated:
    """`subject` is the key of the fact, `words` its value. `positive` is false if the memory says that the value ended or is wrong;
    without words, any value ended. `marked`: it says that this is a change. `exact`: the value is a name or a title, and not a
    description. `dated`: it happened long ago. `former`: the value that it took the place of, if it names it."""

    family: Family
    subject: str
    words: tuple[str, ...]
    positive: bool = True
    marked: bool = False
    exact: bool = True
    dated: bool = False
    former: tuple[str, ...] = ()


def value_words(text: str) -> tuple[str, ...]:
    """The words of a value, without articles and case."""
    found = (match.group().casefold() for match in _WORD.finditer(text))
    return tuple(word for word in found if word not in _EMPTY_WORDS)


def overlap(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether one value has all words of the other: "Naples" and "Naples, Italy" may be the same."""
    return bool(first and second) and (set(first) <= set(second) or set(second) <= set(first))


def subject_key(*parts: str) -> str:
    return ":".join(parts)[:_LONGEST_SUBJECT]


def ended(family: Literal["home", "employer", "role"], words: tuple[str, ...]) -> Stated:
    """That a value ended; without words, that any value did."""
    return Stated(family=family, subject=family, words=words, positive=False, marked=True)
