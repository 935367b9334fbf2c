"""What was extracted from messages that leave the current branch of their session, and goes with them."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.entity import EntityName
from cloister.domain.identifiers import EntityId, MemoryId, MessageId, SessionId
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.entity_groups import EntityGroupStore, TouchedEntities


class WithdrawalStore:
    """What was extracted from messages of one session that leave its current branch. All of it can be extracted again, from them if
    they come back, and now from the messages that stay and were its sources too."""

    def __init__(self, transaction: Transaction, session: SessionId, messages: Sequence[MessageId]) -> None:
        self._transaction = transaction
        self._session = session
        self._messages = integers(messages)

    def memories(self) -> list[MemoryId]:
        """The memories that were extracted from any of the messages, except those that a person changed or pinned."""
        rows = self._transaction.rows("memories_to_withdraw", session_id=self._session, message_ids=self._messages)
        return [MemoryId(cast(int, row[0])) for row in rows]

    def sources(self, memories: Sequence[MemoryId]) -> set[MessageId]:
        """All messages that these memories were extracted from."""
        rows = self._transaction.rows("memory_sources", memory_ids=integers(memories)) if memories else []
        return {MessageId(message) for _, message in cast(list[tuple[int, int]], rows)}

    def entities(self) -> tuple[TouchedEntities, set[MessageId]]:
        """Delete the mentions and relations by the messages; returns the entities that lost a mention, and all messages that lost
        one. An entity that a person corrected, merged, split or deleted stays, without the notes."""
        relations = self._transaction.rows("withdraw_relations", session_id=self._session, message_ids=self._messages)
        named = self._transaction.rows("names_mentioned", session_id=self._session, message_ids=self._messages)
        groups = EntityGroupStore(self._transaction)
        touched = groups.lock(EntityId(cast(int, row[0])) for row in named)
        if not touched:
            return TouchedEntities(left=(), gone=()), set(_ids(relations))
        names = groups.locked_names({name.entity for name in groups.names(touched)})
        by_hand = {name.entity for name in names if _is_changed_by_hand(name)}
        kept = [name.id for name in names if name.id in touched and name.entity in by_hand]
        blanked = self._transaction.rows(
            "blank_mentions", session_id=self._session, message_ids=self._messages, entity_ids=integers(kept)
        )
        removed = self._transaction.rows(
            "withdraw_mentions",
            session_id=self._session,
            message_ids=self._messages,
            entity_ids=integers(sorted({*touched} - {*kept})),
        )
        return groups.after_loss(touched), {*_ids(relations), *_ids(blanked), *_ids(removed)}


class SettledStore:
    """Sessions of which a person deleted something that was extracted: it must not come back when their messages are read again."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def settle(self, session: SessionId) -> None:
        """Have no message that the session has now extracted again."""
        self._transaction.execute("settle_session", session_id=session)

    def settle_mentioning(self, entity: EntityId) -> None:
        """The same for all sessions that mention an entity. Updates them in id order to avoid deadlock."""
        for row in self._transaction.rows("sessions_mentioning", entity_id=entity):
            self.settle(SessionId(cast(int, row[0])))


def _is_changed_by_hand(name: EntityName) -> bool:
    return name.is_corrected or name.grouped_by_hand or name.name_by_hand or name.deleted_at is not None


def _ids(rows: Sequence[Row]) -> list[MessageId]:
    return [MessageId(cast(int, row[0])) for row in rows]
