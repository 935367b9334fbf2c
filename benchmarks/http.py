"""How fast the service answers over HTTP, in one process, beside a request that does nothing.

    python benchmarks/http.py [--messages 100000] [--quick] [--json]

`cloister serve` runs in a process of its own; the requests come from this one, over plain sockets, so that the client costs little
of the two cores they share. Times are milliseconds, p50 unless said otherwise.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cloister import Cloister
from latency import SMALL_POOL, Questions, Words, fill, line, readable
from service import Service, serving

CONNECTIONS = 32
STARTS = 5
Ask = Callable[[int, int], bytes]
OPERATOR = "the operator of this benchmark"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--messages", type=int, default=100_000)
    arguments.add_argument("--quick", action="store_true", help="a tenth of everything, to see that it runs")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    messages = given.messages // 10 if given.quick else given.messages
    seconds = 1.0 if given.quick else 8.0
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        report = measure(Path(directory), messages, seconds)
    print(json.dumps(report) if given.json else readable(report))


def measure(directory: Path, messages: int, seconds: float) -> list[dict[str, Any]]:
    with Cloister(directory) as memory:
        fill(memory, "small", SMALL_POOL)
        fill(memory, "large", messages - SMALL_POOL)
        for writer in range(CONNECTIONS):
            memory.create_session(str(writer))
    ready = line(f"/readyz after a start, {messages:,} messages (s)", starts(directory), target=1.5)
    with serving(directory, CLOISTER_OPERATOR_KEY=OPERATOR) as service:
        return [ready, *asyncio.run(Load(service).measure(messages, seconds))]


def starts(directory: Path) -> list[float]:
    """Seconds until it was ready, several times; the first start after an update compiles, and is left out."""
    taken: list[float] = []
    for _ in range(STARTS + 1):
        with serving(directory) as service:
            taken.append(service.ready_after)
    return taken[1:]


class Load:
    """Requests to a service, and how long they take."""

    def __init__(self, service: Service) -> None:
        self._port = service.port
        self._request = service.request

    async def measure(self, messages: int, seconds: float) -> list[dict[str, Any]]:
        words, questions = Words(7), Questions()
        sentences = [words.sentence() for _ in range(5_000)]
        alive = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"

        def write(connection: int, turn: int) -> bytes:
            body = {"role": "user", "content": sentences[(connection * 997 + turn) % len(sentences)]}
            return self._request("POST", f"/v1/sessions/{connection}/messages", body)

        def context(_: int, __: int) -> bytes:
            return self._request("POST", "/v1/context", {"session_id": "small/ask", "query": questions.next()})

        def missing(_: int, __: int) -> bytes:
            return self._request("GET", "/v1/sessions/nobodys")

        def foreign(_: int, __: int) -> bytes:
            return self._request("GET", "/v1/sessions/of-them")

        await self._make_foreign_session()
        await self._rate(lambda _, __: alive, 0.5, CONNECTIONS)
        await self._rate(write, 0.5, CONNECTIONS)
        nothing, _ = await self._rate(lambda _, __: alive, seconds / 4, CONNECTIONS)
        writes, _ = await self._rate(write, seconds, CONNECTIONS)
        contexts, _ = await self._rate(context, seconds, CONNECTIONS)
        _, alone = await self._rate(context, seconds / 2, 1)
        _, bare = await self._rate(lambda _, __: alive, seconds / 8, 1)
        not_there, theirs = await self._alternately(missing, foreign, seconds / 4)
        return [
            line(f"requests that do nothing a second, {CONNECTIONS} connections", nothing),
            line(f"durable writes a second, {CONNECTIONS} connections", writes, target=1_000, more_is_better=True),
            line(f"contexts a second, {CONNECTIONS} connections", contexts, target=300, more_is_better=True),
            line(
                f"context, one client, {messages:,} stored, {SMALL_POOL:,} in the pool",
                alone,
                floor=bare,
                floor_name="a request that does nothing",
                target=6,
            ),
            line("asking for a foreign session", theirs, floor=not_there, floor_name="a missing one", factor=1.1),
        ]

    async def _make_foreign_session(self) -> None:
        """In another tenant, under an id that ours does not have."""
        connection = await Connection.open(self._port)
        status, body = await connection.ask(self._request("POST", "/operator/tenants", {"name": "Them"}, key=OPERATOR))
        assert status == 201, body
        key = json.loads(body)["admin_key"]
        status, body = await connection.ask(self._request("POST", "/v1/sessions", {"external_id": "of-them"}, key=key))
        assert status == 201, body
        connection.close()

    async def _alternately(self, one: Ask, other: Ask, seconds: float) -> tuple[Sequence[float], Sequence[float]]:
        taken: tuple[list[float], list[float]] = ([], [])
        connection = await Connection.open(self._port)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for which, request in enumerate((one, other)):
                began = time.perf_counter()
                status, _ = await connection.ask(request(0, 0))
                taken[which].append((time.perf_counter() - began) * 1_000)
                assert status == 404
        connection.close()
        return taken

    async def _rate(self, request: Ask, seconds: float, connections: int) -> tuple[float, Sequence[float]]:
        """Requests a second, and the milliseconds each took; every answer must be a success."""
        taken: list[float] = []
        end = time.perf_counter() + seconds

        async def client(number: int) -> None:
            connection = await Connection.open(self._port)
            turn = 0
            while time.perf_counter() < end:
                text = request(number, turn)
                began = time.perf_counter()
                status, body = await connection.ask(text)
                taken.append((time.perf_counter() - began) * 1_000)
                assert status < 300, body
                turn += 1
            connection.close()

        began = time.perf_counter()
        await asyncio.gather(*(client(number) for number in range(connections)))
        return len(taken) / (time.perf_counter() - began), taken


class Connection:
    """HTTP/1.1 as little as it takes: one request after another, answers with a Content-Length."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
        body = await self._reader.readexactly(length)
        return int(head[9:12]), body

    def close(self) -> None:
        self._writer.close()


if __name__ == "__main__":
    main()
