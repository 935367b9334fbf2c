"""Quotations in parts that each fit what a model can read at once.

Tokens are estimated, not counted: every model counts otherwise. Four bytes of UTF-8 are taken for one, which is four characters
of English, two of Cyrillic, and little more than one of Chinese.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cloister.models.openai.quotations import CUT, Quotation

_BYTES_A_TOKEN = 4
_MARKS = 48  # what the marks around a quotation take, with number, speaker and day


def tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_A_TOKEN)


def parts(quotations: Iterable[Quotation], budget: int) -> Iterator[list[Quotation]]:
    """Runs of quotations, in order, of at most `budget` tokens each. One that is longer alone is cut, and says so."""
    part: list[Quotation] = []
    left = budget
    for quoted in quotations:
        fitting = replace(quoted, text=cut(quoted.text, budget - _MARKS))
        cost = tokens(fitting.text) + _MARKS
        if part and cost > left:
            yield part
            part, left = [], budget
        part.append(fitting)
        left -= cost
    if part:
        yield part


def first_fitting(lines: Sequence[str], budget: int) -> list[str]:
    """Lines from the beginning, as many as fit."""
    kept: list[str] = []
    for line in lines:
        budget -= tokens(line) + 1
        if budget < 0:
            break
        kept.append(line)
    return kept


def cut(text: str, limit: int) -> str:
    if tokens(text) <= limit:
        return text
    room = limit * _BYTES_A_TOKEN - len(CUT.encode())
    return text.encode()[: max(room, 0)].decode(errors="ignore") + CUT
