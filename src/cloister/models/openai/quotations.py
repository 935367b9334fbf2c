"""Statements as a model is shown them: numbered quotations between marks that their content cannot write.

What was said is data. It is made harmless as all outside text is that a prompt quotes: every angle bracket in it is replaced, so
that neither our marks nor the control words of a model (`<|im_start|>`, `</s>`) can stand there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import normalised
from cloister.domain.prompts.outside_text import harmless
from cloister.domain.timestamps import as_datetime

CUT = " […]"
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
