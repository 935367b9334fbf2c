"""Undo the last merge, split or deletion of an entity within a day, and remove what can no longer be undone (MEM-17).

Changes are noted by ids, without any text: what was forgotten meanwhile does not come back, and what was moved to another part of
the project stays there, as it is.
"""

from typing import cast

from cloister.domain.entity import UNDO_MICROSECONDS, EntityName, same_name
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import EntityId, SessionId, TenantId, format_entity_id
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.memories.entities import Entities, EntityDetail
from cloister.services.memories.entity_changes import lock_project_of
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import EntityChange, EntityGroupStore


class EntityUndo:
    """Undoes one change a call, the last one first."""

    def __init__(self, database: Database, entities: Entities, indexing: EntityIndexing, clock: Clock) -> None:
        self._database = database
        self._entities = entities
        self._indexing = indexing
        self._clock = clock

    def restore(self, reach: Reach, entity: EntityId) -> EntityDetail:
        """Undo the last merge, split or deletion of an entity, or with it, if it was made within a day. What was forgotten since
        then stays forgotten."""

        def work(transaction: Transaction) -> EntityDetail:
            groups = EntityGroupStore(transaction)
            name = groups.name(entity)
            lock_project_of(transaction, name.project, entity)
            change = groups.last_change(entity, since=self._clock() - UNDO_MICROSECONDS)
            if change is None:
                EntityStore(transaction).get(entity)
                raise Conflict("Nothing was done with this entity in the last day that could be undone.")
            groups.locked_names({change.entity, change.other or change.entity})
            groups.drop_change(change.id)
            left = self._undo(transaction, change, name)
            families = groups.first_names([change.entity, *left])
            changed = groups.apply_first_names(families) | left
            self._indexing.index_again(transaction, sorted(changed))
            EntityStore(transaction).note_change(name.project)
            return self._entities.detail(transaction, self._shown_after(groups, entity, change))

        return self._database.write(reach, work)

    def _undo(self, transaction: Transaction, change: EntityChange, named: EntityName) -> set[EntityId]:
        """Undo a change as far as it is in the part of the project in which the caller named an entity, or, of a deletion, in the
        caller's reach; returns the entities that it changed."""
        groups = EntityGroupStore(transaction)
        if change.kind == "delete":
            return self._undelete(transaction, change)
        if change.kind == "split messages":
            return self._move_back(transaction, change, named)
        return self._regroup(groups, change, named)

    def _undelete(self, transaction: Transaction, change: EntityChange) -> set[EntityId]:
        """Show the names again that are left. A name that was mentioned since then is known already, and gets their mentions."""
        groups, entities = EntityGroupStore(transaction), EntityStore(transaction)
        left: set[EntityId] = set()
        names = groups.names([EntityId(ids[0]) for ids in change.detail])
        reached = {name.id for name in names if _is_reached(groups, name.id)}
        if others := [name.id for name in names if name.id not in reached]:
            # The project was divided since then. Whoever reaches the others can still restore them.
            groups.note_change(others[0], None, "delete", [(name,) for name in others], now=change.changed_at)
        for name in names:
            if name.id not in reached:
                continue
            known = entities.find(name.project, name.user, same_name(name.name))
            if known is None:
                groups.set_deletion([name.id], None)
                left.add(name.entity)
            else:
                groups.lock([known.id])
                self._replace(transaction, known, name)
                left.update({name.entity, known.entity})
        return left

    def _replace(self, transaction: Transaction, known: EntityName, name: EntityName) -> None:
        """Give a deleted name the mentions of the same name that was added since then, and let it take its position."""
        groups, entities = EntityGroupStore(transaction), EntityStore(transaction)
        for other in groups.of_entities([known.id]):
            if other.id != known.id:
                groups.set_group(other.id, name.entity, by_hand=other.grouped_by_hand)
        entities.merge(known.id, name.id)
        groups.set_deletion([name.id], None)
        self._indexing.index_again(transaction, (), gone=[known.id])

    def _regroup(self, groups: EntityGroupStore, change: EntityChange, named: EntityName) -> set[EntityId]:
        """Give names the groups that they had, where these still exist in the same part of the project. A name that was moved to
        another part stays in the group that it has there."""
        left: set[EntityId] = set()
        for number, before, by_hand in change.detail:
            found = groups.names([EntityId(number)])
            if not found or found[0].deleted_at is not None or not found[0].is_in_part_of(named):
                continue
            name = found[0]
            target = groups.names([EntityId(before)]) if before else []
            is_there = bool(target) and target[0].deleted_at is None and name.is_in_part_of(target[0])
            entity = target[0].entity if is_there and target[0].entity != name.id else None
            for member in groups.of_entities([name.id]) if entity is not None else ():
                groups.set_group(member.id, entity, by_hand=member.grouped_by_hand)
            groups.set_group(name.id, entity, by_hand=bool(by_hand))
            left.update({name.id, name.entity, entity or name.id})
        return left

    def _move_back(self, transaction: Transaction, change: EntityChange, named: EntityName) -> set[EntityId]:
        """Give mentions back to the names that they were taken from, if these are still there in the same part of the project."""
        groups = EntityGroupStore(transaction)
        other = cast(EntityId, change.other)
        (new,) = groups.names([other])
        if new.deleted_at is not None:
            raise Conflict("What was split off was deleted since then: restore it first.")
        left = {new.entity}
        for number, session, created_at in change.detail:
            found = groups.names([EntityId(number)]) or groups.names([change.entity])
            is_there = bool(found) and found[0].deleted_at is None and found[0].is_in_part_of(new)
            if not is_there or not new.is_in_part_of(named):
                raise Conflict("The entity was moved or deleted since then: the split cannot be undone.")
            groups.move_extracted((other, SessionId(session), created_at), found[0].id)
            left.add(found[0].entity)
        touched = groups.after_loss([other])
        self._indexing.index_again(transaction, (), gone=touched.gone)
        return (left | set(touched.left)) - set(touched.gone)

    def _shown_after(self, groups: EntityGroupStore, entity: EntityId, change: EntityChange) -> EntityId:
        """The entity to answer with: the one that was named, or the one that it is part of now."""
        for candidate in (entity, change.entity, change.other or change.entity):
            found = groups.names([candidate])
            if found and found[0].deleted_at is None:
                return found[0].entity
        raise NotFound("entity", format_entity_id(entity))

    def expire(self) -> int:
        """Remove what can no longer be undone, of all tenants; returns of how many. A worker calls this at intervals."""
        before = self._clock() - UNDO_MICROSECONDS
        tenants = self._database.maintenance.rows("tenants_with_old_entity_changes", before=before)
        for (tenant,) in tenants:
            self._database.write(
                Reach(tenant=TenantId(cast(int, tenant))), lambda transaction: self._expire(transaction, before)
            )
        if tenants:
            self._database.maintenance.scrub()
        return len(tenants)

    def _expire(self, transaction: Transaction, before: int) -> None:
        touched = EntityGroupStore(transaction).expire(before)
        self._indexing.index_again(transaction, touched.left, gone=touched.gone)


def _is_reached(groups: EntityGroupStore, entity: EntityId) -> bool:
    try:
        groups.name(entity)
    except NotFound:
        return False
    return True
