"""Change the visibility of a project (ISO-10): move its sessions to the pools they now belong to, and divide its entities by user,
or merge them, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cloister.domain.conversation import Project
from cloister.domain.entity import EntityName, same_name
from cloister.domain.erasure import NO_READERS, Readers
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import EntityId, ProjectId, new_entity_id
from cloister.domain.scope import MemberVisibility, PoolKey, Scope
from cloister.domain.timestamps import Clock
from cloister.services.conversations.move import SessionMove
from cloister.services.indexing.entities import EntityIndexing
from cloister.storage.interface import Transaction
from cloister.storage.stores.certificates.readers import ReaderStore
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import EntityGroupStore
from cloister.storage.stores.files.project_trees import ProjectTrees
from cloister.storage.stores.items import detach_items_from_pool
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.receipts.receipts import detach_receipts_from_pool
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore


class VisibilityChange:
    """Works in a transaction that has locked the project."""

    def __init__(self, indexing: EntityIndexing, generation: int, clock: Clock) -> None:
        self._indexing = indexing
        self._generation = generation
        self._clock = clock

    def preview(
        self, transaction: Transaction, project: Project, visibility: MemberVisibility, *, names_users: bool
    ) -> Readers:
        """Who would recall each other after a change, and do not now; nothing is changed. Nobody, unless a private project becomes
        shared."""
        if visibility == project.member_visibility or visibility == "private":
            return replace(NO_READERS, user_ids=() if names_users else None)
        return ReaderStore(transaction, names_users=names_users).of_project(project.id)

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
            detach_receipts_from_pool(transaction, of_all)
        self._move_files(transaction, project.id, visibility)
        changed = (
            self._join(transaction, project.id) if visibility == "shared" else self._divide(transaction, project.id)
        )
        self._indexing.index_again(transaction, sorted(changed.left), gone=sorted(changed.gone))
        return True

    def take_files_out(self, transaction: Transaction, project: ProjectId) -> int:
        """Move the files that were stored in a project, which is being deleted, to the shared pool, each to the part of its
        session's user; returns how many."""
        trees, pools = ProjectTrees(transaction, project), PoolStore(transaction, self._generation)
        moved = trees.count()
        for session, user in trees.lock_sessions():
            target = pools.ensure(PoolKey(project=None, user=user))
            trees.move(session, target, with_quotations=False, now=self._clock())
        return moved

    def _move_files(self, transaction: Transaction, project: ProjectId, visibility: MemberVisibility) -> None:
        """Move all files of the project to the pools that their sessions are in, or would be in if they came back. What a user's
        file quotes of the shared pool does not go to the user's own part."""
        trees, pools = ProjectTrees(transaction, project), PoolStore(transaction, self._generation)
        is_shared = visibility == "shared"
        for session, user in trees.lock_sessions():
            target = pools.ensure(PoolKey(project=project, user=None if is_shared else user))
            trees.move(session, target, with_quotations=is_shared, now=self._clock())

    def _join(self, transaction: Transaction, project: ProjectId) -> "_EntityChanges":
        """Merge the entities of all users that have the same name. What a person merged stays so, unless two users' entities
        contradict each other; first names are joined anew."""
        entities, groups = EntityStore(transaction), EntityGroupStore(transaction)
        names = entities.of_project(project)
        there = {name.id: self._share(entities, groups, name) for name in names}
        shown = [name for name in names if name.deleted_at is None]
        members: dict[EntityId, EntityId] = {}
        for name in shown:
            if name.grouped_by_hand and name.part_of is not None:
                member, target = there[name.id], there[name.part_of]
                target = members.get(target, target)
                if member not in members and member not in members.values() and member != target:
                    members[member] = target
        by_hand = {there[name.id] for name in shown if name.grouped_by_hand}
        left = {there[name.id] for name in shown}
        for name in sorted(left):
            groups.set_group(name, members.get(name), by_hand=name in by_hand)
        groups.apply_first_names(groups.first_names(sorted(left)))
        return _EntityChanges(left=left, gone=there.keys() - set(there.values()))

    def _share(self, entities: EntityStore, groups: EntityGroupStore, name: EntityName) -> EntityId:
        """Move a name of one user's part to the part of all; returns the id that it has there."""
        if name.user is None:
            return name.id
        there = entities.retag(name, name.project, None, same_name(name.name))
        (shared,) = groups.names([there])
        if there != name.id and name.is_corrected and not shared.is_corrected:
            groups.copy_correction(name, there)
        return there

    def _divide(self, transaction: Transaction, project: ProjectId) -> "_EntityChanges":
        """Divide each entity into one per user, with the names, mentions and relations of that user's sessions. What a person
        corrected stays only where one user's sessions alone mention the entity."""
        entities, groups = EntityStore(transaction), EntityGroupStore(transaction)
        names = entities.of_project(project)
        said = {name.id: entities.users_of(name.id) for name in names}
        users: dict[EntityId, set[str | None]] = {}
        for name in names:
            users.setdefault(name.entity, set()).update(said[name.id])
        parts: dict[tuple[EntityId, str | None], EntityId] = {}
        gone: set[EntityId] = set()
        for name in names:
            of_entity = users[name.entity]
            own = said[name.id] or ([*of_entity] if len(of_entity) == 1 else [])
            if own:
                parts |= self._divide_name(entities, name, own)
            else:
                gone.add(name.id)
            if len(of_entity) > 1 and name.is_corrected:
                groups.correct(name.id, name=None, kind=None, notes=None, at=None)
        self._regroup(groups, names, parts)
        groups.remove(sorted(gone))
        groups.apply_first_names(groups.first_names(sorted(parts.values())))
        entities.note_change(project)
        return _EntityChanges(left=set(parts.values()), gone=gone)

    def _divide_name(
        self, entities: EntityStore, name: EntityName, users: Sequence[str | None]
    ) -> dict[tuple[EntityId, str | None], EntityId]:
        """The ids of a name in each user's part; the first keeps the id."""
        entities.lock([name.id])
        first, *others = users
        parts = {(name.id, first): name.id}
        for user in others:
            parts[name.id, user] = there = self._add_for(entities, name, user)
            entities.give_mentions(name.id, there, user)
        if first != name.user:
            entities.set_user(name.id, first)
        return parts

    def _regroup(
        self,
        groups: EntityGroupStore,
        names: Sequence[EntityName],
        parts: Mapping[tuple[EntityId, str | None], EntityId],
    ) -> None:
        """In each user's part, make those names one entity that were one before. If the name with the entity's id is another
        user's, the first of the others takes over."""
        group_of = {name.id: name for name in names}
        heads: dict[tuple[EntityId, str | None], EntityId] = {}
        for (identity, user), there in parts.items():
            name = group_of[identity]
            if name.part_of is None:
                continue
            head = parts.get((name.part_of, user))
            head = heads.setdefault((name.part_of, user), there) if head is None else head
            groups.set_group(there, None if head == there else head, by_hand=name.grouped_by_hand and head != there)

    def _add_for(self, entities: EntityStore, name: EntityName, user: str | None) -> EntityId:
        digest = same_name(name.name)
        known = entities.find(name.project, user, digest) if name.deleted_at is None else None
        if known is not None:
            return known.id
        while True:
            new = replace(name, id=new_entity_id(), user=user, part_of=None)
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
