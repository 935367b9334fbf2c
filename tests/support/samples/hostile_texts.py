"""Texts that make patterns slow: made of what a pattern itself repeats and looks for, and of runs that are hostile to many.

A pattern is read with the parser of `re`: each repetition in it is fed what it repeats, behind what must stand before it and before
something that makes it fail; and each beginning of the pattern is repeated, so that a search starts again and again.
"""

import importlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

ops: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

LONG = 16
"""A repetition of this many and more is worth feeding."""
_MOST_BRANCHES = 6
_MOST_TEXTS = 120
_ENDINGS = ("\x00", " ", "")

UNITS = (
    "a", "A", "1", ".", "'", '"', "`", " ", "\t", "\n", "\u00a0", "\u2003", "\u3000", "<", ">", "[", "(", "{", "-",
    "_", ",", "é", "私", "\u0301", "\u0301\u0316", "\ufdfa", "a ", "A ", "1 ", "Ab ", "a-", "a'", "a.", "1.", "a, ", "< ", "</",
    "<a", "<a>", "</a", "[a", "I ", "I just ", "just ", "my ", "and I ", "please ", "you ", "in ", "of ", "'a ", "“", "“a",
    "‘", "```", "~~~", "    ", "> ", "\n ", "a\n", "<recalled-memory", "<recalled-memory ", "<recalled-memory>",
    "</recalled-memory>", "<think>", "{\"a\":", "[{", "2024-", "12 may ", "the ", "a@", "a@a.", "😀", "\u200b", "▁",
    " ▁", "  a",
)  # fmt: skip
"""Repeated for every pattern, whatever it looks for."""
HEADS = ("", "<", "I ", "my ", "a", '"', "you ")
"""What a long run may stand behind."""


def repeated(head: str, unit: str, ending: str, size: int) -> str:
    """Of exactly this size, so that ratios of sizes are exact."""
    room = size - len(head) - len(ending)
    return head + (unit * (room // len(unit) + 1))[:room] + ending


def attacks(pattern: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """Heads, units and endings against one pattern, made of its own parts."""
    found: dict[tuple[str, str, str], None] = {}
    tree: Any = parser.parse(pattern.pattern, pattern.flags)
    for head, unit in _pumps(list(tree), [""]):
        for ending in _ENDINGS:
            if unit:
                found[head, unit, ending] = None
    for letter in sorted(_literals(list(tree)))[:40]:
        found["", letter, "\x00"] = None
        found["", f"{letter} ", "\x00"] = None
    texts = list(found)
    step = max(1, len(texts) // _MOST_TEXTS)
    return texts[::step]


def _pumps(items: list[Any], heads: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of what stands before a repetition and what it repeats; and each beginning, to be repeated as a whole."""
    before = heads[:2]
    for at, item in enumerate(items):
        yield from _pumps_of(item, before)
        if at < len(items) - 1 or len(items) == 1:
            for sample in _samples([item])[:2]:
                for head in before[:1]:
                    yield "", head + sample
        before = [head + sample for head in before[:2] for sample in _samples([item])[:2]][:2] or before


def _pumps_of(item: Any, before: list[str]) -> Iterator[tuple[str, str]]:
    op, value = item
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        _, highest, inner = value
        if int(highest) >= LONG:
            for head in before:
                for sample in _samples(list(inner), 4):
                    yield head, sample
        yield from _pumps(list(inner), before)
    elif op is ops.SUBPATTERN:
        yield from _pumps(list(value[-1]), before)
    elif op is ops.ATOMIC_GROUP:
        yield from _pumps(list(value), before)
    elif op is ops.BRANCH:
        for branch in value[1]:
            yield from _pumps(list(branch), before)
    elif op in (ops.ASSERT, ops.ASSERT_NOT):
        yield from _pumps(list(value[1]), before)


def _samples(items: Iterable[Any], most: int = 2) -> list[str]:
    """A few texts that a sequence matches, but for what it asserts."""
    found = [""]
    for item in items:
        found = [text + sample for text in found for sample in _samples_of(item, most)][: most * 2]
    return list(dict.fromkeys(found))[:most]


def _samples_of(item: Any, most: int) -> list[str]:
    op, value = item
    if op is ops.LITERAL:
        return [chr(value)]
    if op is ops.NOT_LITERAL:
        return ["a" if value != ord("a") else "b"]
    if op is ops.ANY:
        return ["a", " "][:most]
    if op is ops.IN:
        return _class(value)[:most]
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        lowest, highest, inner = value
        times = max(int(lowest), min(1, int(highest)))
        return [sample * times for sample in _samples(list(inner), most)]
    if op is ops.SUBPATTERN:
        return _samples(list(value[-1]), most)
    if op is ops.ATOMIC_GROUP:
        return _samples(list(value), most)
    if op is ops.BRANCH:
        return [text for branch in value[1][:_MOST_BRANCHES] for text in _samples(list(branch), 1)][:most]
    return [""]


def _class(members: list[Any]) -> list[str]:
    """Characters of a class: letters, digits, spaces and marks where it has them."""
    negated = members[0][0] is ops.NEGATE
    inside = re.compile(_written(members), re.DOTALL)
    tried = "aA1 _.'-\"`<>[(\n\t\u3000é私\u0301"
    found = [letter for letter in tried if inside.fullmatch(letter)]
    if not found and not negated:
        found = [
            chr(value if op is ops.LITERAL else value[0]) for op, value in members if op in (ops.LITERAL, ops.RANGE)
        ]
    return found or ["a"]


_CATEGORIES = {
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D",
}  # fmt: skip


def _written(members: list[Any]) -> str:
    parts: list[str] = []
    for op, value in members:
        if op is ops.NEGATE:
            parts.append("^")
        elif op is ops.LITERAL:
            parts.append(re.escape(chr(value)))
        elif op is ops.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif op is ops.CATEGORY:
            parts.append(_CATEGORIES[str(value).rpartition(".")[2]])
    return f"[{''.join(parts)}]"


def _literals(items: Iterable[Any]) -> set[str]:
    found: set[str] = set()
    for op, value in items:
        if op in (ops.LITERAL, ops.NOT_LITERAL):
            found.add(chr(value))
        elif op is ops.IN:
            found.update(_class(value)[:6])
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            found |= _literals(list(value[2]))
        elif op is ops.SUBPATTERN:
            found |= _literals(list(value[-1]))
        elif op is ops.ATOMIC_GROUP:
            found |= _literals(list(value))
        elif op is ops.BRANCH:
            for branch in value[1]:
                found |= _literals(list(branch))
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            found |= _literals(list(value[1]))
    return found
