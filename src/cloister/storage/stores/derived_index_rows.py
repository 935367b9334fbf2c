"""What an indexer reads and writes of memories and entities, inside one transaction's reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.entity import Entity
from cloister.domain.identifiers import EntityId, MemoryId, PoolId, ProjectId, SessionId, new_removal_id
from cloister.storage.interface import Row, Transaction
from cloister.storage.stores.entities import EntityStore, merged
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryWords:
    """One memory as an embedder wants it."""

    id: MemoryId
    created_at: int
    content: str


class MemoryIndexStore:
    """The memories of sessions. Every change of what finds them raises the version of their pool's memories."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def waiting(self, session: SessionId, *, limit: int) -> list[MemoryWords]:
        """Those whose vectors are not known yet."""
        return _words(self._transaction.rows("waiting_memories", session_id=session, limit=limit))

    def words(self, session: SessionId, *, after: int, limit: int, all_generations: bool) -> list[MemoryWords]:
        """Those of other generations, or of all."""
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
        """Write what is known now; memories forgotten meanwhile stay forgotten. The session is held, so that the pool whose version
        is raised is the one it is in."""
        row = self._transaction.row("lock_session_by_id", session_id=session)
        if row is None or row[0] is None:
            return
        for memory, indexed in entries:
            self._transaction.execute(
                "set_memory_index",
                session_id=session,
                memory_id=memory,
                generation=indexed.generation,
                vector=indexed.vector,
                terms=indexed.terms,
                indexed_at=indexed.indexed_at,
            )
        MemoryStore(self._transaction).note_change(PoolId(cast(int, row[0])))


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityWords:
    """An entity as an indexer wants it. `vector` is empty where none of this generation is known; `revision` tells whether what was
    worked out from it may still be kept."""

    entity: Entity
    revision: int
    vector: bytes | None
    terms: bytes


class EntityIndexStore:
    """The entities of projects. Every change of what finds them raises the version of their project's entities."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def waiting(self, project: ProjectId, *, limit: int) -> list[EntityWords]:
        """Those that no index knows yet."""
        rows = self._transaction.rows("waiting_entities", project_id=project, generation=self._generation, limit=limit)
        return self._words(rows)

    def words(self, project: ProjectId, *, after: int, limit: int, all_generations: bool) -> list[EntityWords]:
        """Those of other generations, or of all."""
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
        """Write what is known now of those that have not changed since they were read."""
        for words, indexed in entries:
            self._transaction.execute(
                "keep_entity_index",
                entity_id=words.entity.id,
                revision=words.revision,
                generation=indexed.generation,
                vector=indexed.vector,
                terms=indexed.terms,
                indexed_at=indexed.indexed_at,
            )
        EntityStore(self._transaction).note_change(project)

    def mark_indexed(self, entries: Sequence[EntityWords], now: int) -> None:
        """Those that have not changed since they were read are where they belong."""
        for words in entries:
            self._transaction.execute(
                "set_entity_indexed_at", entity_id=words.entity.id, revision=words.revision, indexed_at=now
            )

    def note_removal(self, entities: Sequence[EntityId], *, due_at: int = 0) -> list[int]:
        """They are to be taken out of an index outside the database, at once or from a moment on; gives the removals."""
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
        """Those that are as they were put are where they belong, and their removals are struck out. The others are taken out at
        once; one whose removal somebody has begun waits to be put again."""
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
        """It was taken out. One that is still there, or there again, is put in again."""
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
        MemoryWords(id=MemoryId(memory), created_at=created_at, content=content)
        for memory, created_at, content in cast(list[tuple[int, int, str]], rows)
    ]
