"""The index: bound to one pool, whatever was asked of the others before (ISO-4)."""

from collections.abc import Callable

import pytest

from cloister.domain.identifiers import MessageId
from cloister.index.exact.index import ExactIndex
from cloister.index.interface import EntityPoint, Index, Point, PoolIndex
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.messages import MessageStore
from support.databases.engines import exact_index
from support.isolation.twin_tenants import GENERATION, INDEXED, MOMENT, Home, World, new_message, pools, public_methods


def evidence_ids(world: World, index: Index, home: Home, question: str = "roses water") -> list[int]:
    with world.database.read(home.reach) as transaction:
        rows = pools(transaction).rows(home.scope(home.first))
        assert rows is not None
        return sorted(int(identity) for identity in index.within(rows).evidence(question).ids)


def derived_ids(world: World, index: Index, home: Home, question: str = "roses water") -> tuple[list[int], list[int]]:
    """The memories of the first session's pool, and the entities of the second's part of the private cellar."""
    with world.database.read(home.reach) as transaction:
        memories = index.memories_within(StoredMemories(transaction, home.first.pool, GENERATION))
        entities = index.entities_within(StoredEntities(transaction, home.cellar, "ann", GENERATION))
        found = memories.evidence(question), entities.evidence(question)
        return found[0].ids.tolist(), found[1].ids.tolist()


def entity_point(home: Home) -> EntityPoint:
    return EntityPoint(
        entity=home.second.entity,
        tenant=home.tenant,
        project=home.cellar,
        user="ann",
        name="Rosa",
        type="person",
        notes="needs water",
        created_at=MOMENT,
        vector=bytes(512),
        terms=INDEXED.terms,
    )


def point(home: Home, message: MessageId) -> Point:
    return Point(
        message=message,
        tenant=home.tenant,
        session=home.first.session,
        role="user",
        author=None,
        created_at=MOMENT,
        vector=bytes(512),
        terms=INDEXED.terms,
    )


INDEX_CASES: dict[str, Callable[[Index, Home], object]] = {
    "put": lambda index, theirs: index.put([point(theirs, message) for message in theirs.first.messages], 0, 1 << 63),
    "forget_sessions": lambda index, theirs: index.forget_sessions([place.session for place in theirs.places]),
    "forget_messages": lambda index, theirs: index.forget_messages(theirs.first.messages),
    "put_entities": lambda index, theirs: index.put_entities([entity_point(theirs)]),
    "forget_entities": lambda index, theirs: index.forget_entities([theirs.first.entity, theirs.second.entity]),
    "close": lambda index, theirs: index.close(),
}


def test_every_method_of_the_index_has_a_case() -> None:
    """ISO-4; the ways to ask, and `evidence`, are in every one of them."""
    assert set(INDEX_CASES) == public_methods(Index) - {"within", "memories_within", "entities_within"}
    assert public_methods(PoolIndex) == {"evidence"}


@pytest.mark.parametrize("name", INDEX_CASES)
def test_the_index_of_a_pool_answers_with_that_pool_alone(world: World, name: str) -> None:
    """ISO-4: the same index serves both tenants; storage, not the index, decides what either still holds."""
    index: ExactIndex = exact_index()
    for home in (world.theirs, world.ours, world.theirs):
        assert evidence_ids(world, index, home) == home.first.messages
        assert derived_ids(world, index, home) == ([home.first.memory], [home.second.entity])
    INDEX_CASES[name](index, world.theirs)
    for home in (world.ours, world.theirs):
        assert evidence_ids(world, index, home) == home.first.messages
        assert derived_ids(world, index, home) == ([home.first.memory], [home.second.entity])


def test_the_statistics_of_a_pool_are_its_own(world: World) -> None:
    """ISO-4: how rare a word is elsewhere does not show in a score."""
    index = exact_index()

    def scores() -> list[float]:
        with world.database.read(world.ours.reach) as transaction:
            rows = pools(transaction).rows(world.ours.scope(world.ours.first))
            assert rows is not None
            return index.within(rows).evidence("roses").lexical.tolist()

    def fill(transaction: Transaction) -> None:
        for sequence in range(3, 60):
            MessageStore(transaction).append([(new_message(world.theirs.first.session, sequence), INDEXED)])
        pools(transaction).raise_version(world.theirs.first.pool)

    alone = scores()
    world.database.write(world.theirs.reach, fill)
    evidence_ids(world, index, world.theirs)
    assert scores() == alone
