"""Responses of OpenAI's interface: what is stored of them with a turn, and how they are found again. A response belongs to its
session; its text is in the messages of that session alone."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.conversation import Message, Session
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId
from cloister.domain.reply import ToolKind
from cloister.domain.scope import Reach
from cloister.domain.sessions.request_echo import shown_body
from cloister.services.chat.reply_buffer import FinishedReply, ToolCall
from cloister.services.chat.response_history import ChainEnd, history_of, new_instructions, sent_before, up_to
from cloister.services.chat.turns import Turn
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.item_format import (
    CALL_TYPES,
    NewItem,
    call_of,
    encoded,
    format_item_id,
    frame_of,
    is_instruction,
    item_type,
    parse_item_id,
)
from cloister.services.conversations.items import ItemWriter, new_item_id
from cloister.services.conversations.stored.items import StoredItem, find_item
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.items import ItemStore, ResponseRow, ResponseStore
from cloister.storage.stores.sessions import SessionStore


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredResponse:
    """A response as it was answered, without its output, and the items of its output that are still there."""

    session: Session
    body: dict[str, Any]
    output: tuple[StoredItem, ...]


class ResponseRecord:
    """Stores the items of a request and of its reply with their turn. `items` are those of the request; with `is_all_new` none of
    them is stored yet. `echo` are the fields of the request that the response repeats. `history` are the
    items of the session before this request, up to the response `previous` if there is one. `owns_messages`: the request named no
    session, and its words are forgotten with it; `owns_session`: nor did those before it."""

    def __init__(
        self,
        items: Sequence[NewItem],
        echo: Mapping[str, Any],
        *,
        is_all_new: bool,
        owns_messages: bool,
        owns_session: bool,
        previous: str | None = None,
    ) -> None:
        self._items = items
        self._echo = echo
        self._created_at = int(time.time())
        self._is_all_new = is_all_new
        self._owns_messages = owns_messages
        self._owns_session = owns_session
        self._stored: list[int] = []
        self._previous = previous
        self._asks = any(item.draft is not None for item in items)
        self.history: tuple[StoredItem, ...] = ()
        self.model: Callable[[], str] = lambda: ""

    def begun(self, transaction: Transaction, turn: Turn) -> None:
        stored = history_of(transaction, turn.session)
        own = {message.id for message in turn.messages} if self._asks else set[MessageId]()
        before = [item for item in stored if item.message is None or item.message.id not in own]
        known = {(item_type(item.item), call_of(item.item)) for item in stored if item.message is None}
        instructed = sent_before(before, since_last_reply=self._is_all_new)
        again = self._store_items(transaction, turn, known, instructed, is_empty=not before)
        end = None if self._previous is None else _end_of(transaction, self._previous)
        self.history = tuple(item for item in up_to(before, end) if item.id not in again)

    def _store_items(
        self,
        transaction: Transaction,
        turn: Turn,
        known: set[tuple[str, str | None]],
        instructed: Mapping[str, StoredItem],
        *,
        is_empty: bool,
    ) -> set[str]:
        """Store the items of the request, those after its first new message, or all if all are new. Returns the ids of stored
        instructions that the request sends again."""
        appended = self._appended(transaction, turn)
        writer = ItemWriter(transaction, turn.session, before=min((m.id for m in appended.values()), default=None))
        is_new, self._stored = self._is_all_new, []
        again: set[str] = set()
        instructions = new_instructions(self._items, appended, turn.session, is_empty=is_empty)
        for index, item in enumerate(self._items):
            message = appended.get(index)
            is_new = is_new or message is not None
            if message is not None:
                writer.message(message, frame_of(item.item, message.content))
            elif is_instruction(item.item) and (stored := instructed.get(encoded(item.item))) is not None:
                again.add(stored.id)
                if self._is_all_new:
                    self._stored.append(cast(int, parse_item_id(stored.id)))
            elif item.draft is None:
                call = call_of(item.item)
                is_wanted = is_new or call is not None or index in instructions
                if (call is None or (item.type, call) not in known) and is_wanted:
                    self._stored.append(new_item_id())
                    writer.other(encoded(item.item), id=self._stored[-1])
        writer.write()
        return again

    def _appended(self, transaction: Transaction, turn: Turn) -> dict[int, Message]:
        """The messages that this turn appended, by the positions of their items. A message that was waiting for its reply, because
        the same request came before, has its item already."""
        appended: dict[int, Message] = {}
        store = ItemStore(transaction, turn.session.id, turn.session.pool)
        stored = store.frames([message.id for message in turn.messages])
        messages = [message for message in turn.messages if message.id not in stored]
        for index in range(len(self._items) - 1, -1, -1):
            draft = self._items[index].draft
            if draft is None or not messages:
                continue
            if (messages[-1].role, messages[-1].content) == (draft.role, draft.content):
                appended[index] = messages.pop()
        return appended

    def ended(
        self, transaction: Transaction, turn: Turn, session: Session, reply: Message | None, outcome: FinishedReply
    ) -> None:
        if outcome.status == "failed":
            return
        # The pool in which the turn began, whose text the model may have put into tool calls.
        writer = ItemWriter(
            transaction, session._replace(pool=turn.session.pool), before=None if reply is None else reply.id
        )
        output: list[str] = []
        if reply is not None:
            writer.message(reply, None, id=_item_number(turn.number, 0), response=turn.number)
            output.append(output_item_id(turn.number, 0))
        for call in outcome.calls:
            writer.other(
                encoded(_call_item(turn.number, call)),
                id=_item_number(turn.number, call.index + 1),
                response=turn.number,
            )
            output.append(output_item_id(turn.number, call.index + 1, CALL_TYPES[call.kind]))
        writer.write()
        body = {
            "echo": self._echo,
            "created_at": self._created_at,
            "model": self.model(),
            "status": "completed" if outcome.status == "completed" else "incomplete",
            "finish_reason": outcome.finish_reason,
            "usage": None if outcome.usage is None else [outcome.usage.prompt_tokens, outcome.usage.completion_tokens],
            "output": output,
            "messages": [message.id for message in turn.messages] if self._asks else [],
            "items": self._stored,
            "owns_session": self._owns_session,
            "pool": turn.session.pool,
        }
        row = ResponseRow(
            session=session.external_id,
            question=turn.question.id,
            reply=None if reply is None else reply.id,
            owns_messages=self._owns_messages,
            body=json.dumps(body),
        )
        ResponseStore(transaction).add(turn.number, session.id, row)


class Responses:
    """Finds and deletes responses. Each call is one transaction, unless messages are forgotten with a response."""

    def __init__(self, database: Database, forgetting: Forgetting) -> None:
        self._database = database
        self._forgetting = forgetting

    def session_of(self, reach: Reach, response: str) -> tuple[str, bool]:
        """The outside id of the session of a response, and whether no request of the chain up to it has named that."""
        with self._database.read(reach) as transaction:
            row = _row(transaction, response)
            return row.session, _owns_session(row)

    def end_of(self, reach: Reach, response: str) -> ChainEnd:
        """Where a response ends: at its reply, or at the question if the reply had only tool calls."""
        with self._database.read(reach) as transaction:
            return _end_of(transaction, response)

    def get(self, reach: Reach, response: str) -> StoredResponse:
        with self._database.read(reach) as transaction:
            row = _row(transaction, response)
            session = SessionStore(transaction).get(row.session)
            body = cast(dict[str, Any], json.loads(row.body))
            output: list[StoredItem] = []
            for item in body["output"]:
                with suppress(NotFound):  # it was deleted, or stayed in the pool in which it was made
                    output.append(find_item(transaction, session, item))
            return StoredResponse(session=session, body=shown_body(body, session.pool), output=tuple(output))

    def remove(self, reach: Reach, response: str) -> None:
        """Delete a response; with its messages and other items, if its request named no conversation that they belong to."""

        def work(transaction: Transaction) -> tuple[ResponseRow, bool]:
            row = _row(transaction, response)
            session = SessionStore(transaction).lock(row.session).session
            ResponseStore(transaction).remove(session.id, _number(response))
            if row.owns_messages:
                items = ItemStore(transaction, session.id, session.pool)
                for item in _items(row):
                    items.remove_by_id(item)
            return row, _owns_session(row) and session.message_count <= len(_messages(row))

        row, is_all = self._database.write(reach, work)
        if not row.owns_messages:
            return
        with suppress(NotFound):  # deleted meanwhile
            if is_all:
                self._forgetting.session(reach, row.session)
                return
        for message in _messages(row):
            with suppress(NotFound):
                self._forgetting.message(reach, message)
        self._forgetting.clean_up()


def format_response_id(number: int) -> str:
    return f"resp_{number:016x}"


def output_item_id(number: int, index: int, kind: str = "message") -> str:
    """The id of an item of a response: 0 is its message, others are its tool calls by their index + 1. It is known before the item
    is stored."""
    return format_item_id(kind, _item_number(number, index))


def _item_number(number: int, index: int) -> int:
    digest = hashlib.blake2b(f"{number}:{index}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1 or 1


def _call_item(number: int, call: ToolCall) -> dict[str, Any]:
    """A tool call as an item, without its id."""
    id = call.id or f"call_{_item_number(number, call.index + 1):016x}"
    return call_item(call.kind, id, call.name, call.arguments)


def call_item(kind: ToolKind, id: str, name: str, arguments: str) -> dict[str, Any]:
    """A tool call as an item: the input of a custom tool is a text, and its call has no status."""
    called = {"type": CALL_TYPES[kind], "call_id": id, "name": name}
    if kind == "custom":
        return {**called, "input": arguments}
    return {**called, "arguments": arguments, "status": "completed"}


def _messages(row: ResponseRow) -> list[MessageId]:
    """The messages that a response's request appended, and its reply."""
    asked = cast(list[MessageId], json.loads(row.body)["messages"])
    return [*asked, *([] if row.reply is None else [row.reply])]


def _items(row: ResponseRow) -> list[int]:
    """The ids of the items that are not messages: of the request, and of the reply."""
    body = json.loads(row.body)
    made = map(parse_item_id, cast(list[str], body["output"]))
    return [*cast(list[int], body.get("items", [])), *(item for item in made if item is not None)]


def _owns_session(row: ResponseRow) -> bool:
    return bool(json.loads(row.body).get("owns_session", row.owns_messages))


def _end_of(transaction: Transaction, response: str) -> ChainEnd:
    row = _row(transaction, response)
    return ChainEnd(message=row.question if row.reply is None else row.reply, items=frozenset(_items(row)))


def _number(response: str) -> int:
    number = parse_item_id(response) if response.startswith("resp_") else None
    if number is None:
        raise NotFound("response", response)
    return number


def _row(transaction: Transaction, response: str) -> ResponseRow:
    row = ResponseStore(transaction).find(_number(response))
    if row is None:
        raise NotFound("response", response)
    return row
