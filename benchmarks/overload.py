"""What a server does with more requests than it can answer: who is refused, who waits, and what readers of events cost writers.

    python benchmarks/overload.py [--contexts 2000] [--flood 100] [--readers 1000] [--seconds 5]

`cloister serve`, the flood, the readers of events and the quiet client run in a process each, so that clients do not wait for each
other, and share the cores. Only the ratios, and what was refused, say something about another machine.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from multiprocessing.queues import SimpleQueue as Queue
from pathlib import Path
from typing import Any

from cloister import Cloister
from latency import Questions, Words, fill
from service import Service, serving

OPERATOR = "the operator of this benchmark"
POOL = 1_000
WRITERS = 8


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--contexts", type=int, default=2_000)
    arguments.add_argument("--flood", type=int, default=100)
    arguments.add_argument("--readers", type=int, default=1_000)
    arguments.add_argument("--seconds", type=float, default=5.0)
    given = arguments.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        with Cloister(directory) as memory:
            fill(memory, "small", POOL)
        environment = {
            "CLOISTER_OPERATOR_KEY": OPERATOR,
            "CLOISTER_MAX_CONNECTIONS": "0",
            "CLOISTER_MAX_CONCURRENT": "0",
        }
        with serving(Path(directory), **environment) as service:
            asyncio.run(Load(service).measure(given))


class Load:
    """Requests to a service, and what became of them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._questions = Questions()

    async def measure(self, given: argparse.Namespace) -> None:
        await self._contexts_at_once(given.contexts)
        await self._quiet_tenant(given.flood, given.seconds)
        await self._event_readers(given.readers, given.seconds)

    async def _contexts_at_once(self, count: int) -> None:
        connections = [await self._connect() for _ in range(count)]
        began = time.perf_counter()
        answers = await asyncio.gather(*(_exchange(each, self._context()) for each in connections))
        seconds = [answered - began for _, answered in answers]
        codes = Counter(status for status, _ in answers)
        print(f"{count} contexts at once: {dict(codes)}, the last after {max(seconds):.1f} s")
        for _, writer in connections:
            writer.close()

    async def _quiet_tenant(self, clients: int, seconds: float) -> None:
        """The quiet tenant asks for contexts, as the flood does, and then for a list, which takes a small part of that time."""
        tenant = await self._new_tenant()
        words, connection = Words(9), await self._connect()
        said = [{"role": "user", "content": words.sentence()} for _ in range(POOL)]
        for path, body in (("", {"external_id": "q"}), ("/q/messages/batch", {"messages": said})):
            await _exchange(connection, self._service.request("POST", f"/v1/sessions{path}", body, key=tenant))
        connection[1].close()
        asked = {"session_id": "q", "query": self._questions.next(), "recent_limit": 0}
        await self._beside_flood(
            "contexts", self._service.request("POST", "/v1/context", asked, key=tenant), clients, seconds
        )
        await self._beside_flood(
            "lists", self._service.request("GET", "/v1/sessions?limit=1", key=tenant), clients, seconds
        )

    async def _beside_flood(self, name: str, quiet: bytes, clients: int, seconds: float) -> None:
        alone = await self._latencies(quiet, seconds)
        with _in_process(_flood, self._service, clients) as flood:
            await asyncio.sleep(1)
            flooded = await self._latencies(quiet, seconds)
        codes = flood.get()
        before, after = _p95(alone), _p95(flooded)
        print(
            f"quiet tenant, {name}, p95: alone {before:.1f} ms, under {clients} clients of another {after:.1f} ms, "
            f"ratio {after / before:.1f}; the flood was answered {dict(codes)}"
        )

    async def _event_readers(self, count: int, seconds: float) -> None:
        for writer in range(WRITERS):
            connection = await self._connect()
            await _exchange(connection, self._service.request("POST", "/v1/sessions", {"external_id": f"w{writer}"}))
            connection[1].close()
        without, cost_without = await self._writes(seconds)
        with _in_process(_follow, self._service, count) as following:
            await asyncio.sleep(2)
            with_them, cost_with = await self._writes(seconds)
        received = following.get()
        print(
            f"writes a second: {without:.0f} without readers of events, {with_them:.0f} with {count}, "
            f"ratio {with_them / without:.2f}; processor time of the server a write {cost_without:.2f} ms and {cost_with:.2f} ms; "
            f"the readers received {received / 1e6:.0f} MB"
        )

    async def _writes(self, seconds: float) -> tuple[float, float]:
        """Writes a second, and milliseconds of the server's processor time for each."""
        words = Words(7)
        end = time.perf_counter() + seconds

        async def write(number: int) -> int:
            connection, done = await self._connect(), 0
            while time.perf_counter() < end:
                body = {"role": "user", "content": words.sentence()}
                request = self._service.request("POST", f"/v1/sessions/w{number}/messages", body)
                status, _ = await _exchange(connection, request)
                assert status == 201
                done += 1
            connection[1].close()
            return done

        before = _processor_seconds(self._service.pid)
        done = sum(await asyncio.gather(*(write(number) for number in range(WRITERS))))
        return done / seconds, (_processor_seconds(self._service.pid) - before) / done * 1_000

    async def _latencies(self, request: bytes, seconds: float) -> list[float]:
        connection, taken = await self._connect(), list[float]()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            status, answered = await _exchange(connection, request)
            assert status == 200
            taken.append((answered - began) * 1_000)
        connection[1].close()
        return taken

    async def _new_tenant(self) -> str:
        connection = await self._connect()
        request = self._service.request("POST", "/operator/tenants", {"name": "Quiet"}, key=OPERATOR)
        connection[1].write(request)
        body = await _read(connection[0])
        connection[1].close()
        return json.loads(body[1])["admin_key"]

    def _context(self) -> bytes:
        return _context(self._service, self._questions)

    async def _connect(self) -> "Connection":
        return await _connect(self._service)


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Clients = Callable[[Service, int, asyncio.Event], Coroutine[Any, Any, object]]


@contextmanager
def _in_process(clients: Clients, service: Service, count: int) -> Generator["Queue[Any]"]:
    """Run clients in a process of their own until the block ends. Yields a queue, which then has what they return."""
    spawning = multiprocessing.get_context("spawn")
    started, stop, result = spawning.Event(), spawning.Event(), spawning.SimpleQueue()
    process = spawning.Process(target=_run, args=(clients, service, count, started, stop, result))
    process.start()
    try:
        started.wait()
        yield result
    finally:
        stop.set()
        process.join()


def _run(clients: Clients, service: Service, count: int, started: Any, stop: Any, result: "Queue[Any]") -> None:
    async def main() -> object:
        stopping = asyncio.Event()
        running = asyncio.create_task(clients(service, count, stopping))
        started.set()
        await asyncio.to_thread(stop.wait)
        stopping.set()
        return await running

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    result.put(asyncio.run(main()))


async def _flood(service: Service, count: int, stopping: asyncio.Event) -> Counter[int]:
    """Ask for contexts as fast as they are answered; returns how often each status was."""
    questions = Questions()

    async def repeat() -> Counter[int]:
        connection, codes = await _connect(service), Counter[int]()
        while not stopping.is_set():
            status, _ = await _exchange(connection, _context(service, questions))
            codes[status] += 1
        connection[1].close()
        return codes

    return sum(await asyncio.gather(*(repeat() for _ in range(count))), Counter[int]())


async def _follow(service: Service, count: int, stopping: asyncio.Event) -> int:
    """Follow the events; returns how many bytes came."""
    readers = [await _connect(service) for _ in range(count)]
    for _, writer in readers:
        writer.write(service.request("GET", "/v1/events"))
    tasks = [asyncio.create_task(_drain(reader)) for reader, _ in readers]
    await stopping.wait()
    for task in tasks:
        task.cancel()
    for _, writer in readers:
        writer.close()
    return sum(each for each in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(each, int))


def _context(service: Service, questions: Questions) -> bytes:
    body = {"session_id": "small/ask", "query": questions.next()}
    return service.request("POST", "/v1/context", body)


async def _connect(service: Service) -> Connection:
    return await asyncio.open_connection("127.0.0.1", service.port)


async def _exchange(connection: Connection, request: bytes) -> tuple[int, float]:
    """The status of the answer, and when it had come."""
    connection[1].write(request)
    status, _ = await _read(connection[0])
    return status, time.perf_counter()


async def _read(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
    return int(head.split()[1]), await reader.readexactly(length)


async def _drain(reader: asyncio.StreamReader) -> int:
    received = 0
    try:
        while chunk := await reader.read(1 << 20):
            received += len(chunk)
    except asyncio.CancelledError:
        pass
    return received


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _p95(taken: list[float]) -> float:
    return sorted(taken)[int(len(taken) * 0.95)]


if __name__ == "__main__":
    main()
