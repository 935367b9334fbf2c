"""The entities of a project: add what messages mention, merge mentions of one name, list, show, and retag to another project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cloister.domain.conversation import Project
from cloister.domain.entity import MAX_ENTITY_NAME, MAX_RELATION, Entity, EntityName, EntityRelation, same_name
from cloister.domain.errors import Forbidden, NotFound
from cloister.domain.extraction import ExtractedEntity
from cloister.domain.identifiers import EntityId, MessageId, ProjectId, SessionId, format_entity_id, new_entity_id
from cloister.domain.memory import normalised
from cloister.domain.recall.filter import Filter
from cloister.domain.scope import PoolKey, Reach, Scope
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.memories.filtered_list import entity_page, filtered_page, message_passes
from cloister.storage.interface import FIRST_PAGE, CursorKey, Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import LAST_PAGE, EntityGroupStore
from cloister.storage.stores.entity_relations import RelationStore
from cloister.storage.stores.pools import PoolMessage, PoolStore, StoredPool
from cloister.storage.stores.tenants import ProjectStore

MENTIONS_SHOWN = 50
_LONGEST_NOTES = 400
_MOST_RELATIONS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A message that mentions an entity, and the cursor that continues the list after it."""

    said: PoolMessage
    cursor: CursorKey


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityDetail:
    """An entity with its relations to others, and the latest messages that mention it, at most `MENTIONS_SHOWN`."""

    entity: Entity
    relations: Sequence[EntityRelation]
    mentions: Sequence[Mention]


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
        by_name: dict[bytes, EntityId] = {}
        for position, extracted in enumerate(found):
            name, notes = normalised(extracted.name)[:MAX_ENTITY_NAME], normalised(extracted.notes)[:_LONGEST_NOTES]
            if not name or not extracted.sources:
                continue
            entity = EntityName(
                id=new_entity_id(),
                project=project.id,
                user=member,
                name=name,
                type=extracted.type,
                created_at=now + position,
            )
            stored = self._stored(transaction, entity, same_name(name))
            entities.mention(stored, session, extracted.sources, notes, now)
            by_name[same_name(name)] = stored
        if by_name:
            self._relate(transaction, session, found, by_name, now)
            groups = EntityGroupStore(transaction)
            names = sorted(set(by_name.values()))
            changed = groups.apply_first_names(groups.first_names(names))
            changed.update(name.entity for name in groups.names(names))
            self._indexing.index_again(transaction, sorted(changed))
            entities.note_change(project.id)

    def _relate(
        self,
        transaction: Transaction,
        session: SessionId,
        found: Sequence[ExtractedEntity],
        by_name: Mapping[bytes, EntityId],
        now: int,
    ) -> None:
        """Store the relations between entities of one extraction; what names another entity is dropped."""
        relations = RelationStore(transaction)
        for extracted in found:
            subject = by_name.get(same_name(normalised(extracted.name)[:MAX_ENTITY_NAME]))
            for stated in extracted.relations[:_MOST_RELATIONS]:
                other = by_name.get(same_name(normalised(stated.other)[:MAX_ENTITY_NAME]))
                relation = normalised(stated.relation).casefold()[:MAX_RELATION].strip()
                if subject is not None and other is not None and other != subject and relation and stated.sources:
                    relations.add(subject, relation, other, session=session, messages=stated.sources, created_at=now)

    def _stored(self, transaction: Transaction, entity: EntityName, digest: bytes) -> EntityId:
        """The locked name, which is added if missing; a known one without a type gets this one. Another transaction may add, move
        or forget it in between."""
        entities = EntityStore(transaction)
        while True:
            known = entities.find(entity.project, entity.user, digest)
            if known is None:
                if entities.add(entity, digest, self._indexing.not_yet):
                    return entity.id
                entity = replace(entity, id=new_entity_id())
            elif entities.lock([known.id]):
                now_there = entities.find(entity.project, entity.user, digest)
                if now_there is not None and now_there.id == known.id:
                    kind = entity.type if now_there.type == "other" else now_there.type
                    EntityGroupStore(transaction).set_type(now_there, kind)
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
        filter: Filter | None = None,
    ) -> list[Entity]:
        """A page of the entities of a project, oldest first, after the cursor (created_at, id) or after an existing entity. Of a
        private project, those of this user, or of sessions without a user (ISO-10). A caller that is bound to a user reaches no
        entity of a shared project by its id, and lists none there (ORG-10). With a filter, of those that it lets pass."""
        if user_id is not None:
            checked_name(user_id, "user_id")
        with self._database.read(reach) as transaction:
            part = _pool_key(ProjectStore(transaction).get(project), reach.user_of(user_id))
            if reach.user not in (None, part.user):
                return []
            entities = EntityStore(transaction, self._clock())
            if behind is not None:
                last = entities.get(behind)
                if (last.project, last.user) != (project, part.user):
                    raise NotFound("entity", format_entity_id(behind))
                after = (last.created_at, last.id)
            read = partial(entities.page, project, part.user)
            return entity_page(read, filter, limit=limit, after=after or FIRST_PAGE)

    def get(self, reach: Reach, entity: EntityId) -> EntityDetail:
        """An entity with its relations, and the latest messages that mention it."""
        with self._database.read(reach) as transaction:
            return self.detail(transaction, entity)

    def detail(self, transaction: Transaction, entity: EntityId) -> EntityDetail:
        """The same within a transaction."""
        found = EntityStore(transaction, self._clock()).get(entity)
        names = [name.id for name in EntityGroupStore(transaction).of_entities([entity])]
        pool = self._pool(transaction, found)
        relations = RelationStore(transaction).of_entity(entity, names, None if pool is None else pool.pool)
        mentions = self._mentions(transaction, names, pool, limit=MENTIONS_SHOWN)
        return EntityDetail(entity=found, relations=relations, mentions=mentions)

    def mentions(
        self,
        reach: Reach,
        entity: EntityId,
        *,
        limit: int,
        before: CursorKey | None = None,
        filter: Filter | None = None,
    ) -> list[Mention]:
        """A page of the messages that mention an entity, the last extracted first. Only of the pool that the entity is in: what was
        moved to another pool is not shown (ISO-4). With a filter, of those that it lets pass."""
        with self._database.read(reach) as transaction:
            found = EntityStore(transaction).get(entity)
            names = [name.id for name in EntityGroupStore(transaction).of_entities([entity])]
            pool = self._pool(transaction, found)
            return self._mentions(transaction, names, pool, limit=limit, before=before or LAST_PAGE, wanted=filter)

    def shown_messages(
        self, transaction: Transaction, entity: EntityId, messages: Sequence[MessageId]
    ) -> list[MessageId]:
        """Those of these messages that `mentions` lists."""
        found = EntityStore(transaction).get(entity)
        names = [name.id for name in EntityGroupStore(transaction).of_entities([entity])]
        pool = self._pool(transaction, found)
        return [] if pool is None else EntityGroupStore(transaction).mentioned(names, pool.pool, messages)

    def _pool(self, transaction: Transaction, entity: Entity) -> StoredPool | None:
        """The pool of the part of the project that an entity is in."""
        project = ProjectStore(transaction).find(entity.project)
        if project is None:  # it was deleted: its entities are shown nowhere (ORG-5)
            raise NotFound("entity", format_entity_id(entity.id))
        scope = Scope(tenant=project.tenant, project=project.id, user=entity.user, visibility=project.member_visibility)
        return PoolStore(transaction, self._indexing.generation).rows(scope)

    def _mentions(
        self,
        transaction: Transaction,
        names: Sequence[EntityId],
        pool: StoredPool | None,
        *,
        limit: int,
        before: CursorKey = LAST_PAGE,
        wanted: Filter | None = None,
    ) -> list[Mention]:
        """Messages that cannot be read are left out, and others take their positions on the page."""
        if pool is None:
            return []

        def read(*, limit: int, after: CursorKey) -> list[tuple[CursorKey, PoolMessage | None]]:
            found = EntityGroupStore(transaction).mentions(names, pool.pool, limit=limit, before=after)
            said = pool.messages([message for _, message in found])
            return [((created_at, message), said.get(message)) for created_at, message in found]

        def passes(found: tuple[CursorKey, PoolMessage | None]) -> bool:
            return found[1] is not None and (wanted is None or message_passes(wanted, found[1]))

        first_read = limit if wanted is None else None
        page = filtered_page(read, passes, lambda found: found[0], limit=limit, after=before, first_read=first_read)
        return [Mention(said=said, cursor=cursor) for cursor, said in page if said is not None]

    def retag(
        self, reach: Reach, entity: EntityId, project: ProjectId, *, user_id: str | None = None, is_admin: bool = False
    ) -> EntityDetail:
        """Move an entity with all its names to another project of the tenant. In a private project it keeps its user, unless
        another is given: only an admin may put what one user said into the part of another (ISO-10)."""
        if user_id is not None:
            checked_name(user_id, "user_id")

        def work(transaction: Transaction) -> EntityDetail:
            entities, groups = EntityStore(transaction), EntityGroupStore(transaction)
            stored = entities.get(entity)
            part = _pool_key(
                ProjectStore(transaction).lock_shared(project),
                stored.user if user_id is None else reach.user_of(user_id),
            )
            if part.user not in (None, stored.user) and not is_admin:
                raise Forbidden("Moving an entity to another user's part of a project needs the permission 'admin'.")
            names = groups.locked_names([entity])
            families = groups.first_names([name.id for name in names])
            head = next(name for name in names if name.id == entity)
            there = entities.retag(head, project, part.user, same_name(head.name))
            (now_there,) = groups.names([there])
            gone = {entity} - {there}
            for name in names:
                if name.id != entity:
                    moved = entities.retag(name, project, part.user, same_name(name.name))
                    if moved == name.id:
                        groups.set_group(moved, now_there.entity, by_hand=name.grouped_by_hand)
                    gone |= {name.id} - {moved}
            changed = groups.apply_first_names([*families, *groups.first_names([there])])
            (now_there,) = groups.names([there])
            self._indexing.index_again(transaction, sorted({*changed, now_there.entity}), gone=sorted(gone))
            return self.detail(transaction, now_there.entity)

        return self._database.write(reach, work)


def _pool_key(project: Project, user: str | None) -> PoolKey:
    return Scope(tenant=project.tenant, project=project.id, user=user, visibility=project.member_visibility).pool
