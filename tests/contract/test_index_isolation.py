"""The index: bound to one pool, whatever was asked of the others before (ISO-4)."""

import pytest

from cloister.index.exact.index import LARGE
from cloister.index.exact.large import block as large_block
from cloister.index.interface import Index, PoolIndex
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.messages import MessageStore
from support.databases.engines import exact_index
from support.isolation.twin_tenants import GENERATION, INDEXED, Home, World, new_message, pools, public_methods


def evidence_ids(world: World, index: Index, home: Home, question: str = "roses water") -> list[int]:
    with world.database.read(home.reach) as transaction:
        rows = pools(transaction).rows(home.scope(home.first))
        assert rows is not None
        return sorted(int(identity) for identity in index.within(rows).evidence(question, 0).ids)


def derived_ids(world: World, index: Index, home: Home, question: str = "roses water") -> tuple[list[int], list[int]]:
    """The memories of the first session's pool, and the entities of the second's part of the private cellar."""
    with world.database.read(home.reach) as transaction:
        memories = index.memories_within(StoredMemories(transaction, home.first.pool, GENERATION))
        entities = index.entities_within(StoredEntities(transaction, home.cellar, "ann", GENERATION))
        found = memories.evidence(question, 0), entities.evidence(question, 0)
        return found[0].ids.tolist(), found[1].ids.tolist()


def test_an_index_has_no_method_that_changes_it() -> None:
    """ISO-4: it is asked within one pool or project, and closed. An index that is fed is shown in `test_qdrant_index.py`."""
    assert public_methods(Index) == {"within", "memories_within", "entities_within", "close"}
    assert public_methods(PoolIndex) == {"evidence"}


@pytest.mark.parametrize("large", [1, LARGE])
def test_the_index_of_a_pool_answers_with_that_pool_alone(
    world: World, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ISO-4: the same index serves both tenants; storage, not the index, decides what either still holds. With `large` as 1, it
    reads the vectors of candidates from storage."""
    monkeypatch.setattr(large_block, "KEPT_VECTORS", 0)
    index = exact_index(large=large)
    for home in (world.theirs, world.ours, world.theirs):
        assert evidence_ids(world, index, home) == home.first.messages
        assert derived_ids(world, index, home) == ([home.first.memory], [home.second.entity])
    index.close()
    for home in (world.ours, world.theirs):
        assert evidence_ids(world, index, home) == home.first.messages
        assert derived_ids(world, index, home) == ([home.first.memory], [home.second.entity])


@pytest.mark.parametrize("large", [1, LARGE])
def test_the_statistics_of_a_pool_are_its_own(world: World, large: int) -> None:
    """ISO-4: how rare a word is elsewhere does not show in a score."""
    index = exact_index(large=large)

    def scores() -> list[float]:
        with world.database.read(world.ours.reach) as transaction:
            rows = pools(transaction).rows(world.ours.scope(world.ours.first))
            assert rows is not None
            return index.within(rows).evidence("roses", 0).lexical.tolist()

    def fill(transaction: Transaction) -> None:
        for sequence in range(3, 60):
            MessageStore(transaction).append([(new_message(world.theirs.first.session, sequence), INDEXED)])
        pools(transaction).raise_version(world.theirs.first.pool)

    alone = scores()
    world.database.write(world.theirs.reach, fill)
    evidence_ids(world, index, world.theirs)
    assert scores() == alone
