"""Changes of memories by people (MEM-13): read one, correct, pin, expire or retract it, undo that within a day, see its history.

Nothing that a person changed is changed again by an extraction: see `supersession` and `memories`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cloister.domain.conversation import Session
from cloister.domain.errors import Conflict, InvalidRequest
from cloister.domain.identifiers import MemoryId
from cloister.domain.memory import MAX_MEMORY, MemorySource, StoredMemory, checked_memory, same_as
from cloister.domain.scope import Reach
from cloister.domain.text import checked_categories, checked_metadata, checked_text
from cloister.domain.timestamps import Clock, checked_time
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
from cloister.services.memories.supersession import Related, Supersession
from cloister.storage.interface import FIRST_PAGE, Database, Transaction
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.indexing.derived_index_rows import MemoryIndexStore
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.revisions import RevisionStore
from cloister.storage.stores.sessions import SessionStore


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


class Corrections:
    """Each change is one transaction, with its revision. `by` is the id of the caller's key, or None without one."""

    def __init__(
        self,
        database: Database,
        indexing: MemoryIndexing,
        generation: int,
        clock: Clock,
        events: EventBus,
        subject_of: Callable[[str], str | None],
    ) -> None:
        """`subject_of` gives the subject of a text, if it states a fact that has one value at a time."""
        self._database = database
        self._indexing = indexing
        self._generation = generation
        self._clock = clock
        self._events = events
        self._subject_of = subject_of

    def get(self, reach: Reach, memory: MemoryId) -> StoredMemory:
        with self._database.read(reach) as transaction:
            return MemoryStore(transaction).get(memory, self._clock())

    def correct(self, reach: Reach, memory: MemoryId, change: MemoryChange, *, by: str | None) -> StoredMemory:
        """Change the fields that are given. Another text makes the memory one that was `corrected`."""
        checked = checked_change(change, self._clock())

        def changed(stored: StoredMemory) -> MemoryState:
            state = state_of(stored.memory)
            after = replace(state, **{name: getattr(checked, name) for name in checked.given})
            if after.content != state.content:
                return replace(after, source="corrected", subject=self._new_subject(state, after.content))
            return after

        indexed = None if checked.content is None else self._indexing.prepare([checked.content], self._clock())[0]
        return self._change(reach, memory, "correct", changed, by=by, indexed=indexed)

    def retract(self, reach: Reach, memory: MemoryId, *, by: str | None) -> StoredMemory:
        """Withdraw a memory: it was never true. It is recalled no more, and what it superseded is true again."""

        def retracted(stored: StoredMemory) -> MemoryState:
            state = state_of(stored.memory)
            return state if state.retracted_at is not None else replace(state, retracted_at=self._clock())

        return self._change(reach, memory, "retract", retracted, by=by)

    def restore(self, reach: Reach, memory: MemoryId, *, by: str | None) -> StoredMemory:
        """Undo the last change of a memory that was not undone yet, within a day."""
        with self._database.read(reach) as transaction:
            stored = MemoryStore(transaction).get(memory, self._clock())
            last = self._undoable(RevisionStore(transaction, memory))
        before = _before(last)
        indexed = None
        if before.content != stored.memory.content:
            text = searchable_text(before.content, stored.memory.subject)
            indexed = self._indexing.prepare([text], self._clock())[0]
        return self._change(reach, memory, "restore", lambda _: before, by=by, indexed=indexed, undone=last)

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

    def _change(
        self,
        reach: Reach,
        memory: MemoryId,
        action: RevisionAction,
        changed: Callable[[StoredMemory], MemoryState],
        *,
        by: str | None,
        indexed: Indexed | None = None,
        undone: Revision | None = None,
    ) -> StoredMemory:
        def work(transaction: Transaction) -> tuple[StoredMemory, list[Session]]:
            memories, now = MemoryStore(transaction), self._clock()
            session = SessionStore(transaction).lock(memories.get(memory, now).session).session
            stored = memories.get(memory, now)
            before, after = state_of(stored.memory), changed(stored)
            revisions = RevisionStore(transaction, memory)
            if undone is not None and self._undoable(revisions).id != undone.id:
                raise Conflict("The memory was changed at the same moment. Look at it, and try again.")
            if after == before:
                return stored, []
            quoting = self._store(transaction, session, stored, after, indexed)
            if undone is not None:
                revisions.set_undone(undone.id, now)
            replaced = same_as(before.content) if action == "correct" and after.content != before.content else None
            revisions.add(action, before, by=by, at=now, replaced=replaced)
            return memories.get(memory, now), quoting

        stored, quoting = self._database.write(reach, work)
        self._events.all_changed(quoting)
        self._database.maintenance.scrub()
        return stored

    def _store(
        self,
        transaction: Transaction,
        session: Session,
        stored: StoredMemory,
        after: MemoryState,
        indexed: Indexed | None,
    ) -> list[Session]:
        """Store the new state; returns the sessions of other messages that quoted the memory. A text that is no longer true is
        taken out of quotations, as if it were forgotten."""
        memory = stored.memory
        is_other_text = after.content != memory.content
        digest = same_as(after.content) if is_other_text else None
        memories, quotations = MemoryStore(transaction), QuotationRemoval(transaction, self._generation)
        PoolStore(transaction, self._generation).lock(session.pool)
        same = None if digest is None else memories.with_digest(session.id, digest)
        if same is not None and same[0] != memory.id:
            raise Conflict("The session has another memory that says this. Delete one of the two, or retract it.")
        if is_other_text or (after.retracted_at is not None and memory.retracted_at is None):
            quotations.add_memory(session, memory.id)
            IdempotencyStore(transaction).forget_memories(session.id)
        supersession = Supersession(transaction)
        related = supersession.related([memory.id])
        RevisionStore(transaction, memory.id).set_state(memory, after, digest)
        if indexed is not None and is_other_text:
            MemoryIndexStore(transaction, self._generation).set_indexed(session.id, [(memory.id, indexed)])
        memories.note_change(session.pool)
        after_change = supersession.related([memory.id])
        person = Person(pool=session.pool, user=session.user_id, session=session.id)
        subjects = related.subjects | after_change.subjects
        supersession.update(person, Related(subjects=subjects, memories=related.memories | {memory.id}))
        return quotations.apply()

    def _new_subject(self, before: MemoryState, content: str) -> str | None:
        """The subject of a corrected text. A subject that only a model could give stays as it was."""
        return self._subject_of(content) if self._subject_of(before.content) == before.subject else before.subject

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


def _before(revision: Revision) -> MemoryState:
    if revision.before is None:
        raise ValueError("a creation has nothing before it")
    return revision.before
