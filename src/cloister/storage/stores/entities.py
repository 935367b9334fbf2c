"""Entities of projects, and the mentions of them in messages."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple, cast

from cloister.domain.entity import MAX_NOTES, Entity, EntityName, first_name, merged_notes, without_statements
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import EntityId, MessageId, ProjectId, SessionId, format_entity_id
from cloister.domain.prompts.speaker import attributed
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction, Value, integers
from cloister.storage.stores.entity_groups import EntityGroupStore, TouchedEntities, name_of_row
from cloister.storage.stores.entity_relations import RelationStore
from cloister.storage.stores.messages import Indexed

_MOST_EQUAL_NOTES = 20
"""Of how many mentions with the same notes is looked at whether a memory still says so."""


class _Mention(NamedTuple):
    """One name of an entity with one of its mentions; in the row of the name itself, `message` is None, and `created_at` is that of
    the name."""

    entity: int
    id: int
    name: str
    type: str
    grouped_by_hand: int
    corrected_notes: str | None
    corrected_at: int | None
    notes: str | None
    message: int | None
    created_at: int
    user: str | None
    visibility: str | None
    session: int | None
    """None if the session is not in the project of the entity now."""

    @property
    def position(self) -> tuple[int, bool, int, int, int]:
        """Sorts mentions of an entity by age, and then its names by age."""
        return self.entity, self.message is None, self.created_at, self.message or 0, self.id


class EntityStore:
    """The tenant's entities. Each belongs to one project, and in a private project to one user's part of it (ISO-10). With `now`,
    the time, their notes are as they are shown: without what memories no longer say (`_shown`)."""

    def __init__(self, transaction: Transaction, now: int | None = None) -> None:
        self._transaction = transaction
        self._now = now

    def find(self, project: ProjectId, user: str | None, digest: bytes) -> EntityName | None:
        """The name with this digest, of an entity that is not deleted."""
        row = self._transaction.row("entity_by_digest", project_id=project, user_id=user, digest=digest)
        return None if row is None else name_of_row(row)

    def get(self, entity: EntityId) -> Entity:
        row = self._transaction.row("entity", entity_id=entity)
        if row is None:
            raise NotFound("entity", format_entity_id(entity))
        return self._merged([row])[0]

    def found(self, entities: Sequence[EntityId]) -> list[Entity]:
        """The entities with these ids that still exist, in any project; for ids that this store returned."""
        return self._merged(self._transaction.rows("found_entities", entity_ids=integers(entities)))

    def lock(self, entities: Iterable[EntityId]) -> list[EntityId]:
        """Lock entities before they or their mentions are changed; returns the ids that still exist. Locks in id order to avoid
        deadlock."""
        return EntityGroupStore(self._transaction).lock(entities)

    def add(self, entity: EntityName, digest: bytes, indexed: Indexed) -> bool:
        """Add a name; false if another transaction added it first, or the id is taken."""
        row = self._transaction.row(
            "insert_entity",
            entity_id=entity.id,
            project_id=entity.project,
            user_id=entity.user,
            digest=digest,
            first_digest=first_name(entity.name),
            name=entity.name,
            type=entity.type,
            created_at=entity.created_at,
            part_of=entity.part_of,
            grouped_by_hand=int(entity.grouped_by_hand),
            name_by_hand=int(entity.name_by_hand),
            deleted_at=entity.deleted_at,
            **indexed.columns,
        )
        return row is not None

    def mention(
        self, entity: EntityId, session: SessionId, messages: Sequence[MessageId], notes: str, created_at: int
    ) -> None:
        mentions: list[dict[str, Value]] = [
            {
                "message_id": message,
                "entity_id": entity,
                "session_id": session,
                "created_at": created_at,
                "notes": notes,
            }
            for message in messages
        ]
        self._transaction.execute_each("fill_mention", mentions)
        self._transaction.execute_each("insert_mention", mentions)

    def set_index(self, entity: EntityId, indexed: Indexed) -> None:
        """Write the index columns of an entity that is locked."""
        self._transaction.execute(
            "set_entity_index",
            entity_id=entity,
            **indexed.columns,
        )

    def note_change(self, project: ProjectId) -> None:
        self._transaction.execute("raise_entity_version", project_id=project)

    def page(self, project: ProjectId, user: str | None, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[Entity]:
        """A page of entities, oldest first; `after` is the (created_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "entities",
            project_id=project,
            user_id=user,
            limit=limit,
            after_created_at=after[0],
            after_entity_id=after[1],
        )
        return self._merged(rows)

    def most_mentioned(self, project: ProjectId, user: str | None, *, limit: int) -> list[Entity]:
        """The entities of a project, or of one user's part of it, that most messages mention."""
        rows = self._transaction.rows("most_mentioned_entities", project_id=project, user_id=user, limit=limit)
        return self._merged(rows)

    def of_project(self, project: ProjectId) -> list[EntityName]:
        """All names of entities of a project, in id order, of all users' parts, also of deleted entities."""
        return [name_of_row(row) for row in self._transaction.rows("all_project_entities", project_id=project)]

    def users_of(self, entity: EntityId) -> list[str | None]:
        """The users whose sessions mention the entity; None, for sessions without a user, is first."""
        users = {cast(str | None, row[0]) for row in self._transaction.rows("users_of_entity", entity_id=entity)}
        return sorted(users, key=lambda user: user or "")

    def give_mentions(self, entity: EntityId, to: EntityId, user: str | None) -> None:
        """Move the mentions by one user's sessions from one name to another, and the relations that they state."""
        self._transaction.execute("give_mentions", entity_id=entity, to_entity_id=to, user_id=user)
        RelationStore(self._transaction).give(entity, to, user)

    def set_user(self, entity: EntityId, user: str | None) -> None:
        """Move the entity to this user's part of its project."""
        self._transaction.execute("set_entity_user", entity_id=entity, user_id=user)

    def contents(self, session: SessionId, message: MessageId | None = None) -> list[tuple[str, str, str]]:
        """The names, types and notes of the mentions by a session, or by one of its messages: as they were said, and as their
        entities are shown."""
        rows = self._transaction.rows("mention_contents", session_id=session, message_id=message)
        found: dict[tuple[str, str, str], None] = {}
        for name, kind, notes, shown, shown_type, corrected in cast(
            list[tuple[str, str, str, str, str, str | None]], rows
        ):
            found[name, kind, notes] = None
            found[shown, shown_type, corrected or ""] = None
            found[name, shown_type, ""] = None
        return list(found)

    def of_session(self, session: SessionId) -> list[EntityId]:
        """The names that a session mentions."""
        return _ids(self._transaction.rows("entities_of_session", session_id=session))

    def of_message(self, message: MessageId) -> list[EntityId]:
        """The names that a message mentions."""
        return sorted(set(_ids(self._transaction.rows("mentions_of_message", message_id=message))))

    def forget_session(self, session: SessionId) -> TouchedEntities:
        """Delete the mentions and relations by a session, and the entities that have no other mention."""
        RelationStore(self._transaction).forget_session(session)
        touched = self.lock(self.of_session(session))
        if touched:
            self._transaction.execute("delete_session_mentions", session_id=session)
        return EntityGroupStore(self._transaction).after_loss(touched)

    def forget_statements(self, session: SessionId, digests: Collection[bytes]) -> TouchedEntities:
        """Remove the sentences that say the same as forgotten statements from the notes that a session made on entities."""
        rows = cast(
            list[tuple[int, int, str]], self._transaction.rows("noted_mentions", session_id=session) if digests else []
        )
        changed = [
            (message, entity, left)
            for message, entity, notes in rows
            if (left := without_statements(notes, digests)) != notes
        ]
        touched = self.lock({EntityId(entity) for _, entity, _ in changed})
        self._transaction.execute_each(
            "set_mention_notes",
            [{"message_id": message, "entity_id": entity, "notes": left} for message, entity, left in changed],
        )
        return EntityGroupStore(self._transaction).after_loss(touched)

    def forget_messages(self, messages: Sequence[MessageId]) -> TouchedEntities:
        """Delete the mentions and relations by messages. Notes that one extraction made from several messages go whole: they
        cannot be split."""
        for message in messages:
            RelationStore(self._transaction).forget_message(message)
        mentions = [
            row for message in messages for row in self._transaction.rows("mentions_of_message", message_id=message)
        ]
        touched = self.lock(set(_ids(mentions)))
        for entity, session, created_at in mentions:
            self._transaction.execute(
                "delete_mentions_of_extraction", entity_id=entity, session_id=session, created_at=created_at
            )
        return EntityGroupStore(self._transaction).after_loss(touched)

    def retag(self, name: EntityName, project: ProjectId, user: str | None, digest: bytes) -> EntityId:
        """Move a name to another project, or a user's part of one; the same name there is merged with it. Returns the id that the
        name has there."""
        there = self.find(project, user, digest) if name.deleted_at is None else None
        self.lock({name.id} if there is None else {name.id, there.id})
        if there is None:
            self._transaction.execute("retag_entity", entity_id=name.id, project_id=project, user_id=user)
        elif there.id != name.id:
            self.merge(name.id, there.id)
        for changed in sorted({name.project, project}):
            self.note_change(ProjectId(changed))
        return name.id if there is None else there.id

    def merge(self, name: EntityId, into: EntityId) -> None:
        """Give the mentions and relations of a locked name to another, and delete it."""
        self._transaction.execute("move_mentions", entity_id=name, to_entity_id=into)
        RelationStore(self._transaction).move(name, into)
        self._transaction.execute("delete_mentions", entity_id=name)
        self._transaction.execute("delete_entities", entity_ids=integers([name]))

    def _merged(self, rows: Sequence[Row]) -> list[Entity]:
        return merged(self._transaction, rows, self._now)


class StoredEntities:
    """The entities of one project, or of one user's part of it, in one snapshot, for an index."""

    kind = "entity"

    def __init__(self, transaction: Transaction, project: ProjectId, user: str | None, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation
        self.project = project
        self.user = user
        self.tenant = int(transaction.reach.tenant)
        self.partition = (int(project), user)

    def version(self) -> int | None:
        """The version of the project's entities; None if there is no such project."""
        row = self._transaction.row("entity_state", project_id=self.project)
        return None if row is None else cast(int, row[0])

    def size(self) -> int:
        row = self._transaction.row("entity_count", project_id=self.project, user_id=self.user)
        return 0 if row is None else cast(int, row[0])

    def all_rows(self) -> Iterator[Row]:
        return self._transaction.stream(
            "entity_rows", project_id=self.project, user_id=self.user, generation=self._generation
        )

    def stale(self) -> int:
        """How many entities another index generation wrote."""
        row = self._transaction.row(
            "stale_entity_count", project_id=self.project, user_id=self.user, generation=self._generation
        )
        return 0 if row is None else cast(int, row[0])

    def waiting(self) -> int:
        """How many entities are of this generation, and not in an external index yet."""
        row = self._transaction.row(
            "waiting_entity_count", project_id=self.project, user_id=self.user, generation=self._generation
        )
        return 0 if row is None else cast(int, row[0])

    def stale_entities(self, limit: int) -> list[Entity]:
        """The newest entities that another index generation wrote, with all their notes, as they are indexed."""
        rows = self._transaction.rows(
            "stale_entities_in_project",
            project_id=self.project,
            user_id=self.user,
            generation=self._generation,
            limit=limit,
        )
        return merged(self._transaction, rows)

    def found(self, ids: Sequence[int], now: int) -> dict[int, Entity]:
        """The entities with these ids that are in this part now, as they are shown at this time; other ids are left out."""
        rows = self._transaction.rows(
            "project_entities", project_id=self.project, user_id=self.user, entity_ids=integers(ids)
        )
        return {entity.id: entity for entity in merged(self._transaction, rows, now)}


def merged(transaction: Transaction, rows: Sequence[Row], now: int | None = None) -> list[Entity]:
    """Entities with the notes of all their mentions; in a shared project the notes name their speakers (MEM-11). With `now`, the
    notes are as they are shown then."""
    if not rows:
        return []
    names = [name_of_row(row) for row in rows]
    found = transaction.rows("mentions", entity_ids=integers([name.id for name in names]))
    mentions = sorted((_Mention(*cast(tuple[Any, ...], row)) for row in found), key=lambda mention: mention.position)
    if now is not None:
        mentions = _shown(transaction, mentions, now)
    of_each = _by_entity(mentions)
    return [_entity(name, of_each.get(name.id, ())) for name in names]


def _shown(transaction: Transaction, mentions: Sequence[_Mention], now: int) -> list[_Mention]:
    """The mentions with their notes as they are shown: without sentences that say the same as a memory of the session that is
    superseded, retracted, expired or corrected to something else (MEM-12, MEM-13). The stored notes stay, so that all comes back
    when the memory does. Only the newest notes are looked at, twice as many as are shown."""
    checked = {id(mention) for said in _by_entity(mentions).values() for mention in _newest_notes(said)}
    sessions = {one.session for one in mentions if id(one) in checked and one.session is not None}
    withdrawn: dict[int, set[bytes]] = {}
    if sessions:
        rows = transaction.rows("withdrawn_statements", session_ids=integers(sorted(sessions)), now=now)
        for session, digest in cast(list[tuple[int, bytes]], rows):
            withdrawn.setdefault(session, set()).add(digest)
    return [
        _shown_mention(one, withdrawn.get(one.session or 0, ()) if id(one) in checked else None) for one in mentions
    ]


def _shown_mention(one: _Mention, withdrawn: Collection[bytes] | None) -> _Mention:
    """A mention without the statements that are withdrawn; without notes if it is not known which are."""
    if not one.notes or (withdrawn is not None and not withdrawn):
        return one
    return one._replace(notes=None if withdrawn is None else without_statements(one.notes, withdrawn))


def _newest_notes(mentions: Sequence[_Mention]) -> Iterator[_Mention]:
    """The mentions of one entity with its newest notes; of those with the same notes only some."""
    times: dict[tuple[str, str | None], int] = {}
    length = 0
    for one in reversed(mentions):
        if not one.notes:
            continue
        said = times[one.notes, one.user] = times.get((one.notes, one.user), 0) + 1
        length += len(one.notes) if said == 1 else 0
        if length > 2 * MAX_NOTES:
            return
        if said <= _MOST_EQUAL_NOTES:
            yield one


def _by_entity(mentions: Sequence[_Mention]) -> dict[int, list[_Mention]]:
    return {entity: list(said) for entity, said in groupby(mentions, key=lambda mention: mention.entity)}


def _entity(head: EntityName, mentions: Sequence[_Mention]) -> Entity:
    others = {mention.id: mention for mention in mentions if mention.id != head.id}
    shown = head.corrected_name or _fullest(head, others.values())
    names = dict.fromkeys([head.name, *(other.name for other in others.values())])
    types = [head.type, *(other.type for other in others.values())]
    corrected = " ".join(filter(None, [head.corrected_notes, *(other.corrected_notes for other in others.values())]))
    is_shared = any(said.visibility == "shared" for said in mentions)
    is_named = is_shared and any(said.user is not None for said in mentions)

    def notes(*, named: bool) -> str:
        extracted = merged_notes(_extracted_notes(head, mentions, named=named), MAX_NOTES - len(corrected))
        return " ".join(filter(None, (corrected, extracted)))

    return Entity(
        id=head.id,
        project=head.project,
        user=head.user,
        name=shown,
        type=head.corrected_type or next((kind for kind in types if kind != "other"), "other"),
        notes=notes(named=is_named),
        attributed_notes=notes(named=True) if is_shared and not is_named else None,
        sources=tuple(dict.fromkeys(MessageId(said.message) for said in mentions if said.message is not None)),
        created_at=head.created_at,
        aliases=tuple(name for name in names if name != shown),
    )


def _fullest(head: EntityName, others: Iterable[_Mention]) -> str:
    """The full name of a person who was known by the first name before; else the entity's own name."""
    if " " in head.name:
        return head.name
    return next((other.name for other in others if not other.grouped_by_hand and " " in other.name), head.name)


def _extracted_notes(head: EntityName, mentions: Sequence[_Mention], *, named: bool) -> Iterator[str]:
    """The notes of mentions, without those that were extracted before a person corrected the notes."""
    since = 0 if head.corrected_notes is None else head.corrected_at or 0
    for said in mentions:
        of_name = 0 if said.corrected_notes is None else said.corrected_at or 0
        if said.notes and said.created_at > max(since, of_name):
            yield attributed(said.notes, said.user, named=named)


def _ids(rows: Sequence[Row]) -> list[EntityId]:
    return [EntityId(cast(int, row[0])) for row in rows]
