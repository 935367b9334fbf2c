"""The names of entities: which of them are one entity, by rule or by hand, and what can be undone (MEM-17).

A rule makes the first name of a person and the full name one entity, while only one full name in the same part of the project
begins with it. It depends on the names that are there now and on nothing else, so that it is right again after anything was
forgotten, moved or divided. What a person merged or split stays so.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from cloister.domain.entity import EntityName, first_name
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import (
    EntityId,
    MessageId,
    PoolId,
    ProjectId,
    SessionId,
    format_entity_id,
    new_entity_change_id,
)
from cloister.storage.interface import CursorKey, Row, Transaction, integers

ChangeKind = Literal["merge", "split names", "split messages", "delete"]
LAST_PAGE: CursorKey = ((1 << 63) - 1, (1 << 63) - 1)
Extracted = tuple[EntityId, SessionId, int]
"""The mentions that one extraction gave to a name: (name, session, time of the extraction)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TouchedEntities:
    """Entities that lost a mention: `left` still have others, `gone` are the names that had no other and were deleted. `ended` is
    the number of entities within the transaction's reach that were shown and have no name left."""

    left: tuple[EntityId, ...]
    gone: tuple[EntityId, ...]
    ended: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityChange:
    """A merge, a split or a deletion that can be undone. `detail` has the ids that it needs, and no text."""

    id: int
    entity: EntityId
    other: EntityId | None
    kind: ChangeKind
    detail: tuple[tuple[int, ...], ...]
    changed_at: int


class EntityGroupStore:
    """The tenant's names of entities. Whoever changes a group has locked its names."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def name(self, entity: EntityId) -> EntityName:
        """A name within the reach, also if its entity is deleted, or if it is part of another."""
        row = self._transaction.row("entity_name", entity_id=entity)
        if row is None:
            raise NotFound("entity", format_entity_id(entity))
        return name_of_row(row)

    def names(self, ids: Sequence[EntityId]) -> list[EntityName]:
        """The names with these ids that still exist, oldest first; for ids that a store returned."""
        return [name_of_row(row) for row in self._transaction.rows("entity_names", entity_ids=integers(ids))]

    def of_entities(self, entities: Sequence[EntityId]) -> list[EntityName]:
        """All names of these entities, oldest first, also of deleted ones."""
        rows = self._transaction.rows("names_of_entities", entity_ids=integers(entities))
        return sorted(map(name_of_row, rows), key=lambda name: (name.created_at, name.id))

    def lock(self, names: Iterable[EntityId]) -> list[EntityId]:
        """Lock names before they or their mentions are changed; returns the ids that still exist. Locks in id order to avoid
        deadlock."""
        return [name for name in sorted(names) if self._transaction.execute("lock_entity", entity_id=name)]

    def locked_names(self, entities: Iterable[EntityId]) -> list[EntityName]:
        """All names of these entities, locked. Another transaction may change a group in between."""
        wanted = sorted(set(entities))
        known: set[EntityId] = set()
        while True:
            names = self.of_entities(wanted)
            if {name.id for name in names} <= known:
                return names
            known = set(self.lock(name.id for name in names))

    def set_group(self, name: EntityId, entity: EntityId | None, *, by_hand: bool) -> None:
        """Make a name part of an entity, or with None an entity of its own."""
        self._transaction.execute("set_entity_group", entity_id=name, part_of=entity, grouped_by_hand=int(by_hand))

    def set_type(self, name: EntityName, kind: str) -> None:
        """Set the type that an extraction found."""
        self._transaction.execute("set_entity_type", entity_id=name.id, type=kind, first_digest=first_name(name.name))

    def correct(
        self, entity: EntityId, *, name: str | None, kind: str | None, notes: str | None, at: int | None
    ) -> None:
        """Set what a person corrected; None for what was not."""
        self._transaction.execute(
            "correct_entity",
            entity_id=entity,
            corrected_name=name,
            corrected_type=kind,
            corrected_notes=notes,
            corrected_at=at,
        )

    def copy_correction(self, name: EntityName, to: EntityId) -> None:
        """Give another name what a person corrected."""
        self.correct(
            to,
            name=name.corrected_name,
            kind=name.corrected_type,
            notes=name.corrected_notes,
            at=name.corrected_at,
        )

    def set_deletion(self, names: Sequence[EntityId], deleted_at: int | None) -> None:
        for name in names:
            self._transaction.execute("set_entity_deletion", entity_id=name, deleted_at=deleted_at)

    def unmentioned(self, names: Sequence[EntityId]) -> set[EntityId]:
        """Those of these names that no message mentions."""
        rows = self._transaction.rows("unmentioned_entities", entity_ids=integers(names))
        return {EntityId(cast(int, row[0])) for row in rows}

    def remove(self, names: Sequence[EntityId]) -> set[EntityId]:
        """Delete names that have no mentions, and group again the first names that they shared; returns the entities that this
        changed."""
        if not names:
            return set()
        families = self.first_names(names)
        self._transaction.execute("delete_entities", entity_ids=integers(names))
        return self.apply_first_names(families)

    def after_loss(self, touched: Sequence[EntityId]) -> TouchedEntities:
        """Delete locked names that lost their last mention, and entities of which no name is mentioned any more."""
        if not touched:
            return TouchedEntities(left=(), gone=())
        names = self.locked_names({name.entity for name in self.names(touched)})
        for project in sorted({name.project for name in names}):
            self._transaction.execute("raise_entity_version", project_id=project)
        silent = self.unmentioned([name.id for name in names])
        left, gone, ended = set[EntityId](), set[EntityId](), 0
        for entity in {name.entity for name in names}:
            group = [name for name in names if name.entity == entity]
            mentioned = [name for name in group if name.id not in silent]
            if not mentioned:
                gone.update(name.id for name in group)
                ended += any(name.id == entity and self._is_shown(name) for name in group)
                continue
            lost = {name.id for name in group if name.id in silent and not name.name_by_hand}
            gone.update(lost)
            if entity in lost:
                left.add(self._promote(mentioned[0], [name for name in group if name.id not in lost], group))
            else:
                left.add(entity)
        left |= self.remove(sorted(gone))
        return TouchedEntities(left=tuple(sorted(left - gone)), gone=tuple(sorted(gone)), ended=ended)

    def _is_shown(self, name: EntityName) -> bool:
        """Whether the caller sees it: the entity may be of another project than the session that mentioned it (ISO-6)."""
        reach = self._transaction.reach
        return name.deleted_at is None and reach.confined_to in (None, name.project) and reach.user in (None, name.user)

    def _promote(self, heir: EntityName, left: Sequence[EntityName], group: Sequence[EntityName]) -> EntityId:
        """Make `heir` the name under whose id the names that are left are one entity, with what a person corrected."""
        for name in left:
            if name.id != heir.id:
                self.set_group(name.id, heir.id, by_hand=name.grouped_by_hand)
        self.set_group(heir.id, None, by_hand=False)
        before = next(name for name in group if name.id == heir.entity)
        if before.is_corrected and not heir.is_corrected:
            self.copy_correction(before, heir.id)
        return heir.id

    def first_names(self, names: Sequence[EntityId]) -> list[Row]:
        """(project, user, digest) of the first words of these names, for `apply_first_names`."""
        rows = self._transaction.rows("first_names_of_names", entity_ids=integers(names))
        return [row for row in dict.fromkeys(rows) if row[2] is not None]

    def apply_first_names(self, families: Iterable[Row]) -> set[EntityId]:
        """Apply the rule of first names to each (project, user, digest of a first word); returns the entities that changed."""
        changed = set[EntityId]()
        for project, user, first in cast(list[tuple[int, str | None, bytes]], list(families)):
            changed |= self._apply_first_name(ProjectId(project), user, first)
        return changed

    def _apply_first_name(self, project: ProjectId, user: str | None, first: bytes) -> set[EntityId]:
        """The first name is locked before full names are read: of two transactions that add one each, the later sees both."""
        row = self._transaction.row("entity_by_digest", project_id=project, user_id=user, digest=first)
        if row is None or not self.lock([EntityId(cast(int, row[0]))]):
            return set()
        found = self.names([EntityId(cast(int, row[0]))])
        if not found or found[0].grouped_by_hand:
            return set()
        short = found[0]
        rows = self._transaction.rows("full_names", project_id=project, user_id=user, first_digest=first)
        entities = [EntityId(cast(int, full[0])) for full in rows] if short.is_person else []
        if len(entities) != 1:
            return self._separate(short)
        return set() if entities[0] == short.entity else self._separate(short) | self._join(short, entities[0])

    def _separate(self, short: EntityName) -> set[EntityId]:
        """Undo what the rule joined with a first name."""
        if short.part_of is not None:
            self.set_group(short.id, None, by_hand=False)
            return {short.id, short.part_of}
        joined = [name.id for name in self.of_entities([short.id]) if name.id != short.id and not name.grouped_by_hand]
        for name in joined:
            self.set_group(name, None, by_hand=False)
        return {short.id, *joined} if joined else set()

    def _join(self, short: EntityName, full: EntityId) -> set[EntityId]:
        """Make a first name and an entity with a full name one, under the older id. Only a name that stands alone is joined: a
        group that a person made keeps its id and its names."""
        names = self.locked_names([short.id, full])
        own = [name for name in names if name.id == short.id or name.part_of == short.id]
        other = [name for name in names if name.entity == full]
        head = next((name for name in other if name.id == full), None)
        if head is None or not own or head.grouped_by_hand:
            return set()
        is_older = (short.created_at, short.id) < (head.created_at, head.id)
        if is_older and len(other) == 1 and not head.is_corrected:
            self.set_group(head.id, short.id, by_hand=False)
            return {short.id}
        if len(own) == 1 and not short.is_corrected:
            self.set_group(short.id, full, by_hand=False)
            return {full}
        return set()

    def note_change(
        self,
        entity: EntityId,
        other: EntityId | None,
        kind: ChangeKind,
        detail: Iterable[Sequence[int]],
        *,
        now: int,
    ) -> None:
        """Note a change, so that it can be undone."""
        self._transaction.execute(
            "insert_entity_change",
            change_id=new_entity_change_id(),
            entity_id=entity,
            other_id=other,
            changed_at=now,
            kind=kind,
            detail=json.dumps([list(ids) for ids in detail]),
        )

    def last_change(self, entity: EntityId, *, since: int) -> EntityChange | None:
        """The last change of an entity, or with it, that was made after `since` and not undone."""
        rows = self._transaction.rows("entity_changes", entity_id=entity, since=since)
        if not rows:
            return None
        found = cast(list[tuple[int, int, int | None, int, ChangeKind, str]], rows)
        change, subject, other, changed_at, kind, detail = max(found, key=lambda row: (row[3], row[0]))
        return EntityChange(
            id=change,
            entity=EntityId(subject),
            other=None if other is None else EntityId(other),
            kind=kind,
            detail=tuple(tuple(ids) for ids in json.loads(detail)),
            changed_at=changed_at,
        )

    def drop_change(self, change: int) -> None:
        self._transaction.execute("delete_entity_change", change_id=change)

    def expire(self, before: int) -> TouchedEntities:
        """Delete what can no longer be undone: changes, and entities that were deleted, with their mentions."""
        self._transaction.execute("expire_entity_changes", before=before)
        rows = self._transaction.rows("expired_entities", before=before)
        names = self.lock(EntityId(cast(int, row[0])) for row in rows)
        if names:
            self._transaction.execute("delete_mentions_of", entity_ids=integers(names))
        return self.after_loss(names)

    def extractions(self, names: Sequence[EntityId], messages: Sequence[MessageId]) -> list[Extracted]:
        """The extractions that made these messages mentions of these names."""
        rows = self._transaction.rows(
            "extractions_of_mentions", entity_ids=integers(names), message_ids=integers(messages)
        )
        return cast(list[Extracted], rows)

    def move_extracted(self, extracted: Extracted, to: EntityId) -> None:
        """Give the mentions and relations of one extraction to another name. A message that mentions that name already has one
        mention, not two."""
        name, session, created_at = extracted
        key = {"entity_id": name, "session_id": session, "created_at": created_at}
        self._transaction.execute("move_extracted_mentions", to_entity_id=to, **key)
        self._transaction.execute("move_extracted_relations_of_subject", to_entity_id=to, **key)
        self._transaction.execute("move_extracted_relations_of_object", to_entity_id=to, **key)
        self._transaction.execute("delete_mentions_of_extraction", **key)

    def mentioned(self, names: Sequence[EntityId], pool: PoolId, messages: Sequence[MessageId]) -> list[MessageId]:
        """Those of these messages that are in the pool and mention any of these names."""
        rows = self._transaction.rows(
            "mentioning_messages", entity_ids=integers(names), pool_id=pool, message_ids=integers(messages)
        )
        return [MessageId(cast(int, row[0])) for row in rows]

    def mentions(
        self, names: Sequence[EntityId], pool: PoolId, *, limit: int, before: CursorKey = LAST_PAGE
    ) -> list[tuple[int, MessageId]]:
        """The (time of extraction, id) of messages of the pool that mention any of these names, latest first."""
        rows = self._transaction.rows(
            "entity_mentions",
            entity_ids=integers(names),
            pool_id=pool,
            before_created_at=before[0],
            before_message_id=before[1],
            limit=limit,
        )
        return cast(list[tuple[int, MessageId]], rows)


def name_of_row(row: Row) -> EntityName:
    entity, project, user, name, kind, created_at, part_of, grouped, by_hand, *corrected, deleted_at = cast(
        tuple[Any, ...], row
    )
    corrected_name, corrected_type, corrected_notes, corrected_at = corrected
    return EntityName(
        id=EntityId(entity),
        project=ProjectId(project),
        user=user,
        name=name,
        type=kind,
        created_at=created_at,
        part_of=None if part_of is None else EntityId(part_of),
        grouped_by_hand=bool(grouped),
        name_by_hand=bool(by_hand),
        corrected_name=corrected_name,
        corrected_type=corrected_type,
        corrected_notes=corrected_notes,
        corrected_at=corrected_at,
        deleted_at=deleted_at,
    )
