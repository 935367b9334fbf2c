"""The index columns of messages, as an indexer reads and writes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from cloister.domain.identifiers import MessageId, PoolId, SessionId, new_removal_id
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import Indexed, span
from cloister.storage.stores.pools import PoolStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """The text of a message, for an embedder; `embedded` if its vector is stored already."""

    id: MessageId
    author: str | None
    created_at: int
    content: str
    embedded: bool = False


class IndexStore:
    """The terms, vectors and index generation of messages. Every change raises the pool's version."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def members(self, pool: PoolId) -> list[SessionId]:
        rows = self._transaction.rows("pool_members", pool_id=pool)
        return sorted(SessionId(cast(int, row[0])) for row in rows)

    def words(
        self, session: SessionId, *, after: MessageId | None, limit: int, all_generations: bool = False
    ) -> list[Words]:
        """The session's messages after an id that another index generation wrote, or all of them."""
        first, last = span(session)
        return _words(
            self._transaction.rows(
                "words",
                after=max(first, after or 0),
                last=last,
                all_generations=int(all_generations),
                generation=self._generation,
                limit=limit,
            )
        )

    def waiting(self, session: SessionId, *, limit: int) -> list[Words]:
        """The session's messages that are not indexed yet, oldest first."""
        first, last = span(session)
        rows = self._transaction.rows("waiting_words", after=first, last=last, generation=self._generation, limit=limit)
        known = [bool(row[-1]) for row in rows]
        return [replace(words, embedded=embedded) for words, embedded in zip(_words(rows), known, strict=True)]

    def set_indexed(self, session: SessionId, entries: Sequence[tuple[MessageId, Indexed]]) -> None:
        """Write index columns; messages deleted meanwhile stay deleted."""
        row = self._transaction.row("lock_session_by_id", session_id=session)
        if row is None or row[0] is None:
            return
        for message, indexed in entries:
            self._transaction.execute(
                "set_indexed",
                message_id=message,
                tokens=indexed.tokens,
                **indexed.columns,
            )
        version = PoolStore(self._transaction, self._generation).raise_version(PoolId(cast(int, row[0])))
        self._transaction.execute("note_rebuild", session_id=session, version=version)

    def mark_indexed(self, messages: Sequence[MessageId], now: int) -> None:
        self._transaction.execute("set_indexed_at", message_ids=integers(messages), indexed_at=now)

    def points(self, session: SessionId, *, first: int, last: int, around: int) -> list[Row]:
        """(id, role, author, created at, vector, terms) of messages from `first` to `last`, and of `around` more on either side."""
        begin, end = span(session)
        return self._transaction.rows(
            "points",
            after=begin,
            first=first,
            last=last,
            end=end,
            around=around,
            generation=self._generation,
        )

    def requeue_around(self, session: SessionId, message: MessageId, around: int) -> None:
        """Queue the messages around a deleted one for indexing again: their entries include its text."""
        begin, end = span(session)
        self._transaction.execute("requeue_around", message_id=message, after=begin, end=end, around=around)

    def requeue(self, session: SessionId, messages: Sequence[MessageId]) -> None:
        """Queue messages for indexing that have come back to the current branch."""
        self._transaction.execute("requeue_messages", session_id=session, message_ids=integers(messages))

    def note_removal(self, session: SessionId, message: MessageId | None = None) -> None:
        """Queue the removal of a message, or of all messages of a session, from an external index."""
        self._transaction.execute(
            "note_index_removal", removal_id=new_removal_id(), session_id=session, message_id=message or 0
        )

    def note_put(self, session: SessionId, messages: Sequence[MessageId], *, due_at: int) -> int:
        """Queue the removal, from `due_at` on, of messages that are about to be put into an external index, so that no point of a
        message that is removed meanwhile stays; returns the id of the first removal, for `settle_put`."""
        removal, first = new_removal_id() >> 1, messages[0]
        self._transaction.execute_each(
            "note_put",
            [
                {
                    "removal_id": removal + (message - first),
                    "session_id": session,
                    "message_id": message,
                    "due_at": due_at,
                }
                for message in messages
            ],
        )
        return removal

    def settle_put(self, session: SessionId, messages: Sequence[MessageId], removal: int) -> set[MessageId]:
        """Cancel the removals of messages that were put into an external index; returns the messages whose removal had not been
        carried out yet. The others have to be put again."""
        rows = self._transaction.rows(
            "settle_put",
            removal_id=removal,
            last_removal_id=removal + messages[-1] - messages[0],
            session_id=session,
        )
        return {MessageId(cast(int, row[0])) for row in rows}

    def settle_removal(self, removal: int, session: SessionId, message: MessageId | None) -> None:
        """Finish a removal of a message, or of a whole session, from an external index. Messages recorded since the session was
        cleared are queued for indexing again, and so is a message that has come back to the current branch."""
        self._transaction.execute("settle_index_removal", removal_id=removal)
        if message is None:
            begin, end = span(session)
            self._transaction.execute("requeue_session", after=begin, end=end)
        else:
            self.requeue(session, [message])

    def settle(self, pool: PoolId) -> bool:
        """Record that all messages of the pool are of this generation, if they are; returns whether they are."""
        row = self._transaction.row("stale_in_pool", pool_id=pool, generation=self._generation)
        settled = row is not None and row[0] == 0
        if settled:
            self._transaction.execute("settle_pool", pool_id=pool, generation=self._generation)
        return settled


def _words(rows: list[Row]) -> list[Words]:
    return [
        Words(id=MessageId(identity), author=author, created_at=created_at, content=content)
        for identity, author, created_at, content, *_ in cast(list[tuple[int, str | None, int, str, int]], rows)
    ]
