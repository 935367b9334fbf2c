"""Import the entities of an archive: their names, and the mentions of them by messages that are here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cloister.domain.archive.ids import entity_ids
from cloister.domain.archive.imported import ImportTally
from cloister.domain.archive.records import EntityRecord, MentionRecord
from cloister.domain.entity import EntityName, same_name
from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import SEQUENCE_BITS, EntityId, MessageId, ProjectId, SessionId, session_of
from cloister.domain.scope import Reach
from cloister.services.archive.archived_projects import ArchivedProjects
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import EntityGroupStore
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.tenants import ProjectStore

MOST_MENTIONS = 500
_MOST_SILENT = 1_000
_Said = tuple[MessageId, SessionId, MentionRecord]


@dataclass(kw_only=True, slots=True)
class EntityBatch:
    """A name of an entity of an archive, and its mentions that are not stored yet."""

    record: EntityRecord
    is_added: bool = False
    mentions: list[MentionRecord] = field(default_factory=list[MentionRecord])


@dataclass(kw_only=True, slots=True)
class _Group:
    """The names of one entity of the archive, as far as they were stored. `heads` are the entities here that further names become
    part of, by the user of their part; `silent` names that no message mentions, which wait for one that is; `changed` the names
    that are new or have new mentions."""

    first: EntityRecord
    heads: dict[str | None, EntityId] = field(default_factory=dict[str | None, EntityId])
    silent: list[EntityRecord] = field(default_factory=list[EntityRecord])
    changed: set[EntityId] = field(default_factory=set[EntityId])
    added: int = 0
    unchanged: int = 0

    def copy(self) -> "_Group":
        return replace(self, heads={**self.heads}, silent=[*self.silent], changed={*self.changed}, added=0, unchanged=0)


class EntityImport:
    """Stores names of entities: one that is here already gets the mentions of the archive, and stays as it is otherwise. `ids` are
    the names of the archive that are stored under other ids, of divided ones with their user."""

    def __init__(self, database: Database, indexing: EntityIndexing, reach: Reach, archived: ArchivedProjects) -> None:
        self._database = database
        self._indexing = indexing
        self._reach = reach
        self._archived = archived
        self._group: _Group | None = None
        self._empty: dict[tuple[ProjectId, str | None], bool] = {}
        self.has_all_names = False
        """Whether the archive has all names of its projects and says which are one entity: it is right where no others are."""
        self.ids: dict[tuple[EntityId, str | None], EntityId] = {}

    def is_of_group(self, record: EntityRecord) -> bool:
        """Whether a name is of the same entity as the name before it."""
        return self._group is not None and record.part_of == self._group.first.id

    def begin(self, record: EntityRecord) -> None:
        """Begin with a name, after the one before it was stored."""
        if (record.corrected_name or record.corrected_type or record.corrected_notes) and record.corrected_at is None:
            raise InvalidRequest("entity.corrected_at", "is missing, and says when the entity was corrected.")
        if record.part_of is None:
            self._group = _Group(first=record)
            return
        first = None if self._group is None else self._group.first
        if (
            first is None
            or record.part_of != first.id
            or (record.project_id, record.user_id) != (first.project_id, first.user_id)
        ):
            raise InvalidRequest(
                "entity.part_of", "must be the id of an entity before it, in the same project, with the same user_id."
            )

    def store(
        self, batch: EntityBatch, numbers: Mapping[SessionId, SessionId], tally: ImportTally, *, ends_group: bool
    ) -> None:
        """Store a name. `numbers` are the sessions of the archive that are stored under other numbers; `ends_group` says that no
        other name of the same entity follows."""
        if self._group is None:
            raise InvalidRequest("entity", "must begin with the name that has its id.")
        before = self._group
        mentions = [(stored_message(mention.message_id, numbers), mention) for mention in batch.mentions]
        group = self._database.write(
            self._reach, lambda transaction: self._store(transaction, before.copy(), batch, mentions, ends_group)
        )
        tally.add("entities", group.added, group.unchanged)
        self._group = group

    def _store(
        self,
        transaction: Transaction,
        group: _Group,
        batch: EntityBatch,
        mentions: Sequence[tuple[MessageId, MentionRecord]],
        ends_group: bool,
    ) -> _Group:
        """Without a mention there is no entity. The rule of first names is applied to whole entities: names that a person made part
        of one would come too late. It is not applied to a whole tenant's archive where nothing was before."""
        record = batch.record
        project = ProjectStore(transaction).lock_shared(record.project_id)
        is_divided = self._archived.is_divided(record.project_id, project.member_visibility)
        names = _Names(transaction, self._indexing, group, is_divided=is_divided)
        is_silent = not batch.is_added and not batch.mentions
        if is_silent and not is_divided:
            if len(group.silent) >= _MOST_SILENT:
                raise InvalidRequest("entity", f"has more than {_MOST_SILENT:,} names that no message mentions.")
            group.silent.append(record)
        found = ImportedRows(transaction).messages_to_mention([message for message, _ in mentions])
        parts: dict[str | None, list[_Said]] = {}
        for message, mention in mentions:
            if message in found:
                session, user = found[message]
                own = None if project.member_visibility == "shared" else record.user_id
                part = own or user if is_divided else own
                parts.setdefault(part, []).append((message, session, mention))
        is_new = False
        for part, said in sorted(parts.items(), key=lambda entry: entry[0] or ""):
            if transaction.reach.user not in (None, part) and project.member_visibility == "private":
                raise Forbidden("This key is bound to one user, and the archive has entities of others.")
            self._note_part(transaction, record.project_id, part)
            entity, was_added = names.mention(record, part, said)
            self._note_id(record.id, entity, part, is_divided=is_divided)
            is_new |= was_added
        for part in [*group.heads] if not is_divided else ():
            names.add_silent(part)
        if not batch.is_added and not (is_silent and not is_divided):
            group.added += is_new
            group.unchanged += not is_new
        if ends_group:
            group.unchanged += len(group.silent)
        is_right = self.has_all_names and not is_divided and self._were_empty(record.project_id, group.heads)
        names.finish(ends_group=ends_group, applies_rule=ends_group and not is_right)
        return group

    def _note_part(self, transaction: Transaction, project: ProjectId, part: str | None) -> None:
        """Note whether a part of a project had no entities before this import."""
        if (project, part) not in self._empty:
            self._empty[project, part] = not EntityStore(transaction).page(project, part, limit=1)

    def _were_empty(self, project: ProjectId, parts: Iterable[str | None]) -> bool:
        return all(self._empty.get((project, part), False) for part in parts)

    def _note_id(self, given: EntityId, stored: EntityId, part: str | None, *, is_divided: bool) -> None:
        if is_divided:
            self.ids[given, part] = stored
        elif given != stored:
            self.ids[given, None] = stored


class _Names:
    """The names of one entity of an archive, stored in one transaction."""

    def __init__(self, transaction: Transaction, indexing: EntityIndexing, group: _Group, *, is_divided: bool) -> None:
        self._transaction = transaction
        self._indexing = indexing
        self._group = group
        self._is_divided = is_divided
        self._entities = EntityStore(transaction)
        self._groups = EntityGroupStore(transaction)
        self._has_changed = False

    def mention(self, record: EntityRecord, part: str | None, said: Sequence[_Said]) -> tuple[EntityId, bool]:
        """Store the mentions of a name in one user's part; returns the id of the name, and whether it is new."""
        before = self._entities.find(record.project_id, part, same_name(record.name))
        known = set[MessageId]()
        if before is not None:
            known = ImportedRows(self._transaction).mentioned(before.id, [message for message, _, _ in said])
            self._group.heads.setdefault(part, before.entity)
        new = [entry for entry in said if entry[0] not in known]
        if before is not None and not new:
            return before.id, False
        if not self._is_divided and self._group.silent and self._group.silent[0].part_of is None:
            self._add_silent_name(self._group.silent.pop(0), part)
        entity, is_new = self._name(record, part)
        for message, session, mention in new:
            self._entities.mention(entity, session, [message], mention.notes, mention.created_at)
        self._note(entity)
        return entity, is_new

    def add_silent(self, part: str | None) -> None:
        """Add the names that no message mentions to their entity, of which another name is mentioned."""
        while self._group.silent:
            self._add_silent_name(self._group.silent.pop(0), part)

    def _add_silent_name(self, record: EntityRecord, part: str | None) -> None:
        known = self._entities.find(record.project_id, part, same_name(record.name))
        if known is not None:
            self._group.heads.setdefault(part, known.entity)
            self._group.unchanged += 1
            return
        entity, is_new = self._name(record, part)
        self._group.added += is_new
        self._group.unchanged += not is_new
        self._note(entity)

    def finish(self, *, ends_group: bool, applies_rule: bool) -> None:
        """Index what changed, and group first names again at the end of an entity, unless the archive has done that."""
        if not (self._has_changed or (ends_group and self._group.changed)):
            return
        changed = set[EntityId]()
        names = sorted(self._group.changed)
        if applies_rule:
            changed |= self._groups.apply_first_names(self._groups.first_names(names))
        changed.update(name.entity for name in self._groups.names(names))
        self._indexing.index_again(self._transaction, sorted(changed))
        self._entities.note_change(self._group.first.project_id)

    def _note(self, entity: EntityId) -> None:
        self._group.changed.add(entity)
        self._has_changed = True

    def _name(self, record: EntityRecord, part: str | None) -> tuple[EntityId, bool]:
        """The locked name, which is added if missing, and whether it is new."""
        digest = same_name(record.name)
        ids = iter(entity_ids(self._transaction.reach.tenant, record.id))
        while True:
            known = self._entities.find(record.project_id, part, digest)
            if known is not None and self._entities.lock([known.id]):
                return known.id, False
            head = self._head(part)
            entity = EntityName(
                id=next(ids),
                project=record.project_id,
                user=part,
                name=record.name,
                type=record.type,
                created_at=record.created_at,
                part_of=head,
                grouped_by_hand=record.grouped_by_hand and (head is not None or record.part_of is None),
                name_by_hand=record.name_by_hand,
            )
            if known is None and self._entities.add(entity, digest, self._indexing.not_yet):
                self._group.heads.setdefault(part, entity.entity)
                self._correct(entity.id, record)
                return entity.id, True

    def _head(self, part: str | None) -> EntityId | None:
        """The locked entity that a new name becomes part of; None if there is none, or it was deleted meanwhile."""
        head = self._group.heads.get(part)
        found = self._groups.names(self._entities.lock([head])) if head is not None else []
        if found and found[0].deleted_at is None:
            return found[0].entity
        self._group.heads.pop(part, None)
        return None

    def _correct(self, entity: EntityId, record: EntityRecord) -> None:
        """Write what people corrected; in divided entities it may say what another user said."""
        if record.corrected_at is not None and not self._is_divided:
            self._groups.correct(
                entity,
                name=record.corrected_name,
                kind=record.corrected_type,
                notes=record.corrected_notes,
                at=record.corrected_at,
            )


def stored_message(message: MessageId, numbers: Mapping[SessionId, SessionId]) -> MessageId:
    """The id that a message of the archive has here."""
    session = session_of(message)
    return MessageId(message + ((numbers.get(session, session) - session) << SEQUENCE_BITS))
