"""A slow embedder leaves the vectors of memories and entities to the queue: found by their words until then, and never lost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from cloister.bootstrap import wire
from cloister.domain.recall.passage import Passage
from cloister.domain.scope import Reach
from cloister.index import terms
from cloister.index.exact.index import ExactIndex
from cloister.models.interface import Embedding
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from support.databases.engines import Engine
from support.samples.other_embedder import OtherEmbedder
from support.setups.memories import MemorySetup, SteppingClock

SAID = "My neighbour Anna plays the cello."
KEPT = "The user's neighbour Anna plays the cello."
WITHOUT_VECTORS = (
    "SELECT (SELECT count(*) FROM memory WHERE vector IS NULL), (SELECT count(*) FROM entity WHERE vector IS NULL)"
)


@dataclass
class SlowEmbedder(OtherEmbedder):
    """Things may happen while it thinks."""

    immediate: bool = False
    meanwhile: Callable[[], object] = field(default=lambda: None)

    def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        event, self.meanwhile = self.meanwhile, lambda: None
        made = super().embed(passages)
        event()
        return made


def opened(engine: Engine, embedder: OtherEmbedder, reach: Reach | None = None) -> MemorySetup:
    index = ExactIndex(embedder.embed_query, embedder.dimension, 100_000_000)
    clock = SteppingClock()
    services = wire(engine.database(), index=index, embedder=embedder, clock=clock)
    return MemorySetup(
        services=services,
        reach=reach or Reach(tenant=services.projects.create_tenant("MemorySetup")[0]),
        clock=clock,
    )


def settled(engine: Engine, embedder: OtherEmbedder) -> MemorySetup:
    """One session of a project has said it; its messages are indexed, and what derives from them waits."""
    house = opened(engine, embedder)
    house.session("garden", house.project())
    house.say("garden", SAID)
    house.services.queue.drain()
    house.services.extraction.extract_now(house.reach, "garden")
    return house


def meanings(house: MemorySetup, name: str) -> tuple[list[float], list[float]]:
    """What the vectors say of the memories and entities where a session recalls: nothing, while there are none."""
    session = house.find(name)
    generation = int(str(house.services.database.maintenance.rows("generation", fingerprint=fingerprint(house))[0][0]))
    with house.services.database.read(house.reach) as transaction:
        index = house.services.index
        memories = index.memories_within(StoredMemories(transaction, session.pool, generation)).evidence("cello", 0)
        if session.project is None:
            return memories.semantic.tolist(), []
        entities = index.entities_within(StoredEntities(transaction, session.project, None, generation)).evidence(
            "cello", 0
        )
        return memories.semantic.tolist(), entities.semantic.tolist()


def fingerprint(house: MemorySetup) -> str:
    return f"{house.services.embed.name}+terms{terms.VERSION}"


def test_what_derives_is_found_by_its_words_at_once_and_by_its_meaning_after_the_queue(engine: Engine) -> None:
    """MEM-1, ISO-9"""
    embedder = SlowEmbedder()
    house = settled(engine, embedder)
    assert KEPT not in embedder.seen
    assert (house.services.queue.waiting(), engine.rows(WITHOUT_VECTORS)) == (2, [(1, 1)])
    assert house.services.health.health().waiting == 2
    assert (house.recalled("garden", "cello"), house.recalled_entities("garden", "cello")) == ([KEPT], ["Anna"])
    assert meanings(house, "garden") == ([0.0], [0.0])
    assert house.services.queue.drain() == 2
    assert {KEPT, f"Anna: {KEPT}"} <= set(embedder.seen)
    assert (house.services.queue.waiting(), engine.rows(WITHOUT_VECTORS)) == (0, [(0, 0)])
    assert all(meaning > 0 for kind in meanings(house, "garden") for meaning in kind)
    assert (house.recalled("garden", "cello"), house.recalled_entities("garden", "cello")) == ([KEPT], ["Anna"])
    assert house.services.queue.drain() == 0


def test_another_process_sees_the_vectors_that_the_queue_made(engine: Engine) -> None:
    """Every place that was indexed has a new version, whoever holds a block of it."""
    house = settled(engine, SlowEmbedder())
    reader = opened(engine, SlowEmbedder(), house.reach)
    assert meanings(reader, "garden") == ([0.0], [0.0])
    house.services.queue.drain()
    assert all(meaning > 0 for kind in meanings(reader, "garden") for meaning in kind)


def test_a_crash_of_the_embedder_leaves_what_derives_in_the_queue(engine: Engine) -> None:
    def crash() -> None:
        raise ConnectionError("the model is gone")

    embedder = SlowEmbedder()
    house = settled(engine, embedder)
    for _ in range(2):
        embedder.meanwhile = crash
        with pytest.raises(ConnectionError):
            house.services.queue.drain()
        assert house.services.queue.waiting() == 2
        assert engine.rows(WITHOUT_VECTORS) == [(1, 1)]
    healthy = opened(engine, SlowEmbedder(), house.reach)
    assert healthy.services.queue.drain() == 2
    assert engine.rows(WITHOUT_VECTORS) == [(0, 0)]


def test_what_is_said_of_an_entity_while_it_is_embedded_is_embedded_too(engine: Engine) -> None:
    """Its revision tells that the vector is of fewer words, and it stays in the queue until it is of all."""
    embedder = SlowEmbedder()
    house = settled(engine, embedder)
    garden = house.find("garden").project
    assert garden is not None
    house.session("second", garden)

    def say_more() -> None:
        house.tell("second", "My neighbour Anna plays the flute.")

    def once_the_entity_is_embedded() -> None:
        if embedder.seen[-1].startswith("Anna: "):
            say_more()
        else:
            embedder.meanwhile = once_the_entity_is_embedded

    embedder.meanwhile = once_the_entity_is_embedded
    house.services.queue.drain()
    of_anna = [text for text in embedder.seen if text.startswith("Anna: ")]
    assert ["flute" in text for text in of_anna] == [False, True]
    house.services.queue.drain()
    assert house.services.queue.waiting() == 0
    assert engine.rows(WITHOUT_VECTORS) == [(0, 0)]


def test_a_memory_that_moves_while_it_is_embedded_is_found_by_its_meaning_where_it_went(engine: Engine) -> None:
    """ISO-5: the version that is raised is that of the pool it is in."""
    embedder = SlowEmbedder()
    house = settled(engine, embedder)
    kitchen = house.project("Kitchen")
    house.session("cook", kitchen)

    def move() -> None:
        house.move("garden", kitchen)
        assert meanings(house, "cook")[0] == [0.0]

    embedder.meanwhile = move
    house.services.queue.drain()
    assert all(meaning > 0 for meaning in meanings(house, "cook")[0])
    assert house.recalled("cook", "cello") == [KEPT]


def test_what_is_forgotten_while_it_is_embedded_stays_forgotten(engine: Engine) -> None:
    """MEM-9"""
    embedder = SlowEmbedder()
    house = settled(engine, embedder)
    embedder.meanwhile = lambda: house.services.forgetting.session(house.reach, "garden")
    house.services.queue.drain()
    counts = engine.rows("SELECT (SELECT count(*) FROM memory), (SELECT count(*) FROM entity)")
    assert counts == [(0, 0)]
    assert house.services.queue.waiting() == 0
