"""Import conversations of other assistants (ORG-12) into one project. Importing a newer export adds the new messages only; a
conversation with other words than the one that has its id is stored under an id of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cloister.domain.archive.conversations import ConversationRecord, ConversationsHeader, FactRecord, SpokenRecord
from cloister.domain.archive.imported import ImportTally
from cloister.domain.archive.matching import StoredWords, words_digest
from cloister.domain.archive.reading import ArchiveReader, NumberedLine
from cloister.domain.archive.records import SessionRecord, record_of
from cloister.domain.conversation import Draft, Session
from cloister.domain.errors import Conflict, InvalidRequest
from cloister.domain.identifiers import ProjectId, new_session_id
from cloister.domain.scope import Reach, Scope
from cloister.domain.usage import Limits, refuse_over
from cloister.services.archive.import_sessions import DELETED
from cloister.services.archive.known_conversations import SOURCE_ID, KnownConversations, Part, Plan
from cloister.services.conversations.record import PreparedMessage, Recorder, RecordResult
from cloister.services.events.bus import EventBus
from cloister.services.memories.truth.imported_facts import ImportedFacts, PreparedFact
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

_LARGEST_BATCH = 200
_MOST_CHARACTERS = 500_000
_DRAWS = 4
_TRIES = 40
FORGOTTEN = (
    "a later message of the conversation is here and it is not: it was forgotten here, or skipped by an earlier import"
)
TOO_MANY = "too many other conversations with its id and the same first words are stored"
OTHER_ID = "conversations that have the id of another one here, stored under an id of their own"


@dataclass(kw_only=True, slots=True)
class _Batch:
    """Messages or memories of one conversation that are stored together. `external_id` is that of the session if the conversation
    was begun before, None at its beginning. `is_rest` if the conversation differs from here on from
    the session in which its beginning is stored. `is_skipped` if no more of the conversation is stored."""

    record: ConversationRecord
    external_id: str | None = None
    is_rest: bool = False
    is_skipped: bool = False
    characters: int = 0
    spoken: list[SpokenRecord] = field(default_factory=list[SpokenRecord])
    facts: list[FactRecord] = field(default_factory=list[FactRecord])

    @property
    def is_full(self) -> bool:
        return len(self.spoken) + len(self.facts) >= _LARGEST_BATCH or self.characters >= _MOST_CHARACTERS

    def add(self, spoken: Sequence[SpokenRecord]) -> None:
        self.spoken.extend(spoken)
        self.characters += sum(len(each.content) for each in spoken)


class ConversationImport:
    """One import of one stream of conversations by one caller."""

    def __init__(
        self,
        database: Database,
        reach: Reach,
        limits: Limits,
        recorder: Recorder,
        facts: ImportedFacts,
        events: EventBus,
        tally: ImportTally,
    ) -> None:
        self._database = database
        self._reach = reach
        self._limits = limits
        self._recorder = recorder
        self._facts = facts
        self._events = events
        self._tally = tally
        self._project: ProjectId | None = None
        self._user: str | None = None
        self._batch: _Batch | None = None
        self._known = KnownConversations()

    def run(self, reader: ArchiveReader) -> Iterator[None]:
        """Import all lines; yields after each."""
        header = record_of(ConversationsHeader, reader.header)
        self._project, self._user = header.project_id, self._reach.user_of(header.user_id)
        with self._database.read(self._reach) as transaction:
            scope_of_import(transaction, self._project, self._user, lock=False)
        for line in reader.body():
            self._take(line)
            yield
        self._store(ends=True)

    def _take(self, line: NumberedLine) -> None:
        if line.kind == ConversationRecord.kind:
            self._store(ends=True)
            record = record_of(ConversationRecord, line.fields)
            begun = self._known.name(record.external_id) if record.continues else None
            self._batch = _Batch(record=record, external_id=begun)
            return
        if line.kind not in (SpokenRecord.kind, FactRecord.kind):
            raise InvalidRequest("archive", f"line {line.number:,} is of an unknown kind.")
        if self._batch is None:
            raise InvalidRequest(line.kind, "must follow its conversation.")
        if line.kind == SpokenRecord.kind:
            self._batch.add((record_of(SpokenRecord, line.fields),))
        else:
            self._batch.facts.append(record_of(FactRecord, line.fields))
        self._store()

    def _store(self, *, ends: bool = False) -> None:
        """Store the batch if it is full, or its conversation ends. What is stored with other words in the session is the beginning
        of another conversation."""
        batch = self._batch
        while batch is not None and (ends or batch.is_full):
            batch = self._store_part(batch, ends=ends)
        self._batch = batch

    def _store_part(self, batch: _Batch, *, ends: bool) -> _Batch | None:
        """Store a batch in one session, and return the batch that goes on with the conversation, if anything can follow."""
        if batch.is_skipped:
            return None if ends else _Batch(record=batch.record, is_skipped=True)
        user = self._reach.user_of(batch.record.user_id) or self._user
        part = Part(
            record=batch.record,
            project=self._project,
            user=user,
            spoken=batch.spoken,
            is_last=ends,
            is_rest=batch.is_rest,
        )
        excluded: set[str] = set()
        for _ in range(_TRIES):
            plan = self._plan(batch, part, excluded)
            if plan is None:
                return self._skipped(batch, ends=ends)
            stored = self._stored(batch, part, plan)
            if isinstance(stored, _Stored):
                self._count(batch, plan, stored)
                return self._following(batch, plan, ends=ends)
            if stored == "taken":
                excluded.add(plan.external_id)
        raise Conflict(
            f"The session {batch.record.external_id!r} is being changed at the same time: repeat the import."
        )

    def _plan(self, batch: _Batch, part: Part, excluded: set[str]) -> Plan | None:
        """What of the batch is new, so that a repeated import embeds nothing again. The transaction that stores it looks again."""
        with self._database.read(self._reach) as transaction:
            if batch.external_id is None:
                return self._known.find(transaction, part, excluded)
            session = SessionStore(transaction).find(batch.external_id)
            return None if session is None else self._known.compared(transaction, part, session)

    def _stored(self, batch: _Batch, part: Part, plan: Plan) -> "_Stored | _NotStored":
        prepared, facts = self._prepared(plan), self._prepared_facts(batch, part, plan)
        return self._database.write(
            self._reach, lambda transaction: self._store_batch(transaction, batch, part, plan, prepared, facts)
        )

    def _prepared(self, plan: Plan) -> Sequence[PreparedMessage]:
        drafts = [
            Draft(
                role=each.role,
                content=each.content,
                author=each.author,
                created_at=each.created_at,
                metadata={SOURCE_ID: each.source_id},
            )
            for each in plan.comparison.new
        ]
        return self._recorder.prepare(drafts) if drafts else ()

    def _prepared_facts(self, batch: _Batch, part: Part, plan: Plan) -> list[PreparedFact]:
        """The memories of a batch in the order of their times, so that a later one is compared with those before it."""
        if not batch.facts:
            return []
        records = sorted(batch.facts, key=lambda fact: fact.created_at)
        with self._database.read(self._reach) as transaction:
            scope = scope_of_import(transaction, self._project, part.user, lock=False)
            session = SessionStore(transaction).find(plan.external_id)
            facts = self._facts.read(transaction, scope, session, records)
        return self._facts.prepare(records, facts)

    def _following(self, batch: _Batch, plan: Plan, *, ends: bool) -> _Batch | None:
        compared = plan.comparison
        self._known.set_name(batch.record.external_id, plan.external_id)
        if compared.other:
            following = _Batch(record=batch.record, is_rest=True)
            following.add(compared.other)
            return following
        following = _Batch(record=batch.record, external_id=plan.external_id)
        following.add(compared.undecided)
        return None if ends else following

    def _skipped(self, batch: _Batch, *, ends: bool) -> _Batch | None:
        """Count, once, a conversation that cannot be stored or go on: the session was deleted or moved since its first batch, and
        no part of it comes back."""
        if batch.external_id is None:
            self._tally.skip(TOO_MANY)
        elif self._known.forget(batch.external_id):
            self._tally.skip(DELETED)
        return None if ends else _Batch(record=batch.record, is_skipped=True)

    def _count(self, batch: _Batch, plan: Plan, stored: "_Stored") -> None:
        self._known.note(plan.external_id, stored.words)
        if batch.external_id is None:
            self._tally.add("sessions", int(stored.is_new), int(not stored.is_new))
            # To a narrow key this would confirm an id outside its reach.
            if self._reach.is_whole_tenant and stored.is_new and plan.external_id != batch.record.external_id:
                self._tally.remark(OTHER_ID)
        added = 0 if stored.recorded is None else len(stored.recorded.messages)
        self._tally.add("messages", added, plan.comparison.unchanged)
        self._tally.add("memories", stored.memories, len(batch.facts) - stored.memories)
        if plan.comparison.forgotten:
            self._tally.skip(FORGOTTEN, plan.comparison.forgotten)
        if stored.is_new:
            self._events.created(stored.session)
        if stored.recorded is not None:
            self._events.added(stored.recorded.session, stored.recorded.messages)

    def _store_batch(
        self,
        transaction: Transaction,
        batch: _Batch,
        part: Part,
        plan: Plan,
        prepared: Sequence[PreparedMessage],
        facts: Sequence[PreparedFact],
    ) -> "_Stored | _NotStored":
        """Store what the plan says, unless the session was created, deleted, moved or added to since the plan was made."""
        rows = ImportedRows(transaction)
        if plan.session is None:
            session = self._new_session(transaction, rows, batch.record, plan.external_id, part.user)
            if session is None:
                return "taken"
        else:
            session = SessionStore(transaction).find(plan.external_id)
            if session is None:
                return "changed"
            session = SessionStore(transaction).lock(plan.external_id).session
            if (session.id, session.project, session.user_id) != (plan.session.id, part.project, part.user):
                return "changed"
            if rows.imported_words(session.id, SOURCE_ID, plan.seen).digests:
                return "changed"
        recorded = self._recorder.append(transaction, session.external_id, prepared) if prepared else None
        memories = self._facts.add(transaction, session, facts)
        words = StoredWords(seen=plan.seen)
        if recorded is not None:
            said = (entry.created_at for entry in prepared)
            rows.set_updated_at(session.id, max(session.updated_at, batch.record.updated_at, *said))
            words.seen = recorded.messages[-1].id
            for each in plan.comparison.new:
                words.add(each.source_id, words_digest(each.role, each.content))
        return _Stored(session=session, is_new=plan.session is None, recorded=recorded, memories=memories, words=words)

    def _new_session(
        self,
        transaction: Transaction,
        rows: ImportedRows,
        record: ConversationRecord,
        external_id: str,
        user: str | None,
    ) -> Session | None:
        """Create the session; None if its external id is taken, also where the caller cannot look."""
        sessions = SessionStore(transaction)
        if sessions.find(external_id) is not None:
            return None
        scope = scope_of_import(transaction, self._project, user)
        stored = UsageStore(transaction).counts()
        refuse_over("sessions", stored.sessions, 1, stored.limits.over(self._limits).sessions)
        pools = PoolStore(transaction, self._recorder.generation)
        pool = pools.ensure(scope.pool)
        version = pools.raise_version(pool)
        new = SessionRecord(
            id=new_session_id(),
            external_id=external_id,
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
        is_added = any(rows.add_session(new, new_session_id(), pool, version) for _ in range(_DRAWS))
        return sessions.get(external_id) if is_added else None


_NotStored = Literal["taken", "changed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stored:
    session: Session
    is_new: bool
    recorded: RecordResult | None
    memories: int
    words: StoredWords


def scope_of_import(
    transaction: Transaction, project: ProjectId | None, user: str | None, *, lock: bool = True
) -> Scope:
    """The scope of the imported sessions, which has to be within the caller's reach."""
    reach = transaction.reach
    if project is None:
        if reach.confined_to is not None:
            raise InvalidRequest("project_id", "must be the project that the key is confined to.")
        return Scope(tenant=reach.tenant, project=None, user=user)
    projects = ProjectStore(transaction)
    visibility = (projects.lock_shared(project) if lock else projects.get(project)).member_visibility
    return Scope(tenant=reach.tenant, project=project, user=user, visibility=visibility)
