"""The stores by which memories and entities are indexed, method by method, as `test_store_isolation` runs them."""

from cloister.domain.entity import Entity
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import EntityStore, StoredEntities
from cloister.storage.stores.indexing.derived_index_rows import EntityIndexStore, EntityWords, MemoryIndexStore
from support.isolation.twin_tenants import GENERATION, INDEXED, MOMENT, Case, Home, new_entity

LATER = INDEXED._replace(generation=GENERATION + 1)
WAITING = INDEXED._replace(vector=None, indexed_at=None)


def memories(transaction: Transaction) -> MemoryIndexStore:
    return MemoryIndexStore(transaction, GENERATION)


def entities(transaction: Transaction) -> EntityIndexStore:
    return EntityIndexStore(transaction, GENERATION)


def unindex_memory(transaction: Transaction, home: Home) -> None:
    memories(transaction).set_indexed(home.first.session, [(home.first.memory, WAITING)])


def unindex_entity(transaction: Transaction, home: Home) -> None:
    EntityStore(transaction).set_index(home.second.entity, WAITING)


def words(home: Home, revision: int = 0) -> EntityWords:
    """As somebody has them who knows the id."""
    name = new_entity(home.second.entity, home.cellar, "ann")
    entity = Entity(
        id=name.id,
        project=name.project,
        user=name.user,
        name=name.name,
        type=name.type,
        notes="",
        sources=(),
        created_at=name.created_at,
    )
    return EntityWords(entity=entity, revision=revision, vector=INDEXED.vector, terms=INDEXED.terms)


DERIVED_INDEX_CASES: dict[str, Case] = {
    "MemoryIndexStore.waiting": Case(
        act=lambda t, h: (unindex_memory(t, h), memories(t).waiting(h.first.session, limit=9))[1],
        nothing=[],
        writes=True,
    ),
    "MemoryIndexStore.words": Case(
        act=lambda t, h: memories(t).words(h.first.session, after=0, limit=9, all_generations=True), nothing=[]
    ),
    "MemoryIndexStore.set_indexed": Case(
        act=lambda t, h: memories(t).set_indexed(h.first.session, [(h.first.memory, LATER)]), writes=True
    ),
    "EntityIndexStore.waiting": Case(
        act=lambda t, h: (unindex_entity(t, h), entities(t).waiting(h.cellar, limit=9))[1], nothing=[], writes=True
    ),
    "StoredEntities.waiting": Case(
        act=lambda t, h: (unindex_entity(t, h), StoredEntities(t, h.cellar, "ann", GENERATION).waiting())[1],
        nothing=0,
        writes=True,
    ),
    "EntityIndexStore.words": Case(
        act=lambda t, h: [
            *entities(t).words(h.cellar, after=0, limit=9, all_generations=True),
            *EntityIndexStore(t, GENERATION + 1).words(h.cellar, after=0, limit=9, all_generations=False),
        ],
        nothing=[],
    ),
    "EntityIndexStore.set_indexed": Case(
        act=lambda t, h: entities(t).set_indexed(h.cellar, [(words(h), LATER)]), writes=True
    ),
    "EntityIndexStore.mark_indexed": Case(
        act=lambda t, h: (unindex_entity(t, h), entities(t).mark_indexed([words(h)], MOMENT + 5)),
        writes=True,
    ),
    "EntityIndexStore.note_removal": Case(
        act=lambda t, h: len(entities(t).note_removal([h.first.entity], due_at=MOMENT)), writes=True
    ),
    "EntityIndexStore.mark_put": Case(
        act=lambda t, h: (
            unindex_entity(t, h),
            entities(t).mark_put([words(h)], entities(t).note_removal([h.second.entity]), MOMENT + 5),
            entities(t).mark_put([words(h, revision=7)], entities(t).note_removal([h.second.entity]), MOMENT + 5),
        ),
        writes=True,
    ),
    "EntityIndexStore.settle_removal": Case(
        act=lambda t, h: entities(t).settle_removal(1, h.second.entity), writes=True
    ),
}
