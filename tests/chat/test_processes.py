"""OPS-4: any process of a database answers any request, whichever of them has what it is about."""

import os
import signal
import threading
import time
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from cloister.domain.timestamps import now
from cloister.services.processes import Process, Processes
from support.clients.chat_client import Gate, asking, streaming, words
from support.databases.engines import Engine
from support.servers.children import children
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, ServerProcess, Tenant, new_client
from support.waiting import eventually

FOLLOW, STOP = "/v1/chat/tab/stream", "/v1/chat/tab/stop"


@pytest.fixture
def gate() -> Generator[Gate]:
    made = Gate()
    yield made
    made.open()


@pytest.fixture
def tenant(lone_server: Server) -> Tenant:
    return lone_server.new_tenant()


def test_a_turn_of_another_process_is_followed_and_stopped(
    tenant: Tenant, elsewhere: Server, model: FakeEndpoint, gate: Gate
) -> None:
    """OPS-4, TAB-5: from its start, with what was recalled; what it said is stored when the answer comes."""
    model.answers(words("As far ", "as here", " and no further.", gate=gate))
    there = tenant.at(elsewhere)
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Talk.")) as asker:
        gate.let(2)
        asker.until("text-delta")
        with streaming(there, "GET", FOLLOW) as follower:
            follower.until("data-context")
            follower.until("text-delta")
            follower.until("text-delta")
            assert there.admin.post(STOP).json() == {"stopped": True}
            follower.until("finish")
    (said,) = [each for each in there.admin.everything("/v1/sessions/tab/messages") if each["role"] == "assistant"]
    assert (said["content"], said["status"]) == ("As far as here", "partial")
    assert there.admin.get(FOLLOW).status_code == 204
    assert there.admin.post(STOP).json() == {"stopped": False}


def test_iso_12_the_process_that_has_the_turn_checks_who_asks_another(
    tenant: Tenant, elsewhere: Server, model: FakeEndpoint, gate: Gate
) -> None:
    """ISO-4, ISO-10, ISO-12: a foreign key, one of another user, and one that may not stop are told what they are told here."""
    model.answers(words("secret", " words", gate=gate))
    stranger = elsewhere.new_tenant()
    tenant.new_session("tab", user_id="ann")
    ann, bob = (tenant.new_key("read", "write", user_id=user) for user in ("ann", "bob"))
    reader = tenant.new_key("read")
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Talk.")) as asker:
        gate.let(1)
        asker.until("text-delta")
        for caller in (stranger.admin, elsewhere.caller(bob)):
            assert [caller.get(FOLLOW).status_code, caller.post(STOP).status_code] == [404, 404]
        assert elsewhere.nobody.get(FOLLOW).status_code == 401
        assert elsewhere.caller(reader).post(STOP).status_code == 403
        assert elsewhere.caller(tenant.key, **{"X-User-ID": "bob"}).get(FOLLOW).status_code == 404
        assert elsewhere.caller(ann).post(STOP).json() == {"stopped": True}


def test_a_key_that_is_revoked_ends_a_stream_that_was_relayed(
    tenant: Tenant, elsewhere: Server, model: FakeEndpoint, gate: Gate
) -> None:
    """ISO-12: within 2 s, by the process that has the turn."""
    model.answers(words("one", " two", " three", gate=gate))
    made = tenant.admin.made("/org/api-keys", {"name": "guest", "permissions": ["read"]})
    guest = Tenant(
        tenant_id=tenant.tenant_id,
        default_project_id=tenant.default_project_id,
        key=made["key"],
        address=elsewhere.address,
        http=elsewhere.http,
    )
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Talk.")) as asker:
        gate.let(1)
        asker.until("text-delta")
        with streaming(guest, "GET", FOLLOW) as follower:
            follower.until("text-delta")
            assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
            follower.until("error")
            gate.open()


def test_a_process_that_is_gone_has_no_turn_and_nobody_at_its_address_gets_a_key(
    engine: Engine, tenant: Tenant, lone_server: Server, elsewhere: Server, model: FakeEndpoint, gate: Gate
) -> None:
    """OPS-4: who cannot prove to be the process that wrote the row is sent nothing but the challenge, and the row goes."""
    asked: list[bytes] = []
    impostor = _Impostor(asked)
    processes = elsewhere.services.processes if elsewhere.services else None
    assert processes is not None
    gone, dead = _ended(elsewhere, impostor.address), _ended(elsewhere, "http://127.0.0.1:1")
    model.answers(words("one", " two", gate=gate))
    with impostor, streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Talk.")) as asker:
        gate.let(1)
        asker.until("text-delta")
        with streaming(tenant.at(elsewhere), "GET", FOLLOW) as follower:
            follower.until("text-delta")
            gate.open()
            follower.until("finish")
    assert asked
    assert all(b"authorization" not in each.lower() and b"GET /livez" in each for each in asked)
    left = {each.id for each in processes.others(Process(id=0, address="", secret=b""))}
    assert not {gone.id, dead.id} & left


def test_a_turn_is_not_taken_from_a_process_that_lost_its_lock_and_answers(
    tenant: Tenant, lone_server: Server, elsewhere: Server, model: FakeEndpoint, gate: Gate
) -> None:
    """OPS-4: as when PostgreSQL has ended its connection. What the process says is stored."""
    model.answers(words("one", " two", gate=gate))
    assert lone_server.services is not None
    locks, own = lone_server.services.database.process_locks, lone_server.services.processes.own
    assert own is not None
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Talk.")) as asker:
        gate.let(1)
        asker.until("text-delta")
        locks.release(own)
        try:
            refused = tenant.at(elsewhere).admin.post("/v1/chat/stream", asking("tab", "Meanwhile."))
        finally:
            locks.take(own)
        assert (refused.status_code, refused.json()["code"]) == (409, "turn_in_progress")
        gate.open()
        asker.until("finish")
    assert [each["content"] for each in tenant.admin.everything("/v1/sessions/tab/messages")] == ["Talk.", "one two"]


def _ended(server: Server, address: str) -> Process:
    """A process that was at an address, and died: its row is still there, its lock is not."""
    assert server.services is not None
    process = Processes(server.services.database, now).add(address)
    server.services.database.process_locks.release(process.id)
    return process


class _Impostor:
    """Answers every request with success, and keeps what it was sent."""

    def __init__(self, asked: list[bytes]) -> None:
        import socket

        self._asked = asked
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._answer, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._listening.close()

    def _answer(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                self._asked.append(connection.recv(65_536))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")


def test_several_processes_answer_as_one_and_are_replaced_without_a_failed_request(tmp_path: Path) -> None:
    """OPS-4: keys, sessions, sign-ins and writes are the same in each; one that is killed is started again; SIGHUP replaces all
    while requests come, and no write that was answered is lost. On PostgreSQL the other tests of this folder go through two
    servers."""
    with ServerProcess(tmp_path / "data", options=("--processes", "2")) as serving:
        tenant = serving.server.new_tenant()
        tenant.new_session("roses")
        code = tenant.admin.post("/console/links").json()["path"].partition("#")[2]
        with new_client(serving.address) as browser:
            answer = browser.post("/console/sign-in", json={"code": code}, headers={"Origin": serving.address})
            assert answer.status_code == 204
            cookies = dict(browser.cookies)
        assert {_asked(serving.address, cookies=cookies) for _ in range(12)} == {200}
        first = children(serving.process.pid)
        assert len(first) == 2

        os.kill(min(first), signal.SIGKILL)
        eventually(lambda: len(children(serving.process.pid) - {min(first)}) == 2, seconds=30)

        stop, failed, said = threading.Event(), list[str](), list[str]()
        writer = threading.Thread(target=_write, args=(tenant, stop, failed, said))
        writer.start()
        before = children(serving.process.pid)
        serving.process.send_signal(signal.SIGHUP)
        eventually(lambda: not children(serving.process.pid) & before, seconds=60)
        stop.set()
        writer.join(30)
        assert failed == []
        stored = [each["content"] for each in tenant.admin.everything("/v1/sessions/roses/messages")]
        assert [text for text in said if text not in stored] == []
        assert len(stored) == len(set(stored))
        last = children(serving.process.pid)
        assert serving.stop() == 0
        eventually(lambda: not any(_is_running(process) for process in last), seconds=10)


def test_several_processes_count_the_requests_of_a_key_together(tmp_path: Path) -> None:
    """OPS-4: bursts of twice the limit, whichever process is asked."""
    environment = {"CLOISTER_RATE_LIMIT": "1"}
    with ServerProcess(tmp_path / "data", environment, options=("--processes", "2")) as serving:
        key = serving.server.new_tenant().key
        began = time.monotonic()
        answers: list[int] = []
        for _ in range(30):
            with new_client(serving.address, key) as http:  # a new connection, for whichever process accepts it
                answers.append(http.get("/v1/sessions").status_code)
        seconds = time.monotonic() - began
    assert set(answers) == {200, 429}
    assert answers.count(200) <= 2 + seconds + 1


def _asked(address: str, cookies: dict[str, str]) -> int:
    with new_client(address) as http:
        http.cookies.update(cookies)
        return http.get("/v1/sessions", headers={"Origin": address}).status_code


def _write(tenant: Tenant, stop: threading.Event, failed: list[str], said: list[str]) -> None:
    """Say one thing after another, each on a new connection, and repeat as clients do what may not have arrived."""
    while not stop.is_set():
        text = f"Word {len(said)}."
        for attempt in range(3):
            try:
                with tenant.client() as http:
                    answer = http.post(
                        "/v1/sessions/roses/messages",
                        json={"role": "user", "content": text},
                        headers={"Idempotency-Key": text},
                    )
                if answer.status_code != 201:
                    failed.append(answer.text)
                break
            except httpx2.TransportError as error:
                if attempt == 2:
                    failed.append(repr(error))
        said.append(text)
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
