"""A worker is killed before, during and after the model's work: nothing is lost, done twice, or unread for ever (MEM-4, MEM-6)."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import apsw
import psycopg
import pytest

from cloister.domain.scope import Reach
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint
from support.servers.model_server import ModelServer
from support.servers.worker_processes import (
    FACT,
    PATIENCE,
    Place,
    WorkerProcess,
    answered,
    asked_about,
    converse,
    gated,
    kind,
)
from support.waiting import eventually

EXCHANGES = 30
MESSAGES = 2 * EXCHANGES
UNREAD = "SELECT count(*) FROM message WHERE is_memory_checked = 0"


def settle(place: Place) -> None:
    """One long session of a project: memories, entities and notes are made of it."""
    services = place.engine.services()
    reach = Reach(tenant=services.projects.create_tenant("Beekeepers")[0])
    garden = services.projects.create_project(reach, "Garden").id
    converse(services, reach, "bees", exchanges=EXCHANGES, project=garden)


def nothing_was_kept(place: Place) -> None:
    assert place.number(UNREAD) == MESSAGES
    for table in ("memory", "entity", "mention", "observation"):
        assert place.number(f"SELECT count(*) FROM {table}") == 0


def everything_was_kept_once(place: Place) -> None:
    expected = sorted((f"{FACT} bees-{number}.",) for number in range(EXCHANGES))
    assert sorted(place.rows("SELECT content FROM memory"), key=repr) == expected
    assert sorted(place.rows("SELECT notes FROM mention"), key=repr) == expected
    assert place.number("SELECT count(DISTINCT message_id) FROM memory_source") == EXCHANGES
    assert place.number("SELECT count(*) FROM entity") == EXCHANGES
    assert place.number("SELECT count(*) FROM observation") == 1
    assert place.number(UNREAD) == 0
    assert place.rows("SELECT due_at, claim, claimed_until, unchecked_count, failures FROM session") == [
        (None, None, None, 0, 0)
    ]
    assert place.number("SELECT memory_count FROM session") == EXCHANGES


def worker_of(place: Place, endpoint: FakeEndpoint, *options: str) -> WorkerProcess:
    """With a lease of two seconds. It asks the endpoint which model it has before it asks the model."""
    return WorkerProcess(place, *options, CLOISTER_MODEL_URL=endpoint.url)


def is_taken_over(place: Place, endpoint: FakeEndpoint) -> None:
    """By another worker, once the lease of the dead one has run out; a third one finds nothing to do."""
    endpoint.follows(answered)
    with worker_of(place, endpoint) as successor:
        place.eventually_none("due_at IS NOT NULL")
        assert successor.stop()["succeeded"] == 1
    everything_was_kept_once(place)
    before = len(endpoint.asked)
    with worker_of(place, endpoint, "--once") as third:
        assert third.result()["succeeded"] == 0
    assert len(endpoint.asked) == before
    everything_was_kept_once(place)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("models", id="before-the-model-is-asked"),
        pytest.param("memories", id="while-it-thinks"),
        pytest.param("notes", id="between-two-answers"),
    ],
)
def test_a_worker_killed_before_or_during_the_models_work_leaves_it_to_another(
    place: Place, endpoint: FakeEndpoint, moment: str
) -> None:
    settle(place)
    gate, reached = threading.Event(), threading.Event()
    endpoint.follows(gated({moment: gate}, lambda wanted: reached.set() if wanted == moment else None))
    with worker_of(place, endpoint):
        assert reached.wait(PATIENCE)
    assert place.number("SELECT count(*) FROM session WHERE claim IS NOT NULL") == 1, "the dead one's"
    gate.set()
    nothing_was_kept(place)
    is_taken_over(place, endpoint)


def test_a_worker_killed_between_the_last_answer_and_its_commit_leaves_it_to_another(
    place: Place, endpoint: FakeEndpoint
) -> None:
    """Nothing can be committed while this test holds the session; and it is let go only after the kill."""
    settle(place)
    answered_all = threading.Event()
    with held_session(place) as hold:

        def script(asked: Asked) -> Answer:
            answer = answered(asked)
            if kind(asked) == "notes":
                hold()
                answered_all.set()
            return answer

        endpoint.follows(script)
        with worker_of(place, endpoint):
            assert answered_all.wait(PATIENCE)
            eventually(lambda: asked_about(endpoint.asked, "memories"), PATIENCE)
    nothing_was_kept(place)
    is_taken_over(place, endpoint)


def test_a_worker_killed_after_its_commit_has_done_its_work(place: Place, endpoint: FakeEndpoint) -> None:
    settle(place)
    with worker_of(place, endpoint):
        eventually(lambda: place.number(UNREAD) == 0, PATIENCE)
    everything_was_kept_once(place)
    with worker_of(place, endpoint, "--once") as successor:
        assert successor.result()["succeeded"] == 0
    assert max(asked_about(endpoint.asked, "memories").values()) == 1
    everything_was_kept_once(place)


def test_a_real_models_server_killed_half_way_costs_nothing_but_time(place: Place, model_server: ModelServer) -> None:
    """MEM-6, with llama.cpp: the error is on the session, every message is unread, and whoever tries next does it: the rules,
    since a model this small would write for minutes."""
    services = place.engine.services()
    reach = Reach(tenant=services.projects.create_tenant("Beekeepers")[0])
    converse(services, reach, "bees")
    environment = {"CLOISTER_MODEL_URL": model_server.url, "CLOISTER_MODEL_NAME": model_server.model}
    with WorkerProcess(place, "--once", **environment) as worker:
        model_server.wait_until(busy=True, seconds=PATIENCE)
        model_server.kill()
        assert worker.result(code=1)["failed"] == 1
    shown = services.sessions.get(reach, "bees")
    assert shown.memory_job_pending
    assert shown.last_extraction_error is not None
    assert "smollm2" in shown.last_extraction_error
    assert place.number("SELECT count(*) FROM memory") == 0
    assert place.number(UNREAD) == 4
    assert services.claims.failing() == 1
    place.make_due()
    with WorkerProcess(place, "--once") as successor:
        assert successor.result()["checked_messages"] == 4
    shown = services.sessions.get(reach, "bees")
    assert (shown.memory_job_pending, shown.last_extraction_error) == (False, None)
    assert place.number(UNREAD) == 0


@contextmanager
def held_session(place: Place) -> Generator[Callable[[], None]]:
    """Gives what takes hold of all sessions, against every writer, until the block ends."""
    if place.engine.name == "postgres":
        with psycopg.connect(place.url) as connection:
            yield lambda: _run(connection, "SELECT session_id FROM session FOR UPDATE")
        return
    connection: Any = apsw.Connection(place.url)
    connection.set_busy_timeout(10_000)
    try:
        yield lambda: _run(connection, "BEGIN IMMEDIATE")
    finally:
        connection.close()


def _run(connection: Any, statement: str) -> None:
    connection.execute(statement)
