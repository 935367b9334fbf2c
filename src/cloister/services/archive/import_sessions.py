"""Import sessions of an archive with what was said in them and what derives from it, in batches.

A batch is one transaction. A session of many messages is imported in several: one that was interrupted is completed by the next
import of the same archive.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cloister.domain.archive.ids import session_numbers
from cloister.domain.archive.imported import ImportTally
from cloister.domain.archive.records import (
    FormerProjectRecord,
    ItemRecord,
    MemoryRecord,
    MessageRecord,
    ObservationRecord,
    ResponseRecord,
    RevisionRecord,
    SessionRecord,
)
from cloister.domain.archive.stored_records import FileRecord
from cloister.domain.conversation import Message, Session
from cloister.domain.errors import Conflict, Forbidden, InvalidRequest, NotFound
from cloister.domain.identifiers import MAX_SEQUENCE, SEQUENCE_BITS, MemoryId, MessageId, PoolId, SessionId, session_of
from cloister.domain.memory import Memory, checked_memory
from cloister.domain.project_settings import pending_message_count
from cloister.domain.prompts.recalled_text import NO_POOL
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, refuse_over
from cloister.services.archive.archived_projects import ArchivedProjects
from cloister.services.archive.import_branches import BranchImport
from cloister.services.archive.import_files import FileImport, ImportedFiles, lock_projects
from cloister.services.archive.import_items import add_items, add_responses
from cloister.services.events.bus import EventBus
from cloister.services.indexing.indexer import Indexer
from cloister.services.memories.supersession import Supersession
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.supersession import ReplacementStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

_LARGEST_BATCH = 200
_MOST_CHARACTERS = 500_000
DELETED = "the session was deleted while it was imported"


@dataclass(kw_only=True, slots=True)
class SessionBatch:
    """A session of an archive, and its records that are not stored yet. `last` is the last message that was read; `is_added` is set
    after the first batch of a session, and `is_gone` if it was deleted since then. `is_forked`: not every message follows the one
    before it, or some are not on the current branch."""

    record: SessionRecord
    last: int = 0
    is_added: bool = False
    is_gone: bool = False
    is_forked: bool = False
    characters: int = 0
    former: list[FormerProjectRecord] = field(default_factory=list[FormerProjectRecord])
    messages: list[MessageRecord] = field(default_factory=list[MessageRecord])
    memories: list[MemoryRecord] = field(default_factory=list[MemoryRecord])
    revisions: list[tuple[MemoryId, RevisionRecord]] = field(default_factory=list[tuple[MemoryId, RevisionRecord]])
    observations: list[ObservationRecord] = field(default_factory=list[ObservationRecord])
    items: list[tuple[ItemRecord, str]] = field(default_factory=list[tuple[ItemRecord, str]])
    responses: list[tuple[ResponseRecord, dict[str, Any]]] = field(
        default_factory=list[tuple[ResponseRecord, dict[str, Any]]]
    )
    files: list[FileRecord] = field(default_factory=list[FileRecord])
    position: int = -1
    """The position of the last item after the last message."""

    @property
    def is_full(self) -> bool:
        derived = (self.memories, self.revisions, self.observations)
        size = sum(map(len, (self.messages, self.items, self.responses, self.files, *derived)))
        return size >= _LARGEST_BATCH or self.characters >= _MOST_CHARACTERS

    def check(self, message: MessageId, name: str) -> None:
        """Refuse a reference to a message of another session."""
        if session_of(message) != self.record.id or not message & MAX_SEQUENCE:
            raise InvalidRequest(name, "is not the id of a message of the session before it.")

    def rest(self) -> "SessionBatch":
        """The same session without records, after they were stored."""
        return SessionBatch(
            record=self.record,
            last=self.last,
            position=self.position,
            is_added=True,
            is_gone=self.is_gone,
            is_forked=self.is_forked,
        )


class _Stored(NamedTuple):
    session: Session
    is_new: bool
    messages: int
    memories: int
    observations: int
    files: ImportedFiles
    ids: dict[MemoryId, MemoryId]


class SessionImport:
    """Stores batches. `numbers` and `memories` are ids of the archive that are stored under others."""

    def __init__(
        self,
        database: Database,
        indexer: Indexer,
        clock: Clock,
        limits: Limits,
        events: EventBus,
        reach: Reach,
        archived: ArchivedProjects,
    ) -> None:
        self._archived = archived
        self._database = database
        self._indexer = indexer
        self._clock = clock
        self._limits = limits
        self._events = events
        self._reach = reach
        self.numbers: dict[SessionId, SessionId] = {}
        self.memory_ids: dict[MemoryId, MemoryId] = {}

    def store(self, batch: SessionBatch, tally: ImportTally) -> None:
        """Store a batch: what is missing is added and indexed, and what is there already stays as it is."""
        now = self._clock()
        read, batch.messages = len(batch.messages), self._missing(batch)
        said = [(message.content, message.author, message.created_at) for message in batch.messages]
        indexed = self._indexer.prepare_messages(said, now) if said else []
        facts = [(memory.content, None, memory.created_at) for memory in batch.memories]
        known = self._indexer.prepare(facts, now, is_a_point=False) if facts else []
        stored = self._database.write(
            self._reach, lambda transaction: self._store(transaction, batch, indexed, known, now)
        )
        if stored is None:
            if not batch.is_gone:
                tally.skip(DELETED)
            batch.is_gone = True
            return
        if stored.session.id != batch.record.id:
            self.numbers[batch.record.id] = stored.session.id
        self.memory_ids.update({given: kept for given, kept in stored.ids.items() if given != kept})
        if not batch.is_added:
            tally.add("sessions", int(stored.is_new), int(not stored.is_new))
        tally.add("messages", stored.messages, read - stored.messages)
        tally.add("memories", stored.memories, len(batch.memories) - stored.memories)
        tally.add("observations", stored.observations, len(batch.observations) - stored.observations)
        tally.add("files", stored.files.added, stored.files.unchanged)
        for reason in stored.files.skipped:
            tally.skip(reason)
        if stored.is_new:
            self._events.created(stored.session)
        elif stored.messages:
            self._events.changed(stored.session)

    def _missing(self, batch: SessionBatch) -> list[MessageRecord]:
        """The messages that are not there yet, so that a repeated import embeds nothing again. The transaction looks again."""
        with self._database.read(self._reach) as transaction:
            session = SessionStore(transaction).find(batch.record.external_id)
            if session is None or not batch.messages:
                return batch.messages
            shift = (session.id - batch.record.id) << SEQUENCE_BITS
            ids = [MessageId(message.id + shift) for message in batch.messages]
            present = ExtractionStore(transaction).present(session.id, ids, all_branches=True)
        return [message for message in batch.messages if message.id + shift not in present]

    def _store(
        self,
        transaction: Transaction,
        batch: SessionBatch,
        indexed: Sequence[Indexed],
        known: Sequence[Indexed],
        now: int,
    ) -> _Stored | None:
        """None, and nothing is stored, if the session was deleted since its first batch: no part of it comes back."""
        rows = ImportedRows(transaction)
        pools = PoolStore(transaction, self._indexer.generation)
        if batch.is_added and SessionStore(transaction).find(batch.record.external_id) is None:
            return None
        visibilities = lock_projects(transaction, batch.files)
        session, is_new = self._session(transaction, rows, pools, batch.record)
        shift = (session.id - batch.record.id) << SEQUENCE_BITS
        messages = self._add_messages(transaction, rows, pools, session, batch, indexed, shift, now)
        if batch.items or batch.responses:
            is_same = self._is_in_its_pool(transaction, session, batch.record)
            add_items(transaction, session, batch.items, shift, with_others=is_same)
            add_responses(transaction, session, batch.responses, shift, with_requests=is_same)
        _note_past(transaction, session, batch, shift)
        memories, ids = _add_memories(transaction, rows, session, batch, known, shift)
        changed = set(memories)
        for memory, revision in batch.revisions:
            number = ids.get(memory, self.memory_ids.get(memory, memory))
            if rows.add_revision(number, revision):
                changed.add(number)
        # After the revisions: what a person changed, and when, decides what is true.
        _settle(transaction, session, changed)
        observations = sum(rows.add_observation(session.id, shifted(each, shift)) for each in batch.observations)
        files = FileImport(pools, self._archived, self._limits).add(transaction, session, batch.files, visibilities)
        return _Stored(session, is_new, messages, len(memories), observations, files, ids)

    def _session(
        self, transaction: Transaction, rows: ImportedRows, pools: PoolStore, record: SessionRecord
    ) -> tuple[Session, bool]:
        """The session of a record, which is added if missing, and whether it is new. One that is there already stays where it is
        now, even if it was elsewhere when the archive was made."""
        sessions = SessionStore(transaction)
        numbers = session_numbers(transaction.reach.tenant, record.id)
        existing = sessions.find(record.external_id)
        if existing is not None:
            if existing.id not in numbers:
                raise Conflict(
                    f"There is another session {record.external_id!r} here already. Delete it, or import into another tenant."
                )
            return sessions.lock(record.external_id).session, False
        scope = _scope(transaction, record)
        stored = UsageStore(transaction).counts()
        refuse_over("sessions", stored.sessions, 1, stored.limits.over(self._limits).sessions)
        pool = pools.ensure(scope.pool)
        version = pools.raise_version(pool)
        for number in numbers:
            if rows.add_session(record, number, pool, version):
                return sessions.get(record.external_id), True
        if not transaction.reach.is_whole_tenant:
            raise NotFound("session", record.external_id)
        raise Conflict(f"The external_id {record.external_id!r} is taken.")

    def _is_in_its_pool(self, transaction: Transaction, session: Session, record: SessionRecord) -> bool:
        """Whether the session recalls here what it recalled when the archive was made: it is in the same project, and that is not
        private now if it was shared. Otherwise what the archive's session had recalled is not shown (ISO-12)."""
        if session.project != record.project_id or session.project is None:
            return session.project == record.project_id
        visibility = ProjectStore(transaction).get(session.project).member_visibility
        return not self._archived.is_divided(session.project, visibility)

    def _add_messages(
        self,
        transaction: Transaction,
        rows: ImportedRows,
        pools: PoolStore,
        session: Session,
        batch: SessionBatch,
        indexed: Sequence[Indexed],
        shift: int,
        now: int,
    ) -> int:
        """Add the messages that are missing; returns how many."""
        quotes = any(
            record.has_recalled_text or entry.quotes for record, entry in zip(batch.messages, indexed, strict=True)
        )
        is_same = not quotes or self._is_in_its_pool(transaction, session, batch.record)
        pool = session.pool if is_same else NO_POOL
        entries = [
            (_message(record, session, entry, shift, pool), entry)
            for record, entry in zip(batch.messages, indexed, strict=True)
        ]
        present = ExtractionStore(transaction).present(
            session.id, [message.id for message, _ in entries], all_branches=True
        )
        new = [(message, entry) for message, entry in entries if message.id not in present]
        if not new:
            return 0
        branches = BranchImport(transaction, session, is_archive_forked=batch.is_forked)
        new = branches.placed(new)
        usage = UsageStore(transaction)
        limit = usage.limits().over(self._limits).messages
        refuse_over("messages", 0 if limit is None else usage.counts().messages, len(new), limit)
        if rows.has_later_message(session.id, new[0][0].id):
            rows.forget_vectors(session.id)
        rows.add_messages(session.id, new)
        waiting = [message for message, _ in new if message.is_current and not message.is_memory_checked]
        unchecked = sum(message.status == "completed" for message in waiting)
        version = pools.raise_version(session.pool)
        due = rows.note_messages(session.id, batch.record, added=len(new), unchecked=unchecked, version=version)
        branches.finish()
        if unchecked and due >= _threshold(transaction, session):
            SessionStore(transaction).make_due(session.id, now)
        return len(new)


def shifted(record: ObservationRecord, shift: int) -> ObservationRecord:
    """An observation with its references to messages of the stored session."""
    return ObservationRecord(
        id=record.id,
        content=record.content,
        source_message_ids=tuple(MessageId(message + shift) for message in record.source_message_ids),
        first_message_id=MessageId(record.first_message_id + shift),
        last_message_id=MessageId(record.last_message_id + shift),
        said_at=record.said_at,
        created_at=record.created_at,
    )


def _scope(transaction: Transaction, record: SessionRecord) -> Scope:
    """The scope of a new session, which has to be within the caller's reach. Locks the project."""
    reach = transaction.reach
    scope = Scope(tenant=reach.tenant, project=record.project_id, user=record.user_id)
    if not reach.covers(scope):
        raise Forbidden("This key is confined to a project or bound to a user, and the archive has sessions of others.")
    if record.project_id is None:
        return scope
    visibility = ProjectStore(transaction).lock_shared(record.project_id).member_visibility
    return Scope(tenant=reach.tenant, project=record.project_id, user=record.user_id, visibility=visibility)


def _message(record: MessageRecord, session: Session, indexed: Indexed, shift: int, pool: PoolId) -> Message:
    """The message to add. `pool` is where it is shown with what it quotes."""
    return Message(
        id=MessageId(record.id + shift),
        session=session.id,
        role=record.role,
        content=record.content,
        author=record.author,
        status=record.status,
        episode=MessageId(record.episode_id + shift),
        is_memory_checked=record.is_memory_checked,
        tokens=indexed.tokens,
        metadata=record.metadata,
        created_at=record.created_at,
        recalled_pool=pool if record.has_recalled_text or indexed.quotes else None,
        categories=record.categories,
        parent=None if record.parent_id is None else MessageId(record.parent_id + shift),
        is_current=record.is_current,
    )


def _add_memories(
    transaction: Transaction,
    rows: ImportedRows,
    session: Session,
    batch: SessionBatch,
    known: Sequence[Indexed],
    shift: int,
) -> tuple[list[MemoryId], dict[MemoryId, MemoryId]]:
    """Add memories; returns the ids of the new ones, and those under which all of them are stored."""
    ids: dict[MemoryId, MemoryId] = {}
    added: list[MemoryId] = []
    for record, entry in zip(batch.memories, known, strict=True):
        content = checked_memory(record.content, "memory.content")
        memory = Memory(
            id=record.id,
            session=session.id,
            content=content,
            importance=record.importance,
            sources=tuple(MessageId(source + shift) for source in record.source_message_ids),
            created_at=record.created_at,
            valid_from=record.valid_from,
            source=record.source,
            expires_at=record.expires_at,
            retracted_at=record.retracted_at,
            pinned=record.pinned,
            subject=record.subject,
            categories=record.categories,
            metadata=record.metadata,
        )
        number, is_new = rows.add_memory(memory, record.digest, entry)
        ids[record.id] = number
        added += [number] if is_new else []
    if added:
        MemoryStore(transaction).count(session.id, len(added))
    return added, ids


def _settle(transaction: Transaction, session: Session, changed: Collection[MemoryId]) -> None:
    """Work out what is true of memories of a session that were added, or whose revisions were."""
    person = ReplacementStore(transaction).person(session.id) if changed else None
    if person is not None:
        MemoryStore(transaction).note_change(person.pool)
        Supersession(transaction).update_around(person, sorted(changed))


def _note_past(transaction: Transaction, session: Session, batch: SessionBatch, shift: int) -> None:
    """Note where the session was before; a project that is not here counts as none."""
    past, projects = ExtractionStore(transaction), ProjectStore(transaction)
    for former in batch.former:
        project = None if former.project_id is None else projects.find(former.project_id)
        past.note_past(session.id, MessageId(former.last_message_id + shift), None if project is None else project.id)


def _threshold(transaction: Transaction, session: Session) -> int:
    return pending_message_count(
        {} if session.project is None else ProjectStore(transaction).get(session.project).settings
    )
