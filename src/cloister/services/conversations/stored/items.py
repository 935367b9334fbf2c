"""Items of a session as they are stored: found by their ids, and listed in their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.domain.conversation import Message, Session
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId
from cloister.services.conversations.item_format import decoded, format_item_id, item_of, item_type, parse_item_id
from cloister.storage.interface import Transaction
from cloister.storage.stores.items import ItemRow, ItemStore, Position
from cloister.storage.stores.messages import span

_PAGE = 20
_LARGEST_HISTORY = 2_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredItem:
    """An item, its id and its position. `item` is as it came, without an id. `message` is the message that it is, if it is one; it
    is left out of the answer to a repeated request."""

    id: str
    position: Position
    item: dict[str, Any]
    message: Message | None = None
    response: int | None = None
    size: int = 0
    """The number of characters that it takes in storage."""


def newest_items(transaction: Transaction, session: Session, most: int) -> list[StoredItem]:
    """The last items of a session, last first: at most so many, and no more once they are large together."""
    found: list[StoredItem] = []
    size = 0
    while len(found) < most and size < _LARGEST_HISTORY:
        start = found[-1].position if found else None
        page = items_before(transaction, session, start, min(_PAGE, most - len(found)))
        found += page
        size += sum(item.size for item in page)
        if len(page) < _PAGE:
            break
    return found


def items_after(transaction: Transaction, session: Session, start: Position | None, limit: int) -> list[StoredItem]:
    """Items after a position, in order. Replies that failed are no items."""
    start = start or (MessageId(span(session.id)[0]), 0)
    store = ItemStore(transaction, session.id, session.pool)
    messages = store.messages_after(start[0], limit)
    others = store.after(start, limit)
    return _merged(store, messages, others)[:limit]


def items_before(transaction: Transaction, session: Session, start: Position | None, limit: int) -> list[StoredItem]:
    """Items before a position, last first."""
    end = MessageId(span(session.id)[1] + 1)
    start = (end, 0) if start is None or start[0] > end else start
    store = ItemStore(transaction, session.id, session.pool)
    messages = store.messages_before(MessageId(start[0] + (1 if start[1] else 0)), limit)
    others = store.before(start, limit)
    return _merged(store, messages, others)[::-1][:limit]


def find_item(transaction: Transaction, session: Session, given: str) -> StoredItem:
    """The item of a session with this id. Raises `NotFound`."""
    number = parse_item_id(given)
    if number is None:
        raise NotFound("item", given)
    store = ItemStore(transaction, session.id, session.pool)
    row = store.find(number)
    if row is not None and row.position:
        return _other(row)
    identity = MessageId(number if row is None else row.message)
    first, last = span(session.id)
    found = store.messages_before(MessageId(identity + 1), 1) if first < identity <= last else []
    if not found or found[0].id != identity:
        raise NotFound("item", given)
    return _merged(store, found, ())[0]


def _merged(store: ItemStore, messages: Sequence[Message], others: Sequence[ItemRow]) -> list[StoredItem]:
    """Messages and other items in order."""
    frames = store.frames([message.id for message in messages])
    items = [_message(message, frames.get(message.id)) for message in messages]
    items += map(_other, others)
    return sorted(items, key=lambda item: item.position)


def _message(message: Message, row: ItemRow | None) -> StoredItem:
    frame = row.item if row is not None and row.item else None
    return StoredItem(
        id=format_item_id("message", message.id if row is None else row.id),
        position=(message.id, 0),
        item=item_of(message, frame),
        message=message,
        response=None if row is None else row.response,
        size=len(message.content) + (0 if row is None else len(row.item)),
    )


def _other(row: ItemRow) -> StoredItem:
    item = decoded(row.item)
    return StoredItem(
        id=format_item_id(item_type(item), row.id),
        position=(row.message, row.position),
        item=item,
        response=row.response,
        size=len(row.item),
    )
