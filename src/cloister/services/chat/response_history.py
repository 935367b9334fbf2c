"""The items of a session that a model is shown with a response of OpenAI's interface, before those of its request. Instructions
among them (messages with the role system or developer) are shown also where the messages around them are not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cloister.domain.conversation import Message, Session
from cloister.domain.identifiers import MessageId
from cloister.services.conversations.item_format import NewItem, encoded, is_instruction, parse_item_id
from cloister.services.conversations.stored.items import StoredItem, items_after, newest_items
from cloister.storage.interface import Transaction
from cloister.storage.stores.messages import span

MOST_HISTORY = 400
"""The maximum number of items of a session that a model is shown, without the instructions before its first message."""
_MOST_OPENING = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainEnd:
    """Where the history of a request ends that goes on after a response: its last message, and the ids of its own items."""

    message: MessageId
    items: frozenset[int]


def history_of(transaction: Transaction, session: Session) -> list[StoredItem]:
    """The last items of a session, in order, after the instructions before its first message, of which there are some always."""
    newest = newest_items(transaction, session, MOST_HISTORY)[::-1]
    shown = {item.position for item in newest}
    first = span(session.id)[0]
    opening = [
        item
        for item in items_after(transaction, session, None, _MOST_OPENING)
        if item.position[0] == first and item.position not in shown and is_instruction(item.item)
    ]
    return [*opening, *newest]


def up_to(history: Iterable[StoredItem], end: ChainEnd | None) -> list[StoredItem]:
    """The items up to the end of a response. Instructions that follow its last message are those of another request that goes on
    after it, unless they are its own."""
    if end is None:
        return list(history)
    return [
        item
        for item in history
        if item.position[0] < end.message
        or (item.position[0] == end.message and (not is_instruction(item.item) or parse_item_id(item.id) in end.items))
    ]


def sent_before(history: Sequence[StoredItem], *, since_last_reply: bool) -> dict[str, StoredItem]:
    """The stored instructions that a client may have sent again, by their JSON text."""
    replies = (item.position[0] for item in history if item.message is not None and item.message.role == "assistant")
    start = max(replies, default=MessageId(0)) if since_last_reply else MessageId(0)
    return {encoded(item.item): item for item in history if item.position[0] >= start and is_instruction(item.item)}


def new_instructions(
    items: Sequence[NewItem], appended: Mapping[int, Message], session: Session, *, is_empty: bool
) -> set[int]:
    """The positions of the instructions in a client's whole history that are new, besides those after its first new message: those
    between that message and the one before it. In the first request of a session all are new; `is_empty` without that, in a session
    that was cleared, those since the last reply."""
    if not appended:
        return set()
    first = min(appended)
    is_first = is_empty and appended[first].id == span(session.id)[0] + 1
    roles = ("assistant",) if is_empty else ("user", "assistant")
    known = (index for index in range(first) if (draft := items[index].draft) is not None and draft.role in roles)
    start = -1 if is_first else max(known, default=-1 if is_empty else first)
    return {index for index in range(start + 1, first) if is_instruction(items[index].item)}
