"""Entities of projects, and the mentions of them in messages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from cloister.domain.entity import Entity, merged_notes
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import EntityId, MessageId, ProjectId, SessionId, format_entity_id
from cloister.domain.prompts.speaker import attributed
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction, integers
from cloister.storage.stores.messages import Indexed

# (entity id, notes, message id, the session's user, the project's visibility)
_Mention = tuple[int, str, int, str | None, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class TouchedEntities:
    """Entities that lost a mention: `left` still have others, `gone` had no other and were deleted."""

    left: tuple[EntityId, ...]
    gone: tuple[EntityId, ...]


class EntityStore:
    """The tenant's entities. Each belongs to one project, and in a private project to one user's part of it (ISO-10)."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def find(self, project: ProjectId, user: str | None, digest: bytes) -> Entity | None:
        row = self._transaction.row("entity_by_digest", project_id=project, user_id=user, digest=digest)
        return None if row is None else self._merged([row])[0]

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
        return [entity for entity in sorted(entities) if self._transaction.execute("lock_entity", entity_id=entity)]

    def add(self, entity: Entity, digest: bytes, indexed: Indexed) -> bool:
        """Add an entity; false if another transaction added it first, or the id is taken."""
        row = self._transaction.row(
            "insert_entity",
            entity_id=entity.id,
            project_id=entity.project,
            user_id=entity.user,
            digest=digest,
            name=entity.name,
            type=entity.type,
            created_at=entity.created_at,
            **indexed.columns,
        )
        return row is not None

    def mention(
        self, entity: EntityId, session: SessionId, messages: Sequence[MessageId], notes: str, created_at: int
    ) -> None:
        self._transaction.execute_each(
            "insert_mention",
            [
                {
                    "message_id": message,
                    "entity_id": entity,
                    "session_id": session,
                    "created_at": created_at,
                    "notes": notes,
                }
                for message in messages
            ],
        )

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

    def of_project(self, project: ProjectId) -> list[Entity]:
        """All entities of a project, in id order, of all users' parts."""
        return self._merged(self._transaction.rows("all_project_entities", project_id=project))

    def users_of(self, entity: EntityId) -> list[str | None]:
        """The users whose sessions mention the entity; None, for sessions without a user, is first."""
        users = {cast(str | None, row[0]) for row in self._transaction.rows("users_of_entity", entity_id=entity)}
        return sorted(users, key=lambda user: user or "")

    def give_mentions(self, entity: EntityId, to: EntityId, user: str | None) -> None:
        """Move the mentions by one user's sessions from one entity to another."""
        self._transaction.execute("give_mentions", entity_id=entity, to_entity_id=to, user_id=user)

    def set_user(self, entity: EntityId, user: str | None) -> None:
        """Move the entity to this user's part of its project."""
        self._transaction.execute("set_entity_user", entity_id=entity, user_id=user)

    def contents(self, session: SessionId, message: MessageId | None = None) -> list[tuple[str, str, str]]:
        """The names, types and notes of the mentions by a session, or by one of its messages."""
        rows = self._transaction.rows("mention_contents", session_id=session, message_id=message)
        return cast(list[tuple[str, str, str]], rows)

    def forget_session(self, session: SessionId) -> TouchedEntities:
        """Delete the mentions by a session, and the entities that have no other."""
        touched = self.lock(_ids(self._transaction.rows("entities_of_session", session_id=session)))
        if touched:
            self._transaction.execute("delete_session_mentions", session_id=session)
        return self._after_forgetting(touched)

    def forget_messages(self, messages: Sequence[MessageId]) -> TouchedEntities:
        """Delete the mentions by messages. Notes that one extraction made from several messages go whole: they cannot be split."""
        mentions = [
            row for message in messages for row in self._transaction.rows("mentions_of_message", message_id=message)
        ]
        touched = self.lock(set(_ids(mentions)))
        for entity, session, created_at in mentions:
            self._transaction.execute(
                "delete_mentions_of_extraction", entity_id=entity, session_id=session, created_at=created_at
            )
        return self._after_forgetting(touched)

    def retag(self, entity: Entity, project: ProjectId, user: str | None, digest: bytes) -> EntityId:
        """Move an entity to another project, or a user's part of one; an entity with the same name there is merged with it."""
        there = self.find(project, user, digest)
        self.lock({entity.id} if there is None else {entity.id, there.id})
        if there is None:
            self._transaction.execute("retag_entity", entity_id=entity.id, project_id=project, user_id=user)
        elif there.id != entity.id:
            self._transaction.execute("move_mentions", entity_id=entity.id, to_entity_id=there.id)
            self._transaction.execute("delete_mentions", entity_id=entity.id)
            self._transaction.execute("delete_entities", entity_ids=integers([entity.id]))
        for changed in sorted({entity.project, project}):
            self.note_change(ProjectId(changed))
        return entity.id if there is None else there.id

    def _after_forgetting(self, touched: Sequence[EntityId]) -> TouchedEntities:
        if not touched:
            return TouchedEntities(left=(), gone=())
        projects = self._transaction.rows("projects_of_entities", entity_ids=integers(touched))
        for (project,) in sorted(cast(list[tuple[int]], projects)):
            self.note_change(ProjectId(project))
        gone = _ids(self._transaction.rows("unmentioned_entities", entity_ids=integers(touched)))
        if gone:
            self._transaction.execute("delete_entities", entity_ids=integers(gone))
        return TouchedEntities(left=tuple(entity for entity in touched if entity not in set(gone)), gone=tuple(gone))

    def _merged(self, rows: Sequence[Row]) -> list[Entity]:
        return merged(self._transaction, rows)


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

    def found(self, ids: Sequence[int]) -> dict[int, Entity]:
        """The entities with these ids that are in this part now; other ids are left out."""
        rows = self._transaction.rows(
            "project_entities", project_id=self.project, user_id=self.user, entity_ids=integers(ids)
        )
        return {entity.id: entity for entity in merged(self._transaction, rows)}


def merged(transaction: Transaction, rows: Sequence[Row]) -> list[Entity]:
    """Entities with the notes of all their mentions; in a shared project the notes name their speakers (MEM-11)."""
    if not rows:
        return []
    ids = [cast(int, row[0]) for row in rows]
    mentions = cast(list[_Mention], transaction.rows("mentions", entity_ids=integers(ids)))
    of_each = {entity: list(said) for entity, said in groupby(mentions, key=lambda mention: mention[0])}
    return [_entity(row, of_each.get(cast(int, row[0]), ())) for row in rows]


def _entity(row: Row, mentions: Sequence[_Mention]) -> Entity:
    entity, project, user, name, kind, created_at = cast(tuple[Any, ...], row)
    named = any(visibility == "shared" and said_by is not None for *_, said_by, visibility in mentions)
    return Entity(
        id=EntityId(entity),
        project=ProjectId(project),
        user=user,
        name=name,
        type=kind,
        notes=merged_notes(attributed(notes, said_by, named=named) for _, notes, _, said_by, _ in mentions),
        sources=tuple(MessageId(message) for _, _, message, _, _ in mentions),
        created_at=created_at,
    )


def _ids(rows: Sequence[Row]) -> list[EntityId]:
    return [EntityId(cast(int, row[0])) for row in rows]
