"""Forget: storage first, in one transaction, with everything derived; then the index. From the commit on it is unreachable."""

from contextlib import suppress
from dataclasses import dataclass

from cloister.domain.conversation import Session
from cloister.domain.errors import NotFound, StorageUnavailable
from cloister.domain.identifiers import MessageId, SessionId, format_message_id
from cloister.domain.scope import Reach
from cloister.index.interface import NEIGHBOURS, Index
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.queue import IndexQueue
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore, Touched
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.index_rows import IndexStore
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.turns import TurnStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """How much is gone."""

    messages: int
    episodes: int
    memories: int
    observations: int


class Forgetting:
    """One transaction a call."""

    def __init__(
        self,
        database: Database,
        index: Index,
        queue: IndexQueue,
        entities: EntityIndexing,
        generation: int,
        events: EventBus,
    ) -> None:
        self._database = database
        self._entities = entities
        self._index = index
        self._queue = queue
        self._generation = generation
        self._events = events

    def session(self, reach: Reach, external_id: str) -> Forgotten:
        """The session and all that was said in it."""

        def work(transaction: Transaction) -> tuple[Session, Forgotten, list[Session]]:
            session, forgotten, quoting = self._empty(transaction, external_id)
            IdempotencyStore(transaction).forget_session(session.id)
            PoolStore(transaction, self._generation).note_departure(session.pool)
            SessionStore(transaction).remove(session.id, messages=forgotten.messages)
            return session, forgotten, quoting

        session, forgotten, quoting = self._database.write(reach, work)
        self._events.deleted(session)
        self._events.all_changed(quoting)
        self.clean_up()
        return forgotten

    def contents(self, reach: Reach, external_id: str) -> Forgotten:
        """All that was said in a session; the session itself stays, empty."""

        def work(transaction: Transaction) -> tuple[Session, Forgotten, list[Session]]:
            session, forgotten, quoting = self._empty(transaction, external_id)
            version = PoolStore(transaction, self._generation).raise_version(session.pool)
            SessionStore(transaction).note_removal(session.id, removed=forgotten.messages, version=version)
            ExtractionStore(transaction).count_again(session.id)
            return session, forgotten, quoting

        session, forgotten, quoting = self._database.write(reach, work)
        self._events.changed(session)
        self._events.all_changed(quoting)
        self.clean_up()
        return forgotten

    def message(self, reach: Reach, message: MessageId) -> None:
        """One message."""

        def work(transaction: Transaction) -> list[Session]:
            messages = MessageStore(transaction)
            external_id = messages.session_name(message)
            sessions = SessionStore(transaction)
            session = sessions.lock(external_id).session
            quotations = QuotationRemoval(transaction, self._generation)
            quotations.add_message(session, message)
            self._forget_derived_from(transaction, session.id, message)
            removed = messages.remove(session.id, [message])
            if not removed:
                raise NotFound("message", format_message_id(message))
            version = PoolStore(transaction, self._generation).raise_version(session.pool)
            sessions.note_removal(session.id, removed=removed, version=version)
            ExtractionStore(transaction).count_again(session.id)
            self._note_removal(transaction, session.id, message)
            return [session, *(one for one in quotations.apply() if one.id != session.id)]

        self._events.all_changed(self._database.write(reach, work))
        self.clean_up()

    def _empty(self, transaction: Transaction, external_id: str) -> tuple[Session, Forgotten, list[Session]]:
        """Gives also the sessions in which something quoted it."""
        session = SessionStore(transaction).lock(external_id).session
        quotations = QuotationRemoval(transaction, self._generation)
        forgotten, entities = self.remove_contents(transaction, session, quotations)
        self._entities.index_again(transaction, entities.left, gone=entities.gone)
        return session, forgotten, quotations.apply()

    def remove_contents(
        self, transaction: Transaction, session: Session, quotations: QuotationRemoval
    ) -> tuple[Forgotten, Touched]:
        """Inside a transaction that has locked the session: all that was said in it, and all that derives from that. The caller
        indexes again the entities that are left, and then takes out the quotations, of several sessions together."""
        quotations.add_session(session)
        memories, messages = MemoryStore(transaction), MessageStore(transaction)
        forgotten_memories = memories.remove(session.id, memories.ids(session.id))
        observations = ObservationStore(transaction).forget_session(session.id)
        entities = EntityStore(transaction).forget_session(session.id)
        ExtractionStore(transaction).forget_past(session.id)
        IdempotencyStore(transaction).forget_contents(session.id)
        TurnStore(transaction).revoke(session.id)
        episodes = messages.count_episodes(session.id)
        removed = messages.remove_all(session.id)
        self._note_removal(transaction, session.id)
        forgotten = Forgotten(
            messages=removed, episodes=episodes, memories=forgotten_memories, observations=observations
        )
        return forgotten, entities

    def _forget_derived_from(self, transaction: Transaction, session: SessionId, message: MessageId) -> None:
        """What came from a message goes with it, even if it also came from others."""
        memories = MemoryStore(transaction)
        memories.remove(session, memories.derived_from(message))
        ObservationStore(transaction).forget_message(session, message)
        IdempotencyStore(transaction).forget_message(session, message)
        entities = EntityStore(transaction).forget_message(message)
        self._entities.index_again(transaction, entities.left, gone=entities.gone)

    def _note_removal(self, transaction: Transaction, session: SessionId, message: MessageId | None = None) -> None:
        """With an index outside the database the removal waits in the queue, so that no crash can lose it."""
        if self._index.immediate:
            return
        rows = IndexStore(transaction, self._generation)
        rows.note_removal(session, message)
        if message is not None:
            rows.wait_again(session, message, NEIGHBOURS)

    def clean_up(self) -> None:
        """After the commit: what is forgotten is unreachable already. An index that cannot be told now is told when the queue is
        drained."""
        self._database.maintenance.scrub()
        if not self._index.immediate:
            with suppress(StorageUnavailable):
                self._queue.drain()
