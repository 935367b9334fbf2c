"""Servers that die, or are stopped, while they answer: what was acknowledged is there, and nothing is shown that is not true."""

import threading
from pathlib import Path

import pytest

from support.clients.chat_client import Gate, asking, messages, said, say, streaming, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import ServerProcess, postgres_address
from support.waiting import eventually


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, data: Path) -> str:
    if request.param == "sqlite":
        return str(data)
    return postgres_address(request.getfixturevalue("migrated_postgres"))


def started(place: str, model: FakeEndpoint, **environment: str) -> ServerProcess:
    return ServerProcess(
        place, {"CLOISTER_MODEL_URL": model.url, "CLOISTER_MODEL_NAME": "fake", "CLOISTER_WORKER": "off", **environment}
    )


def test_a_server_killed_in_the_middle_of_a_turn(place: str, model: FakeEndpoint) -> None:
    """The user's words are there, no half reply is, and the turn of the dead process runs out."""
    gate = Gate()
    model.answers(words("Half of ", "it.", gate=gate), words("Whole."))
    with started(place, model, CLOISTER_WORKER_LEASE="2") as process:
        tenant = process.server.new_tenant()
        with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell me.")) as reader:
            gate.let(1)
            reader.until("text-delta")
            process.kill()
    gate.open()
    with started(place, model, CLOISTER_WORKER_LEASE="2") as process:
        tenant = tenant.at(process.server)
        assert said(tenant, "tab") == [("user", "completed", "Tell me.")]
        assert tenant.admin.get("/v1/chat/tab/stream").status_code == 204

        def answered() -> bool:
            answer = tenant.admin.post("/v1/chat/stream", asking("tab", "Again."))
            assert answer.status_code in (200, 409)
            return answer.status_code == 200

        eventually(answered)
        assert [words for _, _, words in said(tenant, "tab")] == ["Tell me.", "Again.", "Whole."]


def test_iso_7_a_server_killed_at_any_moment_leaves_no_session_outside_its_project(
    place: str, model: FakeEndpoint
) -> None:
    """ISO-7: what there is after a crash is a session in its project with its first message, or nothing at all."""
    model.answers(words("Fine."))
    acknowledged: set[str] = set()
    with started(place, model) as process:
        tenant = process.server.new_tenant()
        garden = tenant.new_project("Garden")
        enough = threading.Event()

        def talk(worker: int) -> None:
            with tenant.client() as http:
                for number in range(10_000):
                    name = f"{worker}-{number}"
                    try:
                        answer = http.post("/v1/chat/stream", json=asking(name, f"I am {name}.", project_id=garden))
                    except OSError:
                        return
                    except Exception:  # noqa: BLE001 - the server is dead, however the client calls that
                        return
                    if answer.status_code == 200:
                        acknowledged.add(name)
                    if len(acknowledged) >= 40:
                        enough.set()

        workers = [threading.Thread(target=talk, args=(worker,)) for worker in range(4)]
        for worker in workers:
            worker.start()
        assert enough.wait(60)
        process.kill()
        for worker in workers:
            worker.join()
    with started(place, model) as process:
        tenant = tenant.at(process.server)
        sessions = tenant.admin.everything("/v1/sessions")
        assert {session["project_id"] for session in sessions} == {garden}
        assert {session["external_id"] for session in sessions} >= acknowledged
        for session in sessions:
            name = session["external_id"]
            assert messages(tenant, name)[0]["content"] == f"I am {name}."


def test_a_server_that_is_stopped_stores_what_was_said_so_far(place: str, model: FakeEndpoint) -> None:
    """SIGTERM: the turn is cut at once, whether or not anybody listens, and is stored as partial."""
    gate = Gate()
    model.answers(words("So far", " and further.", gate=gate))
    with started(place, model) as process:
        tenant = process.server.new_tenant()
        with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Talk.")) as reader:
            gate.let(1)
            reader.until("text-delta")
            stopping = threading.Thread(target=process.stop)
            stopping.start()
            reply = reader.rest()
            stopping.join()
    gate.open()
    assert reply.done and reply.metadata["status"] == "partial"
    with started(place, model) as process:
        tenant = tenant.at(process.server)
        assert said(tenant, "tab") == [("user", "completed", "Talk."), ("assistant", "partial", "So far")]
        model.answers(words("Hello again."))
        assert say(tenant.admin, "tab", "Hello?").text == "Hello again."
