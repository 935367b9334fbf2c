"""Items of a session in OpenAI's format: add, list, find and remove. An item that is a message is a message for every interface."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cloister.domain.conversation import Message, Session
from cloister.domain.errors import Conflict, InvalidRequest, NotFound, TooLarge
from cloister.domain.history import words_key
from cloister.domain.identifiers import MessageId, new_removal_id
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ANY_SESSION, ExpectedSession
from cloister.domain.timestamps import Clock
from cloister.services.conversations.expected import check_expected
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.item_format import (
    NewItem,
    call_of,
    encoded,
    format_item_id,
    frame_of,
    item_type,
)
from cloister.services.conversations.record import PreparedMessage, Recorder
from cloister.services.conversations.sessions import (
    SessionFields,
    Sessions,
    checked_fields,
    kept_of,
    parts_of,
    repeated_session,
)
from cloister.services.conversations.stored.items import (
    StoredItem,
    find_item,
    items_after,
    items_before,
    newest_items,
)
from cloister.services.events.bus import EventBus
from cloister.services.tenancy.idempotency import Request, done_once, request, write_once
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.idempotency import FirstAnswer, IdempotencyStore
from cloister.storage.stores.items import ItemRow, ItemStore, Position
from cloister.storage.stores.sessions import SessionStore

MOST_ITEMS = 1_000
"""The maximum number of items of one request, as of messages."""
MOST_AFTER_A_MESSAGE = 10_000
_MOST_COMPARED = 200


class _Addition(NamedTuple):
    """What a request added. `messages` are those to be published, of a repeated request none."""

    session: Session
    messages: tuple[Message, ...]
    items: list[StoredItem]
    is_repeated: bool = False


class ItemWriter:
    """Adds items in one transaction that has locked their session."""

    def __init__(self, transaction: Transaction, session: Session, *, before: MessageId | None = None) -> None:
        """`before` is the first message that this transaction has appended already, if there is one."""
        self._session = session
        self._store = ItemStore(transaction, session.id, session.pool)
        self._message, self._position = self._store.end(before)
        self._rows: list[ItemRow] = []

    def message(
        self, message: Message, frame: str | None, *, id: int | None = None, response: int | None = None
    ) -> None:
        """Note a message that was appended, and what its item has besides its text."""
        self._message, self._position = message.id, 0
        if frame is not None or id is not None:
            self._add(ItemRow(message.id, 0, id or message.id, response, self._session.pool, frame or ""))

    def other(self, item: str, *, id: int | None = None, response: int | None = None) -> Position:
        """Add an item that is not a message after the last item."""
        self._position += 1
        if self._position > MOST_AFTER_A_MESSAGE:
            raise Conflict(f"There are {MOST_AFTER_A_MESSAGE:,} items after the last message: go on with a message.")
        row = ItemRow(self._message, self._position, id or new_item_id(), response, self._session.pool, item)
        self._add(row)
        return row.message, row.position

    def write(self) -> list[ItemRow]:
        self._store.add(self._rows)
        return self._rows

    def _add(self, row: ItemRow) -> None:
        self._rows.append(row)


class Items:
    """Each call is one transaction. With `expected` it is carried out only if the session is as expected: else `Conflict`."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        recorder: Recorder,
        forgetting: Forgetting,
        events: EventBus,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._database = database
        self._sessions = sessions
        self._recorder = recorder
        self._forgetting = forgetting
        self._events = events

    def create(
        self, reach: Reach, fields: SessionFields, items: Sequence[NewItem], *, idempotency_key: str | None = None
    ) -> Session:
        """Create a session with its first items, all or nothing. `Conflict` if there is one with this external id."""
        wanted = checked_fields(replace(fields, user_id=reach.user_of(fields.user_id)))
        prepared = self._prepare(items)
        given = _request(idempotency_key, items, *parts_of(wanted))

        def work(transaction: Transaction) -> _Addition:
            def first() -> tuple[_Addition, FirstAnswer]:
                session, is_new = self._sessions.add(transaction, wanted)
                if not is_new:
                    raise Conflict(f"The session {session.external_id!r} exists already: add items to it.")
                messages, stored = self._append(transaction, session.external_id, items, prepared)
                session = SessionStore(transaction).get(session.external_id)
                return _Addition(session, messages, stored), _first_answer(session, stored, kept_of(session))

            def again(kept: Sequence[Any]) -> _Addition:
                return _Addition(repeated_session(kept[1], wanted, reach), (), [], is_repeated=True)

            return self._once(transaction, given, ("conversations",), first, again, is_sessions=False)

        added = write_once(self._database, reach, work)
        if not added.is_repeated:
            self._events.created(added.session)
        self._note(added.session, added.messages)
        return added.session

    def add(
        self,
        reach: Reach,
        external_id: str,
        items: Sequence[NewItem],
        *,
        compares: bool = True,
        expected: ExpectedSession = ANY_SESSION,
        idempotency_key: str | None = None,
    ) -> list[StoredItem]:
        """Append items in order, all or none. An item that a response made in this session, and that its client now adds, is not
        stored twice: the stored one is returned. Without `compares`, for callers that may not read, it is; their idempotency keys
        are separate, so that they are not answered with an item that was returned to a reader."""
        if not items:
            raise InvalidRequest("items", "must not be empty.")
        prepared = self._prepare(items)
        given = _request(idempotency_key, items)

        def work(transaction: Transaction) -> _Addition:
            session = SessionStore(transaction).lock(external_id).session
            check_expected(transaction, session, expected)

            def first() -> tuple[_Addition, FirstAnswer]:
                known = _made_here(transaction, session, items) if compares else [None] * len(items)
                new = [index for index in range(len(items)) if known[index] is None]
                chosen = [items[index] for index in new]
                drafts = [index for index, item in enumerate(items) if item.draft is not None]
                ready = [entry for index, entry in zip(drafts, prepared, strict=True) if known[index] is None]
                messages, added = self._append(transaction, external_id, chosen, ready)
                fresh = iter(added)
                stored = [each or next(fresh) for each in known]
                return _Addition(session, messages, stored), _first_answer(session, stored)

            def again(kept: Sequence[Any]) -> _Addition:
                return _Addition(session, (), list(_repeated(transaction, session, kept[0], items)), is_repeated=True)

            return self._once(transaction, given, ("items", session.id, compares), first, again, is_sessions=True)

        added = write_once(self._database, reach, work)
        self._note(added.session, added.messages)
        return added.items

    def _once(
        self,
        transaction: Transaction,
        given: Request | None,
        namespace: Sequence[str | int],
        first: Callable[[], tuple[_Addition, FirstAnswer]],
        again: Callable[[Sequence[Any]], _Addition],
        *,
        is_sessions: bool,
    ) -> _Addition:
        if given is None:
            return first()[0]
        return done_once(transaction, given, namespace, self._clock, first=first, again=again, is_sessions=is_sessions)

    def page(
        self,
        reach: Reach,
        external_id: str,
        *,
        limit: int,
        after: str | Position | None = None,
        newest_first: bool = False,
        expected: ExpectedSession = ANY_SESSION,
    ) -> list[StoredItem]:
        """A page of items; `after` is the id or the position of the last item of the page before."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            check_expected(transaction, session, expected)
            start = find_item(transaction, session, after).position if isinstance(after, str) else after
            read = items_before if newest_first else items_after
            return read(transaction, session, start, limit)

    def get(self, reach: Reach, external_id: str, item: str) -> StoredItem:
        with self._database.read(reach) as transaction:
            return find_item(transaction, SessionStore(transaction).get(external_id), item)

    def remove(self, reach: Reach, external_id: str, item: str, expected: ExpectedSession = ANY_SESSION) -> Session:
        """Forget one item: a message with all that derives from it and the items that follow it, or another item alone."""

        def work(transaction: Transaction) -> tuple[Session, MessageId | None]:
            session = SessionStore(transaction).lock(external_id).session
            check_expected(transaction, session, expected)
            found = find_item(transaction, session, item)
            if found.message is None:
                ItemStore(transaction, session.id, session.pool).remove(found.position)
                IdempotencyStore(transaction).forget_item(session.id, found.id)
            return session, None if found.message is None else found.message.id

        session, message = self._database.write(reach, work)
        if message is None:
            self._events.changed(session)
            self._forgetting.clean_up()
        else:
            self._forgetting.message(reach, message, expected=expected)
        return session

    def _prepare(self, items: Sequence[NewItem]) -> list[PreparedMessage]:
        if len(items) > MOST_ITEMS:
            raise TooLarge("items", len(items), MOST_ITEMS, "items")
        drafts = [item.draft for item in items if item.draft is not None]
        return self._recorder.prepare(drafts) if drafts else []

    def _append(
        self, transaction: Transaction, external_id: str, items: Sequence[NewItem], prepared: Sequence[PreparedMessage]
    ) -> tuple[tuple[Message, ...], list[StoredItem]]:
        messages: tuple[Message, ...] = ()
        session = SessionStore(transaction).get(external_id)
        writer = ItemWriter(transaction, session)
        if prepared:
            messages = self._recorder.append(transaction, external_id, prepared).messages
        stored = list(_stored(writer, items, messages))
        writer.write()
        return messages, stored

    def _note(self, session: Session, messages: Sequence[Message]) -> None:
        if messages:
            self._events.added(session, messages)
        if any(message.role == "assistant" for message in messages):
            self._recorder.notify()


def new_item_id() -> int:
    return new_removal_id()


def _stored(writer: ItemWriter, items: Sequence[NewItem], messages: Sequence[Message]) -> Iterator[StoredItem]:
    recorded = iter(messages)
    for item in items:
        if item.draft is None:
            id = new_item_id()
            position = writer.other(encoded(item.item), id=id)
            yield StoredItem(id=format_item_id(item.type, id), position=position, item=dict(item.item))
        else:
            message = next(recorded)
            writer.message(message, frame_of(item.item, message.content))
            yield StoredItem(
                id=format_item_id("message", message.id),
                position=(message.id, 0),
                item=dict(item.item),
                message=message,
            )


def _request(key: str | None, items: Sequence[NewItem], *parts: object) -> Request | None:
    return None if key is None else request(key, [item.item for item in items], *parts)


def _first_answer(session: Session, stored: Sequence[StoredItem], *more: object) -> FirstAnswer:
    """What is stored of an answer: the ids and positions of its items. Without items it is that of a session alone."""
    kept = [[item.id, *item.position, item.response] for item in stored]
    messages = [item.position[0] for item in stored]
    return FirstAnswer(
        "items" if stored else "sessions",
        json.dumps([kept, *more]),
        session=session.id,
        first_id=min(messages, default=None),
        last_id=max(messages, default=None),
    )


def _repeated(
    transaction: Transaction, session: Session, kept: Sequence[Sequence[Any]], items: Sequence[NewItem]
) -> Iterator[StoredItem]:
    """The first answer again, with the contents of the repeated request; of an item that a response made, as it is stored."""
    for (id, message, number, response), new in zip(kept, items, strict=True):
        if response is None:
            yield StoredItem(id=id, position=(MessageId(message), number), item=dict(new.item))
            continue
        try:
            yield find_item(transaction, session, id)
        except NotFound:
            raise Conflict(
                "An item of the first answer to this idempotency key was made by a response, and the session does not show it any "
                "more. To add the items again, use a new key."
            ) from None


def _made_here(transaction: Transaction, session: Session, items: Sequence[NewItem]) -> list[StoredItem | None]:
    """For each item the stored one that a response made since the user's last message, if the client adds its copy of that."""
    recent = newest_items(transaction, session, _MOST_COMPARED)
    made = [stored for stored in recent if stored.response is not None]
    if not made:
        return [None] * len(items)
    last_said = next((stored.message for stored in recent if stored.message is not None), None)
    known: dict[tuple[str, str], StoredItem] = {}
    for stored in made:
        if stored.message is None:
            known[item_type(stored.item), call_of(stored.item) or ""] = stored
        elif stored.message is last_said:
            known["message", words_key(stored.message.content)] = stored
    return [known.get(_key(item)) for item in items]


def _key(item: NewItem) -> tuple[str, str]:
    if item.draft is None:
        return item.type, call_of(item.item) or ""
    return ("message" if item.draft.role == "assistant" else item.draft.role), words_key(item.draft.content)
