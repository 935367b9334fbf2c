"""Index entities: when they are mentioned, or later where the embedder is slow or has changed; and their points in an external
index.

An entity may change while it is embedded or put. Its revision shows that: the outdated result is dropped, and the entity stays in
the queue.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from cloister.domain.entity import Entity
from cloister.domain.identifiers import EntityId, ProjectId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.index.interface import EntityPoint, ExternalIndex
from cloister.services.indexing.indexer import Indexer, Said
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.entity_groups import EntityGroupStore
from cloister.storage.stores.indexing.derived_index_rows import EntityIndexStore, EntityWords
from cloister.storage.stores.messages import Indexed

T = TypeVar("T")
_CHUNK = 200
# Longer than a put takes. A removal that was not cancelled by then is carried out.
PUT_MICROSECONDS = 60_000_000


class EntityIndexing:
    """Every step is idempotent, and may run in two processes at once. `external` is None with the exact index."""

    def __init__(self, database: Database, external: ExternalIndex | None, indexer: Indexer, clock: Clock) -> None:
        self._database = database
        self._external = external
        self._indexer = indexer
        self._clock = clock

    @property
    def generation(self) -> int:
        return self._indexer.generation

    @property
    def not_yet(self) -> Indexed:
        """The index row of a new entity, until it is indexed later in the same transaction."""
        return Indexed(generation=self._indexer.generation, terms=b"", vector=None, tokens=0, indexed_at=None)

    def index_again(self, transaction: Transaction, left: Sequence[EntityId], *, gone: Sequence[EntityId] = ()) -> None:
        """Index the entities `left`, which the transaction has locked and changed; a slow embedder leaves the vectors to the queue.
        With an external index the removal of those `gone`, and of the names that are part of those `left`, is put into the queue,
        so that a crash cannot lose it."""
        entities = EntityStore(transaction)
        stored = entities.found(left) if left else []
        prepared = self._indexer.prepare([entity_text(entity) for entity in stored], self._clock()) if stored else []
        for entity, indexed in zip(stored, prepared, strict=True):
            entities.set_index(entity.id, indexed)
        if self._external is None:
            return
        names = EntityGroupStore(transaction).of_entities(left) if left else []
        removed = {*gone, *(name.id for name in names if name.part_of is not None)}
        if removed:
            EntityIndexStore(transaction, self._indexer.generation).note_removal(sorted(removed))

    def take_out(self, reach: Reach, removal: int, entity: EntityId) -> None:
        """Remove an entity from the external index, and the removal from the queue."""
        if self._external is not None:
            self._external.forget_entities(reach.tenant, [entity])
        self._write(reach, lambda rows: rows.settle_removal(removal, entity))

    def index_waiting(self, reach: Reach, project: ProjectId) -> int:
        """Index some of a project's entities in the queue; returns how many."""
        with self._database.read(reach) as transaction:
            waiting = EntityIndexStore(transaction, self._indexer.generation).waiting(project, limit=_CHUNK)
        if not waiting:
            return 0
        unknown = [words for words in waiting if words.vector is None]
        known = [words for words in waiting if words.vector is not None]
        if unknown:
            known += self._keep(reach, project, unknown)
        if self._external is None:
            now = self._clock()
            self._write(reach, lambda rows: rows.mark_indexed(known, now))
        else:
            self._put(self._external, reach, known)
        return len(waiting)

    def rebuild(self, reach: Reach, project: ProjectId, *, everything: bool) -> Iterator[int]:
        """Index a project's entities of other generations, or all; yields how many after each step. Points follow from the
        queue."""
        after = 0
        while words := self._words(reach, project, after, everything):
            self._keep(reach, project, words)
            after = words[-1].entity.id
            yield len(words)

    def _words(self, reach: Reach, project: ProjectId, after: int, everything: bool) -> list[EntityWords]:
        with self._database.read(reach) as transaction:
            rows = EntityIndexStore(transaction, self._indexer.generation)
            return rows.words(project, after=after, limit=_CHUNK, all_generations=everything)

    def _keep(self, reach: Reach, project: ProjectId, words: Sequence[EntityWords]) -> list[EntityWords]:
        """Embed and store; no transaction is open while the embedder works. Returns the entities with their vectors and terms."""
        indexed = self._indexer.embed([entity_text(one.entity) for one in words], self._clock())
        entries = list(zip(words, indexed, strict=True))
        self._write(reach, lambda rows: rows.set_indexed(project, entries))
        return [replace(one, vector=made.vector, terms=made.terms) for one, made in entries]

    def _put(self, external: ExternalIndex, reach: Reach, words: Sequence[EntityWords]) -> None:
        """A point has words, so its removal is queued first, and cancelled at the end. If the entity is forgotten or changed
        meanwhile, or this process is killed, the point is removed again."""
        due_at = self._clock() + PUT_MICROSECONDS
        ids = [one.entity.id for one in words]
        removals = self._write(reach, lambda rows: rows.note_removal(ids, due_at=due_at))
        external.put_entities([_point(reach, one) for one in words])
        now = self._clock()
        self._write(reach, lambda rows: rows.mark_put(words, removals, now))

    def _write(self, reach: Reach, work: Callable[[EntityIndexStore], T]) -> T:
        return self._database.write(
            reach, lambda transaction: work(EntityIndexStore(transaction, self._indexer.generation))
        )


def entity_text(entity: Entity) -> Said:
    """What an entity is indexed by."""
    return f"{', '.join((entity.name, *entity.aliases))}: {entity.notes}", None, entity.created_at


def _point(reach: Reach, words: EntityWords) -> EntityPoint:
    entity = words.entity
    return EntityPoint(
        entity=entity.id,
        tenant=reach.tenant,
        project=entity.project,
        user=entity.user,
        name=entity.name,
        type=entity.type,
        notes=entity.notes,
        created_at=entity.created_at,
        vector=words.vector,
        terms=words.terms,
    )
