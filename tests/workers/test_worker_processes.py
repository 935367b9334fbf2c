"""`cloister worker` in real processes, several on one database: each session once, none forgotten, none held by who is leaving."""

import threading
import time
from contextlib import ExitStack

from cloister.domain.scope import Reach
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint
from support.servers.worker_processes import (
    FACT,
    PATIENCE,
    Place,
    WorkerProcess,
    answered,
    asked_about,
    converse,
    gated,
)
from support.waiting import eventually

SESSIONS = 60
WORKERS = 4


def settle(place: Place, sessions: int) -> None:
    """Sessions of three tenants; none of them is due yet."""
    services = place.engine.services()
    reaches = [Reach(tenant=services.projects.create_tenant(name)[0]) for name in ("one", "two", "three")]
    for number in range(sessions):
        converse(services, reaches[number % 3], f"s{number}")
    place.rows("UPDATE session SET due_at = NULL")


def test_mem_4_four_workers_extract_each_of_many_sessions_exactly_once(place: Place, endpoint: FakeEndpoint) -> None:
    """Nothing twice, nothing left out, and no claim in vain: with the usual lease, which no busy machine outlasts."""
    settle(place, SESSIONS)
    settings = {"CLOISTER_MODEL_URL": endpoint.url, "CLOISTER_MODEL_NAME": "plain", "CLOISTER_WORKER_LEASE": "60"}

    def thoughtful(asked: Asked) -> Answer:
        time.sleep(0.02)
        return answered(asked)

    endpoint.follows(thoughtful)
    with ExitStack() as running:
        workers = [running.enter_context(WorkerProcess(place, "--threads", "2", **settings)) for _ in range(WORKERS)]
        for worker in workers:
            worker.wait_until_started()
        place.make_due()
        place.eventually_none("due_at IS NOT NULL")
        results = [worker.stop() for worker in workers]
        lines = [line for worker in workers for line in worker.lines if line["event"] == "extraction"]
    asked = asked_about(endpoint.asked, "memories")
    assert asked == {f"hive s{number}-{at}": 1 for number in range(SESSIONS) for at in range(2)}
    assert [sum(result[name] for result in results) for name in ("succeeded", "failed", "lost", "let_go")] == [
        SESSIONS,
        0,
        0,
        0,
    ]
    assert sum(result["checked_messages"] for result in results) == 4 * SESSIONS
    assert sum(result["memories"] for result in results) == 2 * SESSIONS
    assert place.number("SELECT count(*) FROM memory") == 2 * SESSIONS
    assert place.number("SELECT count(*) FROM message WHERE is_memory_checked = 0") == 0
    assert len({line["session"] for line in lines}) == len(lines) == SESSIONS
    assert FACT not in repr(lines)


def test_a_worker_that_runs_once_does_what_is_due_and_leaves(place: Place) -> None:
    """Without a model the rules do it."""
    settle(place, 6)
    place.make_due()
    with WorkerProcess(place, "--once") as worker:
        done = worker.result()
    assert (done["succeeded"], done["checked_messages"], done["failed"]) == (6, 24, 0)
    with WorkerProcess(place, "--once") as worker:
        assert worker.result()["succeeded"] == 0


def test_mem_6_a_worker_that_runs_once_says_when_a_session_failed(place: Place, endpoint: FakeEndpoint) -> None:
    settle(place, 1)
    place.make_due()
    endpoint.answers(Answer(status=401, body=b'{"error": {"message": "who are you", "code": "no_key"}}'))
    with WorkerProcess(place, "--once", CLOISTER_MODEL_URL=endpoint.url, CLOISTER_MODEL_NAME="plain") as worker:
        assert worker.result(code=1)["failed"] == 1
        (line,) = (line for line in worker.lines if line["event"] == "extraction")
    assert (line["result"], line["level"]) == ("failed", "warning")
    assert "CLOISTER_MODEL_KEY" in line["problem"]
    assert place.number("SELECT count(*) FROM message WHERE is_memory_checked = 1") == 0


def test_mem_4_a_model_call_longer_than_the_lease_is_not_done_by_another_worker(
    place: Place, endpoint: FakeEndpoint
) -> None:
    """The lease is renewed."""
    settle(place, 1)
    settings = {"CLOISTER_MODEL_URL": endpoint.url, "CLOISTER_MODEL_NAME": "plain", "CLOISTER_WORKER_LEASE": "4"}
    place.make_due()
    gate = threading.Event()
    endpoint.follows(gated({"memories": gate}, lambda _: None))
    first = "SELECT coalesce(min(claimed_until), 0) FROM session"
    with (
        WorkerProcess(place, "--threads", "1", **settings),
        WorkerProcess(place, "--threads", "2", **settings) as other,
    ):
        other.wait_until_started()
        until = eventually(lambda: place.number(first), PATIENCE)
        eventually(lambda: place.number(first) > until + 5_000_000, PATIENCE)
        gate.set()
        place.eventually_none("due_at IS NOT NULL")
    assert asked_about(endpoint.asked, "memories") == {"hive s0-0": 1, "hive s0-1": 1}


def test_a_worker_told_to_stop_lets_go_of_the_session_that_the_model_still_thinks_about(
    place: Place, endpoint: FakeEndpoint
) -> None:
    settle(place, 1)
    place.make_due()
    gate = threading.Event()
    endpoint.follows(gated({"memories": gate}, lambda _: None))
    with WorkerProcess(
        place, CLOISTER_MODEL_URL=endpoint.url, CLOISTER_MODEL_NAME="plain", CLOISTER_WORKER_LEASE="3600"
    ) as worker:
        eventually(lambda: endpoint.asked, PATIENCE)
        done = worker.stop()
    assert (done["let_go"], done["succeeded"], done["failed"]) == (1, 0, 0)
    assert place.rows("SELECT claim, claimed_until, failures FROM session") == [(None, None, 0)]
    gate.set()
    with WorkerProcess(
        place, "--once", CLOISTER_MODEL_URL=endpoint.url, CLOISTER_MODEL_NAME="plain", CLOISTER_WORKER_LEASE="3600"
    ) as successor:
        assert successor.result()["succeeded"] == 1, "without waiting for the lease to run out"
    assert place.number("SELECT count(*) FROM memory") == 2
