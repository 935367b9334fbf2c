"""Rebuilding the index, and the queue of what is not indexed yet: two generations are never ranked together."""

from collections.abc import Sequence

import pytest

from cloister import Cloister
from cloister.bootstrap import Services, wire
from cloister.domain.recall.passage import Passage
from cloister.index.exact.index import ExactIndex
from cloister.models.interface import Embedder, Embedding
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.indexing.reindex import IndexCounts
from cloister.storage.interface import Database
from support.samples.other_embedder import OtherEmbedder


def opened(database: Database, embedder: Embedder) -> tuple[Cloister, Services]:
    index = ExactIndex(embedder.embed_query, embedder.dimension, 100_000_000)
    services = wire(database, index=index, embedder=embedder)
    return Cloister(services=services), services


def filled(database: Database) -> Cloister:
    memory, _ = opened(database, StaticEmbedder())
    memory.create_session("s")
    memory.create_session("ask")
    for number in range(5):
        memory.record("s", "user", f"The bell number {number} rings at noon.")
    return memory


def found(memory: Cloister) -> int:
    return len(memory.context("ask", "when does the bell ring", semantic_limit=50, min_relevance=0).relevant_history)


def test_rows_of_another_embedder_are_never_ranked_with_those_of_this_one(database: Database) -> None:
    first = filled(database)
    assert found(first) == 5
    second, services = opened(database, OtherEmbedder())
    assert found(second) == 0
    assert services.reindex.stale() == IndexCounts(messages=5)
    second.record("s", "user", "The bell number 5 rings at noon.")
    assert found(second) == 1
    assert found(first) == 5
    assert first.health().stale == IndexCounts(messages=1)


def test_reindexing_brings_everything_to_the_new_generation_and_reports_progress(database: Database) -> None:
    first = filled(database)
    second, services = opened(database, OtherEmbedder())
    steps: list[tuple[int, int]] = []
    assert second.reindex(progress=lambda done, total: steps.append((done, total))) == IndexCounts(messages=5)
    assert steps[0] == (0, 5)
    assert steps[-1] == (5, 5)
    assert found(second) == 5
    assert found(first) == 0
    assert services.reindex.stale() == IndexCounts()
    assert second.reindex() == IndexCounts()
    assert second.reindex(everything=True) == IndexCounts(messages=5)
    assert found(second) == 5


def test_a_message_of_a_slow_embedder_is_durable_at_once_found_by_its_words_and_whole_after_the_queue(
    database: Database,
) -> None:
    embedder = OtherEmbedder(immediate=False)
    memory, services = opened(database, embedder)
    memory.create_session("s")
    memory.create_session("ask")
    memory.record("s", "user", "The bell rings at noon.")
    assert embedder.seen == []
    assert memory.health().waiting == 1
    assert found(memory) == 1
    assert services.queue.drain() == 1
    assert embedder.seen == ["The bell rings at noon."]
    assert memory.health().waiting == 0
    assert found(memory) == 1
    assert services.queue.drain() == 0


def test_a_message_deleted_while_it_waits_stays_deleted(database: Database) -> None:
    memory, services = opened(database, OtherEmbedder(immediate=False))
    memory.create_session("s")
    memory.create_session("ask")
    message = memory.record("s", "user", "The bell rings at noon.")
    memory.forget_message(message.id)
    assert services.queue.drain() == 0
    assert found(memory) == 0


def test_a_crash_in_the_queue_leaves_the_rows_in_it(database: Database) -> None:
    class Broken(OtherEmbedder):
        def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
            raise ConnectionError("the model is gone")

    memory, services = opened(database, Broken(immediate=False))
    memory.create_session("s")
    memory.record("s", "user", "The bell rings at noon.")
    with pytest.raises(ConnectionError):
        services.queue.drain()
    assert memory.health().waiting == 1
    whole, healthy = opened(database, OtherEmbedder(immediate=False))
    assert healthy.queue.drain() == 1
    assert whole.health().waiting == 0
