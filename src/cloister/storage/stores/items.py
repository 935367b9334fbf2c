"""Items of conversations in OpenAI's format that are not messages, and responses. Both belong to a session that the caller found
through `SessionStore`, and are deleted with the messages they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from cloister.domain.conversation import Message
from cloister.domain.identifiers import MessageId, PoolId, SessionId
from cloister.domain.prompts.recalled_text import NO_POOL
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import shown_message, span

Position = tuple[MessageId, int]
"""The order of items: the message that an item follows, and its number after that message; 0 is the message itself."""


class ItemRow(NamedTuple):
    """A stored item as JSON text. At position 0 it is a message's item without the message's text."""

    message: MessageId
    position: int
    id: int
    response: int | None
    pool: PoolId
    item: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ResponseRow:
    """A response of OpenAI's interface, as JSON text. `session` is the outside id of its session."""

    session: str
    question: MessageId
    reply: MessageId | None
    owns_messages: bool
    body: str


class ItemStore:
    """The items of one session. Items that are not messages are found only in the pool in which they were made (ISO-12)."""

    def __init__(self, transaction: Transaction, session: SessionId, pool: PoolId) -> None:
        self._transaction = transaction
        self._session = session
        self._pool = pool
        self._first, self._last = span(session)

    def add(self, rows: Sequence[ItemRow]) -> None:
        self._transaction.execute_each(
            "insert_item",
            [
                {
                    "session_id": self._session,
                    "message_id": row.message,
                    "position": row.position,
                    "item_id": row.id,
                    "response_id": row.response,
                    "recalled_pool_id": row.pool,
                    "item": row.item,
                }
                for row in rows
            ],
        )

    def end(self, before: MessageId | None = None) -> Position:
        """The position of the last item of the current branch, of all or of those before a message: of a message, or of an item
        that follows it."""
        last = self._last if before is None else before - 1
        row = self._transaction.row("last_current_message", first=self._first, last=last)
        message = MessageId(self._first if row is None or row[0] is None else cast(int, row[0]))
        found = self._transaction.row("last_position", message_id=message)
        return message, 0 if found is None or found[0] is None else cast(int, found[0])

    def after(self, position: Position, limit: int) -> list[ItemRow]:
        """Items that are not messages after a position, in order."""
        rows = self._transaction.rows(
            "items_after",
            message_id=max(position[0], self._first),
            position=position[1],
            last=self._last,
            pool_id=self._pool,
            limit=limit,
        )
        return [_item(row) for row in rows]

    def before(self, position: Position, limit: int) -> list[ItemRow]:
        """Items that are not messages before a position, last first."""
        rows = self._transaction.rows(
            "items_before",
            first=self._first,
            message_id=min(position[0], self._last),
            position=position[1],
            pool_id=self._pool,
            limit=limit,
        )
        return [_item(row) for row in rows]

    def frames(self, messages: Sequence[MessageId]) -> dict[MessageId, ItemRow]:
        """What the items of these messages have besides their text, if they have more."""
        rows = self._transaction.rows("message_frames", message_ids=integers(messages)) if messages else ()
        return {row.message: row for row in map(_item, rows)}

    def find(self, item: int) -> ItemRow | None:
        """The item with this id; None if it is of another session or branch, or was made in another pool."""
        row = self._transaction.row("item_by_id", session_id=self._session, item_id=item, all_branches=0)
        found = None if row is None else _item(row)
        return found if found is None or found.position == 0 or found.pool == self._pool else None

    def messages_after(self, after: MessageId, limit: int) -> list[Message]:
        """A page of messages of the current branch, in order. Replies that failed are left out: their words are not the model's."""
        rows = self._transaction.rows("messages_after", after=max(after, self._first), last=self._last, limit=limit)
        return [shown_message(row, self._pool) for row in rows]

    def messages_before(self, before: MessageId, limit: int) -> list[Message]:
        """The same, last first."""
        rows = self._transaction.rows("messages_before", first=self._first, before=before, limit=limit)
        return [shown_message(row, self._pool) for row in rows]

    def remove(self, position: Position) -> int:
        """Remove one item that is not a message."""
        return self._transaction.execute(
            "delete_item", session_id=self._session, message_id=position[0], position=position[1]
        )

    def remove_by_id(self, item: int) -> None:
        """Remove the item with this id, in whichever pool it was made, unless it is a message or of another session."""
        row = self._transaction.row("item_by_id", session_id=self._session, item_id=item, all_branches=1)
        found = None if row is None else _item(row)
        if found is not None and found.position:
            self.remove((found.message, found.position))


class ResponseStore:
    """The tenant's responses, those of sessions outside the caller's reach excepted."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, response: int, session: SessionId, row: ResponseRow) -> None:
        self._transaction.execute(
            "insert_response",
            session_id=session,
            response_id=response,
            question_id=row.question,
            reply_id=row.reply,
            owns_messages=int(row.owns_messages),
            body=row.body,
        )

    def find(self, response: int) -> ResponseRow | None:
        row = self._transaction.row("response", response_id=response)
        if row is None:
            return None
        session, question, reply, owns, body = cast(tuple[str, int, int | None, int, str], row)
        return ResponseRow(
            session=session,
            question=MessageId(question),
            reply=None if reply is None else MessageId(reply),
            owns_messages=bool(owns),
            body=body,
        )

    def remove(self, session: SessionId, response: int) -> int:
        return self._transaction.execute("delete_response", session_id=session, response_id=response)


def detach_items_from_pool(transaction: Transaction, pool: PoolId) -> None:
    """Hide the items that were made in this pool, in all sessions, because the pool's project changed its visibility."""
    transaction.execute("detach_items_from_pool", pool_id=pool, no_pool=NO_POOL)


def _item(row: Row) -> ItemRow:
    return ItemRow(*cast(tuple[MessageId, int, int, int | None, PoolId, str], row))
