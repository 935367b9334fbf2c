"""Where every pattern that meets outside text is made: messages, names, headers, queries, answers of models (ISO-13).

The time of a match must grow with the length of the text and no faster, for any text: a match holds the GIL, so that one message
could stop the whole server. Python's engine does not promise it, so whoever writes a pattern does, by these rules:

- A repetition without a bound is possessive (`*+`, `++`) unless what follows it cannot be part of it.
- A pattern that is searched for does not begin with a repetition: it would be tried again from every character. It begins with
  what may stand only once in a run (`(?<!\\s)\\s++…`), or the repetition has a bound (`\\s{1,8}`).
- Where a pattern looks ahead for its end (`<…>`), the stretch between excludes its beginning, or ends with the text (`(?:>|\\Z)`).

`tests/architecture/test_patterns.py` finds patterns that are made elsewhere; `tests/unit/test_growth.py` feeds each hostile texts.
"""

import re
from re import DOTALL, IGNORECASE, MULTILINE, VERBOSE, Match, Pattern

__all__ = ["DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE", "Match", "Pattern", "escaped", "linear", "made"]

_MADE: list[Pattern[str]] = []


def linear(pattern: str, flags: int = 0) -> Pattern[str]:
    """The compiled pattern. Call it where a module is loaded, with a constant: each call adds to what the tests go through."""
    compiled = re.compile(pattern, flags)
    _MADE.append(compiled)
    return compiled


def made() -> tuple[Pattern[str], ...]:
    """Every pattern of the modules that were loaded so far."""
    return tuple(_MADE)


def escaped(text: str) -> str:
    """A pattern that matches exactly this text."""
    return re.escape(text)
