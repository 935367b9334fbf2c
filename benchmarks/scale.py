"""How Cloister scales on one machine: with server processes, with messages, and with pools; on SQLite and on PostgreSQL.

    python benchmarks/scale.py [--parts processes,cost] [--engines sqlite,postgres] [--processes 1,2,4]
                               [--messages 10000,100000,1000000] [--pools 1,1000,100000] [--quick] [--json]

`processes`: durable writes and contexts a second over HTTP, 32 connections, for each number of processes of `cloister serve`, and
the milliseconds of processor time that all these processes use for one. The requests come from this process, over plain sockets.
`cost`: milliseconds of one operation inside a process, p50 and p95 of wall time and the median of processor time, in random pools
of a database of so many messages, divided evenly among so many users; more pools than messages are left out. PostgreSQL is the one
of the tests, on this machine, with its default settings; its own processor time is not counted. On a machine with other work only
processor times mean something.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cloister import Cloister
from service import Service, serving
from temporary import open_engine

CONNECTIONS = 32
SESSION_MESSAGES = 1_000
BATCH = 200
OPERATOR = "the operator of this benchmark"
TOPICS = ("roof", "violin", "tomatoes", "train", "knee", "cake", "dog", "garden", "bicycle", "river")
Row = dict[str, Any]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--parts", type=names, default=["processes", "cost"])
    arguments.add_argument("--engines", type=names, default=["sqlite", "postgres"])
    arguments.add_argument("--processes", type=numbers, default=[1, 2, 4])
    arguments.add_argument("--messages", type=numbers, default=[10_000, 100_000, 1_000_000])
    arguments.add_argument("--pools", type=numbers, default=[1, 1_000, 100_000])
    arguments.add_argument("--quick", action="store_true", help="a few of everything, to see that it runs")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    if given.quick:
        given.processes, given.messages, given.pools = [1, 2], [1_000, 2_000], [1, 20]
    report: list[Row] = []
    for row in measured(given):
        report.append(row)
        if not given.json:
            print(readable(row), flush=True)
    if given.json:
        print(json.dumps(report))


def measured(given: argparse.Namespace) -> Generator[Row]:
    """Each row as soon as it is known: all of them take long."""
    for engine in given.engines:
        if "processes" in given.parts:
            for count in given.processes:
                yield throughput(engine, count, 1.0 if given.quick else 8.0)
        if "cost" in given.parts:
            sizes = [(messages, pools) for messages in given.messages for pools in given.pools if pools <= messages]
            for size in sizes:
                yield from costs(engine, *size, turns=20 if given.quick else 200)


def names(text: str) -> list[str]:
    return text.split(",")


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def sentence(rng: random.Random) -> str:
    return (
        f"On day {rng.randrange(10_000)} we talked about the {rng.choice(TOPICS)} and the {rng.choice(TOPICS)} of Ana."
    )


def throughput(engine: str, processes: int, seconds: float) -> Row:
    with (
        location(engine) as data,
        serving(data, "--processes", str(processes), CLOISTER_OPERATOR_KEY=OPERATOR) as service,
    ):
        return {"engine": engine, "processes": processes, **asyncio.run(load(service, seconds))}


@contextmanager
def location(engine: str) -> Generator[Path | str]:
    if engine == "sqlite":
        with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
            yield Path(directory)
    else:
        with open_engine(engine) as url:
            yield url


async def load(service: Service, seconds: float) -> Row:
    """With a session for each connection, and ten messages in each of them."""
    rng = random.Random(3)
    made = await ask(service, service.request("POST", "/operator/tenants", {"name": "Load"}, key=OPERATOR))
    key = str(made["admin_key"])

    def write(connection: int) -> bytes:
        said = {"role": "user", "content": sentence(rng)}
        return service.request("POST", f"/v1/sessions/{connection}/messages", said, key=key)

    def context(connection: int) -> bytes:
        asked = {"session_id": str(connection), "query": f"What about the {rng.choice(TOPICS)}?"}
        return service.request("POST", "/v1/context", asked, key=key)

    for connection in range(CONNECTIONS):
        new = {"external_id": str(connection), "user_id": f"user {connection}"}
        await ask(service, service.request("POST", "/v1/sessions", new, key=key))
        for _ in range(10):
            await ask(service, write(connection))
    await rate(service, write, 0.5)
    writes, of_write = await rate(service, write, seconds)
    contexts, of_context = await rate(service, context, seconds)
    return {
        "writes_a_second": round(writes),
        "processor_ms_a_write": round(of_write, 2),
        "contexts_a_second": round(contexts),
        "processor_ms_a_context": round(of_context, 2),
    }


def processor_seconds(pid: int) -> float:
    """Of a process and of all that it started."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    used = (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return used + sum(processor_seconds(int(child)) for child in children)


async def rate(service: Service, request: Callable[[int], bytes], seconds: float) -> tuple[float, float]:
    """Answers a second, and milliseconds of processor time of the server for each; every answer must be a success."""
    used = processor_seconds(service.pid)
    end, done = time.perf_counter() + seconds, 0

    async def client(number: int) -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        while time.perf_counter() < end:
            await answer(reader, writer, request(number))
            done += 1
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*map(client, range(CONNECTIONS)))
    return done / (time.perf_counter() - began), (processor_seconds(service.pid) - used) / done * 1_000


async def ask(service: Service, request: bytes) -> Row:
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    said: Row = json.loads(await answer(reader, writer, request))
    writer.close()
    return said


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]))
    assert int(head[9:12]) < 300, body
    return body


def costs(engine: str, messages: int, pools: int, *, turns: int) -> list[Row]:
    with open_engine(engine) as data, Cloister(data) as memory:
        project = memory.create_project("Many", member_visibility="private").project_id
        began, used = time.perf_counter(), time.process_time()
        sessions = fill(memory, project, messages, pools)
        filled, used = time.perf_counter() - began, time.process_time() - used
        rng = random.Random(5)
        operations: dict[str, Callable[[str], object]] = {
            "context, pool not in memory": lambda session: memory.context(
                session, f"What about the {rng.choice(TOPICS)}?"
            ),
            "record a message": lambda session: memory.record(session, "user", sentence(rng)),
            "context, pool in memory": lambda session: memory.context(session, f"What about the {rng.choice(TOPICS)}?"),
            "search": lambda session: memory.search(f"the {rng.choice(TOPICS)} of Ana", session_id=session),
            "list the last messages": lambda session: memory.messages(session, limit=20),
        }
        once, often = rng.sample(sessions, min(turns, len(sessions))), rng.choices(sessions, k=turns)
        size = {"engine": engine, "messages": messages, "pools": pools}
        rows: list[Row] = [
            {
                **size,
                "operation": "fill, messages a second",
                "p50": round(messages / filled),
                "of a second of processor time": round(messages / used),
            }
        ]
        for name, operation in operations.items():
            rows.append({**size, "operation": name, **taken(operation, once if "not in memory" in name else often)})
        return rows


def fill(memory: Cloister, project: str, messages: int, pools: int) -> list[str]:
    """The sessions: of each user as many as its messages need."""
    rng, sessions = random.Random(1), list[str]()
    share, more = divmod(messages, pools)
    for pool in range(pools):
        left, number = share + (pool < more), 0
        while left:
            session = f"{pool}/{number}"
            memory.create_session(session, project_id=project, user_id=f"user {pool}")
            sessions.append(session)
            here = min(left, SESSION_MESSAGES)
            for first in range(0, here, BATCH):
                said = [{"role": "user", "content": sentence(rng)} for _ in range(min(BATCH, here - first))]
                memory.record_batch(session, said)
            left, number = left - here, number + 1
    return sessions


def taken(operation: Callable[[str], object], sessions: Sequence[str]) -> Row:
    milliseconds, of_processor = list[float](), list[float]()
    for session in sessions:
        began, used = time.perf_counter(), time.process_time()
        operation(session)
        milliseconds.append((time.perf_counter() - began) * 1_000)
        of_processor.append((time.process_time() - used) * 1_000)
    milliseconds.sort()
    return {
        "processor": round(statistics.median(of_processor), 2),
        "p50": round(milliseconds[len(milliseconds) // 2], 2),
        "p95": round(milliseconds[int(len(milliseconds) * 0.95)], 2),
        "times": len(milliseconds),
    }


def readable(row: Row) -> str:
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, (int, float)) else str(value) for name, value in row.items()
    )


if __name__ == "__main__":
    main()
