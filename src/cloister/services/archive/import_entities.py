"""Import the entities of an archive, and the mentions of them by messages that are here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cloister.domain.archive.ids import entity_ids
from cloister.domain.archive.imported import ImportTally
from cloister.domain.archive.records import EntityRecord, MentionRecord, ProjectRecord
from cloister.domain.entity import EntityName, same_name
from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import SEQUENCE_BITS, EntityId, MessageId, ProjectId, SessionId, session_of
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import EntityGroupStore
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.tenants import ProjectStore

MOST_MENTIONS = 500


@dataclass(kw_only=True, slots=True)
class EntityBatch:
    """An entity of an archive, and its mentions that are not stored yet."""

    record: EntityRecord
    is_added: bool = False
    mentions: list[MentionRecord] = field(default_factory=list[MentionRecord])


class EntityImport:
    """Stores entities, each by its name: one that is here under the same name gets the mentions of the archive."""

    def __init__(self, database: Database, indexing: EntityIndexing, reach: Reach) -> None:
        self._database = database
        self._indexing = indexing
        self._reach = reach
        self._visibilities: dict[ProjectId, MemberVisibility] = {}

    def note_project(self, record: ProjectRecord) -> None:
        """Note what the archive says of a project, so that the entities of a private one stay in their parts."""
        self._visibilities[record.id] = record.member_visibility

    def store(self, batch: EntityBatch, numbers: Mapping[SessionId, SessionId], tally: ImportTally) -> None:
        """`numbers` are the sessions of the archive that are stored under other numbers."""
        mentions = [(_stored_message(mention.message_id, numbers), mention) for mention in batch.mentions]
        is_new = self._database.write(self._reach, lambda transaction: self._store(transaction, batch.record, mentions))
        if not batch.is_added:
            tally.add("entities", int(is_new), int(not is_new))

    def _store(
        self, transaction: Transaction, record: EntityRecord, mentions: Sequence[tuple[MessageId, MentionRecord]]
    ) -> bool:
        """Without a mention there is no entity."""
        project = ProjectStore(transaction).lock_shared(record.project_id)
        rows = ImportedRows(transaction)
        found = rows.messages_to_mention([message for message, _ in mentions])
        parts: dict[str | None, list[tuple[MessageId, SessionId, MentionRecord]]] = {}
        for message, mention in mentions:
            if message in found:
                session, user = found[message]
                part = self._part(record, user, project.member_visibility)
                parts.setdefault(part, []).append((message, session, mention))
        is_new = False
        for part, said in sorted(parts.items(), key=lambda entry: entry[0] or ""):
            if transaction.reach.user not in (None, part) and project.member_visibility == "private":
                raise Forbidden("This key is bound to one user, and the archive has entities of others.")
            is_new |= self._mention(transaction, rows, record, part, said)
        return is_new

    def _part(self, record: EntityRecord, user: str | None, visibility: MemberVisibility) -> str | None:
        """Whose part of the project the entity is in, for a mention by a session of this user. It was in one part if the archive
        says that the project was private: in none's too, if it was retagged there from a shared project. If it was shared and is
        private here, each user's mentions are of an entity in that user's part (ISO-10)."""
        if visibility == "shared":
            return None
        was_private = self._visibilities.get(record.project_id) == "private"
        return record.user_id if was_private else record.user_id or user

    def _mention(
        self,
        transaction: Transaction,
        rows: ImportedRows,
        record: EntityRecord,
        part: str | None,
        said: Sequence[tuple[MessageId, SessionId, MentionRecord]],
    ) -> bool:
        entities = EntityStore(transaction)
        before = entities.find(record.project_id, part, same_name(record.name))
        known = set[MessageId]() if before is None else rows.mentioned(before.id, [message for message, _, _ in said])
        new = [entry for entry in said if entry[0] not in known]
        if not new:
            return False
        entity, is_new = self._entity(entities, record, part)
        for message, session, mention in new:
            entities.mention(entity, session, [message], mention.notes, mention.created_at)
        groups = EntityGroupStore(transaction)
        changed = groups.apply_first_names(groups.first_names([entity]))
        changed.update(name.entity for name in groups.names([entity]))
        self._indexing.index_again(transaction, sorted(changed))
        entities.note_change(record.project_id)
        return is_new

    def _entity(self, entities: EntityStore, record: EntityRecord, part: str | None) -> tuple[EntityId, bool]:
        """The locked entity of this name, which is added if missing, and whether it is new."""
        digest = same_name(record.name)
        ids = iter(entity_ids(self._reach.tenant, record.id))
        while True:
            known = entities.find(record.project_id, part, digest)
            if known is not None and entities.lock([known.id]):
                return known.id, False
            entity = EntityName(
                id=next(ids),
                project=record.project_id,
                user=part,
                name=record.name,
                type=record.type,
                created_at=record.created_at,
            )
            if known is None and entities.add(entity, digest, self._indexing.not_yet):
                return entity.id, True


def _stored_message(message: MessageId, numbers: Mapping[SessionId, SessionId]) -> MessageId:
    session = session_of(message)
    return MessageId(message + ((numbers.get(session, session) - session) << SEQUENCE_BITS))
