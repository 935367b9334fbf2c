"""Windows of a conversation: the page after a message, before it, or around it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from cloister.domain.conversation import Message
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId, parse_message_id

END = "end"
"""Before which all messages of a session are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageRange:
    """Which messages of a session are asked for: those after, before or around a message. After None is from the beginning, before
    None up to the end. `is_named` says that the caller named the message, which then has to exist; a cursor may be of one that was
    deleted since."""

    direction: Literal["after", "before", "around"] = "after"
    message: MessageId | None = None
    is_named: bool = False


def range_of(after: str | None, before: str | None, around: str | None) -> MessageRange:
    """The range that a caller names, with at most one of these."""
    given = [name for name, value in (("after", after), ("before", before), ("around", around)) if value is not None]
    if len(given) > 1:
        raise InvalidRequest(given[1], f"cannot be combined with {given[0]}: give one of them.")
    if around is not None:
        return MessageRange(direction="around", message=parse_message_id(around), is_named=True)
    if before is not None:
        if before == END:
            return MessageRange(direction="before")
        return MessageRange(direction="before", message=parse_message_id(before), is_named=True)
    return MessageRange(message=None if after is None else parse_message_id(after))


class Window(NamedTuple):
    """A page of messages in chronological order, and whether there are others before and after it."""

    messages: Sequence[Message]
    has_earlier: bool
    has_later: bool


def halves(earlier: int, later: int, limit: int) -> tuple[int, int]:
    """How many of the earlier and of the later items a window of so many items shows: half of each, and more of one kind where
    there are too few of the other."""
    before = min(earlier, limit // 2)
    after = min(later, limit - before)
    return min(earlier, limit - after), after
