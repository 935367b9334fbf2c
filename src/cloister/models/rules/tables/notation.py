"""The format of the rules' tables: one regular expression a line, continued by indented lines, with fragments by name.

`<PET>` is replaced with the fragment of that name. Groups are plain parentheses; their captures are not used.
"""

from collections.abc import Mapping

from cloister.domain.patterns import IGNORECASE, Anchored, Pattern, anchored, linear

_NAME = linear(r"<([A-Z_]+)>")


def entries(table: str, fragments: Mapping[str, str] | None = None) -> list[str]:
    """The expressions of a table, with fragments inserted if given; a fragment may contain others."""
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
    """A pattern that finds any entry of the table as whole words, ignoring case."""
    return linear(rf"\b{alternatives(table)}\b", IGNORECASE)


def opening(table: str, lead: str = "", then: str = "") -> Anchored:
    """A pattern that matches any entry at the start, ignoring case, after any number of lead words and before `then`."""
    leads = rf"(?:(?:{lead}) )*" if lead else ""
    return anchored(rf"{leads}{alternatives(table)}\b{then}", IGNORECASE)


def words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def word_list(listed: str) -> str:
    """The listed words as alternatives, the longest first; "_" in a word is a space."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in sorted(listed.split(), key=len, reverse=True))})"


def _filled(entry: str, fragments: Mapping[str, str]) -> str:
    while _NAME.search(entry):
        entry = _NAME.sub(lambda name: fragments[name.group(1)], entry)
    return entry
