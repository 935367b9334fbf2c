"""Extraction of waiting sessions by 1, 2 and 4 worker processes on PostgreSQL: each session exactly once, and how fast.

    python benchmarks/workers.py [--sessions 1000] [--latency 0.1] [--workers 1 2 4]

Twice: with a model that takes its time and nothing else (a local endpoint that sleeps), so that the model is the limit; and with
the rules, where the processors are. Each worker is a `cloister worker --threads 1` process. Time runs from the first claim to
the last commit, as the workers log them; starting the processes is not part of it.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

import psycopg

from cloister.bootstrap import Services, build_services
from cloister.domain.conversation import Draft
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.settings import Settings
from temporary import open_engine

TENANTS = 10
EXCHANGES = 2
_names = count(1)
_NAMED = re.compile(r"lighthouse (\d+)\.")


@dataclass(frozen=True, kw_only=True)
class Run:
    workers: int
    seconds: float
    shares: Sequence[int]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sessions", type=int, default=1_000)
    arguments.add_argument("--latency", type=float, default=0.1, help="seconds that the model takes")
    arguments.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    given = arguments.parse_args()
    with open_engine("postgres") as url:
        services = build_services(Settings(data=url))
        reaches = [Reach(tenant=services.projects.create_tenant(f"tenant {at}")[0]) for at in range(TENANTS)]
        with sleeping_model(given.latency) as (address, asked):
            model = {"CLOISTER_MODEL_URL": address, "CLOISTER_MODEL_NAME": "sleeper"}
            runs: list[Run] = []
            for workers in given.workers:
                asked.clear()
                runs.append(run(services, url, reaches, given.sessions, workers, model))
                check(len(asked) == given.sessions and set(asked.values()) == {1}, "the model was asked twice")
            show(f"a model of {given.latency * 1_000:.0f} ms", given.sessions, runs)
        rules = [run(services, url, reaches, given.sessions, workers, {}) for workers in given.workers]
        show("rules", given.sessions, rules)
        services.close()


def run(
    services: Services, url: str, reaches: Sequence[Reach], sessions: int, workers: int, environment: dict[str, str]
) -> Run:
    for at in range(sessions):
        converse(services, reaches[at % len(reaches)])
    with psycopg.connect(url, autocommit=True) as connection, ExitStack() as running:
        connection.execute("UPDATE session SET due_at = NULL WHERE due_at IS NOT NULL")
        processes = [running.enter_context(worker(url, environment)) for _ in range(workers)]
        for process in processes:
            process.wait_for("worker started")
        connection.execute("ANALYZE")
        due = time.time_ns() // 1_000
        connection.execute("UPDATE session SET due_at = %s WHERE unchecked_count > 0", [due])
        while connection.execute("SELECT 1 FROM session WHERE due_at IS NOT NULL LIMIT 1").fetchone():
            time.sleep(0.25)
        unread = connection.execute("SELECT count(*) FROM message WHERE is_memory_checked = 0").fetchone()
        results = [process.stop() for process in processes]
    lines = [line for process in processes for line in process.lines if line["event"] == "extraction"]
    check(unread == (0,), "a message was left out")
    check(
        len(lines) == len({line["session"] for line in lines}) == sessions, "a session was not extracted exactly once"
    )
    check(sum(result["checked_messages"] for result in results) == 2 * EXCHANGES * sessions, "messages were miscounted")
    check(sum(result["lost"] + result["failed"] for result in results) == 0, "a claim was in vain")
    ends = [datetime.fromisoformat(line["time"]).timestamp() for line in lines]
    begins = [end - line["milliseconds"] / 1_000 for end, line in zip(ends, lines, strict=True)]
    shares = [result["succeeded"] for result in results]
    return Run(workers=workers, seconds=max(ends) - min(begins), shares=shares)


def converse(services: Services, reach: Reach) -> None:
    """A session of the shared pool: one call of the model each."""
    number = next(_names)
    services.sessions.create(reach, SessionFields(external_id=f"session {number}"))
    said = f"I live near Graz now, and I look after lighthouse {number}. My sister Ida prefers the mountains."
    exchange = [Draft(role="user", content=said), Draft(role="assistant", content="That sounds lonely.")]
    drafts = [draft for _ in range(EXCHANGES) for draft in exchange]
    services.record.messages(reach, f"session {number}", drafts)


class Worker:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.lines: list[Any] = []
        self._process = process
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, event: str) -> None:
        while not any(line["event"] == event for line in self.lines):
            check(self._process.poll() is None, "a worker did not start")
            time.sleep(0.05)

    def stop(self) -> Any:
        self._process.terminate()
        said, _ = self._process.communicate()
        self._reader.join()
        return json.loads(said)

    def _read(self) -> None:
        assert self._process.stderr is not None
        self.lines.extend(map(json.loads, self._process.stderr))


@contextmanager
def worker(url: str, environment: dict[str, str]) -> Generator[Worker]:
    process = subprocess.Popen(
        [sys.executable, "-m", "cloister", "worker", "--json", "--threads", "1", "--data", url],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Worker(process)
    finally:
        process.kill()
        process.wait()


@contextmanager
def sleeping_model(seconds: float) -> Generator[tuple[str, Counter[str]]]:
    """An OpenAI-compatible endpoint that waits and has one thing to say, and how often it was asked about each session."""
    asked: Counter[str] = Counter()
    memory = {"memories": [{"content": "They look after a lighthouse.", "importance": 5, "sources": [1]}]}
    message = {"role": "assistant", "content": json.dumps(memory)}
    body = json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                headers = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: *(\d+)", headers, re.IGNORECASE)
                question = await reader.readexactly(int(length[1]) if length else 0)
                asked.update(set(_NAMED.findall(question.decode())))
                await asyncio.sleep(seconds)
                writer.write(head + body)
                await writer.drain()
        writer.close()

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    server = asyncio.run_coroutine_threadsafe(asyncio.start_server(answer, "127.0.0.1", 0), loop).result()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked
    finally:
        loop.call_soon_threadsafe(loop.stop)


def check(true: bool, otherwise: str) -> None:
    if not true:
        raise SystemExit(f"wrong: {otherwise}")


def show(extractor: str, sessions: int, runs: Sequence[Run]) -> None:
    print(f"{sessions:,} waiting sessions, {extractor}: each exactly once")
    for each in runs:
        rate = sessions / each.seconds
        ratio = runs[0].seconds / each.seconds
        shares = " + ".join(map(str, each.shares))
        print(
            f"  {each.workers} workers  {each.seconds:7.1f} s  {rate:7.1f} sessions/s  {ratio:4.2f} times one  ({shares})"
        )


if __name__ == "__main__":
    main()
