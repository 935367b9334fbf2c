"""Answers leave by one write for each turn of the event loop: head and body arrive whole, however the connection ends."""

import asyncio
import json
import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from cloister.interfaces.http import connections
from support.clients.event_streams import following
from support.databases.engines import Engine
from support.servers.http_server import Server, Tenant, serving


class RecordingTransport(asyncio.Transport):
    """What was called on a transport, in order; nothing is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.calls.append(bytes(data))

    def write_eof(self) -> None:
        self.calls.append("eof")

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")

    def is_closing(self) -> bool:
        return "close" in self.calls

    def get_write_buffer_size(self) -> int:
        return 0


@pytest.mark.parametrize("last", ["nothing", "close", "write_eof"])
def test_what_is_written_in_one_turn_is_sent_whole_by_one_write(last: str) -> None:
    """Also where the connection is closed, or half closed, in the same turn."""

    async def run() -> list[bytes | str]:
        sent = RecordingTransport()
        transport = connections._BufferedTransport(sent, asyncio.get_running_loop())  # pyright: ignore[reportPrivateUsage]
        transport.write(b"head")
        transport.write(b"body")
        if last != "nothing":
            getattr(transport, last)()
        await asyncio.sleep(0)
        return sent.calls

    endings: dict[str, list[bytes | str]] = {"nothing": [], "close": ["close"], "write_eof": ["eof"]}
    assert asyncio.run(run()) == [b"headbody", *endings[last]]


def test_a_large_response_is_sent_at_once_so_that_a_client_that_does_not_read_can_pause_it() -> None:
    """Delayed to the next turn, all of a response would be in memory before the transport could pause it."""

    async def run() -> list[int]:
        sent = RecordingTransport()
        transport = connections._BufferedTransport(sent, asyncio.get_running_loop())  # pyright: ignore[reportPrivateUsage]
        for _ in range(100):
            transport.write(bytes(10_000))
        delayed = 1_000_000 - sum(map(len, sent.calls))
        await asyncio.sleep(0)
        return [delayed, sum(map(len, sent.calls))]

    delayed, whole = asyncio.run(run())
    assert delayed <= 65_536
    assert whole == 1_000_000


def test_what_is_written_in_two_turns_is_sent_in_two_and_nothing_waits_for_more() -> None:
    async def run() -> list[bytes | str]:
        sent = RecordingTransport()
        transport = connections._BufferedTransport(sent, asyncio.get_running_loop())  # pyright: ignore[reportPrivateUsage]
        for piece in (b"first", b"second"):
            transport.write(piece)
            await asyncio.sleep(0)
        assert not transport.is_closing()
        transport.close()
        assert transport.is_closing()
        return sent.calls

    assert asyncio.run(run()) == [b"first", b"second", "close"]


def exchange(address: str, *requests: bytes) -> bytes:
    """Everything that is answered until the server closes the connection."""
    place = urlsplit(address)
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=30) as asking:
        for request in requests:
            asking.sendall(request)
        read = b""
        while piece := asking.recv(65_536):
            read += piece
        return read


def request(path: str = "/livez", method: str = "GET", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def answers_of(read: bytes) -> list[tuple[int, bytes]]:
    """Status and body of each answer; fails where one is cut off, or something follows the last."""
    found: list[tuple[int, bytes]] = []
    while read:
        head, end, rest = read.partition(b"\r\n\r\n")
        assert end, f"the head is cut off: {head!r}"
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields[b"content-length"])
        assert len(rest) >= length, f"{len(rest)} of {length} bytes came"
        found.append((int(head.split()[1]), rest[:length]))
        read = rest[length:]
    return found


def test_an_answer_on_a_connection_that_is_closed_with_it_arrives_whole(tenant: Tenant) -> None:
    """A small one, and one that is larger than what the system takes at once."""
    assert answers_of(exchange(tenant.address, request(Connection="close")))[0][0] == 200
    tenant.new_session("roses")
    messages = [{"role": "user", "content": f"{number} " + "rose " * 12_000} for number in range(100)]
    for begin in range(0, 100, 10):
        tenant.admin.made("/v1/sessions/roses/messages/batch", {"messages": messages[begin : begin + 10]})
    key = {"Authorization": f"Bearer {tenant.key}", "Connection": "close"}
    read = exchange(tenant.address, request("/v1/sessions/roses/messages?limit=100", **key))
    ((status, body),) = answers_of(read)
    assert status == 200 and len(body) > 5_000_000
    assert [entry["content"] for entry in json.loads(body)["data"]] == [entry["content"] for entry in messages]


def test_pipelined_requests_are_answered_whole_and_in_order(server: Server) -> None:
    read = exchange(server.address, request() + request("/nowhere") + request(Connection="close"))
    assert [status for status, _ in answers_of(read)] == [200, 404, 200]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(request(padding="x" * 33_000), 431, id="a head that is too long"),
        pytest.param(b"\x16\x03\x01 hello\r\n\r\n", 400, id="no HTTP"),
        pytest.param(
            request("/v1/sessions", "POST", **{"Content-Length": "9", "Connection": "close"}) + b"{}       ",
            401,
            id="no key",
        ),
    ],
)
def test_a_refusal_arrives_whole(server: Server, sent: bytes, status: int) -> None:
    ((got, body),) = answers_of(exchange(server.address, sent))
    assert (got, json.loads(body)["status"]) == (status, status)


def test_a_connection_that_is_refused_is_told_so_in_whole(engine: Engine) -> None:
    with serving(engine.services(), connections_per_peer=1) as server:
        tenant = server.new_tenant()
        with ExitStack() as stack:
            stack.enter_context(following(tenant))
            ((status, body),) = answers_of(exchange(server.address))
    assert (status, json.loads(body)["code"]) == (429, "rate_limited")


def test_what_is_streamed_comes_as_it_happens(tenant: Tenant) -> None:
    """Each event while the connection stays open, and nothing is held back for the next."""
    with following(tenant) as stream:
        for number in range(5):
            tenant.new_session(f"rose {number}")
            stream.until_kind("session.created", f"rose {number}")
