"""Messages of sessions: append, read in order, remove."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from cloister.domain.conversation import STATUSES, Message, Role, Status
from cloister.domain.errors import DamagedRow, NotFound
from cloister.domain.identifiers import MAX_SEQUENCE, SEQUENCE_BITS, MessageId, PoolId, SessionId, format_message_id
from cloister.domain.maintenance.checksum import message_checksum
from cloister.domain.prompts.recalled_text import NO_POOL, shown_in
from cloister.storage.interface import Row, Transaction, Value, integers
from cloister.storage.stores.receipts.asked import remove_receipts_in_words_of
from cloister.storage.stores.receipts.templates import TemplateStore, remove_unused

# How a message is stored that is not on the current branch of its session: `off_completed` and so on.
_OFF_BRANCH = "off_"
_STORED_STATUS: dict[str, tuple[Status, bool]] = {
    **{status: (status, True) for status in STATUSES},
    **{_OFF_BRANCH + status: (status, False) for status in STATUSES},
}
# Recent messages of a role are searched among this many at the end of a session.
_RECENT_SEARCH = 2_000
_MOST_AUTHORS = 16


class Indexed(NamedTuple):
    """The index columns of a message, memory or entity. `indexed_at` is None while a slow embedder or index has yet to run.
    `quotes`: the message contains recalled text."""

    generation: int
    terms: bytes
    vector: bytes | None
    tokens: int
    indexed_at: int | None
    quotes: bool = False

    @property
    def columns(self) -> dict[str, Value]:
        """The columns that messages, memories and entities have in common."""
        return {
            "generation": self.generation,
            "vector": self.vector,
            "terms": self.terms,
            "indexed_at": self.indexed_at,
        }


class MessageStore:
    """The messages of sessions that the caller found through `SessionStore`. A reader passes the session's pool: recalled text from
    another pool is left out (ISO-12)."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def append(self, messages: Sequence[tuple[Message, Indexed]]) -> None:
        self._transaction.execute_each("insert_message", [columns_of(*entry) for entry in messages])

    def page(
        self,
        session: SessionId,
        pool: PoolId,
        *,
        limit: int,
        after: MessageId | None = None,
        all_branches: bool = False,
    ) -> list[Message]:
        """A page of messages of the current branch, or of all branches, in order; `after` is the last one of the page before."""
        first, last = span(session)
        rows = self._transaction.rows(
            "messages", after=max(first, after or 0), last=last, limit=limit, all_branches=int(all_branches)
        )
        return [shown_message(row, pool) for row in rows]

    def before(
        self,
        session: SessionId,
        pool: PoolId,
        message: MessageId | None,
        *,
        limit: int,
        all_branches: bool = False,
    ) -> list[Message]:
        """The last messages before one, or with None those at the end of the session, in order; of the current branch, or of all
        branches."""
        first, last = span(session)
        rows = self._transaction.rows(
            "last_messages_before",
            first=first,
            before=min(message or last + 1, last + 1),
            limit=limit,
            all_branches=int(all_branches),
        )
        return [shown_message(row, pool) for row in reversed(rows)]

    def found(self, session: SessionId, pool: PoolId, messages: Sequence[MessageId]) -> list[Message]:
        """The messages with these ids that are in the session, on any branch, in order."""
        if not messages:
            return []
        first, last = span(session)
        rows = self._transaction.rows("session_messages", first=first, last=last, message_ids=integers(messages))
        return [shown_message(row, pool) for row in rows]

    def recent_authors(self, session: SessionId) -> list[str]:
        """The names of users who spoke lately in the session, at most `_MOST_AUTHORS`, in order."""
        first, last = span(session)
        rows = self._transaction.rows(
            "recent_authors", first=first, last=last, window=_RECENT_SEARCH, limit=_MOST_AUTHORS
        )
        return sorted(cast(str, row[0]) for row in rows)

    def recent(
        self,
        session: SessionId,
        pool: PoolId,
        role: Role,
        limit: int,
        *,
        is_forked: bool,
        until: MessageId | None = None,
        with_partial: bool = False,
    ) -> list[Message]:
        """The last completed messages of a role, newest first, among the last few thousand of the session; `until` one of them, and
        `with_partial` also those that were cut off. Of a session that `is_forked` all messages are searched, because those of the
        current branch may be far apart."""
        first, last = span(session)
        rows = self._transaction.rows(
            "recent_messages",
            first=first,
            last=last if until is None else min(until, last),
            role=role,
            limit=limit,
            window=MAX_SEQUENCE if is_forked else max(_RECENT_SEARCH, 10 * limit),
            with_partial=int(with_partial),
        )
        return [shown_message(row, pool) for row in rows]

    def count_given_recalled_text(self, session: SessionId, pool: PoolId) -> int:
        """How many replies of a session quote text of this pool, or were made with recalled text of it."""
        first, last = span(session)
        row = self._transaction.row("count_given_recalled_text", first=first, last=last, pool_id=pool)
        return 0 if row is None else cast(int, row[0])

    def detach_from_pool(self, pool: PoolId) -> None:
        """Hide quotations of this pool in the messages of all sessions, because the pool's project changed its visibility."""
        self._transaction.execute("detach_from_pool", pool_id=pool, no_pool=NO_POOL)

    def is_pool_quoted(self, pool: PoolId) -> bool:
        """Whether any message quotes text of this pool, or was given some."""
        return self._transaction.row("quotes_of_pool", pool_id=pool) is not None

    def given_text_of(self, pool: PoolId) -> Iterator[tuple[MessageId, str, int]]:
        """The id, content and tokens of all messages that quote text of this pool, or were given some, as they are stored."""
        for row in self._transaction.stream("messages_given_text_of_pool", pool_id=pool):
            yield cast(tuple[MessageId, str, int], row)

    def set_contents(self, changed: Sequence[tuple[MessageId, str, int]]) -> None:
        """Replace the quotations of messages, and their tokens. Own words must not change, because the index is not updated. The
        pool must be locked; rows are written in id order, to avoid deadlock."""
        self._transaction.execute_each(
            "set_message_content",
            [
                {"message_id": message, "content": content, "tokens": tokens}
                for message, content, tokens in sorted(changed)
            ],
        )

    def contents(self, session: SessionId, message: MessageId | None = None) -> Iterator[str]:
        """The stored contents of all messages of a session, or of one."""
        first, last = span(session) if message is None else (message - 1, message)
        for row in self._transaction.stream("message_contents", first=first, last=last):
            yield cast(str, row[0])

    def session_name(self, message: MessageId) -> str:
        """The outside id of a message's session."""
        row = self._transaction.row("message_session", message_id=message)
        if row is None:
            raise NotFound("message", format_message_id(message))
        return cast(str, row[0])

    def count_episodes(self, session: SessionId) -> int:
        first, last = span(session)
        row = self._transaction.row("count_episodes", first=first, last=last)
        return 0 if row is None else cast(int, row[0])

    def remove(self, session: SessionId, messages: Sequence[MessageId]) -> int:
        """Remove messages, with the items that follow them, and the responses and receipts that they belong to; also receipts of
        the session that stored the same words as a query."""
        templates = TemplateStore(self._transaction).of_messages(session, messages)
        remove_receipts_in_words_of(self._transaction, session, messages)
        for message in messages:
            self._transaction.execute("delete_items_of_message", session_id=session, message_id=message)
            self._transaction.execute("delete_responses_of_message", session_id=session, message_id=message)
            self._transaction.execute("delete_receipts_of_message", session_id=session, message_id=message)
        remove_unused(self._transaction, templates)
        return sum(
            self._transaction.execute("delete_message", session_id=session, message_id=message) for message in messages
        )

    def remove_all(self, session: SessionId) -> int:
        first, last = span(session)
        self._transaction.execute("delete_items", first=first, last=last)
        self._transaction.execute("delete_responses", session_id=session)
        templates = TemplateStore(self._transaction).of_session(session)
        self._transaction.execute("delete_receipts", session_id=session)
        remove_unused(self._transaction, templates)
        self._transaction.execute("delete_exclusions", session_id=session)
        return self._transaction.execute("delete_messages", first=first, last=last)


def span(session: SessionId) -> tuple[int, int]:
    """The range of a session's message ids: above the first number, up to the second."""
    return session << SEQUENCE_BITS, (session << SEQUENCE_BITS) + MAX_SEQUENCE


def columns_of(message: Message, indexed: Indexed) -> dict[str, Value]:
    """The columns of a new message."""
    metadata = json.dumps(message.metadata) if message.metadata else "{}"
    categories = json.dumps(message.categories) if message.categories else "[]"
    return {
        "message_id": message.id,
        "session_id": message.session,
        "role": message.role,
        "status": message.status if message.is_current else _OFF_BRANCH + message.status,
        "author": message.author,
        "created_at": message.created_at,
        "generation": indexed.generation,
        "indexed_at": indexed.indexed_at,
        "vector": indexed.vector,
        "terms": indexed.terms,
        "episode_id": message.episode,
        "tokens": message.tokens,
        "metadata": metadata,
        "content": message.content,
        "recalled_pool_id": message.recalled_pool,
        "categories": categories,
        "checksum": message_checksum(message.id, message.role, message.author, metadata, message.content, categories),
    }


def shown_message(row: Row, pool: PoolId) -> Message:
    """A message from its columns and its recalled pool, as it is shown while its session is in this pool."""
    message, recalled = message_of(row[:-1]), cast(int | None, row[-1])
    return message if recalled is None else shown_in(message._replace(recalled_pool=PoolId(recalled)), pool)


def message_of(row: Row) -> Message:
    """A message from its columns; a `DamagedRow` if they are not what was stored."""
    columns: tuple[Any, ...] = row
    # fmt: off
    (
        identity, session, role, content, author, status, episode, checked, tokens, metadata, created_at, categories, checksum,
    ) = columns
    # fmt: on
    shown, is_current = _STORED_STATUS[status]
    if checksum is not None and checksum != message_checksum(identity, role, author, metadata, content, categories):
        raise DamagedRow("message", format_message_id(identity))
    # By position, because names take as long as all the rest.
    return Message(
        identity,
        session,
        role,
        content,
        author,
        shown,
        episode,
        bool(checked),
        tokens,
        {} if metadata == "{}" else json.loads(metadata),
        created_at,
        None,
        () if categories == "[]" else tuple(json.loads(categories)),
        None,
        is_current,
    )
