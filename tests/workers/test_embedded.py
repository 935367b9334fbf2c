"""`cloister serve` extracts in its own process, soon after a reply, without standing in the way of requests; and not where it is
told not to."""

import threading
from typing import Any

import pytest

from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Caller, ServerProcess
from support.servers.worker_processes import FACT, PATIENCE, Place, WorkerProcess, answered, gated
from support.waiting import eventually

MODEL = {"CLOISTER_MODEL_NAME": "plain", "CLOISTER_WORKER_LEASE": "3600"}


def tell(admin: Caller, session: str) -> None:
    """Enough for an extraction: the second exchange makes it due."""
    admin.made("/v1/sessions", {"external_id": session})
    for number in range(2):
        said = {"session_id": session, "user_message": f"{FACT} {session}-{number}.", "ai_response": "Lovely."}
        admin.made("/v1/episodes", said)


def shown(admin: Caller, session: str) -> Any:
    return admin.get(f"/v1/sessions/{session}").json()


def samples(server: ServerProcess) -> dict[str, float]:
    text = server.server.nobody.get("/metrics").text
    return {
        name: float(value)
        for name, _, value in (
            line.rpartition(" ") for line in text.splitlines() if line.startswith("cloister_extract")
        )
    }


def test_mem_3_a_server_extracts_by_itself_after_the_reply_that_makes_a_session_due(
    place: Place, endpoint: FakeEndpoint
) -> None:
    with ServerProcess(place.address, {**MODEL, "CLOISTER_MODEL_URL": endpoint.url}) as server:
        admin = server.server.new_tenant().admin
        tell(admin, "bees")
        eventually(lambda: not shown(admin, "bees")["memory_job_pending"], PATIENCE)
        found = admin.get("/v1/sessions/bees/memories").json()["data"]
        assert sorted(memory["content"] for memory in found) == [f"{FACT} bees-0.", f"{FACT} bees-1."]
        assert samples(server) == {
            'cloister_extractions_total{result="succeeded"}': 1,
            'cloister_extractions_total{result="failed"}': 0,
            'cloister_extractions_total{result="lost"}': 0,
            "cloister_extraction_waiting": 0,
            "cloister_extraction_failing": 0,
        }
        assert server.stop() == 0
        assert FACT not in server.complaints


def test_requests_are_answered_while_the_model_thinks_and_a_stop_does_not_wait_for_it(
    place: Place, endpoint: FakeEndpoint
) -> None:
    gate, reached = threading.Event(), threading.Event()
    endpoint.follows(gated({"memories": gate}, lambda _: reached.set()))
    try:
        with ServerProcess(place.address, {**MODEL, "CLOISTER_MODEL_URL": endpoint.url}) as server:
            admin = server.server.new_tenant().admin
            tell(admin, "bees")
            assert reached.wait(PATIENCE)
            tell(admin, "wasps")
            assert shown(admin, "bees")["memory_job_pending"]
            assert server.stop() == 0
        assert place.rows("SELECT DISTINCT claim, claimed_until, failures FROM session") == [(None, None, 0)]
    finally:
        gate.set()
    endpoint.follows(answered)
    with WorkerProcess(place, "--once", CLOISTER_MODEL_URL=endpoint.url, **MODEL) as successor:
        assert successor.result()["succeeded"] == 2, "at once: the leases of an hour were given back"


@pytest.mark.parametrize(
    ("options", "environment"), [(("--no-worker",), {}), ((), {"CLOISTER_WORKER": "off"})], ids=["option", "variable"]
)
def test_a_server_without_a_worker_leaves_extraction_to_others(
    place: Place, endpoint: FakeEndpoint, options: tuple[str, ...], environment: dict[str, str]
) -> None:
    model = {**MODEL, "CLOISTER_MODEL_URL": endpoint.url}
    with ServerProcess(place.address, {**model, **environment}, options=options) as server:
        admin = server.server.new_tenant().admin
        tell(admin, "bees")
        assert samples(server)["cloister_extraction_waiting"] == 1
        with WorkerProcess(place, "--once", **model) as worker:
            assert worker.result()["succeeded"] == 1
        assert not shown(admin, "bees")["memory_job_pending"]
        assert samples(server)["cloister_extraction_waiting"] == 0
        assert samples(server)['cloister_extractions_total{result="succeeded"}'] == 0, "not by this process"
        assert server.stop() == 0


def test_mem_6_a_failure_shows_on_the_session_and_in_metrics(place: Place) -> None:
    nobody = "http://127.0.0.1:9/v1"
    with ServerProcess(place.address, {**MODEL, "CLOISTER_MODEL_URL": nobody}) as server:
        admin = server.server.new_tenant().admin
        tell(admin, "bees")
        error = eventually(lambda: shown(admin, "bees")["last_extraction_error"], PATIENCE)
        assert "CLOISTER_MODEL_URL" in error
        assert nobody not in error
        found = samples(server)
        assert found["cloister_extraction_failing"] == 1
        assert found['cloister_extractions_total{result="failed"}'] >= 1
        assert [message["is_memory_checked"] for message in admin.everything("/v1/sessions/bees/messages")] == [
            False
        ] * 4
