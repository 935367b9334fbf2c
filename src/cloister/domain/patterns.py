"""Regular expressions for untrusted text, such as messages, names, headers, queries and answers of models, are compiled here
(ISO-13).

A match must take linear time for any text: it holds the GIL, so that one message could stop the whole server. Python's engine
backtracks and does not guarantee this, so patterns keep these rules:

- An unbounded repetition is possessive (`*+`, `++`), unless what follows cannot match its characters.
- A pattern that is searched for does not begin with a repetition, which would be tried again at every character. It begins with a
  condition that holds only at the start of a run (`(?<!\\s)\\s++…`), or the repetition is bounded (`\\s{1,8}`).
- In a delimited pattern (`<…>`) the part between the delimiters excludes the opening one, or may end with the text (`(?:>|\\Z)`).

`tests/architecture/test_patterns.py` finds patterns compiled outside this module; `tests/unit/test_growth.py` runs each on hostile
texts.
"""

import re
from re import DOTALL, IGNORECASE, MULTILINE, VERBOSE, Match, Pattern
from typing import NamedTuple, Protocol

__all__ = [
    "DOTALL",
    "IGNORECASE",
    "MULTILINE",
    "VERBOSE",
    "Anchored",
    "Match",
    "Pattern",
    "anchored",
    "escaped",
    "linear",
    "made",
]


class Anchored(Protocol):
    """A pattern that is only matched at one position, because searching for it could take quadratic time."""

    def match(self, string: str, pos: int = ..., endpos: int = ...) -> Match[str] | None: ...

    def fullmatch(self, string: str, pos: int = ..., endpos: int = ...) -> Match[str] | None: ...


class Made(NamedTuple):
    """A compiled pattern; `searched` if it may be searched for anywhere in a text."""

    pattern: Pattern[str]
    searched: bool


_MADE: list[Made] = []


def linear(pattern: str, flags: int = 0) -> Pattern[str]:
    """Compile a pattern for any use. Call it at module level: each call registers the pattern for the tests."""
    return _made(pattern, flags, searched=True)


def anchored(pattern: str, flags: int = 0) -> Anchored:
    """Compile a pattern for `match` and `fullmatch` only; the type checker refuses other uses."""
    return _made(pattern, flags, searched=False)


def made() -> tuple[Made, ...]:
    """Every registered pattern of the modules that are loaded."""
    return tuple(_MADE)


def escaped(text: str) -> str:
    """A pattern that matches exactly this text."""
    return re.escape(text)


def _made(pattern: str, flags: int, *, searched: bool) -> Pattern[str]:
    compiled = re.compile(pattern, flags)
    _MADE.append(Made(compiled, searched))
    return compiled
