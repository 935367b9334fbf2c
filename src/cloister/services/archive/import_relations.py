"""Import the relations between entities of an archive, as far as the messages that state them are here."""

from collections.abc import Mapping, Sequence

from cloister.domain.archive.records import RelationRecord
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import EntityId, ProjectId, SessionId
from cloister.domain.memory import normalised
from cloister.domain.scope import MemberVisibility, Reach
from cloister.services.archive.archived_projects import ArchivedProjects
from cloister.services.archive.import_entities import stored_message
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_relations import RelationStore
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.tenants import ProjectStore

MOST_RELATIONS = 500
Ids = Mapping[tuple[EntityId, str | None], EntityId]


class RelationImport:
    """Stores relations between names that are here and within the caller's reach; others are left out."""

    def __init__(self, database: Database, reach: Reach, archived: ArchivedProjects) -> None:
        self._database = database
        self._reach = reach
        self._archived = archived

    def store(self, records: Sequence[RelationRecord], numbers: Mapping[SessionId, SessionId], ids: Ids) -> None:
        """`numbers` and `ids` are the sessions and the names of entities of the archive that are stored under others."""
        if any(normalised(record.relation).casefold() != record.relation for record in records):
            raise InvalidRequest("relation.relation", "must be in lower case, on one line.")
        self._database.write(self._reach, lambda transaction: self._store(transaction, records, numbers, ids))

    def _store(
        self,
        transaction: Transaction,
        records: Sequence[RelationRecord],
        numbers: Mapping[SessionId, SessionId],
        ids: Ids,
    ) -> None:
        rows, relations = ImportedRows(transaction), RelationStore(transaction)
        messages = [stored_message(record.message_id, numbers) for record in records]
        found = rows.messages_to_mention(messages)
        stated = [
            (record, message, _stored(ids, record.subject_id, user), _stored(ids, record.object_id, user))
            for record, message in zip(records, messages, strict=True)
            if message in found
            for _, user in [found[message]]
        ]
        parts = rows.names_to_relate([name for _, _, *names in stated for name in names])
        visibilities = _lock(transaction, {project for project, _ in parts.values()})
        changed = set[ProjectId]()
        for record, message, subject, other in stated:
            session, user = found[message]
            part = parts.get(subject)
            if part is None or parts.get(other) != part or subject == other or part[0] not in visibilities:
                continue
            if self._archived.is_divided(part[0], visibilities[part[0]]) and part[1] != user:
                continue
            if not rows.has_relation(subject, record.relation, other, message, record.created_at):
                relations.add(
                    subject, record.relation, other, session=session, messages=[message], created_at=record.created_at
                )
                changed.add(part[0])
        for project in sorted(changed):
            EntityStore(transaction).note_change(project)


def _stored(ids: Ids, given: EntityId, user: str | None) -> EntityId:
    """The id that a name of the archive has here; a name that was divided has one for each user."""
    return ids.get((given, user)) or ids.get((given, None), given)


def _lock(transaction: Transaction, projects: set[ProjectId]) -> dict[ProjectId, MemberVisibility]:
    """Lock projects against deletion and division; those that are deleted are left out."""
    store = ProjectStore(transaction)
    return {
        project: store.lock_shared(project).member_visibility
        for project in sorted(projects)
        if store.find(project) is not None
    }
