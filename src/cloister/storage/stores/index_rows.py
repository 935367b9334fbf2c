"""What an indexer reads and writes of sessions and pools, inside one transaction's reach."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from cloister.domain.identifiers import MAX_SEQUENCE, SEQUENCE_BITS, MessageId, PoolId, SessionId, new_removal_id
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import Indexed
from cloister.storage.stores.pools import PoolStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """One message as an embedder wants it; `embedded` where its vector is known already."""

    id: MessageId
    author: str | None
    created_at: int
    content: str
    embedded: bool = False


class IndexStore:
    """Terms, vectors and their generation. Every change of them raises the pool's version."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def members(self, pool: PoolId) -> list[SessionId]:
        rows = self._transaction.rows("pool_members", pool_id=pool)
        return sorted(SessionId(cast(int, row[0])) for row in rows)

    def words(
        self, session: SessionId, *, after: MessageId | None, limit: int, all_generations: bool = False
    ) -> list[Words]:
        """Messages of other generations, or of all."""
        first = session << SEQUENCE_BITS
        return _words(
            self._transaction.rows(
                "words",
                after=max(first, after or 0),
                last=first + MAX_SEQUENCE,
                all_generations=int(all_generations),
                generation=self._generation,
                limit=limit,
            )
        )

    def waiting(self, session: SessionId, *, limit: int) -> list[Words]:
        """Messages that no index knows yet, oldest first."""
        first = session << SEQUENCE_BITS
        rows = self._transaction.rows(
            "waiting_words", after=first, last=first + MAX_SEQUENCE, generation=self._generation, limit=limit
        )
        known = [bool(row[-1]) for row in rows]
        return [replace(words, embedded=embedded) for words, embedded in zip(_words(rows), known, strict=True)]

    def set_indexed(self, session: SessionId, entries: Sequence[tuple[MessageId, Indexed]]) -> None:
        """Write what is known now; messages deleted meanwhile stay deleted."""
        row = self._transaction.row("lock_session_by_id", session_id=session)
        if row is None or row[0] is None:
            return
        for message, indexed in entries:
            self._transaction.execute(
                "set_indexed",
                message_id=message,
                generation=indexed.generation,
                vector=indexed.vector,
                terms=indexed.terms,
                tokens=indexed.tokens,
                indexed_at=indexed.indexed_at,
            )
        version = PoolStore(self._transaction, self._generation).raise_version(PoolId(cast(int, row[0])))
        self._transaction.execute("note_rebuild", session_id=session, version=version)

    def mark_indexed(self, messages: Sequence[MessageId], now: int) -> None:
        self._transaction.execute("set_indexed_at", message_ids=integers(messages), indexed_at=now)

    def points(self, session: SessionId, *, first: int, last: int, around: int) -> list[Row]:
        """(id, role, author, created at, vector, terms) of a part of a session, with so many more on either side."""
        begin = session << SEQUENCE_BITS
        return self._transaction.rows(
            "points",
            after=begin,
            first=first,
            last=last,
            end=begin + MAX_SEQUENCE,
            around=around,
            generation=self._generation,
        )

    def requeue_around(self, session: SessionId, message: MessageId, around: int) -> None:
        """Put the neighbours of a message that goes back into the queue."""
        begin = session << SEQUENCE_BITS
        self._transaction.execute(
            "requeue_around", message_id=message, after=begin, end=begin + MAX_SEQUENCE, around=around
        )

    def note_removal(self, session: SessionId, message: MessageId | None = None) -> None:
        """Something is to be taken out of an index outside the database: a message, or all of a session."""
        self._transaction.execute(
            "note_index_removal", removal_id=new_removal_id(), session_id=session, message_id=message or 0
        )

    def settle_removal(self, removal: int, session: SessionId, *, whole_session: bool) -> None:
        """It was taken out. What a cleared session has said since is put in again."""
        self._transaction.execute("settle_index_removal", removal_id=removal)
        if whole_session:
            begin = session << SEQUENCE_BITS
            self._transaction.execute("requeue_session", after=begin, end=begin + MAX_SEQUENCE)

    def settle(self, pool: PoolId) -> bool:
        """Note that all rows of the pool are of this generation, if they are."""
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
