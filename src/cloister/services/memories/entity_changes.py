"""What people do with entities (MEM-17): correct, delete, merge and split them.

A merge, a split or a deletion moves no text: it changes which names are one entity, which name a mention belongs to, or whether an
entity is shown. It is noted by ids, so that it can be undone (`entity_undo`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

from cloister.domain.entity import (
    MAX_ALIASES,
    MAX_ENTITY_NAME,
    MAX_NOTES,
    EntityName,
    same_name,
)
from cloister.domain.erasure import Removal, RemovedText
from cloister.domain.errors import Conflict, InvalidRequest, NotFound, TooLarge
from cloister.domain.extraction import EntityType
from cloister.domain.identifiers import (
    EntityId,
    MessageId,
    ProjectId,
    format_entity_id,
    format_message_id,
    new_entity_id,
)
from cloister.domain.memory import normalised
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_name, checked_text
from cloister.domain.timestamps import Clock
from cloister.services.certificates.rehearsal import run
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.memories.entities import Entities, EntityDetail
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.branches.withdrawals import SettledStore
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import EntityGroupStore
from cloister.storage.stores.tenants import ProjectStore

ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)
MOST_MESSAGES = 200
_NOTHING = EntityId(0)
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """The fields of an entity that a person changes; None for those that stay. `aliases` are all names besides the first."""

    name: str | None = None
    type: str | None = None
    notes: str | None = None
    aliases: Sequence[str] | None = None


def checked_correction(given: Correction) -> Correction:
    """Check a correction, and return it as it is stored."""
    if given == Correction():
        raise InvalidRequest("name", "is missing, and so are type, notes and aliases: give at least one of them.")
    if given.type is not None and given.type not in ENTITY_TYPES:
        raise InvalidRequest("type", f"must be one of {', '.join(ENTITY_TYPES)}.")
    if given.aliases is not None and (isinstance(given.aliases, str) or len(given.aliases) > MAX_ALIASES):
        raise InvalidRequest("aliases", f"must be a list of at most {MAX_ALIASES} names.")
    return Correction(
        name=None if given.name is None else checked_entity_name(given.name, "name"),
        type=given.type,
        notes=None if given.notes is None else _checked_notes(given.notes),
        aliases=None
        if given.aliases is None
        else tuple({same_name(name): checked_entity_name(name, "aliases") for name in given.aliases}.values()),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class EntitySplit:
    """What is split off an entity: aliases, or messages, which then need a new name."""

    aliases: Sequence[str] | None = None
    message_ids: Sequence[MessageId] | None = None
    name: str | None = None


def checked_split(given: EntitySplit) -> EntitySplit:
    """Check what is to be split off, and return it without repetitions."""
    if (given.aliases is None) == (given.message_ids is None):
        raise InvalidRequest("aliases", "or else message_ids: give one of them, which says what is split off.")
    if (given.name is None) != (given.message_ids is None):
        raise InvalidRequest("name", "is needed with message_ids, and only then: aliases keep their names.")
    aliases = None if given.aliases is None else _checked_list(given.aliases, "aliases", MAX_ALIASES)
    return EntitySplit(
        aliases=None if aliases is None else [checked_entity_name(alias, "aliases") for alias in aliases],
        message_ids=None
        if given.message_ids is None
        else _checked_list(given.message_ids, "message_ids", MOST_MESSAGES),
        name=None if given.name is None else checked_entity_name(given.name, "name"),
    )


def checked_entity_name(name: str, field: str) -> str:
    """Check a name, and return it as it is stored."""
    text = normalised(checked_name(name, field))
    if len(text) > MAX_ENTITY_NAME:
        raise TooLarge(field, len(text), MAX_ENTITY_NAME)
    if not text:
        raise InvalidRequest(field, "must not be empty.")
    return text


def _checked_notes(notes: str) -> str:
    """Notes as they are stored. An empty text empties them."""
    return notes if notes == "" else normalised(checked_text(notes, "notes", MAX_NOTES))


class EntityChanges:
    """Each call is one transaction, and answers with the entity as it is then."""

    def __init__(self, database: Database, entities: Entities, indexing: EntityIndexing, clock: Clock) -> None:
        self._database = database
        self._entities = entities
        self._indexing = indexing
        self._clock = clock

    def correct(self, reach: Reach, entity: EntityId, correction: Correction) -> EntityDetail:
        """Change the name, the type, the notes or the aliases of an entity. No extraction changes them back; mentions under a name
        that was added count from now on."""
        wanted = checked_correction(correction)

        def work(transaction: Transaction) -> EntityDetail:
            groups = EntityGroupStore(transaction)
            head, names = self._locked(transaction, entity)
            families = groups.first_names([name.id for name in names])
            added = [*(wanted.aliases or ()), *([] if wanted.name is None else [wanted.name])]
            shown = EntityStore(transaction).get(entity).name
            removed = [] if wanted.aliases is None else _dropped(head, names, {shown, *added})
            for name in added:
                self._add_name(transaction, head, names, name)
            groups.correct(
                entity,
                name=wanted.name or head.corrected_name,
                kind=wanted.type or head.corrected_type,
                notes=head.corrected_notes if wanted.notes is None else wanted.notes,
                at=self._clock() if wanted.notes is not None else head.corrected_at or self._clock(),
            )
            changed = groups.remove([name.id for name in removed]) | groups.apply_first_names(families)
            return self._finish(transaction, head, {entity, *changed}, gone=[name.id for name in removed])

        return self._database.write(reach, work)

    def delete(self, reach: Reach, entity: EntityId, *, dry_run: bool = False) -> Removal:
        """Delete an entity with all its names: nothing shows it any more. For a day it can be restored, then it is removed. The
        messages that mention it stay; a later mention makes a new entity. With `dry_run` the transaction is rolled back."""

        def work(transaction: Transaction) -> Removal:
            groups = EntityGroupStore(transaction)
            EntityStore(transaction).get(entity)
            SettledStore(transaction).settle_mentioning(
                entity
            )  # sessions are locked before entities, to avoid deadlock
            head, names = self._locked(transaction, entity)
            ids = [name.id for name in names]
            groups.set_deletion(ids, self._clock())
            groups.note_change(entity, None, "delete", [(name,) for name in ids], now=self._clock())
            changed = groups.apply_first_names(groups.first_names(ids))
            self._index(transaction, head, changed, gone=ids)
            scope = Scope(tenant=reach.tenant, project=head.project, user=head.user)
            text = RemovedText(text=head.corrected_name or head.name, scope=scope)
            removal = Removal(hidden_entities=ids, texts=[text])
            removal.name("entities", [format_entity_id(entity)])
            return removal

        return run(self._database, reach, work, dry_run=dry_run)

    def merge(self, reach: Reach, entity: EntityId, into: EntityId) -> EntityDetail:
        """Make an entity part of another one of the same part of a project, under the id and the name of that one."""

        def work(transaction: Transaction) -> EntityDetail:
            groups, entities = EntityGroupStore(transaction), EntityStore(transaction)
            lock_project_of(transaction, entities.get(entity).project, entity)
            entities.get(into)
            if entity == into:
                raise Conflict("An entity cannot be merged into itself.")
            names = groups.locked_names([entity, into])
            head, target = _head(names, entity), _head(names, into)
            if not head.is_in_part_of(target):
                raise Conflict(
                    "Only entities of one project, and of one user's part of it, can be merged: retag it first."
                )
            own = [name for name in names if name.entity == entity]
            self._group(groups, own, into)
            groups.note_change(entity, into, "merge", _states(own), now=self._clock())
            return self._finish(transaction, target, {into}, gone=[name.id for name in own])

        return self._database.write(reach, work)

    def split(self, reach: Reach, entity: EntityId, given: EntitySplit) -> EntityDetail:
        """Split off aliases, or messages under a new name, as an entity of their own; returns that one. The messages that one
        extraction read together stay together."""
        split = checked_split(given)
        if split.message_ids is None or split.name is None:
            return self._split_names(reach, entity, split.aliases or ())
        return self._split_messages(reach, entity, split.message_ids, split.name)

    def _split_names(self, reach: Reach, entity: EntityId, aliases: Sequence[str]) -> EntityDetail:
        wanted = {same_name(alias): alias for alias in aliases}

        def work(transaction: Transaction) -> EntityDetail:
            groups = EntityGroupStore(transaction)
            head, names = self._locked(transaction, entity)
            known = {same_name(name.name): name for name in names}
            for digest, alias in wanted.items():
                if digest not in known:
                    raise Conflict(f"{alias!r} is no alias of this entity.")
                if known[digest].id == entity:
                    raise Conflict(
                        f"{alias!r} is the name that the entity was first known by: split off its other names."
                    )
            own = [name for name in names if same_name(name.name) in wanted]
            said = {name.id for name in own} - groups.unmentioned([name.id for name in own])
            first = next((name for name in own if name.id in said), None)
            if first is None:
                raise Conflict("No message mentions these names: remove them with a PATCH of the aliases.")
            groups.note_change(entity, first.id, "split names", _states(own), now=self._clock())
            self._group(groups, own, first.id)
            return self._finish(transaction, head, {entity, first.id}, shown=first.id)

        return self._database.write(reach, work)

    def _split_messages(self, reach: Reach, entity: EntityId, messages: Sequence[MessageId], name: str) -> EntityDetail:
        def work(transaction: Transaction) -> EntityDetail:
            groups, entities = EntityGroupStore(transaction), EntityStore(transaction)
            head, names = self._locked(transaction, entity)
            shown = set(self._entities.shown_messages(transaction, entity, messages))
            for message in messages:
                if message not in shown:
                    raise NotFound("message", format_message_id(message))
            new = replace(
                head,
                id=new_entity_id(),
                name=name,
                type=head.corrected_type or head.type,
                created_at=self._clock(),
                grouped_by_hand=True,
                name_by_hand=False,
            )
            if not entities.add(new, same_name(name), self._indexing.not_yet):
                raise Conflict(_taken(name))
            ids = [one.id for one in names]
            extracted = groups.extractions(ids, messages)
            for one in extracted:
                groups.move_extracted(one, new.id)
            if len(groups.unmentioned(ids)) == len(ids):
                raise Conflict("These are all messages that mention the entity: rename it instead.")
            groups.note_change(entity, new.id, "split messages", extracted, now=self._clock())
            return self._finish(transaction, head, {entity, new.id}, shown=new.id)

        return self._database.write(reach, work)

    def _locked(self, transaction: Transaction, entity: EntityId) -> tuple[EntityName, list[EntityName]]:
        """The names of an entity within the reach, locked, with the one that has its id."""
        lock_project_of(transaction, EntityStore(transaction).get(entity).project, entity)
        names = EntityGroupStore(transaction).locked_names([entity])
        return _head(names, entity), names

    def _add_name(self, transaction: Transaction, head: EntityName, names: Sequence[EntityName], name: str) -> None:
        """Add a name to an entity, so that later mentions of it count for the entity."""
        if same_name(name) in {same_name(known.name) for known in names}:
            return
        new = replace(
            head,
            id=new_entity_id(),
            name=name,
            created_at=self._clock(),
            part_of=head.id,
            grouped_by_hand=True,
            name_by_hand=True,
        )
        entities = EntityStore(transaction)
        known = entities.find(head.project, head.user, same_name(name))
        if known is not None and known.entity == head.id:
            return
        if known is not None or not entities.add(new, same_name(name), self._indexing.not_yet):
            raise Conflict(_taken(name))

    def _group(self, groups: EntityGroupStore, names: Iterable[EntityName], entity: EntityId) -> None:
        """Make names part of an entity by hand; the name with that id becomes the entity."""
        for name in names:
            groups.set_group(name.id, None if name.id == entity else entity, by_hand=True)

    def _finish(
        self,
        transaction: Transaction,
        head: EntityName,
        changed: Iterable[EntityId],
        *,
        gone: Sequence[EntityId] = (),
        shown: EntityId | None = None,
    ) -> EntityDetail:
        self._index(transaction, head, changed, gone=gone)
        return self._entities.detail(transaction, head.id if shown is None else shown)

    def _index(
        self,
        transaction: Transaction,
        head: EntityName,
        changed: Iterable[EntityId],
        *,
        gone: Sequence[EntityId] = (),
    ) -> None:
        self._indexing.index_again(transaction, sorted(changed), gone=gone)
        EntityStore(transaction).note_change(head.project)


def lock_project_of(transaction: Transaction, project: ProjectId, entity: EntityId) -> None:
    """Lock the project of an entity against deletion and division; an entity of a deleted project is not found (ORG-5)."""
    try:
        ProjectStore(transaction).lock_shared(project)
    except NotFound:
        raise NotFound("entity", format_entity_id(entity)) from None


def _head(names: Sequence[EntityName], entity: EntityId) -> EntityName:
    """The name that has the id of the entity; `NotFound` if another transaction just deleted it, or made it part of another."""
    found = next((name for name in names if name.id == entity), None)
    if found is None or found.part_of is not None or found.deleted_at is not None:
        raise NotFound("entity", format_entity_id(entity))
    return found


def _dropped(head: EntityName, names: Sequence[EntityName], listed: set[str]) -> list[EntityName]:
    """The names that a list leaves out, which must be names that a person added."""
    kept = {same_name(name) for name in listed}
    dropped = [name for name in names if same_name(name.name) not in kept]
    said = next((name for name in dropped if not name.name_by_hand), None)
    if said is not None:
        advice = "list it too." if said.id == head.id else "list it too, or split it off."
        raise Conflict(f"Messages mention the entity as {said.name!r}: {advice}")
    return dropped


def _states(names: Sequence[EntityName]) -> list[tuple[int, int, int]]:
    """What undoing a change of groups needs: each name, what it was part of, and whether by hand."""
    return [(name.id, name.part_of or _NOTHING, int(name.grouped_by_hand)) for name in names]


def _taken(name: str) -> str:
    return f"Another entity of this project is called {name!r}: merge the two instead."


def _checked_list(given: Sequence[_T], field: str, most: int) -> Sequence[_T]:
    if isinstance(given, str) or not given or len(given) > most:
        raise InvalidRequest(field, f"must be a list of 1 to {most} entries.")
    return list(dict.fromkeys(given))
