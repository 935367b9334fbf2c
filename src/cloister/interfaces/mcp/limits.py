"""Keeps answers short: clients drop long ones, and a model pays for each token."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cloister.domain.text import CHARACTERS_A_TOKEN

ANSWER_TOKENS = 2_000
LONGEST_EXCERPT = 640
# Characters of an answer that are not its items: the scope, the notice, and the names of its fields.
_FRAME = 1_000
_ELLIPSIS = "…"
_MOST_WORDS = 32
_SHORTEST_WORD = 4


def fitting(items: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """As many of the first items as an answer has room for, and at least one."""
    room = ANSWER_TOKENS * CHARACTERS_A_TOKEN - _FRAME
    chosen: list[Mapping[str, Any]] = []
    for item in items:
        room -= len(json.dumps(item, ensure_ascii=False)) + 2
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
    end = offset + ANSWER_TOKENS * CHARACTERS_A_TOKEN - 2 * _FRAME
    return text[offset:end], end if end < len(text) else None
