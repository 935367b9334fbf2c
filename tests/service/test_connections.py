"""Connections before anybody has shown a key: small, timed and counted, so that whoever has none costs nothing (ISO-13)."""

import contextlib
import json
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import cloister.interfaces.http.connections as connections
from support.clients.event_streams import following
from support.databases.engines import Engine
from support.servers.http_server import Server, ServerProcess, Tenant, serving
from support.waiting import eventually

LARGE = 1_000_000
MEBIBYTE = 1 << 20


@contextlib.contextmanager
def connected(address: str) -> Generator[socket.socket]:
    place = urlsplit(address)
    assert place.hostname is not None and place.port is not None
    with socket.create_connection((place.hostname, place.port), timeout=30) as made:
        yield made


def sent(asking: socket.socket, *pieces: bytes) -> None:
    """As far as the server reads it."""
    with contextlib.suppress(ConnectionError):
        for piece in pieces:
            asking.sendall(piece)


def answered(asking: socket.socket) -> tuple[int, Any]:
    """The status and the body of the one answer; status 0 for a connection that was closed without one."""
    read = b""
    with contextlib.suppress(ConnectionError):
        while piece := asking.recv(65_536):
            read += piece
            head, found, body = read.partition(b"\r\n\r\n")
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
            )
            if found and len(body) >= length:
                break
    head, _, body = read.partition(b"\r\n\r\n")
    if not head:
        return 0, None
    return int(head.split()[1]), json.loads(body) if body else None


def head(method: str = "GET", path: str = "/livez", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@pytest.mark.parametrize(
    "request_head",
    [
        pytest.param(head(padding="x" * 33_000), id="one long header"),
        pytest.param(head(**{f"h{number}": "x" * 300 for number in range(120)}), id="many headers"),
        pytest.param(head(**{f"h{number}": "" for number in range(200)}), id="very many small headers"),
        pytest.param(head(path="/livez?" + "x" * 33_000), id="a long path"),
        pytest.param(head(padding="x" * 300_000), id="more than is read at once"),
        pytest.param(head(**{"x" * 40_000: "1"}), id="a long name"),
        pytest.param(head() + head(padding="x" * 33_000), id="behind a good one"),
    ],
)
def test_headers_over_32_kib_are_refused_with_431(server: Server, request_head: bytes) -> None:
    with connected(server.address) as asking:
        sent(asking, request_head)
        status, said = answered(asking)
        if status == 200:
            status, said = answered(asking)
    assert (status, said and said["code"]) in ((431, "headers_too_large"), (0, None))
    if request_head.count(b"HTTP/1.1") == 1:
        assert status == 431
    assert server.nobody.get("/livez").status_code == 200


@pytest.mark.parametrize("size", [1_000, 30_000])
def test_headers_up_to_that_are_read(server: Server, size: int) -> None:
    with connected(server.address) as asking:
        sent(asking, head(padding="x" * size))
        assert answered(asking)[0] == 200


def test_a_header_without_end_is_refused_when_it_is_too_long(server: Server) -> None:
    """It would be copied with every piece that comes: 64 MiB took minutes."""
    with connected(server.address) as asking:
        sent(asking, b"GET /livez HTTP/1.1\r\nHost: localhost\r\npadding: ", *[b"x" * MEBIBYTE] * 64)
        assert answered(asking)[0] in (431, 0)
    assert server.nobody.get("/livez").status_code == 200


def test_what_is_no_http_is_told_so(server: Server) -> None:
    with connected(server.address) as asking:
        sent(asking, b"\x16\x03\x01 hello\r\n\r\n")
        status, said = answered(asking)
    assert (status, said["code"], said["status"]) == (400, "malformed_request", 400)


def test_headers_behind_a_body_are_not_looked_at_and_are_not_endless(tenant: Tenant) -> None:
    """Whoever stands before us has checked those before it."""
    given = head("POST", "/v1/sessions", **{"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    with connected(tenant.address) as asking:
        sent(asking, given, b"2\r\n{}\r\n0\r\n" + f"Authorization: Bearer {tenant.key}\r\n\r\n".encode())
        assert answered(asking)[0] == 401
    key = {"Authorization": f"Bearer {tenant.key}"}
    given = head("POST", "/v1/sessions", **{"Content-Type": "application/json", "Transfer-Encoding": "chunked", **key})
    with connected(tenant.address) as asking:
        sent(asking, given, b"2\r\n{}\r\n0\r\n", *[b"padding: " + b"x" * 10_000 + b"\r\n"] * 40)
        assert answered(asking)[0] in (431, 0)


def test_many_requests_in_one_piece_end_their_connection(server: Server) -> None:
    with connected(server.address) as asking:
        sent(asking, head() * 8_000)
        read = 0
        with contextlib.suppress(ConnectionError):
            while piece := asking.recv(65_536):
                read += piece.count(b"HTTP/1.1 200")
    assert read <= connections.MOST_PIPELINED + 1
    with connected(server.address) as asking:
        sent(asking, head() * (connections.MOST_PIPELINED // 2))
        read = 0
        while read < connections.MOST_PIPELINED // 2:
            read += asking.recv(65_536).count(b"HTTP/1.1 200")


@pytest.mark.parametrize("announced", [{"Content-Length": str(LARGE)}, {"Transfer-Encoding": "chunked"}])
@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/chat/completions", "/operator/tenants"])
def test_who_has_no_key_is_refused_before_a_byte_of_the_body_has_come(
    server: Server, announced: dict[str, str], path: str
) -> None:
    with connected(server.address) as asking:
        sent(asking, head("POST", path, **{"Content-Type": "application/json", **announced}))
        assert answered(asking)[0] == 401


@pytest.mark.parametrize(
    ("announced", "body", "expected"),
    [
        ({"Content-Length": str(LARGE)}, b"", 413),
        ({"Transfer-Encoding": "chunked"}, b"f000\r\n" + b"x" * 20_000, 413),
        ({"Transfer-Encoding": "chunked"}, b'e\r\n{"code": "no"}\r\n0\r\n\r\n', 401),
    ],
)
def test_a_route_that_is_open_to_all_reads_no_large_body(
    server: Server, announced: dict[str, str], body: bytes, expected: int
) -> None:
    with connected(server.address) as asking:
        sent(asking, head("POST", "/console/sign-in", **{"Content-Type": "application/json", **announced}), body)
        assert answered(asking)[0] == expected


def test_a_large_body_of_a_known_caller_arrives_whole(tenant: Tenant) -> None:
    tenant.new_session("roses")
    messages = [{"role": "user", "content": f"{number} {'rose ' * 180}"} for number in range(900)]
    made = tenant.admin.made("/v1/sessions/roses/messages/batch", {"messages": messages})
    assert [entry["content"] for entry in made["data"]] == [entry["content"] for entry in messages]


@pytest.mark.parametrize(
    ("begun", "status"),
    [
        pytest.param(b"", 0, id="nothing"),
        pytest.param(b"GET /livez HTTP/1.1\r\nHost: local", 408, id="half a head"),
        pytest.param(head("POST", "/v1/sessions", **{"Content-Length": "100"}) + b"{", 408, id="half a body"),
    ],
)
def test_who_does_not_go_on_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch, begun: bytes, status: int
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.2)
    with connected(server.address) as asking:
        sent(asking, begun)
        got, said = answered(asking)
    assert got == status
    assert said is None or said["code"] == "timeout"


def test_a_body_that_takes_its_time_is_read_and_so_is_the_next_request(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    given = {"Content-Type": "application/json", "Authorization": f"Bearer {tenant.key}", "Content-Length": "2"}
    with connected(tenant.address) as asking:
        for _ in range(2):
            sent(asking, head("POST", "/v1/sessions", **given), b"{")
            asking.settimeout(1.5)
            with pytest.raises(TimeoutError):
                asking.recv(1)
            asking.settimeout(30)
            sent(asking, b"}")
            assert answered(asking)[0] == 201


def test_a_peer_with_too_many_connections_loses_the_one_that_waited_longest(engine: Engine) -> None:
    with serving(engine.services(), connections_per_peer=4) as server, contextlib.ExitStack() as opened:
        silent = [opened.enter_context(connected(server.address)) for _ in range(4)]
        for _ in range(3):
            with connected(server.address) as asking:
                sent(asking, head(Connection="close"))
                assert answered(asking)[0] == 200
        assert answered(silent[0])[0] == 0
        sent(silent[3], head())
        assert answered(silent[3])[0] == 200


def test_a_peer_whose_connections_are_all_in_use_gets_no_more(engine: Engine) -> None:
    with serving(engine.services(), connections_per_peer=3) as server:
        tenant = server.new_tenant()
        with following(tenant), following(tenant), following(tenant):
            with connected(server.address) as asking:
                status, said = answered(asking)
            assert (status, said["code"]) == (429, "rate_limited")
            assert "CLOISTER_MAX_CONNECTIONS" in said["detail"]

        def is_open() -> bool:
            with connected(server.address) as asking:
                sent(asking, head(Connection="close"))
                return answered(asking)[0] == 200

        eventually(is_open)


def test_a_key_has_so_many_requests_and_streams_under_way_and_another_key_its_own(engine: Engine) -> None:
    """OPS-3."""
    with serving(engine.services(), requests_at_once=2) as server:
        tenant, other = server.new_tenant(), server.new_tenant()
        with following(tenant), following(tenant):
            refused = tenant.admin.get("/v1/sessions")
            assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
            assert int(refused.headers["retry-after"]) >= 1
            refused = tenant.admin.get("/v1/models")
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
            large = tenant.admin.post("/v1/sessions", {"metadata": {"x": "x" * 10_000}})
            assert large.status_code == 429, "refused before its body is read"
            assert other.admin.get("/v1/sessions").status_code == 200
        eventually(lambda: tenant.admin.get("/v1/sessions").status_code == 200)
        for _ in range(20):
            assert tenant.admin.get("/v1/sessions/nobodys").status_code == 404
            assert tenant.admin.post("/v1/sessions", {"odd": 1}).status_code == 422


def resident(process: ServerProcess) -> int:
    """Kilobytes of memory that a process holds."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def test_connections_without_a_key_keep_no_memory(data: Path) -> None:
    """ISO-13: hundreds that are silent, that have half a head, or that send a body nobody asked for. Before this, 150 with a body
    held 155 MiB."""
    body = b"x" * LARGE
    begun = (
        b"",
        b"GET /livez HTTP/1.1\r\nHost: localhost\r\npadding: " + b"x" * 30_000,
        head("POST", "/v1/sessions", **{"Content-Type": "application/json", "Content-Length": str(LARGE)}) + body[:-1],
        head("POST", "/v1/sessions", **{"Content-Type": "application/json", "Content-Length": "8000"}) + body[:7_000],
        head("POST", "/v1/sessions", **{"Transfer-Encoding": "chunked"}) + b"f0000\r\n" + body[: 0xF0000 - 1],
    )
    with ServerProcess(data) as process:
        for _ in range(50):
            process.server.nobody.get("/livez")
        before = resident(process)
        with contextlib.ExitStack() as opened:
            for number in range(500):
                asking = opened.enter_context(connected(process.address))
                asking.setblocking(False)
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    asking.send(begun[number % len(begun)])
            for _ in range(50):
                assert process.server.nobody.get("/livez").status_code == 200
            grown = resident(process) - before
        assert grown < 40 * 1_024, f"{grown:,} kB for 500 connections"
        assert process.server.nobody.get("/livez").status_code == 200


@pytest.mark.parametrize("begun", [b"GET /l", head("POST", "/v1/sessions", **{"Content-Length": "100"}) + b"{"])
def test_a_peer_that_stays_after_its_timeout_harms_nobody(
    server: Server, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    """Such a connection is looked after again while it lingers: that once ended the server."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.1)
    monkeypatch.setattr(connections, "_LINGER_SECONDS", 3.0)
    with connected(server.address) as staying:
        sent(staying, begun)
        assert answered(staying)[0] == 408
        with contextlib.suppress(ConnectionError):
            while staying.recv(1):
                """Until the server lets go of it."""
        for _ in range(3):
            with connected(server.address) as asking:
                sent(asking, head())
                assert answered(asking)[0] == 200


def test_a_fault_with_one_connection_stops_no_other(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(connection: connections.LimitedProtocol, now: float) -> None:
        raise RuntimeError(f"{connection} {now}")

    with connected(server.address) as lost:
        monkeypatch.setattr(connections.LimitedProtocol, "look_after", broken)
        with contextlib.suppress(ConnectionError):
            assert lost.recv(1) == b""
    monkeypatch.undo()
    with connected(server.address) as asking:
        sent(asking, head())
        assert answered(asking)[0] == 200
