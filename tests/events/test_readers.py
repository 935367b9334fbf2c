"""Many readers, and readers that do not read: nobody else waits for them, and nothing is kept for them without end."""

import asyncio
import socket
from urllib.parse import urlsplit

import pytest

import cloister.interfaces.http.events.routes as wire
from cloister.domain.identifiers import new_session_id
from support.clients.event_streams import following, inside
from support.isolation.twin_tenants import new_message
from support.servers.http_server import Server, Tenant
from support.servers.pairs import one_process
from support.waiting import eventually

READERS = 1_000


def _silent_reader(tenant: Tenant) -> socket.socket:
    """Asks for the stream and never reads it."""
    place = urlsplit(tenant.address)
    assert place.hostname is not None and place.port is not None
    silent = socket.socket()
    silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    silent.connect((place.hostname, place.port))
    silent.sendall(f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {tenant.key}\r\n\r\n".encode())
    return silent


@one_process
def test_a_reader_that_never_reads_is_cut_and_nobody_waits_for_it(
    server: Server, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wire, "SLOW_SECONDS", 0.5)
    tenant.new_session("roses")
    message = new_message(new_session_id(), 1)
    silent = _silent_reader(tenant)
    with following(tenant) as stream:
        bus, roses = inside(server, tenant, "roses")

        def is_cut() -> bool:
            bus.added(
                roses, [message] * 1_000
            )  # told in 22 kB: so many of them are more than all buffers on the way hold
            return any("without completing response" in each.message for each in caplog.records)

        eventually(is_cut, 60)
        tenant.new_session("fence")
        assert set(stream.up_to("fence")) <= {("message.added", "roses"), ("reset", "")}
    silent.close()


def test_a_thousand_readers_hear_everything(tenant: Tenant) -> None:
    place = urlsplit(tenant.address)
    heard: list[int] = []

    async def read(ready: asyncio.Semaphore, number: int) -> None:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(
            f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {tenant.key}\r\n\r\n".encode()
        )
        await reader.readuntil(b'{"type": "ready"}')
        ready.release()
        for wanted in range(5):
            await reader.readuntil(f'"rose {wanted}"'.encode())
        heard.append(number)
        writer.close()
        await writer.wait_closed()

    async def main() -> None:
        ready = asyncio.Semaphore(0)
        async with asyncio.TaskGroup() as readers:  # one that is refused ends the test, instead of being waited for
            for number in range(READERS):
                readers.create_task(read(ready, number))
            for _ in range(READERS):
                await ready.acquire()
            for number in range(5):
                await asyncio.to_thread(tenant.new_session, f"rose {number}")

    asyncio.run(main())
    assert sorted(heard) == list(range(READERS))
    eventually(lambda: tenant.admin.get("/readyz").status_code == 200, 30)
