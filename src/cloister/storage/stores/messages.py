"""What was said, inside one transaction's reach: append, read in order, remove."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from cloister.domain.conversation import Message, Role
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MAX_SEQUENCE, SEQUENCE_BITS, MessageId, PoolId, SessionId, format_message_id
from cloister.domain.prompts.recalled_text import NO_POOL, shown_in
from cloister.storage.interface import Row, Transaction, Value

RECENT_WINDOW = 2_000


class Indexed(NamedTuple):
    """What recall will know of a message. `indexed_at` is empty while a slow embedder or index has yet to run. `quotes`: the
    message holds words that are not its own."""

    generation: int
    terms: bytes
    vector: bytes | None
    tokens: int
    indexed_at: int | None
    quotes: bool = False


class MessageStore:
    """The messages of sessions that the caller has found through `Sessions`. Whoever reads them says in which pool the session is:
    what a message quotes of another pool is not shown (ISO-12)."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def append(self, messages: Sequence[tuple[Message, Indexed]]) -> None:
        self._transaction.execute_each("insert_message", [_columns(*entry) for entry in messages])

    def page(self, session: SessionId, pool: PoolId, *, limit: int, after: MessageId | None = None) -> list[Message]:
        """In the order they were said, from behind the last one seen."""
        first, last = span(session)
        rows = self._transaction.rows("messages", after=max(first, after or 0), last=last, limit=limit)
        return [_shown(row, pool) for row in rows]

    def recent(self, session: SessionId, pool: PoolId, role: Role, limit: int) -> list[Message]:
        """The last ones of a role, newest first; what lies thousands of messages back is not recent."""
        first, last = span(session)
        rows = self._transaction.rows(
            "recent_messages", first=first, last=last, role=role, limit=limit, window=max(RECENT_WINDOW, 10 * limit)
        )
        return [_shown(row, pool) for row in rows]

    def count_given_recalled_text(self, session: SessionId, pool: PoolId) -> int:
        """How many replies of a session quote text of this pool, or were given some to answer with."""
        first, last = span(session)
        row = self._transaction.row("count_given_recalled_text", first=first, last=last, pool_id=pool)
        return 0 if row is None else cast(int, row[0])

    def part_from_pool(self, pool: PoolId) -> None:
        """This pool is not what it was when messages quoted it, wherever their sessions are now: their quotations are shown in no
        pool any more."""
        self._transaction.execute("part_from_pool", pool_id=pool, no_pool=NO_POOL)

    def is_pool_quoted(self, pool: PoolId) -> bool:
        """Whether any message quotes text of this pool, or was given some."""
        return self._transaction.row("quotes_of_pool", pool_id=pool) is not None

    def given_text_of(self, pool: PoolId) -> Iterator[tuple[MessageId, str, int]]:
        """The id, content and tokens of all messages that quote text of this pool, or were given some, as they are stored."""
        for row in self._transaction.stream("messages_given_text_of_pool", pool_id=pool):
            yield cast(tuple[MessageId, str, int], row)

    def set_contents(self, changed: Sequence[tuple[MessageId, str, int]]) -> None:
        """Other quotations, and the tokens of the message with them. The own words must stay, or the index would be wrong. In id
        order to avoid deadlock; the pool must be locked."""
        self._transaction.execute_each(
            "set_message_content",
            [
                {"message_id": message, "content": content, "tokens": tokens}
                for message, content, tokens in sorted(changed)
            ],
        )

    def contents(self, session: SessionId, message: MessageId | None = None) -> Iterator[str]:
        """As they are stored: of all messages of a session, or of one."""
        first, last = span(session) if message is None else (message - 1, message)
        for row in self._transaction.stream("message_contents", first=first, last=last):
            yield cast(str, row[0])

    def session_name(self, message: MessageId) -> str:
        """The outside id of the session a message is in."""
        row = self._transaction.row("message_session", message_id=message)
        if row is None:
            raise NotFound("message", format_message_id(message))
        return cast(str, row[0])

    def count_episodes(self, session: SessionId) -> int:
        first, last = span(session)
        row = self._transaction.row("count_episodes", first=first, last=last)
        return 0 if row is None else cast(int, row[0])

    def remove(self, session: SessionId, messages: Sequence[MessageId]) -> int:
        return sum(
            self._transaction.execute("delete_message", session_id=session, message_id=message) for message in messages
        )

    def remove_all(self, session: SessionId) -> int:
        first, last = span(session)
        return self._transaction.execute("delete_messages", first=first, last=last)


def span(session: SessionId) -> tuple[int, int]:
    """The ids of a session's messages lie behind the first of these and up to the second."""
    return session << SEQUENCE_BITS, (session << SEQUENCE_BITS) + MAX_SEQUENCE


def _columns(message: Message, indexed: Indexed) -> dict[str, Value]:
    return {
        "message_id": message.id,
        "session_id": message.session,
        "role": message.role,
        "status": message.status,
        "author": message.author,
        "created_at": message.created_at,
        "generation": indexed.generation,
        "indexed_at": indexed.indexed_at,
        "vector": indexed.vector,
        "terms": indexed.terms,
        "episode_id": message.episode,
        "tokens": message.tokens,
        "metadata": json.dumps(message.metadata) if message.metadata else "{}",
        "content": message.content,
        "recalled_pool_id": message.recalled_pool,
    }


def _shown(row: Row, pool: PoolId) -> Message:
    message, recalled = message_of(row[:-1]), cast(int | None, row[-1])
    return message if recalled is None else shown_in(message._replace(recalled_pool=PoolId(recalled)), pool)


def message_of(row: Row) -> Message:
    columns: tuple[Any, ...] = row
    identity, session, role, content, author, status, episode, checked, tokens, metadata, created_at = columns
    return Message(
        id=identity,
        session=session,
        role=role,
        content=content,
        author=author,
        status=status,
        episode=episode,
        is_memory_checked=bool(checked),
        tokens=tokens,
        metadata={} if metadata == "{}" else json.loads(metadata),
        created_at=created_at,
    )
