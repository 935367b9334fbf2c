"""Keeps answers short: clients drop long ones, and a model pays for each token.

Contexts count four characters as a token, which is right for English. Here the limit is of the client, and must hold in every
script: a character of Chinese or Japanese is a token.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from cloister.domain.prompts.outside_text import harmless
from cloister.domain.text import CHARACTERS_A_TOKEN

ANSWER_TOKENS = 2_000
LONGEST_EXCERPT = 640
# Characters of an answer that are not its items: the scope, the notice, and the names of its fields.
_FRAME = 1_000
_ELLIPSIS = "…"
_MOST_WORDS = 32
_SHORTEST_WORD = 4
# Quarters of a token that a character takes, up to this one: Latin; Greek, Cyrillic, Hebrew and Arabic; the scripts of Asia. Behind
# them are symbols such as emoji. An estimate, rounded up.
_QUARTERS = (("\u0250", 1), ("\u0900", 2), ("\U00010000", 4))
_MOST_QUARTERS = 8


def tokens_of(text: str) -> int:
    """An estimate of the tokens of a text, in any script."""
    return -(-sum(_quarters(text)) // CHARACTERS_A_TOKEN)


def cut_to(text: str, tokens: int) -> str:
    """The beginning of a text that has at most so many tokens."""
    if len(text) * _MOST_QUARTERS <= tokens * CHARACTERS_A_TOKEN:
        return text
    longest = text[: tokens * CHARACTERS_A_TOKEN]
    return longest[: bisect_right(list(accumulate(_quarters(longest))), tokens * CHARACTERS_A_TOKEN)]


def last_lines(lines: Sequence[str], tokens: int) -> list[str]:
    """As many of the last lines as have at most so many tokens once they are quoted, and at least the beginning of the last."""
    chosen: list[str] = []
    for line in reversed(lines):
        needed = tokens_of(f"- {harmless(line)}\n")
        if needed > tokens:
            return chosen[::-1] or [cut_to(harmless(line), tokens - 1)]
        tokens -= needed
        chosen.append(line)
    return chosen[::-1]


def _quarters(text: str) -> Iterable[int]:
    if text.isascii():
        return [1] * len(text)
    return [next((cost for before, cost in _QUARTERS if each < before), _MOST_QUARTERS) for each in text]


def fitting(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As many of the first items as an answer has room for, and at least one."""
    room = ANSWER_TOKENS - _FRAME // CHARACTERS_A_TOKEN
    chosen: list[Mapping[str, Any]] = []
    for item in items:
        room -= tokens_of(json.dumps(item, ensure_ascii=False) + ", ")
        if room < 0 and chosen:
            break
        chosen.append(item)
    return chosen


def excerpt(content: str, query: str) -> tuple[str, bool]:
    """A content as it fits into a list of results, and whether it was cut. The part that is shown contains a word of the query, if
    the content does."""
    if len(content) <= LONGEST_EXCERPT:
        return content, False
    lower = content.lower()
    words = [word for word in query.lower().split()[:_MOST_WORDS] if len(word) >= _SHORTEST_WORD]
    found = [at for word in words if (at := lower.find(word)) >= 0]
    start = max(0, min(found, default=0) - LONGEST_EXCERPT // 4)
    end = start + LONGEST_EXCERPT
    part = content[start:end]
    return f"{_ELLIPSIS if start else ''}{part}{_ELLIPSIS if end < len(content) else ''}", True


def title_of(content: str) -> str:
    """The first line of a content, cut to the length of a title."""
    line = content.strip().partition("\n")[0]
    return line if len(line) <= 80 else f"{line[:79]}{_ELLIPSIS}"


def part_of(text: str, offset: int) -> tuple[str, int | None]:
    """The part of a text from an offset that an answer has room for, and the offset of the next part."""
    longest = ANSWER_TOKENS * CHARACTERS_A_TOKEN - 2 * _FRAME
    part = cut_to(text[offset : offset + longest], longest // CHARACTERS_A_TOKEN)
    end = offset + len(part)
    return part, end if end < len(text) else None
