"""The index columns of memories and entities, as an indexer reads and writes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.entity import Entity
from cloister.domain.identifiers import EntityId, MemoryId, PoolId, ProjectId, SessionId, new_removal_id
from cloister.domain.truth.subject_words import searchable_text
from cloister.storage.interface import Row, Transaction
from cloister.storage.stores.entities import EntityStore, merged
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryWords:
    """The text of a memory, for an embedder, with the words by which its subject is asked for."""

    id: MemoryId
    created_at: int
    content: str


class MemoryIndexStore:
    """The index columns of memories. Every change raises the memory version of the pool."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def waiting(self, session: SessionId, *, limit: int) -> list[MemoryWords]:
        """The session's memories without a vector."""
        return _words(self._transaction.rows("waiting_memories", session_id=session, limit=limit))

    def words(self, session: SessionId, *, after: int, limit: int, all_generations: bool) -> list[MemoryWords]:
        """The session's memories with an id above `after` that another index generation wrote, or all of them."""
        rows = self._transaction.rows(
            "memory_words",
            session_id=session,
            after=after,
            all_generations=int(all_generations),
            generation=self._generation,
            limit=limit,
        )
        return _words(rows)

    def set_indexed(self, session: SessionId, entries: Sequence[tuple[MemoryId, Indexed]]) -> None:
        """Write index columns; memories deleted meanwhile stay deleted. The session is locked, so that it cannot move to another
        pool before the version of its pool is raised."""
        row = self._transaction.row("lock_session_by_id", session_id=session)
        if row is None or row[0] is None:
            return
        # The pool is locked before memories are changed, as supersession does, which changes memories of other sessions too.
        MemoryStore(self._transaction).note_change(PoolId(cast(int, row[0])))
        for memory, indexed in entries:
            self._transaction.execute(
                "set_memory_index",
                session_id=session,
                memory_id=memory,
                **indexed.columns,
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityWords:
    """An entity with its index columns. `vector` is None if this generation has none; `revision` changes with the entity, so that
    results of an outdated revision are dropped."""

    entity: Entity
    revision: int
    vector: bytes | None
    terms: bytes


class EntityIndexStore:
    """The index columns of entities. Every change raises the entity version of the project."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def waiting(self, project: ProjectId, *, limit: int) -> list[EntityWords]:
        """The project's entities that are not indexed yet."""
        rows = self._transaction.rows("waiting_entities", project_id=project, generation=self._generation, limit=limit)
        return self._words(rows)

    def words(self, project: ProjectId, *, after: int, limit: int, all_generations: bool) -> list[EntityWords]:
        """The project's entities with an id above `after` that another index generation wrote, or all of them."""
        rows = self._transaction.rows(
            "entity_words",
            project_id=project,
            after=after,
            all_generations=int(all_generations),
            generation=self._generation,
            limit=limit,
        )
        return self._words(rows)

    def set_indexed(self, project: ProjectId, entries: Sequence[tuple[EntityWords, Indexed]]) -> None:
        """Write the index columns of the entities that have not changed since they were read."""
        for words, indexed in entries:
            self._transaction.execute(
                "keep_entity_index",
                entity_id=words.entity.id,
                revision=words.revision,
                **indexed.columns,
            )
        EntityStore(self._transaction).note_change(project)

    def mark_indexed(self, entries: Sequence[EntityWords], now: int) -> None:
        """Mark entities as indexed, unless they have changed since they were read."""
        for words in entries:
            self._transaction.execute(
                "set_entity_indexed_at", entity_id=words.entity.id, revision=words.revision, indexed_at=now
            )

    def note_removal(self, entities: Sequence[EntityId], *, due_at: int = 0) -> list[int]:
        """Queue the removal of entities from an external index, from `due_at` on; returns the ids of the removals."""
        removals = [new_removal_id() for _ in entities]
        self._transaction.execute_each(
            "note_entity_removal",
            [
                {"removal_id": removal, "entity_id": entity, "due_at": due_at}
                for removal, entity in zip(removals, entities, strict=True)
            ],
        )
        return removals

    def mark_put(self, entries: Sequence[EntityWords], removals: Sequence[int], now: int) -> None:
        """After entities were put into an external index: those that have not changed are marked as indexed, and their queued
        removals cancelled. Changed ones are removed at once; an entity whose removal has already run is queued for indexing
        again."""
        for words, removal in zip(entries, removals, strict=True):
            entity = words.entity.id
            marked = self._transaction.execute(
                "set_entity_indexed_at", entity_id=entity, revision=words.revision, indexed_at=now
            )
            if not marked:
                self._transaction.execute("make_removal_due", removal_id=removal)
            elif not self._transaction.execute("settle_index_removal", removal_id=removal):
                self._transaction.execute("requeue_entity", entity_id=entity)

    def settle_removal(self, removal: int, entity: EntityId) -> None:
        """Finish the removal of an entity from an external index. An entity that still exists is queued for indexing again."""
        self._transaction.execute("settle_index_removal", removal_id=removal)
        self._transaction.execute("requeue_entity", entity_id=entity)

    def _words(self, rows: Sequence[Row]) -> list[EntityWords]:
        entities = merged(self._transaction, [row[:-3] for row in rows])
        known = [cast(tuple[Any, ...], row[-3:]) for row in rows]
        return [
            EntityWords(entity=entity, revision=revision, vector=vector, terms=terms)
            for entity, (revision, vector, terms) in zip(entities, known, strict=True)
        ]


def _words(rows: Sequence[Row]) -> list[MemoryWords]:
    return [
        MemoryWords(id=MemoryId(memory), created_at=created_at, content=searchable_text(content, subject))
        for memory, created_at, content, subject in cast(list[tuple[int, int, str, str | None]], rows)
    ]
