"""How the rules' tables are written: one regular expression a line, continued by indented lines, with names in angle brackets.

`<PET>` stands for the fragment of that name. Groups are written with plain parentheses; nothing reads what they captured.
"""

from collections.abc import Mapping

from cloister.domain.patterns import IGNORECASE, Anchored, Pattern, anchored, linear

_NAME = linear(r"<([A-Z_]+)>")


def entries(table: str, fragments: Mapping[str, str] | None = None) -> list[str]:
    """The expressions of a table, their fragments filled in where they are given; a fragment may name others."""
    found: list[str] = []
    for line in table.strip("\n").split("\n"):
        if line.startswith(" "):
            found[-1] += line.strip()
        else:
            found.append(line)
    return [_filled(entry, fragments) for entry in found] if fragments else found


def alternatives(table: str) -> str:
    return f"(?:{'|'.join(entries(table))})"


def anywhere(table: str) -> Pattern[str]:
    """Finds any entry of the table as whole words, in any case."""
    return linear(rf"\b{alternatives(table)}\b", IGNORECASE)


def opening(table: str, lead: str = "", then: str = "") -> Anchored:
    """Matches any entry of the table at the start, in any case, after any of the lead words and before `then`."""
    leads = rf"(?:(?:{lead}) )*" if lead else ""
    return anchored(rf"{leads}{alternatives(table)}\b{then}", IGNORECASE)


def words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def word_list(listed: str) -> str:
    """Alternatives from running text, the longest first; a "_" stands for a space inside one."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in sorted(listed.split(), key=len, reverse=True))})"


def _filled(entry: str, fragments: Mapping[str, str]) -> str:
    while _NAME.search(entry):
        entry = _NAME.sub(lambda name: fragments[name.group(1)], entry)
    return entry
