"""Where every pattern that meets outside text is made: messages, names, headers, queries, answers of models (ISO-13).

The time of a match must grow with the length of the text and no faster, for any text: a match holds the GIL, so that one message
could stop the whole server. Python's engine does not promise it, so whoever writes a pattern does, by these rules:

- A repetition without a bound is possessive (`*+`, `++`), unless what follows it cannot be part of it.
- A pattern that is searched for does not begin with a repetition: that would be tried again from every character. It begins with
  what can stand only at the start of a run (`(?<!\\s)\\s++…`), or the repetition has a bound (`\\s{1,8}`).
- Where a pattern looks ahead for its end (`<…>`), the stretch between excludes its beginning, or ends with the text (`(?:>|\\Z)`).

`tests/architecture/test_patterns.py` finds patterns that are made elsewhere; `tests/unit/test_growth.py` feeds each hostile texts.
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
    """A pattern that is only matched at one position. Searching for it could take time that grows with the square of the text."""

    def match(self, string: str, pos: int = ..., endpos: int = ...) -> Match[str] | None: ...

    def fullmatch(self, string: str, pos: int = ..., endpos: int = ...) -> Match[str] | None: ...


class Made(NamedTuple):
    """A pattern as it was made; `searched` where it may be looked for anywhere in a text."""

    pattern: Pattern[str]
    searched: bool


_MADE: list[Made] = []


def linear(pattern: str, flags: int = 0) -> Pattern[str]:
    """A pattern for any use. Call it where a module is loaded: each call adds to what the tests go through."""
    return _made(pattern, flags, searched=True)


def anchored(pattern: str, flags: int = 0) -> Anchored:
    """A pattern for `match` and `fullmatch` alone; type checks refuse other uses."""
    return _made(pattern, flags, searched=False)


def made() -> tuple[Made, ...]:
    """Every pattern of the modules that were loaded so far."""
    return tuple(_MADE)


def escaped(text: str) -> str:
    """A pattern that matches exactly this text."""
    return re.escape(text)


def _made(pattern: str, flags: int, *, searched: bool) -> Pattern[str]:
    compiled = re.compile(pattern, flags)
    _MADE.append(Made(compiled, searched))
    return compiled
