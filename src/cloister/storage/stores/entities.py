"""Entities of projects and what mentions them, inside one transaction's reach."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from cloister.domain.entity import Entity, merged_notes
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import EntityId, MessageId, ProjectId, SessionId, format_entity_id
from cloister.domain.prompts.speaker import attributed
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import Indexed

# entity, notes, message, user of the session, visibility of the project
_Mention = tuple[int, str, int, str | None, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """Entities that lost a mention: `left` are those that others still mention, `gone` those that nobody does."""

    left: tuple[EntityId, ...]
    gone: tuple[EntityId, ...]


class EntityStore:
    """The tenant's entities; each is of one project, and in a private one of one user's part of it (ISO-10)."""

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
        """Those of these that are still there, for ids that the caller has from here: in whatever project they are."""
        return self._merged(self._transaction.rows("found_entities", entity_ids=integers(entities)))

    def hold(self, entities: Iterable[EntityId]) -> list[EntityId]:
        """Before anything that is known of them changes, or where they are; gives those that are still there. In one order, so that
        two who hold several cannot wait for each other."""
        return [entity for entity in sorted(entities) if self._transaction.execute("hold_entity", entity_id=entity)]

    def add(self, entity: Entity, digest: bytes, indexed: Indexed) -> bool:
        """False when another transaction added it meanwhile, or the drawn id is taken."""
        row = self._transaction.row(
            "insert_entity",
            entity_id=entity.id,
            project_id=entity.project,
            user_id=entity.user,
            digest=digest,
            name=entity.name,
            type=entity.type,
            created_at=entity.created_at,
            generation=indexed.generation,
            vector=indexed.vector,
            terms=indexed.terms,
            indexed_at=indexed.indexed_at,
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
        """Of one that is held, after the change."""
        self._transaction.execute(
            "set_entity_index",
            entity_id=entity,
            generation=indexed.generation,
            vector=indexed.vector,
            terms=indexed.terms,
            indexed_at=indexed.indexed_at,
        )

    def note_change(self, project: ProjectId) -> None:
        self._transaction.execute("raise_entity_version", project_id=project)

    def page(
        self, project: ProjectId, user: str | None, *, limit: int, after: tuple[int, int] = (-(1 << 63), 0)
    ) -> list[Entity]:
        """Oldest first, from behind the (created_at, id) of the last one seen."""
        rows = self._transaction.rows(
            "entities",
            project_id=project,
            user_id=user,
            limit=limit,
            after_created_at=after[0],
            after_entity_id=after[1],
        )
        return self._merged(rows)

    def of_project(self, project: ProjectId) -> list[Entity]:
        """All of a project, in the order of their ids, whichever user's part they are in."""
        return self._merged(self._transaction.rows("all_project_entities", project_id=project))

    def users_of(self, entity: EntityId) -> list[str | None]:
        """Whose sessions mention it, sessions without a user first."""
        users = {cast(str | None, row[0]) for row in self._transaction.rows("users_of_entity", entity_id=entity)}
        return sorted(users, key=lambda user: user or "")

    def give_mentions(self, entity: EntityId, to: EntityId, user: str | None) -> None:
        """What the sessions of one user say of an entity is said of another one instead."""
        self._transaction.execute("give_mentions", entity_id=entity, to_entity_id=to, user_id=user)

    def set_user(self, entity: EntityId, user: str | None) -> None:
        """Whose part of its project it is in."""
        self._transaction.execute("set_entity_user", entity_id=entity, user_id=user)

    def contents(self, session: SessionId, message: MessageId | None = None) -> list[tuple[str, str, str]]:
        """The names, types and notes of what a session mentions, or one of its messages."""
        rows = self._transaction.rows("mention_contents", session_id=session, message_id=message)
        return cast(list[tuple[str, str, str]], rows)

    def forget_session(self, session: SessionId) -> Touched:
        """Take away what a session mentioned."""
        touched = self.hold(_ids(self._transaction.rows("entities_of_session", session_id=session)))
        if touched:
            self._transaction.execute("delete_session_mentions", session_id=session)
        return self._after_forgetting(touched)

    def forget_message(self, message: MessageId) -> Touched:
        """What was told of an entity by this message and others together goes, as its words cannot be told apart any more."""
        mentions = self._transaction.rows("mentions_of_message", message_id=message)
        touched = self.hold(set(_ids(mentions)))
        for entity, session, created_at in mentions:
            self._transaction.execute(
                "delete_mentions_told_together", entity_id=entity, session_id=session, created_at=created_at
            )
        return self._after_forgetting(touched)

    def retag(self, entity: Entity, project: ProjectId, user: str | None, digest: bytes) -> EntityId:
        """Into another project, or a user's part of one; where that knows the name already, the two become one."""
        there = self.find(project, user, digest)
        self.hold({entity.id} if there is None else {entity.id, there.id})
        if there is None:
            self._transaction.execute("retag_entity", entity_id=entity.id, project_id=project, user_id=user)
        elif there.id != entity.id:
            self._transaction.execute("move_mentions", entity_id=entity.id, to_entity_id=there.id)
            self._transaction.execute("delete_mentions", entity_id=entity.id)
            self._transaction.execute("delete_entities", entity_ids=integers([entity.id]))
        for changed in sorted({entity.project, project}):
            self.note_change(ProjectId(changed))
        return entity.id if there is None else there.id

    def _after_forgetting(self, touched: Sequence[EntityId]) -> Touched:
        if not touched:
            return Touched(left=(), gone=())
        projects = self._transaction.rows("projects_of_entities", entity_ids=integers(touched))
        for (project,) in sorted(cast(list[tuple[int]], projects)):
            self.note_change(ProjectId(project))
        gone = _ids(self._transaction.rows("unmentioned_entities", entity_ids=integers(touched)))
        if gone:
            self._transaction.execute("delete_entities", entity_ids=integers(gone))
        return Touched(left=tuple(entity for entity in touched if entity not in set(gone)), gone=tuple(gone))

    def _merged(self, rows: Sequence[Row]) -> list[Entity]:
        return merged(self._transaction, rows)


class StoredEntities:
    """The entities of one project, or of one user's part of it, read at one moment, as an index reads rows."""

    kind = "entity"

    def __init__(self, transaction: Transaction, project: ProjectId, user: str | None, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation
        self.project = project
        self.user = user
        self.tenant = int(transaction.reach.tenant)
        self.place = (int(project), user)

    def version(self) -> int | None:
        """None where there is no such project here."""
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
        """Those that are here now; every other id is left out."""
        rows = self._transaction.rows(
            "project_entities", project_id=self.project, user_id=self.user, entity_ids=integers(ids)
        )
        return {entity.id: entity for entity in merged(self._transaction, rows)}


def merged(transaction: Transaction, rows: Sequence[Row]) -> list[Entity]:
    """Entities with the notes of all their mentions, which name their speakers where several users meet (MEM-11)."""
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
