"""Import an archive (ORG-11), line by line. What is there already stays as it is, so that importing twice changes nothing.

The archive is outside text: every line is checked, nothing is stored outside the caller's reach, and quotas apply. A damaged
archive is found at the line that is wrong, or at its end; what was imported before stays, and importing the whole one adds the
rest.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from cloister.domain.archive.imported import ImportTally
from cloister.domain.archive.reading import ArchiveReader, NumberedLine
from cloister.domain.archive.records import (
    PARENT_NOT_GIVEN,
    EntityRecord,
    FormerProjectRecord,
    ItemRecord,
    MemoryRecord,
    MentionRecord,
    MessageRecord,
    ObservationRecord,
    ProjectRecord,
    Record,
    RelationRecord,
    ReplacementRecord,
    ResponseRecord,
    RevisionRecord,
    SessionRecord,
    record_of,
)
from cloister.domain.archive.stored_records import EntryRecord, EntryVectorRecord, FileRecord
from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import MAX_SEQUENCE, MemoryId, MessageId
from cloister.domain.project_settings import checked_settings
from cloister.domain.scope import Reach
from cloister.domain.text import checked_project_name
from cloister.domain.truth.supersession import Person
from cloister.domain.usage import Limits, refuse_over
from cloister.services.archive.archived_projects import ArchivedProjects
from cloister.services.archive.import_entities import MOST_MENTIONS, EntityBatch, EntityImport
from cloister.services.archive.import_entries import EntryImport
from cloister.services.archive.import_items import item_text, response_body
from cloister.services.archive.import_relations import MOST_RELATIONS, RelationImport
from cloister.services.archive.import_sessions import SessionBatch, SessionImport
from cloister.services.memories.supersession import Supersession
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.supersession import ReplacementStore
from cloister.storage.stores.tenants import ProjectStore, TenantStore
from cloister.storage.stores.usage import UsageStore

R = TypeVar("R", bound=Record)
Progress = Callable[[int], object]
NEW_TENANTS_PROJECT = "Default"
_HEADER = {"kind", "format", "version", "scope", "id", "created_by"}
_MOST_PAIRS = 500


class ArchiveImport:
    """One import of one archive by one caller."""

    def __init__(
        self,
        database: Database,
        reach: Reach,
        limits: Limits,
        sessions: SessionImport,
        entities: EntityImport,
        relations: RelationImport,
        entries: EntryImport,
        archived: ArchivedProjects,
        tally: ImportTally,
    ) -> None:
        self._database = database
        self._reach = reach
        self._limits = limits
        self._sessions = sessions
        self._entities = entities
        self._relations = relations
        self._entries = entries
        self._archived = archived
        self._tally = tally
        self._session: SessionBatch | None = None
        self._entity: EntityBatch | None = None
        self._memory: MemoryId | None = None
        self._pairs: list[ReplacementRecord] = []
        self._stated: list[RelationRecord] = []
        self._is_of_tenant = False
        self._handlers: dict[str, Callable[[NumberedLine], None]] = {
            ProjectRecord.kind: self._add_project,
            SessionRecord.kind: self._begin_session,
            FormerProjectRecord.kind: self._add_former_project,
            MessageRecord.kind: self._add_message,
            ItemRecord.kind: self._add_item,
            MemoryRecord.kind: self._add_memory,
            RevisionRecord.kind: self._add_revision,
            ObservationRecord.kind: self._add_observation,
            ResponseRecord.kind: self._add_response,
            ReplacementRecord.kind: self._add_replacement,
            EntityRecord.kind: self._begin_entity,
            MentionRecord.kind: self._add_mention,
            RelationRecord.kind: self._add_relation,
            FileRecord.kind: self._add_file,
            EntryRecord.kind: self._begin_entry,
            EntryVectorRecord.kind: self._add_entry_vector,
        }

    def run(self, reader: ArchiveReader) -> Iterator[None]:
        """Import all lines; yields after each."""
        if unknown := reader.header.keys() - _HEADER:
            raise InvalidRequest("header", f"has unknown fields: {', '.join(sorted(unknown))[:200]}.")
        self._is_of_tenant = reader.header.get("scope") == "tenant"
        self._entities.has_all_names = self._is_of_tenant and reader.header["version"] != 1
        for line in reader.body():
            handle = self._handlers.get(line.kind)
            if handle is None:
                raise InvalidRequest("archive", f"line {line.number:,} is of an unknown kind.")
            handle(line)
            yield
        self._store_session(ends=True)
        self._store_pairs()
        self._store_entity(ends=True)
        self._store_relations()
        self._entries.store(self._tally)

    def _add_project(self, line: NumberedLine) -> None:
        if self._session is not None or self._entity is not None:
            raise InvalidRequest("project", "must come before all sessions.")
        record = record_of(ProjectRecord, line.fields)
        checked_project_name(record.name)
        checked_settings(record.settings)
        is_new = self._database.write(self._reach, lambda transaction: self._store_project(transaction, record))
        self._archived.note(record)
        self._tally.add("projects", int(is_new), int(not is_new))

    def _store_project(self, transaction: Transaction, record: ProjectRecord) -> bool:
        projects, rows = ProjectStore(transaction), ImportedRows(transaction)
        if self._reach.confined_to not in (None, record.id):
            raise Forbidden("This key is confined to its project, and the archive has others.")
        if projects.find(record.id) is not None:
            return False
        if not self._reach.is_whole_tenant:
            raise Forbidden("This key does not reach the whole tenant: it cannot add the projects of the archive.")
        TenantStore(transaction).lock_names()
        usage = UsageStore(transaction)
        if record.is_default and self._is_of_tenant:
            rows.remove_unused_default_project(NEW_TENANTS_PROJECT)
        refuse_over("projects", usage.projects(), 1, usage.limits().over(self._limits).projects)
        if rows.restore_project(record.id):
            if not projects.get(record.id).name:  # it was deleted with its contents
                projects.rename(record.id, record.name)
                projects.set_settings(record.id, record.settings)
            return True
        projects.add(
            record.id,
            name=record.name,
            is_default=record.is_default and not rows.has_default_project(),
            member_visibility=record.member_visibility,
            created_at=record.created_at,
        )
        if record.settings:
            projects.set_settings(record.id, record.settings)
        return True

    def _begin_session(self, line: NumberedLine) -> None:
        if self._entity is not None or self._pairs or self._stated:
            raise InvalidRequest("session", "must come before all entities.")
        self._store_session(ends=True)
        batch = SessionBatch(record=record_of(SessionRecord, line.fields))
        record = batch.record
        for name in ("episode_id", "observed_message_id", "settled_message_id"):
            message: MessageId | None = getattr(record, name)
            if message is not None:
                batch.check(message, f"session.{name}")
        self._session, self._memory = batch, None

    def _add_former_project(self, line: NumberedLine) -> None:
        batch, record = self._of_session(FormerProjectRecord, line)
        batch.check(record.last_message_id, "former_project.last_message_id")
        batch.former.append(record)

    def _add_message(self, line: NumberedLine) -> None:
        batch, record = self._of_session(MessageRecord, line)
        batch.check(record.id, "message.id")
        batch.check(record.episode_id, "message.episode_id")
        if record.id <= batch.last or record.episode_id > record.id:
            raise InvalidRequest(
                "message.id", "must be above those of the messages before it, and not below its episode."
            )
        if record.id & MAX_SEQUENCE >= batch.record.next_sequence:
            raise InvalidRequest("message.id", "must be below the next_sequence of its session.")
        record = _with_parent(record, batch)
        batch.is_forked = batch.is_forked or not record.is_current or (record.parent_id or 0) != batch.last
        batch.last, batch.position = record.id, -1
        batch.characters += len(record.content)
        batch.messages.append(record)
        self._store_session()

    def _add_item(self, line: NumberedLine) -> None:
        batch, record = self._of_session(ItemRecord, line)
        if (record.message_id or 0) != batch.last or record.position <= batch.position:
            raise InvalidRequest("item.message_id", "must be that of the message before it, with ascending positions.")
        text = item_text(record)
        batch.position = record.position
        batch.characters += len(text)
        batch.items.append((record, text))
        self._store_session()

    def _add_response(self, line: NumberedLine) -> None:
        batch, record = self._of_session(ResponseRecord, line)
        for message in (record.question_id, record.reply_id, *record.message_ids):
            if message is not None:
                batch.check(message, "response.message_ids")
        body = response_body(record)
        batch.characters += len(str(body))
        batch.responses.append((record, body))
        self._store_session()

    def _add_file(self, line: NumberedLine) -> None:
        batch, record = self._of_session(FileRecord, line)
        batch.characters += len(record.content or "")
        batch.files.append(record)
        self._store_session()

    def _begin_entry(self, line: NumberedLine) -> None:
        self._store_session(ends=True)
        self._store_entity(ends=True)
        self._store_relations()
        self._entries.begin(record_of(EntryRecord, line.fields), self._tally)

    def _add_entry_vector(self, line: NumberedLine) -> None:
        self._entries.add_vector(record_of(EntryVectorRecord, line.fields))

    def _add_memory(self, line: NumberedLine) -> None:
        batch, record = self._of_session(MemoryRecord, line)
        for message in record.source_message_ids:
            batch.check(message, "memory.source_message_ids")
        batch.characters += len(record.content)
        batch.memories.append(record)
        self._memory = record.id
        self._store_session()

    def _add_revision(self, line: NumberedLine) -> None:
        batch, record = self._of_session(RevisionRecord, line)
        if self._memory is None:
            raise InvalidRequest("revision", "must follow its memory.")
        batch.revisions.append((self._memory, record))
        self._store_session()

    def _add_observation(self, line: NumberedLine) -> None:
        batch, record = self._of_session(ObservationRecord, line)
        for message in (record.first_message_id, record.last_message_id, *record.source_message_ids):
            batch.check(message, "observation.source_message_ids")
        batch.characters += len(record.content)
        batch.observations.append(record)
        self._store_session()

    def _add_replacement(self, line: NumberedLine) -> None:
        self._store_session(ends=True)
        self._pairs.append(record_of(ReplacementRecord, line.fields))
        if len(self._pairs) >= _MOST_PAIRS:
            self._store_pairs()

    def _begin_entity(self, line: NumberedLine) -> None:
        self._store_session(ends=True)
        self._store_relations()
        record = record_of(EntityRecord, line.fields)
        self._store_entity(ends=True, ends_group=not self._entities.is_of_group(record))
        self._entities.begin(record)
        self._entity = EntityBatch(record=record)

    def _add_mention(self, line: NumberedLine) -> None:
        if self._entity is None:
            raise InvalidRequest("mention", "must follow its entity.")
        self._entity.mentions.append(record_of(MentionRecord, line.fields))
        if len(self._entity.mentions) >= MOST_MENTIONS:
            self._store_entity()

    def _add_relation(self, line: NumberedLine) -> None:
        self._store_session(ends=True)
        self._store_entity(ends=True)
        self._stated.append(record_of(RelationRecord, line.fields))
        if len(self._stated) >= MOST_RELATIONS:
            self._store_relations()

    def _of_session(self, record: type[R], line: NumberedLine) -> tuple[SessionBatch, R]:
        if self._session is None:
            raise InvalidRequest(record.kind, "must follow its session.")
        return self._session, record_of(record, line.fields)

    def _store_session(self, *, ends: bool = False) -> None:
        batch = self._session
        if batch is None or not (ends or batch.is_full):
            return
        self._sessions.store(batch, self._tally)
        self._session = None if ends else batch.rest()

    def _store_entity(self, *, ends: bool = False, ends_group: bool = True) -> None:
        self._store_pairs()
        batch = self._entity
        if batch is None:
            return
        self._entities.store(batch, self._sessions.numbers, self._tally, ends_group=ends and ends_group)
        self._entity = None if ends else EntityBatch(record=batch.record, is_added=True)

    def _store_relations(self) -> None:
        stated, self._stated = self._stated, []
        if stated:
            self._relations.store(stated, self._sessions.numbers, self._entities.ids)

    def _store_pairs(self) -> None:
        pairs, self._pairs = self._pairs, []
        ids = self._sessions.memory_ids
        named = [(ids.get(pair.older_id, pair.older_id), ids.get(pair.newer_id, pair.newer_id)) for pair in pairs]
        if named:
            self._database.write(self._reach, lambda transaction: _add_replacements(transaction, named))


def _add_replacements(transaction: Transaction, pairs: Sequence[tuple[MemoryId, MemoryId]]) -> None:
    """Add pairs of memories of which the newer makes the older untrue, and work out again what is true of them."""
    rows, replacements = ImportedRows(transaction), ReplacementStore(transaction)
    changed: dict[Person, set[MemoryId]] = {}
    for older, newer in pairs:
        for session in rows.add_replacement(older, newer) or ():
            person = replacements.person(session)
            if person is not None:
                changed.setdefault(person, set()).update((older, newer))
    for person, memories in sorted(changed.items(), key=lambda entry: (entry[0].pool, entry[0].session)):
        MemoryStore(transaction).note_change(person.pool)
        Supersession(transaction).update_around(person, sorted(memories))


def _with_parent(record: MessageRecord, batch: SessionBatch) -> MessageRecord:
    """The message with its parent, which is the message before it in an archive without branches."""
    if record.parent_id == PARENT_NOT_GIVEN:
        return replace(record, parent_id=MessageId(batch.last) if batch.last else None)
    if record.parent_id is not None:
        batch.check(record.parent_id, "message.parent_id")
        if record.parent_id > batch.last:
            raise InvalidRequest("message.parent_id", "must be a message before it.")
    return record
