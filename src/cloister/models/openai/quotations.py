"""Statements quoted in a prompt: numbered, between tags that their text cannot contain, and split to fit the model's context.

Statements are data. Like all untrusted text in prompts they are escaped: every angle bracket is replaced, so that they contain
neither our tags nor the control tokens of a model (`<|im_start|>`, `</s>`).

Tokens are estimated, as every model counts them differently: four bytes of UTF-8 are one token, which is four characters of
English, two of Cyrillic, and little more than one of Chinese.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MemoryId, MessageId
from cloister.domain.memory import normalised
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.timestamps import as_datetime

CUT = " […]"
_BYTES_PER_TOKEN = 4
_TAG_TOKENS = 48  # of the tags around a quotation, with number, speaker and day
_NUMBER_TOKENS = 3  # of the number and the end of a line
_LONGEST_SPEAKER = 48
_RESTORED_BRACKETS = str.maketrans("‹›", "<>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotation:
    """An escaped statement. `speaker` is a role, or a role and a name."""

    id: MessageId
    speaker: str
    day: str
    text: str
    is_by_user: bool


class KnownLine(NamedTuple):
    """An escaped memory that a model is shown. It names the memory by the number of its line, which is shorter than the id."""

    id: MemoryId
    text: str


def quotation(statement: Statement) -> Quotation:
    speaker = statement.role if statement.author is None else f"{statement.role}, {statement.author}"
    return Quotation(
        id=statement.id,
        speaker=harmless(normalised(speaker)).replace('"', "'")[:_LONGEST_SPEAKER],
        day=f"{as_datetime(statement.created_at):%A %Y-%m-%d}",
        text=harmless(statement.content).strip(),
        is_by_user=statement.role == "user",
    )


def shown(quotations: Sequence[Quotation], known: Sequence[KnownLine] = (), of_user: Sequence[KnownLine] = ()) -> str:
    """Format quotations, numbered from one, and what is already remembered of this and of the user's other conversations, numbered
    from one together."""
    block: list[str] = []
    for number, quoted in enumerate(quotations, 1):
        block += [
            f'<statement number="{number}" speaker="{quoted.speaker}" said="{quoted.day}">',
            quoted.text,
            "</statement>",
        ]
    for tag, lines, first in (("known", known, 1), ("from-other-conversations", of_user, 1 + len(known))):
        if lines:
            block += [f"<{tag}>", *(f"{number}. {line.text}" for number, line in enumerate(lines, first)), f"</{tag}>"]
    return "\n".join(block)


def restore_brackets(text: str) -> str:
    """Undo the replacement of brackets in text that a model repeats from a quotation."""
    return text.translate(_RESTORED_BRACKETS)


def tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def parts(quotations: Iterable[Quotation], budget: int) -> Iterator[list[Quotation]]:
    """Split quotations, in order, into parts of at most `budget` tokens. A longer quotation is cut, with a mark at its end."""
    part: list[Quotation] = []
    left = budget
    for quoted in quotations:
        fitting = replace(quoted, text=cut(quoted.text, budget - _TAG_TOKENS))
        cost = tokens(fitting.text) + _TAG_TOKENS
        if part and cost > left:
            yield part
            part, left = [], budget
        part.append(fitting)
        left -= cost
    if part:
        yield part


def known_tokens(line: KnownLine) -> int:
    return tokens(line.text) + _NUMBER_TOKENS


def first_fitting(lines: Sequence[KnownLine], budget: int) -> list[KnownLine]:
    """The first lines that fit into `budget` tokens together."""
    kept: list[KnownLine] = []
    for line in lines:
        budget -= known_tokens(line)
        if budget < 0:
            break
        kept.append(line)
    return kept


def cut(text: str, limit: int) -> str:
    if tokens(text) <= limit:
        return text
    room = limit * _BYTES_PER_TOKEN - len(CUT.encode())
    return text.encode()[: max(room, 0)].decode(errors="ignore") + CUT
