"""The text of a message as it is embedded: its date and speaker, then its content.

Not the stored message (`conversation.py`), and not what a context shows.
"""

from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAY = 86_400_000_000
_FIRST_DAY = date(1970, 1, 1)
_ROLE_WORDS = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot"})


class Passage(NamedTuple):
    """The text for an embedder, in two parts, so that the tokens of the content can be counted."""

    prefix: str
    content: str

    @property
    def text(self) -> str:
        return f"{self.prefix} {self.content}" if self.prefix else self.content


def passage(content: str, author: str | None, created_at: int) -> Passage:
    """The passage of a message, `[8 May 2023] Name: content`; a name that only repeats the role is left out."""
    name = speaker_name(author)
    day = f"[{date_phrase(created_at)}]"
    return Passage(prefix=f"{day} {name}:" if name else day, content=content)


def speaker_name(author: str | None) -> str | None:
    """The author's name; None if it is blank or only a role, such as "user"."""
    name = author.strip() if author else ""
    return name if name and name.lower() not in _ROLE_WORDS else None


def date_phrase(created_at: int) -> str:
    """The UTC day of a time in microseconds since the epoch, as people write it: `8 May 2023`."""
    return _day_phrase(created_at // _DAY)


@lru_cache(maxsize=4_096)
def _day_phrase(day: int) -> str:
    found = _FIRST_DAY + timedelta(days=day)
    return f"{found.day} {MONTHS[found.month - 1]} {found.year}"
