"""The list of a chat in LlamaIndex's chat store, as the entry of the chat has it."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Line(NamedTuple):
    """A message in the list of its chat: the key of its entry, its number, and its status."""

    id: str
    number: int
    status: str


def read_lines(value: Any) -> list[Line]:
    return [Line(*line) for line in value["lines"]]


def read_numbered(value: Any) -> tuple[int, list[Line]]:
    """The number of the next message, and the messages."""
    return int(value["next"]), read_lines(value)


def with_status(lines: list[Line], status: str | None) -> list[Line]:
    return [line for line in lines if status is None or line.status == status]


def without(lines: list[Line], others: Sequence[Line]) -> list[Line]:
    ids = {line.id for line in others}
    return [line for line in lines if line.id not in ids]
