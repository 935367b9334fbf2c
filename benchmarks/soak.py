"""A server for many minutes with more pools than its cache keeps: whether memory, descriptors or latency grow, and what failed.

    python benchmarks/soak.py [--minutes 10] [--pools 3000] [--clients 8] [--cache-mb 16] [--json]

`cloister serve` runs in a process of its own. Every user has a private pool; clients choose a user at random, and ask for a
context, search, record, chat or read for a moment what happens. What is loaded at first use (modules, the table of the embedder,
threads) belongs to the start: some users are asked for before it is measured. Every five seconds: resident memory and open
descriptors of the server, and p50 and p95 of all requests since. At the end the slope of each by least squares, over the second
half, since a cache fills first.
"""

import argparse
import json
import random
import re
import resource
import socket
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pools import QUESTIONS, SAID, fill
from service import Service, serving

_SECONDS = 5.0
_FIRST_USERS = 20
_WORK = ("context",) * 4 + ("search",) * 3 + ("record",) * 4 + ("chat", "events")


@dataclass(kw_only=True, slots=True)
class Load:
    """What clients do until `stopping`, and what they were answered."""

    service: Service
    project: str
    pools: int
    stopping: threading.Event = field(default_factory=threading.Event)
    statuses: Counter[str] = field(default_factory=Counter[str])
    milliseconds: list[float] = field(default_factory=list[float])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, seed: int) -> None:
        rng = random.Random(seed)
        while not self.stopping.is_set():
            kind, user = rng.choice(_WORK), f"user {rng.randrange(self.pools)}"
            began = time.perf_counter()
            try:
                status = self._ask(kind, user, rng)
            except (OSError, ValueError) as error:
                status = type(error).__name__
            with self.lock:
                self.statuses[f"{kind} {status}"] += 1
                if kind not in ("chat", "events"):
                    self.milliseconds.append((time.perf_counter() - began) * 1_000)

    def _ask(self, kind: str, user: str, rng: random.Random) -> str:
        question = rng.choice(QUESTIONS)
        if kind == "context":
            return self._exchange("POST", "/v1/context", {"session_id": user, "query": question})
        if kind == "search":
            return self._exchange("POST", "/v1/search", {"session_id": user, "query": question})
        if kind == "record":
            said = {"role": "user", "content": f"{rng.choice(SAID)}, {rng.random()}"}
            return self._exchange("POST", f"/v1/sessions/{user.replace(' ', '%20')}/messages", said)
        if kind == "chat":
            said = {"id": "1", "role": "user", "parts": [{"type": "text", "text": question}]}
            body = {"id": f"chat {rng.random()}", "messages": [said], "user_id": user, "project_id": self.project}
            return self._exchange("POST", "/v1/chat/stream", body)
        return self._exchange("GET", "/v1/events", None, first_bytes=True)

    def _exchange(self, method: str, path: str, body: Any, *, first_bytes: bool = False) -> str:
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=60) as connection:
            connection.sendall(self.service.request(method, path, body, close=True))
            answer = connection.recv(65_536)
            while not first_bytes and (chunk := connection.recv(65_536)):
                answer += chunk
            status = answer.split(b" ", 2)[1].decode()
            code = re.search(rb'"code": ?"(\w+)"', answer) if status >= "400" else None
            return status if code is None else f"{status} {code[1].decode()}"

    def warm_up(self) -> None:
        rng = random.Random(0)
        for number in range(_FIRST_USERS):
            for kind in dict.fromkeys(_WORK):
                self._ask(kind, f"user {number}", rng)

    def taken(self) -> list[float]:
        with self.lock:
            taken, self.milliseconds = sorted(self.milliseconds), []
        return taken


def measure(service: Service, given: argparse.Namespace, project: str) -> dict[str, Any]:
    load = Load(service=service, project=project, pools=given.pools)
    load.warm_up()
    before = sample(service.pid, 0, [0.0])["megabytes"]
    threads = [threading.Thread(target=load.run, args=(number,)) for number in range(given.clients)]
    samples: list[dict[str, float]] = []
    began = time.monotonic()
    for thread in threads:
        thread.start()
    try:
        while time.monotonic() - began < given.minutes * 60:
            time.sleep(_SECONDS)
            taken = load.taken()
            if taken:
                samples.append(sample(service.pid, time.monotonic() - began, taken))
                if not given.json:
                    print("  ".join(f"{name} {value:g}" for name, value in samples[-1].items()), flush=True)
    finally:
        load.stopping.set()
        for thread in threads:
            thread.join()
    later = samples[len(samples) // 2 :]
    slopes = {name: slope(later, name) for name in ("megabytes", "descriptors", "p50", "p95")}
    failed = {what: count for what, count in load.statuses.items() if not what.endswith((" 200", " 201"))}
    return {
        "statuses": dict(load.statuses),
        "failed": failed,
        "slopes": slopes,
        "before": before,
        "samples": samples,
    }


def sample(pid: int, at: float, taken: list[float]) -> dict[str, float]:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return {
        "seconds": round(at, 1),
        "megabytes": round(int(status.split("VmRSS:")[1].split()[0]) / 1_000, 1),
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "requests": len(taken),
        "p50": round(taken[len(taken) // 2], 1),
        "p95": round(taken[int(len(taken) * 0.95)], 1),
    }


def slope(samples: list[dict[str, float]], name: str) -> float | None:
    """How much it grows in a minute, by least squares; None with too few samples."""
    count = len(samples)
    if count < 2:
        return None
    times, values = [each["seconds"] / 60 for each in samples], [each[name] for each in samples]
    mean_time, mean = sum(times) / count, sum(values) / count
    spread = sum((at - mean_time) ** 2 for at in times)
    return round(sum((at - mean_time) * (value - mean) for at, value in zip(times, values, strict=True)) / spread, 3)


def readable(report: dict[str, Any], given: argparse.Namespace) -> str:
    grown = max((each["megabytes"] for each in report["samples"]), default=report["before"]) - report["before"]
    lines = [f"growth a minute, in the second half: {report['slopes']}", f"answers: {report['statuses']}"]
    lines.append(f"failed: {report['failed'] or 'nothing'}")
    lines.append(
        f"memory: at most {grown:.1f} MB more than at the start; the limit of the cache is {given.cache_mb} MB"
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pools", type=int, default=3_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--cache-mb", type=int, default=16)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        project = fill(Path(directory), given.pools, len(SAID))
        environment = {
            "CLOISTER_POOL_CACHE_MB": str(given.cache_mb),
            "CLOISTER_MAX_CONNECTIONS": "0",
            "CLOISTER_MAX_CONCURRENT": "0",
        }
        with serving(Path(directory), **environment) as service:
            report = measure(service, given, project)
    print(json.dumps(report) if given.json else readable(report, given))
    return int(bool(report["failed"]))


if __name__ == "__main__":
    raise SystemExit(main())
