"""Forget messages and sessions: from storage, with everything derived from them, in one transaction; then from the index.

They are unreachable from the commit on, even if the index could not be updated yet.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain

from cloister.domain.branches import NO_MESSAGE
from cloister.domain.conversation import Session
from cloister.domain.erasure import Removal
from cloister.domain.errors import NotFound, StorageUnavailable
from cloister.domain.identifiers import (
    EntityId,
    MemoryId,
    MessageId,
    SessionId,
    format_message_id,
)
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ANY_SESSION, ExpectedSession
from cloister.domain.sessions.titles import repeats
from cloister.domain.tracing.interface import NO_TRACING, MemorySpan, Tracer
from cloister.domain.truth.supersession import Person
from cloister.index.interface import WINDOW_REACH, ExternalIndex
from cloister.services.certificates.rehearsal import run
from cloister.services.certificates.removed_rows import note_messages, note_observations, note_session
from cloister.services.conversations.expected import check_expected
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.queue import IndexQueue
from cloister.services.memories.supersession import Supersession
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import TouchedEntities
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.files.trees import remove_files
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.indexing.index_rows import IndexStore
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.turns import TurnStore


@dataclass(frozen=True, kw_only=True, slots=True)
class ForgottenCounts:
    """How much was removed."""

    messages: int
    episodes: int
    memories: int
    observations: int
    files: int = 0
    removal: Removal = field(default_factory=Removal, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class RemovedMessages:
    """How many messages were removed, and how many memories that derive from them; and the names of entities that went with them,
    with the number of entities that were shown and have no name left."""

    messages: int
    memories: int
    entities: tuple[EntityId, ...] = ()
    ended_entities: int = 0


class Forgetting:
    """Each call is one transaction. `external` is None with the exact index."""

    def __init__(
        self,
        database: Database,
        external: ExternalIndex | None,
        queue: IndexQueue,
        entities: EntityIndexing,
        generation: int,
        events: EventBus,
        tracer: Tracer = NO_TRACING,
    ) -> None:
        self._tracer = tracer
        self._database = database
        self._entities = entities
        self._external = external
        self._queue = queue
        self._generation = generation
        self._events = events

    def session(self, reach: Reach, external_id: str, *, dry_run: bool = False) -> ForgottenCounts:
        """Remove a session and all its messages. With `dry_run` the transaction is rolled back."""

        def work(transaction: Transaction) -> tuple[Session, ForgottenCounts, list[Session]]:
            return self._remove(transaction, external_id)

        with self._tracer.memory("delete_memory", reach.tenant) as span:
            session, forgotten, quoting = run(self._database, reach, work, dry_run=dry_run)
            _note(span, session, 0 if dry_run else forgotten.messages + forgotten.memories)
            return forgotten if dry_run else self._note_deleted(session, forgotten, quoting)

    def session_of_request(self, reach: Reach, session: Session, *, messages: int) -> bool:
        """Remove a session that a request made, if nothing but that request's messages is in it; whether it was removed."""

        def work(transaction: Transaction) -> tuple[Session, ForgottenCounts, list[Session]] | None:
            stored = SessionStore(transaction).lock(session.external_id).session
            if (stored.id, stored.message_count, stored.memory_count) != (session.id, messages, 0):
                return None
            return self._remove(transaction, session.external_id)

        with self._tracer.memory("delete_memory", reach.tenant) as span:
            removed = self._database.write(reach, work)
            if removed is not None:
                _note(span, session, removed[1].messages)
                self._note_deleted(*removed)
            return removed is not None

    def _remove(self, transaction: Transaction, external_id: str) -> tuple[Session, ForgottenCounts, list[Session]]:
        session, forgotten, quoting = self._empty(transaction, external_id, is_deleted=True)
        IdempotencyStore(transaction).forget_session(session.id)
        PoolStore(transaction, self._generation).note_departure(session.pool)
        SessionStore(transaction).remove(session.id, messages=forgotten.messages)
        return session, forgotten, quoting

    def _note_deleted(
        self, session: Session, forgotten: ForgottenCounts, quoting: Sequence[Session]
    ) -> ForgottenCounts:
        self._events.deleted(session)
        self._events.all_changed(quoting)
        self.clean_up()
        return forgotten

    def contents(
        self, reach: Reach, external_id: str, *, dry_run: bool = False, expected: ExpectedSession = ANY_SESSION
    ) -> ForgottenCounts:
        """Remove all messages of a session, if it is as expected; the empty session stays. With `dry_run` the transaction is rolled
        back."""

        def work(transaction: Transaction) -> tuple[Session, ForgottenCounts, list[Session]]:
            session, forgotten, quoting = self._empty(transaction, external_id, is_deleted=False, expected=expected)
            version = PoolStore(transaction, self._generation).raise_version(session.pool)
            SessionStore(transaction).note_removal(session.id, removed=forgotten.messages, version=version)
            ExtractionStore(transaction).recount_unchecked(session.id)
            return session, forgotten, quoting

        with self._tracer.memory("delete_memory", reach.tenant) as span:
            session, forgotten, quoting = run(self._database, reach, work, dry_run=dry_run)
            _note(span, session, 0 if dry_run else forgotten.messages + forgotten.memories)
            if not dry_run:
                self._events.changed(session)
                self._events.all_changed(quoting)
                self.clean_up()
            return forgotten

    def message(
        self,
        reach: Reach,
        message: MessageId,
        *,
        dry_run: bool = False,
        expected: ExpectedSession = ANY_SESSION,
    ) -> Removal:
        """Remove one message, if its session is as expected. With `dry_run` the transaction is rolled back."""

        def work(transaction: Transaction) -> tuple[list[Session], Removal]:
            external_id = MessageStore(transaction).session_name(message)
            session = SessionStore(transaction).lock(external_id).session
            check_expected(transaction, session, expected)
            quotations = QuotationRemoval(transaction, self._generation)
            notes = ObservationStore(transaction)
            quotations.add_messages(session, [message], notes.contents(session.id, message))
            removal = Removal()
            entities = note_messages(transaction, session, [message], removal)
            note_observations(removal, notes.forget_message(session.id, message))
            gone = self.remove_messages(transaction, session, [message])
            if not gone.messages:
                raise NotFound("message", format_message_id(message))
            entities.gone(removal, gone.entities)
            return [session, *(one for one in quotations.apply() if one.id != session.id)], removal

        with self._tracer.memory("delete_memory", reach.tenant) as span:
            changed, removal = run(self._database, reach, work, dry_run=dry_run)
            _note(span, changed[0], 0 if dry_run else 1, record_id=format_message_id(message))
            if not dry_run:
                self._events.all_changed(changed)
                self.clean_up()
            return removal

    def _empty(
        self,
        transaction: Transaction,
        external_id: str,
        *,
        is_deleted: bool,
        expected: ExpectedSession = ANY_SESSION,
    ) -> tuple[Session, ForgottenCounts, list[Session]]:
        """Remove the contents of a session. Also returns the sessions with messages that quoted it."""
        session = SessionStore(transaction).lock(external_id).session
        check_expected(transaction, session, expected)
        quotations = QuotationRemoval(transaction, self._generation)
        supersession = Supersession(transaction)
        PoolStore(transaction, self._generation).lock(session.pool)
        related = supersession.related(MemoryStore(transaction).ids(session.id))
        removal = Removal()
        forgotten, entities = self.remove_contents(transaction, session, quotations, removal, is_deleted=is_deleted)
        forgotten = replace(forgotten, removal=removal)
        supersession.update(_person(session), related)
        self._entities.index_again(transaction, entities.left, gone=entities.gone)
        return session, forgotten, quotations.apply()

    def remove_contents(
        self,
        transaction: Transaction,
        session: Session,
        quotations: QuotationRemoval,
        removal: Removal,
        *,
        is_deleted: bool,
    ) -> tuple[ForgottenCounts, TouchedEntities]:
        """Remove a session's messages and all that derives from them, in a transaction that has locked the session, and note them
        in `removal`. The caller has to index again the entities that are left, and then to apply `quotations`, once for all
        sessions."""
        quotations.add_session(session)
        noted = note_session(transaction, session, removal, is_deleted=is_deleted)
        memories, messages = MemoryStore(transaction), MessageStore(transaction)
        forgotten_memories = memories.remove(session.id, memories.ids(session.id))
        observations = ObservationStore(transaction).forget_session(session.id)
        entities = EntityStore(transaction).forget_session(session.id)
        noted.gone(removal, entities.gone)
        ExtractionStore(transaction).forget_past(session.id)
        IdempotencyStore(transaction).forget_contents(session.id)
        TurnStore(transaction).revoke(session.id)
        _forget_title(transaction, session, None)
        files = remove_files(transaction, session.id)
        episodes = messages.count_episodes(session.id)
        removed = messages.remove_all(session.id)
        self.note_removal(transaction, session.id)
        forgotten = ForgottenCounts(
            messages=removed,
            episodes=episodes,
            memories=forgotten_memories,
            observations=observations,
            files=files,
        )
        return forgotten, entities

    def remove_messages(
        self, transaction: Transaction, session: Session, messages: Sequence[MessageId]
    ) -> RemovedMessages:
        """Remove some messages of a session, in a transaction that has locked it, with the memories and mentions that derive from
        any of them, even if they derive from other messages too. The caller removes observations, and quotations."""
        memories = MemoryStore(transaction)
        derived = sorted({memory for message in messages for memory in memories.derived_from(message)})
        forgotten_memories = self.remove_memories(transaction, session, derived)
        answers = IdempotencyStore(transaction)
        for message in messages:
            answers.forget_message(session.id, message)
        _forget_title(transaction, session, messages)
        entities = EntityStore(transaction).forget_messages(messages)
        self._entities.index_again(transaction, entities.left, gone=entities.gone)
        removed = BranchStore(transaction).remove(session, messages)
        version = PoolStore(transaction, self._generation).raise_version(session.pool)
        SessionStore(transaction).note_removal(session.id, removed=removed, version=version)
        ExtractionStore(transaction).recount_unchecked(session.id)
        for message in messages:
            self.note_removal(transaction, session.id, message)
        return RemovedMessages(
            messages=removed, memories=forgotten_memories, entities=entities.gone, ended_entities=entities.ended
        )

    def remove_memories(self, transaction: Transaction, session: Session, memories: Sequence[MemoryId]) -> int:
        """Remove memories of a session, in a transaction that has locked it; what they superseded is true again (MEM-12)."""
        supersession = Supersession(transaction)
        related = supersession.related(memories)
        removed = MemoryStore(transaction).remove(session.id, memories)
        supersession.update(_person(session), related)
        return removed

    def note_removal(self, transaction: Transaction, session: SessionId, message: MessageId | None = None) -> None:
        """With an external index, put the removal into the queue, so that a crash cannot lose it."""
        if self._external is None:
            return
        rows = IndexStore(transaction, self._generation)
        rows.note_removal(session, message)
        if message is not None:
            rows.requeue_around(session, message, WINDOW_REACH)

    def note_branch(
        self,
        transaction: Transaction,
        session: SessionId,
        leaving: Sequence[MessageId],
        arriving: Sequence[MessageId],
    ) -> None:
        """With an external index, put the removal of messages that left the current branch into the queue, and those that came."""
        if self._external is None:
            return
        rows = IndexStore(transaction, self._generation)
        for message in leaving:
            self.note_removal(transaction, session, message)
        rows.requeue(session, arriving)
        for message in arriving:
            rows.requeue_around(session, message, WINDOW_REACH)

    def clean_up(self) -> None:
        """After the commit: scrub freed pages, and remove points from the external index. Where that fails now, the removals stay
        in the queue."""
        self._database.maintenance.scrub()
        self.drain()

    def drain(self) -> None:
        """After a commit: bring the external index up to date, if there is one."""
        if self._external is not None:
            with suppress(StorageUnavailable):  # a worker retries
                self._queue.drain()


def _forget_title(transaction: Transaction, session: Session, messages: Sequence[MessageId] | None) -> None:
    """Remove a session's title if it was made of one of these messages, which are about to be removed (None: all of them): by a
    model, or by repeating the first words."""
    title, store = session.title, MessageStore(transaction)
    if title is None or messages == []:
        return
    contents = chain.from_iterable(store.contents(session.id, message) for message in (messages or [None]))
    is_said = any(repeats(title, content) for content in contents)
    SessionStore(transaction).forget_title(session.id, min(messages or [NO_MESSAGE]), said=title if is_said else None)


def _note(span: MemorySpan, session: Session, removed: int, *, record_id: str | None = None) -> None:
    span.store(session.project)
    span.result(removed, session=session.id, record_id=record_id)


def _person(session: Session) -> Person:
    return Person(pool=session.pool, user=session.user_id, session=session.id)
