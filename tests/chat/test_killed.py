"""Servers that die, or are stopped, while they answer: what was acknowledged is there, and nothing is shown that is not true."""

import signal
import sqlite3
import threading
from pathlib import Path

import psycopg
import pytest

from cloister.domain.timestamps import now
from cloister.storage.postgres.driver import parsed
from cloister.storage.sqlite.database import DATABASE_FILE
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


def test_a_question_whose_process_was_killed_is_answered_again_at_once(place: str, model: FakeEndpoint) -> None:
    """OPS-1: the user's words are there, no half reply is, and the first request after the restart is answered, though the lease of
    the dead process is valid for an hour."""
    gate = Gate()
    model.answers(words("Half of ", "it.", gate=gate), words("Whole."))
    with started(place, model) as process:
        tenant = process.server.new_tenant()
        with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell me.")) as reader:
            gate.let(1)
            reader.until("text-delta")
            process.kill()
    gate.open()
    valid_for_an_hour(place)
    with started(place, model) as process:
        tenant = tenant.at(process.server)
        assert said(tenant, "tab") == [("user", "completed", "Tell me.")]
        assert tenant.admin.get("/v1/chat/tab/stream").status_code == 204
        assert say(tenant.admin, "tab", "Again.").text == "Whole."
        assert [words for _, _, words in said(tenant, "tab")] == ["Tell me.", "Again.", "Whole."]


def test_another_process_takes_the_turn_of_a_killed_one_and_never_that_of_a_running_one(
    place: str, model: FakeEndpoint
) -> None:
    """OPS-1, OPS-4: while the first process runs, or is stopped by a debugger, its turn is its own; when it is dead, the second
    process answers at once, and so it does when the reply is asked for again."""
    gate = Gate()
    model.answers(words("Half of ", "it.", gate=gate), words("Whole."), words("Once more."))
    with started(place, model) as first, started(place, model) as second:
        tenant = first.server.new_tenant()
        there = tenant.at(second.server)
        with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell me.")) as reader:
            gate.let(1)
            reader.until("text-delta")
            valid_for_an_hour(place)
            refused = there.admin.post("/v1/chat/stream", asking("tab", "Meanwhile."))
            assert (refused.status_code, refused.json()["code"]) == (409, "turn_in_progress")
            first.process.send_signal(signal.SIGSTOP)  # it answers nobody, and is alive
            assert there.admin.post("/v1/chat/stream", asking("tab", "Meanwhile.")).status_code == 409
            first.process.kill()
            first.process.wait(30)
            assert say(there.admin, "tab", "Again.").text == "Whole."
        gate.open()
        asked = {**asking("tab", "Again."), "trigger": "regenerate-message"}
        assert there.admin.post("/v1/chat/stream", asked).status_code == 200
        assert [words for _, _, words in said(there, "tab")] == ["Tell me.", "Again.", "Once more."]


def valid_for_an_hour(place: str) -> None:
    """Have the leases of all turns end later than the test: only the end of their process can set them free."""
    later = f"UPDATE session SET turn_until = {now() + 3_600_000_000} WHERE turn IS NOT NULL"
    if "://" not in place:
        connection = sqlite3.connect(f"{place}/{DATABASE_FILE}", timeout=30, isolation_level=None)
        connection.execute(later)
        connection.close()
        return
    with psycopg.connect(parsed(place)[0]) as database:
        database.execute(later.encode())
    # Shortly after its start a server does not know yet which processes have not connected again.
    with psycopg.connect(parsed(place)[0], autocommit=True) as database:
        old = b"SELECT pg_postmaster_start_time() < clock_timestamp() - INTERVAL '5 seconds'"
        eventually(lambda: database.execute(old).fetchone() == (True,))


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
