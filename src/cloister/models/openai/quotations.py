"""Statements as a model is shown them: numbered quotations between marks that their content cannot write.

What was said is data. It is made harmless as all outside text is that a prompt quotes: every angle bracket in it is replaced, so
that neither our marks nor the control words of a model (`<|im_start|>`, `</s>`) can stand there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import normalised
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.timestamps import as_datetime

CUT = " […]"
_BYTES_PER_TOKEN = 4
_TAG_TOKENS = 48  # of the tags around a quotation, with number, speaker and day
_LONGEST_SPEAKER = 48
_FROM_MARKS = str.maketrans("‹›", "<>")


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotation:
    """A statement that can no longer leave its place. `speaker` is a role, or a role and a name."""

    id: MessageId
    speaker: str
    day: str
    text: str


def quotation(statement: Statement) -> Quotation:
    speaker = statement.role if statement.author is None else f"{statement.role}, {statement.author}"
    return Quotation(
        id=statement.id,
        speaker=harmless(normalised(speaker)).replace('"', "'")[:_LONGEST_SPEAKER],
        day=f"{as_datetime(statement.created_at):%A %Y-%m-%d}",
        text=harmless(statement.content).strip(),
    )


def shown(quotations: Sequence[Quotation], known: Sequence[str] = (), of_user: Sequence[str] = ()) -> str:
    """Quotations numbered from one, and what is remembered already: of this conversation, and of the user's others."""
    block: list[str] = []
    for number, quoted in enumerate(quotations, 1):
        block += [
            f'<statement number="{number}" speaker="{quoted.speaker}" said="{quoted.day}">',
            quoted.text,
            "</statement>",
        ]
    for mark, lines in (("known", known), ("from-other-conversations", of_user)):
        if lines:
            block += [f"<{mark}>", *(f"- {line}" for line in lines), f"</{mark}>"]
    return "\n".join(block)


def as_written(text: str) -> str:
    """What a model repeats of a quotation, with the brackets that were replaced in it."""
    return text.translate(_FROM_MARKS)


def tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def parts(quotations: Iterable[Quotation], budget: int) -> Iterator[list[Quotation]]:
    """Runs of quotations, in order, of at most `budget` tokens each. One that is longer alone is cut, and says so."""
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
    room = limit * _BYTES_PER_TOKEN - len(CUT.encode())
    return text.encode()[: max(room, 0)].decode(errors="ignore") + CUT
