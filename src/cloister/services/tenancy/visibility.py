"""Change the visibility of a project (ISO-10): move its sessions to the pools they now belong to, and divide its entities by user,
or merge them, in one transaction."""

from dataclasses import dataclass, replace

from cloister.domain.conversation import Project
from cloister.domain.entity import Entity, same_name
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import EntityId, ProjectId, new_entity_id
from cloister.domain.scope import MemberVisibility, PoolKey, Scope
from cloister.domain.timestamps import Clock
from cloister.services.conversations.move import SessionMove
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.items import detach_items_from_pool
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore


@dataclass(frozen=True, kw_only=True, slots=True)
class VisibilityPreview:
    """How many sessions, of how many users, would recall each other that do not now."""

    sessions: int
    users: int


class VisibilityChange:
    """Works in a transaction that has locked the project."""

    def __init__(self, indexing: EntityIndexing, generation: int, clock: Clock) -> None:
        self._indexing = indexing
        self._generation = generation
        self._clock = clock

    def preview(self, transaction: Transaction, project: Project, visibility: MemberVisibility) -> VisibilityPreview:
        """What a change would do; nothing is changed. Zero, unless a private project becomes shared."""
        if visibility == project.member_visibility or visibility == "private":
            return VisibilityPreview(sessions=0, users=0)
        sessions, users = SessionStore(transaction).count_of_project(project.id)
        return VisibilityPreview(sessions=sessions, users=users)

    def apply(self, transaction: Transaction, project: Project, visibility: MemberVisibility) -> bool:
        """Change the visibility; False if the project has it already."""
        if visibility == project.member_visibility:
            return False
        ProjectStore(transaction).set_visibility(project.id, visibility)
        mover = SessionMove(transaction, self._generation, self._clock())
        for locked in SessionStore(transaction).lock_of_project(project.id):
            user = locked.session.user_id
            mover.move(locked, Scope(tenant=project.tenant, project=project.id, user=user, visibility=visibility))
        mover.finish()
        of_all = PoolStore(transaction, self._generation).find(PoolKey(project=project.id, user=None))
        if of_all is not None and visibility == "private":
            # The shared pool becomes that of sessions without a user, with the same id: quotations of it must not be shown again,
            # not even in sessions that have left the project, because they may come back.
            MessageStore(transaction).detach_from_pool(of_all)
            detach_items_from_pool(transaction, of_all)
        changed = (
            self._join(transaction, project.id) if visibility == "shared" else self._divide(transaction, project.id)
        )
        self._indexing.index_again(transaction, sorted(changed.left), gone=sorted(changed.gone))
        return True

    def _join(self, transaction: Transaction, project: ProjectId) -> "_EntityChanges":
        """Merge the entities of all users that have the same name."""
        entities = EntityStore(transaction)
        changed = _EntityChanges(left=set(), gone=set())
        for entity in entities.of_project(project):
            if entity.user is not None:
                there = entities.retag(entity, project, None, same_name(entity.name))
                changed.left.add(there)
                if there != entity.id:
                    changed.gone.add(entity.id)
        changed.left.difference_update(changed.gone)
        return changed

    def _divide(self, transaction: Transaction, project: ProjectId) -> "_EntityChanges":
        """Divide each entity into one per user, with the mentions of that user's sessions."""
        entities = EntityStore(transaction)
        changed = _EntityChanges(left=set(), gone=set())
        for entity in entities.of_project(project):
            entities.lock([entity.id])
            first, *others = entities.users_of(entity.id)
            for user in others:
                there = self._add_for(entities, entity, user)
                entities.give_mentions(entity.id, there, user)
                changed.left.add(there)
            if first != entity.user:
                entities.set_user(entity.id, first)
            changed.left.add(entity.id)
        entities.note_change(project)
        return changed

    def _add_for(self, entities: EntityStore, entity: Entity, user: str | None) -> EntityId:
        digest = same_name(entity.name)
        known = entities.find(entity.project, user, digest)
        if known is not None:
            return known.id
        while True:
            new = replace(entity, id=new_entity_id(), user=user)
            if entities.add(new, digest, self._indexing.not_yet):
                return new.id


@dataclass(kw_only=True, slots=True)
class _EntityChanges:
    left: set[EntityId]
    gone: set[EntityId]


def checked_visibility(given: str) -> MemberVisibility:
    if given not in ("shared", "private"):
        raise InvalidRequest("member_visibility", f"must be shared or private, not {given!r}.")
    return given
