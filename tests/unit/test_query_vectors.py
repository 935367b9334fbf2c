"""The vectors of questions: cached by tenant, and not asked for while the embedder fails."""

import threading
from dataclasses import dataclass

from cloister.domain.identifiers import TenantId
from cloister.services.recall.embeddings.query_vectors import QueryVectors
from support.databases.engines import at_once
from support.samples.additional_embedder import Synonyms

ONE, OTHER = TenantId(1), TenantId(2)


@dataclass
class Clock:
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_question_is_embedded_once_for_each_tenant() -> None:
    """Another tenant's question must not be noticeable by a faster answer."""
    embedder = Synonyms()
    queries = QueryVectors(embedder)
    for tenant in (ONE, ONE, OTHER, OTHER):
        assert queries.vector(tenant, "zorblat") is not None
    assert embedder.asked == ["zorblat"] * 2
    assert queries.outcomes == {"embedded": 2, "cached": 2}
    assert queries.vector(ONE, " \n") is None
    assert queries.vector(ONE, "\ud800") is not None


def test_the_cache_is_bounded_and_keeps_what_was_asked_last() -> None:
    embedder = Synonyms()
    queries = QueryVectors(embedder)
    queries.vector(ONE, "first")
    for number in range(999):
        queries.vector(ONE, str(number))
    queries.vector(ONE, "first")
    queries.vector(ONE, "one more")
    embedder.asked.clear()
    queries.vector(ONE, "first")
    assert embedder.asked == []
    queries.vector(ONE, "0")
    assert embedder.asked == ["0"]


def test_after_a_failure_the_embedder_is_left_alone_and_then_tried_by_one() -> None:
    embedder, clock = Synonyms(down=True), Clock()
    queries = QueryVectors(embedder, clock)
    pauses: list[float] = []
    for _ in range(8):
        before = clock.seconds
        failed = queries.outcomes["failed"]
        while queries.outcomes["failed"] == failed:
            assert queries.vector(ONE, "zorblat") is None
            clock.seconds += 0.5
        pauses.append(clock.seconds - before - 0.5)
    assert pauses == [0.0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 59.5]
    embedder.down = False
    assert queries.vector(ONE, "zorblat") is None
    clock.seconds += 60
    assert queries.vector(ONE, "zorblat") is not None
    assert queries.vector(ONE, "another") is not None


def test_what_is_cached_is_answered_while_the_embedder_is_down() -> None:
    embedder = Synonyms()
    queries = QueryVectors(embedder)
    queries.vector(ONE, "zorblat")
    embedder.down = True
    assert queries.vector(ONE, "quimble") is None
    assert queries.vector(ONE, "zorblat") is not None
    assert queries.vector(ONE, "quimble") is None
    assert queries.outcomes == {"embedded": 1, "failed": 1, "cached": 1, "skipped": 1}


def test_failures_at_once_are_one_failure_and_only_one_question_tries_again() -> None:
    asked = threading.Barrier(4)

    class Failing(Synonyms):
        def embed_query(self, text: str):
            asked.wait(10)
            return super().embed_query(text)

    clock = Clock()
    queries = QueryVectors(Failing(down=True), clock)
    at_once(lambda number: queries.vector(ONE, str(number)), 4)
    assert queries.outcomes == {"failed": 4}
    clock.seconds += 1
    trying = threading.Event()
    done = threading.Event()

    class Slow(Synonyms):
        def embed_query(self, text: str):
            trying.set()
            done.wait(10)
            return super().embed_query(text)

    queries._embedder = Slow()  # pyright: ignore[reportPrivateUsage]
    first = threading.Thread(target=queries.vector, args=(ONE, "first"))
    first.start()
    assert trying.wait(10)
    assert queries.vector(ONE, "second") is None
    done.set()
    first.join(10)
    assert queries.outcomes == {"failed": 4, "skipped": 1, "embedded": 1}
