"""Import conversations of other assistants (ORG-12) into one project. Importing a newer export adds the new messages only."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cloister.domain.archive.conversations import ConversationRecord, ConversationsHeader, FactRecord, SpokenRecord
from cloister.domain.archive.imported import ImportTally
from cloister.domain.archive.reading import ArchiveReader, NumberedLine
from cloister.domain.archive.records import SessionRecord, record_of
from cloister.domain.conversation import Draft, Session
from cloister.domain.errors import Conflict, InvalidRequest, NotFound
from cloister.domain.identifiers import ProjectId, new_memory_id, new_session_id
from cloister.domain.memory import Memory, checked_memory, same_as
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, refuse_over
from cloister.services.archive.import_sessions import DELETED
from cloister.services.conversations.record import PreparedMessage, Recorder, RecordResult
from cloister.services.events.bus import EventBus
from cloister.services.indexing.indexer import Indexer
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

_LARGEST_BATCH = 200
_MOST_CHARACTERS = 500_000
_DRAWS = 4
_MOST_KNOWN = 64
SOURCE_ID = "source_id"
"""The name, in the metadata of an imported message, of its id in the source."""
OTHER_PROJECT = "the session is in another project, or of another user, now"


@dataclass(kw_only=True, slots=True)
class _Known:
    """The source ids of a session's messages, up to one of them, so that each message is looked at once."""

    ids: set[str] = field(default_factory=set[str])
    seen: int = 0


@dataclass(kw_only=True, slots=True)
class _Batch:
    record: ConversationRecord
    is_added: bool = False
    characters: int = 0
    spoken: list[SpokenRecord] = field(default_factory=list[SpokenRecord])
    facts: list[FactRecord] = field(default_factory=list[FactRecord])

    @property
    def is_full(self) -> bool:
        return len(self.spoken) + len(self.facts) >= _LARGEST_BATCH or self.characters >= _MOST_CHARACTERS


class ConversationImport:
    """One import of one stream of conversations by one caller."""

    def __init__(
        self,
        database: Database,
        reach: Reach,
        limits: Limits,
        recorder: Recorder,
        indexer: Indexer,
        clock: Clock,
        events: EventBus,
        tally: ImportTally,
    ) -> None:
        self._database = database
        self._reach = reach
        self._limits = limits
        self._recorder = recorder
        self._indexer = indexer
        self._clock = clock
        self._events = events
        self._tally = tally
        self._project: ProjectId | None = None
        self._user: str | None = None
        self._batch: _Batch | None = None
        self._known: dict[str, _Known] = {}

    def run(self, reader: ArchiveReader) -> Iterator[None]:
        """Import all lines; yields after each."""
        header = record_of(ConversationsHeader, reader.header)
        self._project, self._user = header.project_id, self._reach.user_of(header.user_id)
        with self._database.read(self._reach) as transaction:
            _scope(transaction, self._project, self._user, lock=False)
        for line in reader.body():
            self._take(line)
            yield
        self._store(ends=True)

    def _take(self, line: NumberedLine) -> None:
        if line.kind == ConversationRecord.kind:
            self._store(ends=True)
            self._batch = _Batch(record=record_of(ConversationRecord, line.fields))
            return
        if line.kind not in (SpokenRecord.kind, FactRecord.kind):
            raise InvalidRequest("archive", f"line {line.number:,} is of an unknown kind.")
        if self._batch is None:
            raise InvalidRequest(line.kind, "must follow its conversation.")
        if line.kind == SpokenRecord.kind:
            spoken = record_of(SpokenRecord, line.fields)
            self._batch.spoken.append(spoken)
            self._batch.characters += len(spoken.content)
        else:
            self._batch.facts.append(record_of(FactRecord, line.fields))
        self._store()

    def _store(self, *, ends: bool = False) -> None:
        batch = self._batch
        if batch is None or not (ends or batch.is_full):
            return
        self._batch = None if ends else _Batch(record=batch.record, is_added=True)
        user = self._reach.user_of(batch.record.user_id) or self._user
        read, batch.spoken = len(batch.spoken), self._missing(batch)
        drafts = [
            Draft(
                role=each.role,
                content=each.content,
                author=each.author,
                created_at=each.created_at,
                metadata={SOURCE_ID: each.source_id},
            )
            for each in batch.spoken
        ]
        prepared = self._recorder.prepare(drafts) if drafts else []
        facts = self._indexer.prepare(
            [(each.content, None, each.created_at) for each in batch.facts], self._clock(), is_a_point=False
        )
        stored = self._database.write(
            self._reach, lambda transaction: self._store_batch(transaction, batch, user, prepared, facts)
        )
        self._count(batch, read, stored)

    def _missing(self, batch: _Batch) -> list[SpokenRecord]:
        """The messages that are not known yet, so that a repeated import embeds nothing again. The transaction looks again."""
        with self._database.read(self._reach) as transaction:
            session = SessionStore(transaction).find(batch.record.external_id)
            if session is None:
                return batch.spoken
            known = self._known.get(batch.record.external_id, _Known())
            ids, seen = ImportedRows(transaction).source_ids(session.id, SOURCE_ID, known.seen)
        self._note_known(batch.record.external_id, _Known(ids=ids, seen=seen))
        known = self._known[batch.record.external_id].ids
        return [each for each in batch.spoken if each.source_id not in known]

    def _count(self, batch: _Batch, read: int, stored: "_Stored | None") -> None:
        if stored is None:
            if not batch.is_added:
                self._tally.skip(OTHER_PROJECT)
            elif batch.record.external_id in self._known:
                self._tally.skip(DELETED)
                del self._known[batch.record.external_id]
            return
        self._note_known(batch.record.external_id, stored.known)
        if not batch.is_added:
            self._tally.add("sessions", int(stored.is_new), int(not stored.is_new))
        added = 0 if stored.recorded is None else len(stored.recorded.messages)
        self._tally.add("messages", added, read - added)
        self._tally.add("memories", stored.memories, len(batch.facts) - stored.memories)
        if stored.is_new:
            self._events.created(stored.session)
        if stored.recorded is not None:
            self._events.added(stored.recorded.session, stored.recorded.messages)

    def _note_known(self, external_id: str, more: _Known) -> None:
        """Remember what is known of the conversations that came last: the lines of a log may alternate between several."""
        known = self._known.pop(external_id, _Known())
        known.ids |= more.ids
        known.seen = max(known.seen, more.seen)
        self._known[external_id] = known
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def _store_batch(
        self,
        transaction: Transaction,
        batch: _Batch,
        user: str | None,
        prepared: Sequence[PreparedMessage],
        facts: Sequence[Indexed],
    ) -> "_Stored | None":
        """None, and nothing is stored, if the session is in another project than the one that was named, or was deleted since its
        first batch: no part of it comes back."""
        rows = ImportedRows(transaction)
        if batch.is_added and SessionStore(transaction).find(batch.record.external_id) is None:
            return None
        session, is_new = self._session(transaction, rows, batch.record, user)
        if (session.project, session.user_id) != (self._project, user):
            return None
        known = self._known.get(batch.record.external_id, _Known())
        others, seen = rows.source_ids(session.id, SOURCE_ID, known.seen) if prepared else (set[str](), known.seen)
        new: dict[str, PreparedMessage] = {}
        for entry in prepared:
            source = str(entry.draft.metadata[SOURCE_ID])
            if source not in known.ids and source not in others:
                new.setdefault(source, entry)
        recorded = self._recorder.append(transaction, session.external_id, list(new.values())) if new else None
        memories = _add_facts(transaction, rows, session, zip(batch.facts, facts, strict=True))
        if new:
            said = (entry.created_at for entry in new.values())
            rows.set_updated_at(session.id, max(session.updated_at, batch.record.updated_at, *said))
        return _Stored(
            session=session,
            is_new=is_new,
            recorded=recorded,
            memories=memories,
            known=_Known(ids=others | new.keys(), seen=seen if recorded is None else recorded.messages[-1].id),
        )

    def _session(
        self, transaction: Transaction, rows: ImportedRows, record: ConversationRecord, user: str | None
    ) -> tuple[Session, bool]:
        sessions = SessionStore(transaction)
        if sessions.find(record.external_id) is not None:
            return sessions.lock(record.external_id).session, False
        scope = _scope(transaction, self._project, user)
        stored = UsageStore(transaction).counts()
        refuse_over("sessions", stored.sessions, 1, stored.limits.over(self._limits).sessions)
        pools = PoolStore(transaction, self._recorder.generation)
        pool = pools.ensure(scope.pool)
        version = pools.raise_version(pool)
        new = SessionRecord(
            id=new_session_id(),
            external_id=record.external_id,
            project_id=self._project,
            user_id=user,
            title=record.title,
            tags=(),
            metadata={},
            next_sequence=1,
            episode_id=None,
            observed_message_id=None,
            created_at=record.created_at,
            updated_at=record.updated_at,
        )
        for _ in range(_DRAWS):
            if rows.add_session(new, new_session_id(), pool, version):
                return sessions.get(record.external_id), True
        if not transaction.reach.is_whole_tenant:
            raise NotFound("session", record.external_id)
        raise Conflict(f"The external_id {record.external_id!r} is taken.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stored:
    session: Session
    is_new: bool
    recorded: RecordResult | None
    memories: int
    known: _Known


def _add_facts(
    transaction: Transaction, rows: ImportedRows, session: Session, facts: Iterable[tuple[FactRecord, Indexed]]
) -> int:
    """Add memories that the session does not have yet; returns how many."""
    added = 0
    for fact, indexed in facts:
        memory = Memory(
            id=new_memory_id(),
            session=session.id,
            content=checked_memory(fact.content, "fact.content"),
            importance=None,
            sources=(),
            created_at=fact.created_at,
            valid_from=fact.created_at,
            source="imported",
            categories=fact.categories,
            metadata=fact.metadata,
        )
        added += rows.add_memory(memory, same_as(memory.content), indexed)[1]
    if added:
        MemoryStore(transaction).count(session.id, added)
    return added


def _scope(transaction: Transaction, project: ProjectId | None, user: str | None, *, lock: bool = True) -> Scope:
    """The scope of the imported sessions, which has to be within the caller's reach."""
    reach = transaction.reach
    if project is None:
        if reach.confined_to is not None:
            raise InvalidRequest("project_id", "must be the project that the key is confined to.")
        return Scope(tenant=reach.tenant, project=None, user=user)
    projects = ProjectStore(transaction)
    visibility = (projects.lock_shared(project) if lock else projects.get(project)).member_visibility
    return Scope(tenant=reach.tenant, project=project, user=user, visibility=visibility)
