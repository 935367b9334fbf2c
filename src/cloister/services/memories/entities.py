"""The entities of a project: add what messages mention, merge mentions of one name, list, and retag to another project."""

from collections.abc import Sequence
from dataclasses import replace

from cloister.domain.conversation import Project
from cloister.domain.entity import Entity, same_name
from cloister.domain.errors import NotFound
from cloister.domain.extraction import ExtractedEntity
from cloister.domain.identifiers import EntityId, ProjectId, SessionId, format_entity_id, new_entity_id
from cloister.domain.memory import normalised
from cloister.domain.scope import PoolKey, Reach, Scope
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.tenants import ProjectStore

_LONGEST_NAME = 120
_LONGEST_NOTES = 400


class Entities:
    """Only `retag` changes the project of an entity (ISO-6)."""

    def __init__(self, database: Database, indexing: EntityIndexing, clock: Clock) -> None:
        self._database = database
        self._indexing = indexing
        self._clock = clock

    def mention(
        self,
        transaction: Transaction,
        project: Project,
        user: str | None,
        session: SessionId,
        found: Sequence[ExtractedEntity],
    ) -> None:
        """Store what a session of this user mentions, in the project that the session had then (ISO-9)."""
        member = _pool_key(project, user).user
        entities = EntityStore(transaction)
        now = self._clock()
        mentioned = set[EntityId]()
        for position, extracted in enumerate(found):
            name, notes = normalised(extracted.name)[:_LONGEST_NAME], normalised(extracted.notes)[:_LONGEST_NOTES]
            if not name or not extracted.sources:
                continue
            entity = Entity(
                id=new_entity_id(),
                project=project.id,
                user=member,
                name=name,
                type=extracted.type,
                notes=notes,
                sources=extracted.sources,
                created_at=now + position,
            )
            stored = self._stored(entities, entity, same_name(name))
            entities.mention(stored, session, extracted.sources, notes, now)
            mentioned.add(stored)
        if mentioned:
            self._indexing.index_again(transaction, sorted(mentioned))
            entities.note_change(project.id)

    def _stored(self, entities: EntityStore, entity: Entity, digest: bytes) -> EntityId:
        """The locked entity of this name, which is added if missing. Another transaction may add, move or forget it in between."""
        while True:
            known = entities.find(entity.project, entity.user, digest)
            if known is None:
                if entities.add(entity, digest, self._indexing.not_yet):
                    return entity.id
                entity = replace(entity, id=new_entity_id())
            elif entities.lock([known.id]):
                now_there = entities.find(entity.project, entity.user, digest)
                if now_there is not None and now_there.id == known.id:
                    return known.id

    def page(
        self,
        reach: Reach,
        project: ProjectId,
        *,
        user_id: str | None = None,
        limit: int,
        after: tuple[int, int] | None = None,
        behind: EntityId | None = None,
    ) -> list[Entity]:
        """A page of the entities of a project, oldest first, after the cursor (created_at, id) or after an existing entity. Of a
        private project, those of this user, or of sessions without a user (ISO-10)."""
        if user_id is not None:
            checked_name(user_id, "user_id")
        with self._database.read(reach) as transaction:
            part = _pool_key(ProjectStore(transaction).get(project), reach.user_of(user_id))
            entities = EntityStore(transaction)
            if behind is not None:
                last = entities.get(behind)
                if (last.project, last.user) != (project, part.user):
                    raise NotFound("entity", format_entity_id(behind))
                after = (last.created_at, last.id)
            return (
                entities.page(project, part.user, limit=limit)
                if after is None
                else entities.page(project, part.user, limit=limit, after=after)
            )

    def retag(self, reach: Reach, entity: EntityId, project: ProjectId, *, user_id: str | None = None) -> Entity:
        """Move an entity to another project of the tenant. In a private project it keeps its user, unless another is given."""
        if user_id is not None:
            checked_name(user_id, "user_id")

        def work(transaction: Transaction) -> Entity:
            entities = EntityStore(transaction)
            stored = entities.get(entity)
            part = _pool_key(
                ProjectStore(transaction).lock_shared(project),
                stored.user if user_id is None else reach.user_of(user_id),
            )
            there = entities.retag(stored, project, part.user, same_name(stored.name))
            self._indexing.index_again(transaction, [there], gone=[] if there == entity else [entity])
            return entities.get(there)

        return self._database.write(reach, work)


def _pool_key(project: Project, user: str | None) -> PoolKey:
    return Scope(tenant=project.tenant, project=project.id, user=user, visibility=project.member_visibility).pool
