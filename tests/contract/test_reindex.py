"""Rebuilding the index, and the queue of what is not indexed yet: two generations are never ranked together."""

import threading
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from cloister import Cloister
from cloister.bootstrap import Services, wire
from cloister.domain.recall.passage import Passage
from cloister.index.exact.index import ExactIndex
from cloister.models.interface import Embedder, Embedding
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.indexing import reindex
from cloister.services.indexing.reindex import IndexCounts
from cloister.services.processes import Processes
from cloister.services.recall import current_rows
from cloister.storage.interface import Database
from cloister.worker import Worker
from support.samples.other_embedder import OtherEmbedder
from support.waiting import eventually


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
    """OPS-7: each process recalls everything, by vectors of its own embedder only. Those of the two have different lengths."""
    first = filled(database)
    assert found(first) == 5
    other = OtherEmbedder()
    second, services = opened(database, other)
    assert found(second) == 5
    assert len(other.seen) == 5, "made anew while they are read"
    assert services.reindex.stale() == IndexCounts(messages=5)
    second.record("s", "user", "The bell number 5 rings at noon.")
    assert found(second) == 6
    assert found(first) == 6
    assert first.health().stale == IndexCounts(messages=1)


def test_search_and_context_say_how_much_of_their_pool_is_stale(database: Database) -> None:
    """OPS-1: only of that pool, and only while something is."""
    first = filled(database)
    first.create_session("elsewhere", user_id="ann")
    first.record("elsewhere", "user", "The bell of Ann rings at noon.")
    assert (first.context("ask", "bell").stale, first.search("bell").stale) == (None, None)
    second, services = opened(database, OtherEmbedder())
    assert (second.context("ask", "bell").stale, second.search("bell").stale) == (5, 5)
    assert second.search("bell", kinds=["memories"]).stale == 5
    assert second.context("elsewhere", "bell").stale == 1
    assert services.health.stale() == 6
    second.reindex()
    assert (second.context("ask", "bell").stale, second.search("bell").stale) == (None, None)
    assert services.health.stale() == 0


def test_of_a_very_stale_pool_the_last_messages_are_recalled_and_the_others_counted_until_it_is_rebuilt(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current_rows, "MOST_ROWS", 4)
    filled(database)
    second, _ = opened(database, OtherEmbedder())
    recalled = second.context("ask", "when does the bell ring", semantic_limit=50, min_relevance=0).relevant_history
    assert sorted(item.content for item in recalled) == [
        f"The bell number {number} rings at noon." for number in range(1, 5)
    ]
    assert second.context("ask", "bell").stale == 5
    second.record("s", "user", "The bell number 5 rings at noon.")
    assert found(second) == 5, "new messages are recalled too"
    second.reindex()
    assert found(second) == 6


def test_a_message_moved_or_deleted_while_its_index_is_stale_is_not_recalled_where_it_was(database: Database) -> None:
    """ISO-5, OPS-7: rows that are made while they are read follow their session and its deletion as stored ones do."""
    first = filled(database)
    moved = first.record("s", "user", "The bell number 5 rings at noon.")
    second, _ = opened(database, OtherEmbedder())
    assert found(second) == 6
    second.forget_message(moved.id)
    assert found(second) == 5
    second.update_session("s", project_id=None)
    assert found(second) == 0
    second.update_session("ask", project_id=None)
    assert found(second) == 5


def test_an_older_process_beside_a_newer_one_does_not_undo_its_rebuilding(database: Database) -> None:
    """OPS-7: in a rolling restart both would rebuild the same rows for ever."""
    first, old = opened(database, StaticEmbedder())
    first.create_session("s")
    first.record("s", "user", "The bell rings at noon.")
    _, new = opened(database, OtherEmbedder())
    assert (old.reindex.is_newest(), new.reindex.is_newest()) == (False, True)
    Worker(new).drain()
    assert new.reindex.stale() == IndexCounts()
    Worker(old).drain()
    assert new.reindex.stale() == IndexCounts()
    assert old.reindex.stale() == IndexCounts(messages=1)


def test_what_an_older_process_writes_is_noticed_within_half_a_minute(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS-7: in a rolling upgrade, while both serve. Alone, nothing is counted again so soon."""
    first = filled(database)
    _, services = opened(database, OtherEmbedder())
    services.reindex.run()
    moment = 1_000.0
    monkeypatch.setattr(reindex, "time", SimpleNamespace(monotonic=lambda: moment))
    assert services.reindex.stale_lately() == IndexCounts()
    first.record("s", "user", "The bell number 5 rings at noon.")
    moment += 31
    assert services.reindex.stale_lately() == IndexCounts()
    Processes(database, lambda: 0).add("http://127.0.0.1:1")
    assert services.reindex.stale_lately() == IndexCounts(messages=1)


def test_who_asks_while_it_is_counted_gets_the_old_number(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPS-1: `/readyz` does not wait for a count of every row."""
    first = filled(database)
    _, services = opened(database, OtherEmbedder())
    before = services.reindex.stale_lately()
    assert before.total
    first.record("s", "user", "The bell number 5 rings at noon.")
    count, asked, go_on = services.reindex.stale, threading.Event(), threading.Event()

    def slowly() -> IndexCounts:
        asked.set()
        assert go_on.wait(30)
        return count()

    monkeypatch.setattr(services.reindex, "stale", slowly)
    monkeypatch.setattr(reindex, "_RECOUNT_SECONDS", 0)
    counting = threading.Thread(target=services.reindex.stale_lately)
    counting.start()
    assert asked.wait(30)
    assert services.reindex.stale_lately() == before
    go_on.set()
    counting.join(30)
    assert services.reindex.stale_lately().messages == before.messages + 1


def test_a_worker_rebuilds_by_itself(database: Database) -> None:
    """OPS-7: without `cloister reindex`."""
    filled(database)
    second, services = opened(database, OtherEmbedder())
    worker = Worker(services)
    worker.start()
    eventually(lambda: not services.reindex.stale().total)
    worker.stop()
    assert found(second) == 5
    assert second.search("bell").stale is None


def test_reindexing_brings_everything_to_the_new_generation_and_reports_progress(database: Database) -> None:
    first = filled(database)
    second, services = opened(database, OtherEmbedder())
    steps: list[tuple[int, int]] = []
    assert second.reindex(progress=lambda done, total: steps.append((done, total))) == IndexCounts(messages=5)
    assert steps[0] == (0, 5)
    assert steps[-1] == (5, 5)
    assert found(second) == 5
    assert found(first) == 5, "an older process goes on answering"
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
