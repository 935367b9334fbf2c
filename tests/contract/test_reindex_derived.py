"""Rebuilding what finds memories and entities after a change of embedder or tokeniser (ISO-4, ISO-10).

Within the walls, and never a mixture of two generations."""

from collections.abc import Callable, Sequence

import pytest

from cloister.bootstrap import wire
from cloister.domain.scope import Reach
from cloister.index import terms
from cloister.index.exact.index import ExactIndex
from cloister.models.interface import Embedder
from cloister.services.indexing.reindex import IndexCounts
from cloister.services.recall.search import EntityHit, MemoryHit, SearchTarget
from support.databases.engines import EMBEDDER, Engine
from support.samples.other_embedder import OtherEmbedder
from support.setups.memories import MemorySetup, SteppingClock

SAID = "My neighbour Anna plays the cello."
QUESTION = "Who plays the cello?"
SESSIONS = ("garden", "kitchen", "loose", "ann", "bob")
ALL = IndexCounts(messages=12, memories=6, entities=5)
Derived = tuple[Sequence[int], Sequence[int]]


def opened(engine: Engine, embedder: Embedder, reach: Reach | None = None) -> MemorySetup:
    clock = SteppingClock()
    index = ExactIndex(embedder.embed_query, embedder.dimension, 100_000_000)
    services = wire(engine.database(), index=index, embedder=embedder, clock=clock)
    reach = reach or Reach(tenant=services.projects.create_tenant("MemorySetup")[0])
    return MemorySetup(services=services, reach=reach, clock=clock)


def filled(engine: Engine) -> MemorySetup:
    """The same words in two projects, in none, and by two users of a private one; and once more in another tenant."""
    house = opened(engine, EMBEDDER)
    diary = house.project("Diary", "private")
    house.session("garden", house.project("Garden"))
    house.session("kitchen", house.project("Kitchen"))
    house.session("loose")
    house.session("ann", diary, "ann")
    house.session("bob", diary, "bob")
    for name in SESSIONS:
        house.tell(name, SAID)
    neighbour = MemorySetup(
        services=house.services, reach=Reach(tenant=house.services.projects.create_tenant("Next")[0])
    )
    neighbour.session("garden", neighbour.project("Garden"))
    neighbour.tell("garden", SAID)
    return house


def derived(house: MemorySetup, name: str) -> Derived:
    """The memories and entities that a session's context shows; a search shows the same."""
    found = house.context(name, QUESTION).derived
    memories, entities = [stored.memory.id for stored in found.memories], [entity.id for entity in found.entities]
    hits = house.services.search.search(house.reach, QUESTION, SearchTarget(session=name), 50, min_relevance=0)
    assert sorted(hit.stored.memory.id for hit in hits if isinstance(hit, MemoryHit)) == sorted(memories)
    assert sorted(hit.entity.id for hit in hits if isinstance(hit, EntityHit)) == sorted(entities)
    return memories, entities


def everywhere(house: MemorySetup) -> dict[str, Derived]:
    return {name: derived(house, name) for name in SESSIONS}


def another_embedder(monkeypatch: pytest.MonkeyPatch) -> Embedder:
    return OtherEmbedder()


def another_tokeniser(monkeypatch: pytest.MonkeyPatch) -> Embedder:
    monkeypatch.setattr(terms, "VERSION", terms.VERSION + 1)
    return EMBEDDER


Change = Callable[[pytest.MonkeyPatch], Embedder]


@pytest.fixture(params=[another_embedder, another_tokeniser])
def houses(
    engine: Engine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> tuple[MemorySetup, MemorySetup]:
    """The same tenant, seen by the generation that indexed it and by a new one."""
    first = filled(engine)
    change: Change = request.param
    return first, opened(engine, change(monkeypatch), first.reach)


def test_what_derives_is_recalled_before_and_after_a_reindex_and_stays_within_its_walls(
    houses: tuple[MemorySetup, MemorySetup],
) -> None:
    """ISO-4, ISO-10, OPS-7: five places that hold the same words, each shown its own."""
    first, second = houses
    before = everywhere(first)
    assert len({id for memories, _ in before.values() for id in memories}) == 5
    assert [len(entities) for _, entities in before.values()] == [1, 1, 0, 1, 1]
    assert everywhere(second) == before
    stale = second.services.reindex.stale()
    steps: list[tuple[int, int]] = []
    rebuilt = second.services.reindex.run(progress=lambda done, total: steps.append((done, total)))
    assert rebuilt == stale == ALL
    assert (steps[0], steps[-1]) == ((0, ALL.total), (ALL.total, ALL.total))
    assert everywhere(second) == before
    assert first.services.reindex.stale() == ALL, "nothing is left of the old generation"
    assert everywhere(first) == before
    assert second.services.reindex.stale() == second.services.reindex.run() == IndexCounts()
    assert second.services.health.health().stale == IndexCounts()
    assert second.services.reindex.run(everything=True) == rebuilt
    assert everywhere(second) == before
    assert second.services.queue.waiting() == 0


def test_every_rebuilt_place_raises_its_version_in_the_same_transaction(
    engine: Engine, houses: tuple[MemorySetup, MemorySetup]
) -> None:
    """So that whoever has a block in memory makes it anew, in whatever process."""
    _, second = houses
    bound = f"WHERE tenant_id = {second.reach.tenant:d}"
    versions = (
        f"SELECT pool_id, memory_version FROM pool {bound} UNION ALL "
        f"SELECT project_id, entity_version FROM project {bound} AND entity_version > 0"
    )
    before = {place: int(str(version)) for place, version in engine.rows(versions)}
    second.services.reindex.run()
    after = {place: int(str(version)) for place, version in engine.rows(versions)}
    assert len(before) == 5 + 3
    assert all(after[place] > version for place, version in before.items())


class Stopped(Exception):
    """Somebody pressed Control-C."""


def test_a_reindex_stopped_at_every_step_goes_on_and_two_generations_never_mix(
    houses: tuple[MemorySetup, MemorySetup],
) -> None:
    """OPS-7: whatever is rebuilt, each generation shows everything, and what is stale for one is not for the other."""
    first, second = houses
    before = everywhere(first)

    def stop_soon(done: int, total: int) -> None:
        if done:
            raise Stopped

    stops = 0
    while second.services.reindex.stale().total:
        stops += 1
        with pytest.raises(Stopped):
            second.services.reindex.run(progress=stop_soon)
        assert everywhere(first) == everywhere(second) == before
        assert first.services.reindex.stale().total + second.services.reindex.stale().total == ALL.total
    assert stops >= 5 + 5 + 3, "a step for each session's messages and memories, and each project's entities"
    assert everywhere(second) == before


def test_what_is_said_before_the_reindex_is_found_at_once_and_not_lost_by_it(
    houses: tuple[MemorySetup, MemorySetup],
) -> None:
    first, second = houses
    second.tell("garden", "My neighbour Anna plays the flute.")
    found = second.context("garden", "Anna flute").derived
    assert [stored.memory.content for stored in found.memories] == [
        "The user's neighbour Anna plays the flute.",
        "The user's neighbour Anna plays the cello.",
    ]
    assert len(found.entities) == 1
    assert derived(first, "garden")[1] == [found.entities[0].id]
    second.services.reindex.run()
    found = second.context("garden", "Anna flute cello").derived
    assert len(found.memories) == 2
    (anna,) = found.entities
    assert "cello" in anna.notes and "flute" in anna.notes
