"""A chat model that answers slowly, and what `hostile.py` does with it: titles, and many streams of replies while sessions move.

The streams are read by one thread, so that the client costs little.
"""

import asyncio
import json
import multiprocessing
import selectors
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress

from hostile_doors import Asked
from service import Service

_PAUSE = 0.25
_TITLE = b"You name conversations"
PATIENCE = 10.0


@contextmanager
def slow_model(seconds: float) -> Generator[str]:
    """The address of a model that says a word every quarter of a second for so long, and titles at once."""
    with socket.create_server(("127.0.0.1", 0), backlog=1_024) as listening:
        process = multiprocessing.get_context("fork").Process(target=_serve, args=(listening, seconds), daemon=True)
        process.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            process.kill()
            process.join()


def _serve(listening: socket.socket, seconds: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            is_title = _TITLE in await reader.readexactly(length)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            for number in range(1 if is_title else round(seconds / _PAUSE)):
                writer.write(_event({"delta": {"content": f" word {number}"}, "finish_reason": None}))
                await writer.drain()
                await asyncio.sleep(0 if is_title else _PAUSE)
            writer.write(_event({"delta": {}, "finish_reason": "stop"}) + b"data: [DONE]\n\n")
            await writer.drain()
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, sock=listening)
        await server.serve_forever()

    asyncio.run(serve())


def _event(choice: dict[str, object]) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, **choice}]}).encode() + b"\n\n"


def sessions(numbers: range) -> Iterator[Asked]:
    """Sessions that have an exchange, so that they can be named."""
    for number in numbers:
        name = f"streamed-{number}"
        yield Asked("sessions", "POST", "/v1/sessions", {"external_id": name})
        pair = [
            {"role": "user", "content": "<" + " " * 60_000},
            {"role": "assistant", "content": "I " + "just " * 12_000},
        ]
        yield Asked("messages", "POST", f"/v1/sessions/{name}/messages/batch", {"messages": pair})


def titles(count: int) -> Iterator[Asked]:
    for number in range(count):
        yield Asked("title", "POST", f"/v1/sessions/streamed-{number}/title", {})


def new_projects(service: Service) -> Iterator[str]:
    """The ids of two projects."""
    for name in ("one", "two"):
        with socket.create_connection(("127.0.0.1", service.port), PATIENCE) as asking:
            asking.sendall(
                service.request("POST", "/org/projects", {"name": f"moved {name} {time.time_ns()}"}, close=True)
            )
            said = b""
            while part := asking.recv(65_536):
                said += part
        yield json.loads(said.partition(b"\r\n\r\n")[2])["project_id"]


def moves(count: int, projects: list[str]) -> Iterator[Asked]:
    """One session that is moved to and fro: each move is a change that all streams of the tenant are checked after."""
    for number in range(count):
        project = projects[number % len(projects)]
        yield Asked("moves", "PATCH", "/v1/sessions/moved", {"project_id": project})


def during_streams(
    service: Service, turns: range, followers: int, meanwhile: Callable[[], None]
) -> list[tuple[int, float]]:
    """Begin turns, follow each of them by so many, and run `meanwhile`. The status with which each stream was answered, 0 for no
    answer, and the seconds until then."""
    opened: list[tuple[int, float]] = []
    with ExitStack() as stack, selectors.DefaultSelector() as waiting:
        for follower in range(1 + followers):
            for number in turns:
                began = time.monotonic()
                status, connection = _opened(service, f"streamed-{number}", asks=follower == 0)
                opened.append((status, time.monotonic() - began))
                if connection is not None:
                    stack.enter_context(connection).setblocking(False)
                    waiting.register(connection, selectors.EVENT_READ)
        reading = _Reading(waiting)
        with reading.running():
            meanwhile()
    return opened


def _opened(service: Service, session: str, *, asks: bool) -> tuple[int, socket.socket | None]:
    said = {"id": session, "messages": [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "And then?"}]}]}
    sent = (
        service.request("POST", "/v1/chat/stream", said)
        if asks
        else service.request("GET", f"/v1/chat/{session}/stream")
    )
    with suppress(OSError):
        connection = socket.create_connection(("127.0.0.1", service.port), PATIENCE)
        connection.settimeout(PATIENCE)
        connection.sendall(sent)
        status = connection.recv(65_536)[9:12]
        if status == b"200":
            return 200, connection
        connection.close()
        return int(status) if status.isdigit() else 0, None
    return 0, None


class _Reading:
    """Reads what arrives on all streams, and forgets it."""

    def __init__(self, waiting: selectors.BaseSelector) -> None:
        self._waiting = waiting
        self._is_over = False

    @contextmanager
    def running(self) -> Generator[None]:
        thread = threading.Thread(target=self._read)
        thread.start()
        try:
            yield
        finally:
            self._is_over = True
            thread.join()

    def _read(self) -> None:
        while not self._is_over:
            for key, _ in self._waiting.select(0.1):
                with suppress(OSError):
                    if not socket.socket.recv(key.fileobj, 65_536):  # type: ignore[arg-type]
                        self._waiting.unregister(key.fileobj)
