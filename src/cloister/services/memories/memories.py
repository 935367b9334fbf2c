"""Add, list and forget memories. All memories, extracted or added by hand, are stored by `add_prepared` (MEM-2)."""

import hashlib
import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cloister.domain.conversation import Session
from cloister.domain.erasure import Removal
from cloister.domain.errors import InvalidRequest, NotFound
from cloister.domain.extraction import ExtractedMemory, ManualMemory
from cloister.domain.identifiers import MemoryId, MessageId, SessionId, format_memory_id, new_memory_id
from cloister.domain.memory import (
    MEMORY_STATUSES,
    Memory,
    MemorySource,
    MemoryStatus,
    StoredMemory,
    checked_memory,
    same_as,
)
from cloister.domain.recall.filter import Filter
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ANY_SESSION, ExpectedSession
from cloister.domain.text import checked_name, is_storable
from cloister.domain.timestamps import Clock
from cloister.domain.truth.subject_words import searchable_text
from cloister.domain.truth.supersession import Person
from cloister.services.certificates.rehearsal import run
from cloister.services.certificates.removed_rows import NotedEntities, note_memories, note_text
from cloister.services.conversations.expected import check_expected
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import EventBus
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.indexing.memories import MemoryIndexing
from cloister.services.memories.filtered_list import memory_page
from cloister.services.memories.supersession import Copies, Supersession
from cloister.services.memories.truth.additions import (
    NO_LABELS,
    MemoryAdditions,
    MemoryLabels,
    added_before,
    additions,
    checked_memories,
)
from cloister.services.memories.truth.manual_facts import ManualFacts
from cloister.services.tenancy.idempotency import done_once, request, write_once
from cloister.storage.interface import FIRST_PAGE, Database, Transaction
from cloister.storage.stores.branches.withdrawals import SettledStore
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.idempotency import FirstAnswer, IdempotencyStore
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.revisions import RevisionStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.supersession import ReplacementStore, SupersessionStore

# A statement that was true and superseded so often is not stored again.
_MOST_REPETITIONS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedMemory:
    """A memory with all that is computed before the transaction that stores it."""

    extracted: ExtractedMemory
    digest: bytes
    indexed: Indexed


class Memories:
    """Memories are normalised, and without duplicates in a session."""

    def __init__(
        self,
        database: Database,
        indexing: MemoryIndexing,
        generation: int,
        clock: Clock,
        events: EventBus,
        entities: EntityIndexing,
        manual: ManualFacts,
    ) -> None:
        self._manual = manual
        self._entities = entities
        self._database = database
        self._indexing = indexing
        self._generation = generation
        self._clock = clock
        self._events = events

    def add(
        self,
        reach: Reach,
        external_id: str,
        contents: Sequence[str],
        *,
        idempotency_key: str | None = None,
        labels: MemoryLabels = NO_LABELS,
        valid_from: int | None = None,
        by_assistant: Collection[int] = (),
        expected: ExpectedSession = ANY_SESSION,
    ) -> MemoryAdditions:
        """Add memories by hand, if the session is as expected. They have no sources, and stay until they or their session are
        forgotten. `labels` and `valid_from`, which is no part of what a repeated request is recognised by, are those of all of
        them. `by_assistant` are the positions of those in which "I" is an assistant."""
        if not is_storable(external_id):
            raise NotFound("session", external_id)
        checked = checked_memories(contents)
        said_at = self._clock() if valid_from is None else valid_from
        manual = [
            ManualMemory(content=text, said_at=said_at, is_own=at not in by_assistant)
            for at, text in enumerate(checked)
        ]
        with self._database.read(reach) as transaction:
            facts = self._manual.of(transaction, external_id, manual)
        stated = [
            ExtractedMemory(
                content=text,
                sources=(),
                subject=fact.subject,
                replaces=fact.replaces,
                importance=labels.importance,
                categories=labels.categories,
                metadata=labels.metadata,
                valid_from=valid_from,
            )
            for text, fact in zip(checked, facts, strict=True)
        ]
        prepared = self.prepare(stated)
        parts = [checked, labels.given] if labels.given else [checked]
        given = None if idempotency_key is None else request(idempotency_key, *parts)
        changed: list[Session] = []

        def work(transaction: Transaction) -> MemoryAdditions:
            session = SessionStore(transaction).lock(external_id).session
            check_expected(transaction, session, expected)

            def first() -> tuple[MemoryAdditions, FirstAnswer]:
                added = self.add_prepared(transaction, session.id, prepared, "written")
                changed.extend([session] if added else [])
                kept = [[each.id, each.session, each.created_at, checked.index(each.content)] for each in added]
                answer = FirstAnswer("memories", json.dumps(kept), session=session.id)
                return additions(session, added, len(prepared)), answer

            def again(kept: Sequence[Any]) -> MemoryAdditions:
                return additions(session, added_before(kept, checked, labels), len(prepared))

            if given is None:
                return first()[0]
            namespace = ("memories", session.id)
            return done_once(transaction, given, namespace, self._clock, first=first, again=again, is_sessions=True)

        answer = write_once(self._database, reach, work)
        self._events.all_changed(changed[-1:])
        return answer

    def prepare(self, extracted: Sequence[ExtractedMemory]) -> list[PreparedMemory]:
        """Normalise and embed memories, and compute the digests by which duplicates are found."""
        now = self._clock()
        contents = [checked_memory(memory.content) for memory in extracted]
        texts = [searchable_text(content, one.subject) for content, one in zip(contents, extracted, strict=True)]
        indexed = self._indexing.prepare(texts, now)
        return [
            PreparedMemory(
                extracted=replace(memory, content=content, importance=_bounded(memory.importance)),
                digest=same_as(content),
                indexed=entry,
            )
            for memory, content, entry in zip(extracted, contents, indexed, strict=True)
        ]

    def add_prepared(
        self, transaction: Transaction, session: SessionId, prepared: Sequence[PreparedMemory], source: MemorySource
    ) -> list[Memory]:
        """Store memories that the session does not have yet (MEM-2), in a transaction that has locked it; returns the new ones in
        order."""
        memories, supersession = MemoryStore(transaction), Supersession(transaction)
        person = ReplacementStore(transaction).person(session) if prepared else None
        if person is None:
            return []
        # Locked before anything is compared, so that nobody retracts or adds a memory of the same person meanwhile.
        PoolStore(transaction, self._generation).lock(person.pool)
        by_person = source == "written"
        withdrawn = set[bytes]() if by_person else SupersessionStore(transaction, person).withdrawn()
        now = self._clock()
        added: list[Memory] = []
        replaces: dict[MemoryId, Sequence[MemoryId]] = {}
        for position, entry in enumerate(prepared):
            extracted, created_at = entry.extracted, now + position
            memory = Memory(
                id=new_memory_id(),
                session=session,
                content=extracted.content,
                importance=extracted.importance,
                sources=extracted.sources,
                created_at=created_at,
                valid_from=created_at if extracted.valid_from is None else extracted.valid_from,
                source=source,
                subject=extracted.subject,
                categories=extracted.categories,
                metadata=extracted.metadata,
            )
            if entry.digest not in withdrawn and _insert(memories, memory, entry, by_person=by_person):
                added.append(memory)
                replaces[memory.id] = extracted.replaces
        if added:
            memories.count(session, len(added))
            supersession.add(person, added, replaces)
        return added

    def of_session(
        self,
        reach: Reach,
        external_id: str,
        *,
        limit: int,
        after: tuple[int, int] | None = None,
        behind: MemoryId | None = None,
        filter: Filter | None = None,
        status: MemoryStatus | None = None,
    ) -> list[StoredMemory]:
        """A page of a session's memories, oldest first, after the cursor (created_at, id) or after an existing memory; with a
        filter, of those that it lets pass."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            memories = MemoryStore(transaction)
            now = self._clock()
            if behind is not None and memories.get(behind, now).memory.session != session.id:
                raise NotFound("memory", format_memory_id(behind))
            read = partial(memories.of_session, session.id, now=now, status=status)
            return memory_page(read, filter, limit=limit, after=after or _cursor(memories, behind, now))

    def of_user(
        self,
        reach: Reach,
        user: str,
        *,
        limit: int,
        after: tuple[int, int] | None = None,
        behind: MemoryId | None = None,
        filter: Filter | None = None,
        status: MemoryStatus | None = None,
    ) -> list[StoredMemory]:
        """A page of the memories of all sessions of a user, for display and audit (MEM-8)."""
        checked_name(user, "user_id")
        reach.user_of(user)
        with self._database.read(reach) as transaction:
            memories = MemoryStore(transaction)
            now = self._clock()
            read = partial(memories.of_user, user, now=now, status=status)
            return memory_page(read, filter, limit=limit, after=after or _cursor(memories, behind, now))

    def of_messages(self, reach: Reach, messages: Sequence[MessageId]) -> list[StoredMemory]:
        """The memories that came from these messages and are within reach, oldest first."""
        with self._database.read(reach) as transaction:
            memories, now = MemoryStore(transaction), self._clock()
            found: list[StoredMemory] = []
            for memory in {memory for message in messages for memory in memories.derived_from(message)}:
                with suppress(NotFound):
                    found.append(memories.get(memory, now))
        return sorted(found, key=lambda stored: (stored.memory.created_at, stored.memory.id))

    def forget(self, reach: Reach, memory: MemoryId, *, dry_run: bool = False) -> Removal:
        """Remove a memory with its copies, and quotations of it in stored replies. Its messages stay, and quotations of their other
        words; notes on entities lose the sentence that says the same. With `dry_run` the transaction is rolled back."""
        changed, removal = run(self._database, reach, partial(self._remove, memory=memory), dry_run=dry_run)
        if not dry_run:
            self._note_forgotten(changed)
        return removal

    def forget_each(self, reach: Reach, memories: Sequence[MemoryId]) -> list[Removal]:
        """Remove memories as `forget` does, all in one transaction. One that is not there any more is passed over."""

        def work(transaction: Transaction) -> list[tuple[list[Session], Removal]]:
            gone: list[tuple[list[Session], Removal]] = []
            for memory in sorted(set(memories)):
                with suppress(NotFound):
                    gone.append(self._remove(transaction, memory))
            return gone

        removed = self._database.write(reach, work)
        self._note_forgotten([session for quoting, _ in removed for session in quoting])
        return [removal for _, removal in removed]

    def _note_forgotten(self, quoting: Sequence[Session]) -> None:
        self._events.all_changed(quoting)
        self._database.maintenance.scrub()

    def _remove(self, transaction: Transaction, memory: MemoryId) -> tuple[list[Session], Removal]:
        """Remove a memory with its copies; returns the sessions of messages that quoted it, and what went."""
        memories, copies = MemoryStore(transaction), Copies(transaction, self._generation)
        named = memories.get(memory, self._clock())
        sessions = copies.lock(named, copies.of(named, self._clock()))
        named = memories.get(memory, self._clock())
        others = (copy for copy in copies.of(named, self._clock()) if copy.memory.session in sessions)
        removed = [one.memory for one in (named, *others)]
        quotations = QuotationRemoval(transaction, self._generation)
        supersession = Supersession(transaction)
        related = supersession.related([one.id for one in removed])
        removal = Removal()
        note_memories(removal, [one.id for one in removed])
        for one in removed:
            quotations.add_memory(sessions[one.session], one.id)
            said = {same_as(one.content), *RevisionStore(transaction, one.id).replaced()}
            memories.remove(one.session, [one.id])
            SettledStore(transaction).settle(one.session)
            mentioned = NotedEntities(transaction, EntityStore(transaction).of_session(one.session))
            noted = EntityStore(transaction).forget_statements(one.session, said)
            mentioned.gone(removal, noted.gone)
            self._entities.index_again(transaction, noted.left, gone=noted.gone)
            IdempotencyStore(transaction).forget_memories(one.session)
        session = sessions[named.memory.session]
        supersession.update(Person(pool=session.pool, user=session.user_id, session=session.id), related)
        note_text(transaction, session, removal, named.memory.content)
        return quotations.apply(), removal


def checked_status(status: MemoryStatus | None) -> MemoryStatus | None:
    if status is not None and status not in MEMORY_STATUSES:
        raise InvalidRequest("status", f"must be one of {', '.join(MEMORY_STATUSES)}.")
    return status


def _insert(memories: MemoryStore, memory: Memory, entry: PreparedMemory, *, by_person: bool) -> bool:
    """Store a memory unless the session has it already. One that is said again after another took its place, or after it
    expired, is stored again, with a digest of its own; so is one that was retracted, if a person adds it. A message that is only
    read again says nothing again."""
    digest = entry.digest
    for _ in range(_MOST_REPETITIONS):
        if memories.add(memory, digest, entry.indexed):
            return True
        existing = memories.with_digest(memory.session, digest)
        if existing is None or not memories.sources(existing.id).isdisjoint(memory.sources):
            return False
        if existing.is_retracted and not by_person:
            return False
        is_over = existing.expires_at is not None and existing.expires_at <= memory.valid_from
        after = existing.id if existing.is_retracted or is_over else existing.superseded_by
        if after is None:
            return False
        digest = hashlib.sha256(entry.digest + after.to_bytes(8)).digest()[:16]
    return False


def _cursor(memories: MemoryStore, behind: MemoryId | None, now: int) -> tuple[int, int]:
    if behind is None:
        return FIRST_PAGE
    memory = memories.get(behind, now).memory
    return memory.created_at, memory.id


def _bounded(importance: float | None) -> float | None:
    return None if importance is None else min(1.0, max(0.0, importance))
