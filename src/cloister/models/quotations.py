"""Statements as a model is shown them: numbered quotations between marks that their content cannot write.

What was said is data. Every angle bracket in it is replaced, so that neither our marks nor the control words of a model
(`<|im_start|>`, `</s>`) can stand there; some servers would take those for the end of the message.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.memory import normalised
from cloister.domain.moments import as_datetime
from cloister.domain.patterns import linear

CUT = " […]"
_LONGEST_SPEAKER = 48
_TO_MARKS = str.maketrans("<>", "‹›")
_FROM_MARKS = str.maketrans("‹›", "<>")
_CONTROL_WORD = linear(r"\[(/?[A-Z][A-Z_]+)\]")
_KEPT_CONTROL = "\n\t"


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


def shown(quotations: Sequence[Quotation], known: Sequence[str] = ()) -> str:
    """Quotations numbered from one, and what is remembered already."""
    block: list[str] = []
    for number, quoted in enumerate(quotations, 1):
        block += [
            f'<statement number="{number}" speaker="{quoted.speaker}" said="{quoted.day}">',
            quoted.text,
            "</statement>",
        ]
    if known:
        block += ["<known>", *(f"- {line}" for line in known), "</known>"]
    return "\n".join(block)


def harmless(text: str) -> str:
    """The text without anything that could be read as one of our marks, or as a control word of a model."""
    printable = "".join(c for c in text if c in _KEPT_CONTROL or unicodedata.category(c) not in ("Cc", "Cs"))
    return _CONTROL_WORD.sub(r"(\1)", printable.translate(_TO_MARKS))


def as_written(text: str) -> str:
    """What a model repeats of a quotation, with the brackets that were replaced in it."""
    return text.translate(_FROM_MARKS)
