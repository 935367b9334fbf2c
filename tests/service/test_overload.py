"""More requests than a server can answer (OPS-3): refused clearly, a quiet tenant goes on, and health is always answered."""

import socket
import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from cloister import Cloister, Overloaded
from cloister.interfaces.http import arrival
from support.databases.engines import Engine
from support.servers.http_server import Server, Tenant, serving
from support.waiting import eventually

WAITING = 4
# One tenant gets so many threads; this many calls of it fill the threads and the queue.
THREADS = 48


class Door:
    """Blocks a method of a service while it is shut."""

    def __init__(self, service: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._method = getattr(service, name)
        self.inside = 0
        self._lock = threading.Lock()
        self.opened = threading.Event()
        monkeypatch.setattr(service, name, self._pass)

    def _pass(self, *arguments: Any, **named: Any) -> Any:
        with self._lock:
            self.inside += 1
        self.opened.wait(60)
        return self._method(*arguments, **named)


@contextmanager
def flooded(server: Server, door: Door, tenant: Tenant, method: str, **given: Any) -> Generator[list[Future[Any]]]:
    """The tenant's calls have all of its threads and the whole queue."""
    with httpx2.Client(base_url=server.address, timeout=60) as http, ThreadPoolExecutor(THREADS + WAITING) as threads:
        caller = {"Authorization": f"Bearer {tenant.key}"}

        def call() -> Future[Any]:
            return threads.submit(http.request, method, "/v1/sessions/s", headers=caller, **given)

        try:
            calls: list[Future[Any]] = []
            # One after the other: each gets a thread as soon as those before it count as long.
            for number in range(THREADS):
                calls.append(call())
                eventually(lambda number=number: door.inside > number)
            calls += [call() for _ in range(WAITING)]
            eventually(lambda: waiting(server) == WAITING)
            yield calls
        finally:
            door.opened.set()


def waiting(server: Server) -> float:
    lines = server.nobody.get("/metrics").text.splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith("cloister_queue_waiting{"))


def refused(server: Server) -> float:
    lines = server.nobody.get("/metrics").text.splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith("cloister_queue_refused_total{"))


def is_overloaded(answer: httpx2.Response) -> None:
    assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
    assert answer.headers["retry-after"] == "1"


def test_ops_3_reads_over_the_limit_are_refused_and_a_quiet_tenant_is_served(
    either_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = either_engine.services()
    with serving(services, requests_waiting=WAITING) as server:
        flood, quiet = server.new_tenant("Flood"), server.new_tenant("Quiet")
        for tenant in (flood, quiet):
            tenant.new_session("s")
        door = Door(services.sessions, "get", monkeypatch)
        with flooded(server, door, flood, "GET") as calls:
            is_overloaded(flood.admin.get("/v1/sessions/s"))
            assert refused(server) == 1
            with Cloister(server.address, key=flood.key) as memory, pytest.raises(Overloaded) as caught:
                memory.session("s")
            assert caught.value.retry_after == 1
            # Other calls of the same tenant wait in the same queue; those of another are answered.
            assert quiet.admin.get("/v1/sessions").status_code == 200
            assert quiet.admin.post("/v1/sessions/s/messages", {"role": "user", "content": "Here."}).status_code == 201
            assert server.nobody.get("/livez").status_code == 200
            assert server.nobody.get("/readyz").status_code == 200
        # The quiet tenant's call took the turn of the newest that waited, which was never begun.
        answers = [call.result() for call in calls]
        assert [answer.status_code for answer in answers].count(200) >= THREADS
        for answer in answers:
            if answer.status_code != 200:
                is_overloaded(answer)
        assert door.inside == [answer.status_code for answer in answers].count(200)
        assert flood.admin.get("/v1/sessions/s").status_code == 200
        assert waiting(server) == 0


def test_ops_3_a_refused_write_was_not_begun_and_can_be_repeated_with_its_key(
    either_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = either_engine.services()
    message = {"role": "user", "content": "Once."}
    key = {"Idempotency-Key": "again"}
    with serving(services, requests_waiting=WAITING) as server:
        flood = server.new_tenant("Flood")
        flood.new_session("s")
        door = Door(services.sessions, "change", monkeypatch)
        with flooded(server, door, flood, "PATCH", json={"title": "Flood"}) as calls:
            for _ in range(3):
                is_overloaded(flood.admin.post("/v1/sessions/s/messages", message, headers=key))
        assert {call.result().status_code for call in calls} == {200}
        assert flood.admin.everything("/v1/sessions/s/messages") == []
        first = flood.admin.post("/v1/sessions/s/messages", message, headers=key)
        again = flood.admin.post("/v1/sessions/s/messages", message, headers=key)
        assert (first.status_code, again.status_code, first.json()["id"]) == (201, 201, again.json()["id"])
        assert len(flood.admin.everything("/v1/sessions/s/messages")) == 1


def leave(server: Server, tenant: Tenant, method: str, path: str, body: dict[str, object], waits_for: int) -> None:
    """Send a request, see it wait, and close the connection."""
    with httpx2.Client(base_url=server.address, timeout=60) as http:
        request = http.build_request(method, path, headers={"Authorization": f"Bearer {tenant.key}"}, json=body)
    sent = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    with socket.create_connection((request.url.host, request.url.port or 80)) as connection:
        connection.sendall(sent.encode() + b"\r\n" + request.content)
        eventually(lambda: waiting(server) == waits_for)
    # The event loop learns of a closed connection before it has accepted another one and answered on it.
    for _ in range(2):
        with httpx2.Client(base_url=server.address) as http:
            assert http.get("/livez").status_code == 200


def counted(tenant: Tenant) -> dict[str, int]:
    return {session["external_id"]: session["message_count"] for session in tenant.admin.everything("/v1/sessions")}


def gone(server: Server) -> str:
    """The counts of requests whose client left before it was answered."""
    return "\n".join(line for line in server.nobody.get("/metrics").text.splitlines() if 'status="499"' in line)


@pytest.fixture
def no_wait_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "_LONG_WAIT_SECONDS", 0.0)


@pytest.mark.usefixtures("no_wait_is_short")
def test_ops_3_what_waits_for_a_client_that_left_is_not_begun(
    either_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a server that was stopped for a moment is busy only for clients that have left, for as long as clients repeat."""
    services = either_engine.services()
    with serving(services, requests_waiting=2 * WAITING) as server:
        flood = server.new_tenant("Flood")
        flood.new_session("s")
        flood.new_session("left")
        door = Door(services.sessions, "change", monkeypatch)
        with flooded(server, door, flood, "PATCH", json={"title": "Flood"}) as calls:
            leave(server, flood, "PATCH", "/v1/sessions/left", {"title": "Left"}, WAITING + 1)
        assert {call.result().status_code for call in calls} == {200}
        eventually(lambda: waiting(server) == 0)
        assert flood.admin.get("/v1/sessions/left").json()["title"] is None
        assert door.inside == THREADS + WAITING
        eventually(lambda: 'method="PATCH"' in gone(server))


@pytest.mark.usefixtures("no_wait_is_short")
def test_ops_3_a_question_of_a_chat_whose_client_left_is_answered(
    either_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tab that is closed while the server is busy finds question and reply when it is opened again."""
    services = either_engine.services()
    question = {"role": "user", "parts": [{"type": "text", "text": "When do the roses bloom?"}]}
    with serving(services, requests_waiting=2 * WAITING) as server:
        flood = server.new_tenant("Flood")
        flood.new_session("s")
        door = Door(services.sessions, "change", monkeypatch)
        with flooded(server, door, flood, "PATCH", json={"title": "Flood"}) as calls:
            leave(server, flood, "POST", "/v1/chat/stream", {"id": "asked", "messages": [question]}, WAITING + 1)
        assert {call.result().status_code for call in calls} == {200}
        eventually(lambda: counted(flood) == {"s": 0, "asked": 2})


@pytest.mark.usefixtures("no_wait_is_short")
def test_ops_3_a_batch_leaves_out_whose_client_left(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    services = engine.services()
    with serving(services) as server, ThreadPoolExecutor(2) as threads:
        tenant = server.new_tenant()
        tenant.new_session("s")
        door = Door(services.record, "all", monkeypatch)
        try:
            first = threads.submit(tenant.say, "s", "First.")
            eventually(lambda: door.inside == 1)
            leave(server, tenant, "POST", "/v1/sessions/s/messages", {"role": "user", "content": "Left."}, 1)
            second = threads.submit(tenant.say, "s", "Second.")
            eventually(lambda: waiting(server) == 2)
        finally:
            door.opened.set()
        first.result()
        second.result()
        assert [each["content"] for each in tenant.admin.everything("/v1/sessions/s/messages")] == ["First.", "Second."]


@pytest.mark.parametrize(
    ("path", "format_"),
    [("/v1/models", '"code": "overloaded"'), ("/anthropic/v1/models", '"type": "error"'), ("/mem0/v1/ping/", "{")],
)
def test_every_interface_says_it_in_its_own_format(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, path: str, format_: str
) -> None:
    services = engine.services()
    with serving(services, requests_waiting=WAITING) as server:
        flood = server.new_tenant("Flood")
        flood.new_session("s")
        method, name = ("PATCH", "change") if path.startswith("/mem0") else ("GET", "get")
        body = {"json": {"title": "Flood"}} if method == "PATCH" else {}
        with flooded(server, Door(services.sessions, name, monkeypatch), flood, method, **body):
            answer = flood.admin.get(path)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert format_ in answer.text
            assert "Too many requests wait" in answer.text
