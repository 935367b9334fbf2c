"""Changes of memories by people (MEM-13): read one, correct, pin, expire or retract it, undo that within a day, see its history.

Nothing that a person changed is changed again by an extraction: see `supersession` and `memories`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cloister.domain.conversation import Session
from cloister.domain.errors import Conflict, InvalidRequest
from cloister.domain.identifiers import MemoryId, SessionId, format_memory_id
from cloister.domain.memory import MAX_MEMORY, MemorySource, StoredMemory, checked_memory, same_as
from cloister.domain.scope import Reach
from cloister.domain.text import checked_categories, checked_metadata, checked_text
from cloister.domain.timestamps import Clock, checked_time
from cloister.domain.tracing.interface import NO_TRACING, TracedRecord, Tracer
from cloister.domain.truth.revision import (
    UNDO_MICROSECONDS,
    MemoryState,
    Revision,
    RevisionAction,
    creation_of,
    state_of,
)
from cloister.domain.truth.subject_words import searchable_text
from cloister.domain.truth.supersession import Person
from cloister.services.conversations.quotations import QuotationRemoval
from cloister.services.events.bus import EventBus
from cloister.services.indexing.memories import MemoryIndexing
from cloister.services.memories.supersession import Copies, Related, Supersession
from cloister.services.memories.truth.manual_facts import ManualFacts
from cloister.storage.interface import FIRST_PAGE, Database, Transaction
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.indexing.derived_index_rows import MemoryIndexStore
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed
from cloister.storage.stores.revisions import RevisionStore

_AT_ONCE = "The memory was changed at the same moment. Look at it, and try again."


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryChange:
    """What to change of a memory; `given` names the fields that are, because None removes an importance or an expiry."""

    given: frozenset[str]
    content: str | None = None
    importance: float | None = None
    expires_at: int | None = None
    pinned: bool | None = None
    categories: Sequence[str] | None = None
    metadata: Mapping[str, object] | None = None


class _Change(NamedTuple):
    """One memory, the state that it gets, and the revision that this undoes, if any."""

    stored: StoredMemory
    after: MemoryState
    undone: Revision | None

    @property
    def is_one(self) -> bool:
        return self.after != state_of(self.stored.memory)

    @property
    def is_other_text(self) -> bool:
        return self.after.content != self.stored.memory.content

    @property
    def retracts(self) -> bool:
        return self.after.retracted_at is not None and self.stored.memory.retracted_at is None

    @property
    def digest(self) -> bytes:
        return same_as(self.after.content)

    @property
    def searchable(self) -> str:
        return searchable_text(self.after.content, self.after.subject)


_Plan = Callable[[Transaction, int], list[_Change]]


class Corrections:
    """Each change is one transaction, with its revision. `by` is the id of the caller's key, or None without one."""

    def __init__(
        self,
        database: Database,
        indexing: MemoryIndexing,
        generation: int,
        clock: Clock,
        events: EventBus,
        manual: ManualFacts,
        tracer: Tracer = NO_TRACING,
    ) -> None:
        self._tracer = tracer
        self._database = database
        self._indexing = indexing
        self._generation = generation
        self._clock = clock
        self._events = events
        self._manual = manual

    def get(self, reach: Reach, memory: MemoryId) -> StoredMemory:
        with self._database.read(reach) as transaction:
            return MemoryStore(transaction).get(memory, self._clock())

    def change_times(self, reach: Reach, memories: Sequence[MemoryId]) -> dict[MemoryId, int]:
        """When people last changed these memories, without those that nobody changed."""
        with self._database.read(reach) as transaction:
            return MemoryStore(transaction).change_times(memories)

    def correct(self, reach: Reach, memory: MemoryId, change: MemoryChange, *, by: str | None) -> StoredMemory:
        """Change the fields that are given. Another text makes the memory one that was `corrected`."""
        checked = checked_change(change, self._clock())
        subjects: dict[str | None, str | None] = {}  # of the text before: read once, and not again with the locks

        def corrected(transaction: Transaction, stored: StoredMemory, _: int) -> MemoryState:
            state = state_of(stored.memory)
            after = replace(state, **{name: getattr(checked, name) for name in checked.given})
            if after.content == state.content:
                return after
            if state.subject not in subjects:
                subjects[state.subject] = self._manual.subject(transaction, stored, after.content)
            return replace(after, source="corrected", subject=subjects[state.subject])

        return self._change(reach, memory, "correct", self._with_copies(memory, corrected), by=by)

    def retract(self, reach: Reach, memory: MemoryId, *, by: str | None) -> StoredMemory:
        """Withdraw a memory: it was never true. It is recalled no more, and what it superseded is true again."""

        def retracted(_: Transaction, stored: StoredMemory, now: int) -> MemoryState:
            state = state_of(stored.memory)
            return state if state.retracted_at is not None else replace(state, retracted_at=now)

        return self._change(reach, memory, "retract", self._with_copies(memory, retracted), by=by)

    def restore(self, reach: Reach, memory: MemoryId, *, by: str | None) -> StoredMemory:
        """Undo the last change of a memory that was not undone yet, within a day, with all copies that it changed too."""

        def plan(transaction: Transaction, now: int) -> list[_Change]:
            stored = MemoryStore(transaction).get(memory, now)
            last = self._undoable(RevisionStore(transaction, memory))
            changes = [_Change(stored, _before(last), last)]
            statement = same_as(_before(last).content)
            for copy in Copies(transaction, self._generation).changed_with(stored, last.changed_at, now):
                its_last = RevisionStore(transaction, copy.memory.id).last()
                is_same = its_last is not None and its_last.changed_at == last.changed_at
                if its_last is not None and is_same and same_as(_before(its_last).content) == statement:
                    changes.append(_Change(copy, _before(its_last), its_last))
            return changes

        return self._change(reach, memory, "restore", plan, by=by)

    def history(
        self, reach: Reach, memory: MemoryId, *, limit: int, after: tuple[int, int] | None = None
    ) -> list[Revision]:
        """A page of the changes of a memory, oldest first. The first is its creation."""
        with self._database.read(reach) as transaction:
            found = MemoryStore(transaction).get(memory, self._clock()).memory
            revisions = RevisionStore(transaction, memory)
            if after is not None:
                return revisions.page(limit=limit, after=after)
            changes = revisions.page(limit=limit, after=FIRST_PAGE)
        first: MemorySource = found.source if not changes else _before(changes[0]).source
        return [creation_of(found, first), *changes][:limit]

    def _with_copies(self, memory: MemoryId, changed: Callable[[Transaction, StoredMemory, int], MemoryState]) -> _Plan:
        """A plan that changes a memory and its copies in the same way."""

        def plan(transaction: Transaction, now: int) -> list[_Change]:
            stored = MemoryStore(transaction).get(memory, now)
            copies = Copies(transaction, self._generation).of(stored, now)
            return [_Change(one, changed(transaction, one, now), None) for one in (stored, *copies)]

        return plan

    def _change(
        self, reach: Reach, memory: MemoryId, action: RevisionAction, plan: _Plan, *, by: str | None
    ) -> StoredMemory:
        with self._tracer.memory("update_memory", reach.tenant) as span:
            stored = self._carry_out(reach, memory, action, plan, by=by)
            named = format_memory_id(memory)
            span.store(stored.project)
            span.result(1, record_id=named, records=lambda: [TracedRecord(named, stored.memory.content)])
            return stored

    def _carry_out(
        self, reach: Reach, memory: MemoryId, action: RevisionAction, plan: _Plan, *, by: str | None
    ) -> StoredMemory:
        """Carry out a plan. It is made twice: before the transaction, which says what has to be indexed and locked, and with the
        locks."""
        with self._database.read(reach) as transaction:
            first, *others = plan(transaction, self._clock())
        indexed = self._indexed([first, *others])

        def work(transaction: Transaction) -> tuple[StoredMemory, list[Session]]:
            sessions = Copies(transaction, self._generation).lock(first.stored, [one.stored for one in others])
            now = self._clock()
            planned = [one for one in plan(transaction, now) if one.stored.memory.session in sessions]
            if first.undone is not None and (planned[0].undone is None or planned[0].undone.id != first.undone.id):
                raise Conflict(_AT_ONCE)
            changes = self._possible(transaction, [one for one in planned if one.is_one], memory, action, now)
            # Before the new states: since when a memory is kept, which decides what is true, follows from its revisions.
            for one in changes:
                _note(transaction, one, action, by=by, now=now)
            quoting = self._store(transaction, sessions, changes, indexed) if changes else []
            return MemoryStore(transaction).get(memory, now), quoting

        stored, quoting = self._database.write(reach, work)
        self._events.all_changed(quoting)
        self._database.maintenance.scrub()
        return stored

    def _indexed(self, changes: Sequence[_Change]) -> dict[str, Indexed]:
        """The index rows of the new texts, with the words of their subjects (MEM-12)."""
        texts = list(dict.fromkeys(one.searchable for one in changes if one.is_other_text))
        return dict(zip(texts, self._indexing.prepare(texts, self._clock()), strict=True))

    def _possible(
        self, transaction: Transaction, changes: Sequence[_Change], memory: MemoryId, action: RevisionAction, now: int
    ) -> list[_Change]:
        """The changes, without those that would give a session the same memory twice. For the memory itself that is a conflict; a
        copy that is to be corrected is retracted instead, since its session already says the new text."""
        memories, possible = MemoryStore(transaction), list[_Change]()
        for one in changes:
            same = memories.with_digest(one.stored.memory.session, one.digest) if one.is_other_text else None
            if same is None or same.id == one.stored.memory.id:
                possible.append(one)
            elif one.stored.memory.id == memory:
                raise Conflict("The session has another memory that says this. Delete one of the two, or retract it.")
            elif action == "correct" and one.stored.memory.retracted_at is None:
                withdrawn = replace(state_of(one.stored.memory), retracted_at=now)
                possible.append(one._replace(after=withdrawn))
        return possible

    def _store(
        self,
        transaction: Transaction,
        sessions: Mapping[SessionId, Session],
        changes: Sequence[_Change],
        indexed: Mapping[str, Indexed],
    ) -> list[Session]:
        """Store new states; returns the sessions of other messages that quoted the memories. A text that is no longer true is taken
        out of quotations, as if it were forgotten."""
        quotations = QuotationRemoval(transaction, self._generation)
        supersession = Supersession(transaction)
        ids = [one.stored.memory.id for one in changes]
        for one in changes:
            if one.is_other_text or one.retracts:
                quotations.add_memory(sessions[one.stored.memory.session], one.stored.memory.id)
                IdempotencyStore(transaction).forget_memories(one.stored.memory.session)
        before = supersession.related(ids)
        for one in changes:
            memory = one.stored.memory
            digest = one.digest if one.is_other_text else None
            RevisionStore(transaction, memory.id).set_state(memory, one.after, digest)
            if one.is_other_text:
                if one.searchable not in indexed:
                    raise Conflict(_AT_ONCE)
                entry = (memory.id, indexed[one.searchable])
                MemoryIndexStore(transaction, self._generation).set_indexed(memory.session, [entry])
        session = sessions[changes[0].stored.memory.session]
        MemoryStore(transaction).note_change(session.pool)
        subjects = before.subjects | supersession.related(ids).subjects
        person = Person(pool=session.pool, user=session.user_id, session=session.id)
        supersession.update(person, Related(subjects=subjects, memories=before.memories | set(ids)))
        return quotations.apply()

    def _undoable(self, revisions: RevisionStore) -> Revision:
        last = revisions.last()
        if last is None:
            raise Conflict("There is no change of this memory that could be undone.")
        if last.changed_at + UNDO_MICROSECONDS <= self._clock():
            raise Conflict(
                "The last change of this memory is more than a day old, and can no longer be undone: correct it."
            )
        return last


def checked_change(change: MemoryChange, now: int) -> MemoryChange:
    """A change with its text as it is stored. `now` is the time that an expiry must be later than."""
    if not change.given:
        raise InvalidRequest("content", "is missing, as all other fields are: name at least one field to change.")
    for name in ("content", "pinned", "categories", "metadata"):
        if name in change.given and getattr(change, name) is None:
            raise InvalidRequest(name, "must not be null: leave it out to keep it as it is.")
    content = change.content
    if content is not None:
        content = checked_memory(checked_text(content, "content", MAX_MEMORY), "content")
    if change.importance is not None and not 0 <= change.importance <= 1:
        raise InvalidRequest("importance", "must be between 0 and 1.")
    if change.expires_at is not None and checked_time(change.expires_at, "expires_at") <= now:
        raise InvalidRequest("expires_at", "must be in the future. To withdraw the memory now, retract it.")
    if change.metadata is not None:
        checked_metadata(change.metadata)
    categories = None if change.categories is None else checked_categories(change.categories)
    return replace(change, content=content, categories=categories)


def _note(transaction: Transaction, change: _Change, action: RevisionAction, *, by: str | None, now: int) -> None:
    """Store the revision of a change, and which revision it undid."""
    revisions, before = RevisionStore(transaction, change.stored.memory.id), state_of(change.stored.memory)
    if change.undone is not None:
        revisions.set_undone(change.undone.id, now)
    replaced = same_as(before.content) if action == "correct" and change.is_other_text else None
    done = "retract" if action == "correct" and change.retracts else action
    revisions.add(done, before, by=by, at=now, replaced=replaced)


def _before(revision: Revision) -> MemoryState:
    if revision.before is None:
        raise ValueError("a creation has nothing before it")
    return revision.before
