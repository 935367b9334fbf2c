"""How long writing and recalling take in the library, beside what the parts below cannot do without.

    python benchmarks/latency.py [--messages 100000] [--quick] [--million] [--profiles] [--json]

Every figure stands beside its floor, measured in the same run: a bare APSW transaction of the same durability, and one bare scan of
the pool's vectors. Times are milliseconds, p50 unless said otherwise. --million measures a pool of 1,000,000 messages instead, and
--profiles the profiles of a user and a project with 1,000 memories in 50 sessions; --postgres is a new, empty database for these.
"""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import numkong
import numpy as np

from cloister import Cloister

SMALL_POOL = 1_000
WRITERS = 32
_MEMORIES, _SESSIONS = 1_000, 50
QUESTIONS = (
    "where did we plant the tomatoes last spring",
    "what did the doctor say about my knee",
    "who repaired the roof",
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--messages", type=int, default=100_000)
    arguments.add_argument("--quick", action="store_true", help="a tenth of everything, to see that it runs")
    arguments.add_argument("--million", action="store_true", help="a pool of 1,000,000 messages, and nothing else")
    arguments.add_argument("--profiles", action="store_true", help="profiles (MEM-16), and nothing else")
    arguments.add_argument("--postgres", metavar="URL", help="a new, empty database for --profiles; else SQLite")
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.open:
        print(json.dumps(open_cold(given.open)))
        return
    messages = given.messages // 10 if given.quick else given.messages
    rounds = 50 if given.quick else 400
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        if given.profiles:
            report = measure_profiles(given.postgres or Path(directory), rounds)
        elif given.million:
            report = measure_million(Path(directory), 100_000 if given.quick else 1_000_000)
        else:
            report = measure(Path(directory), messages, rounds)
    print(json.dumps(report) if given.json else readable(report))


def measure(directory: Path, messages: int, rounds: int) -> list[dict[str, Any]]:
    report = [
        record_one(directory / "one", rounds),
        record_many(directory / "many", messages // 5, 1),
        record_many(directory / "batches", messages // 5, 10),
    ]
    with Cloister(directory / "alone") as alone, Cloister(directory / "large") as large:
        for memory in (alone, large):
            fill(memory, "small", SMALL_POOL)
        fill(large, "large", messages)
        report.append(grown(alone, large, messages, rounds))
        report.append(context_of(large, "large", messages, rounds // 4))
    cold = opened_cold(directory / "large")
    report.append(line(f"context, cold, {messages:,} in the pool, after a start", cold["first"], target=500))
    report.append(line(f"RSS with {messages:,} messages in the pool (MB)", cold["megabytes"], target=300))
    return report


def measure_million(directory: Path, messages: int) -> list[dict[str, Any]]:
    """The first context of a large pool in a new process, then others, and those after a change of the pool."""
    with Cloister(directory / "large") as large:
        fill(large, "small", SMALL_POOL)
        fill(large, "large", messages)
    cold = opened_cold(directory / "large")
    return [
        line(f"context, {messages:,} in the pool", cold["warm"], target=25),
        line("the first one after a start", cold["first"], target=4_000),
        line("the first one after a session moved out", cold["moved out"], target=150),
        line("the first one after it moved back", cold["moved in"], target=150),
        line("the first one after a session was deleted", cold["deleted"], target=150),
        line("the first one after a message was added", cold["added"], target=150),
        line("RSS (MB)", cold["megabytes"], target=450),
    ]


def measure_profiles(data: Path | str, rounds: int) -> list[dict[str, Any]]:
    """Profiles of 300 tokens, the default: of a user with 1,000 memories in 50 sessions of a project, and of that project."""
    words, rows = Words(5), list[dict[str, Any]]()
    with Cloister(data) as memory:
        project = memory.create_project("Profiles", member_visibility="shared").project_id
        for number in range(_SESSIONS):
            memory.create_session(f"profile {number}", project_id=project, user_id="ann")
            statements = [f"Ann {words.sentence()[:100]} {number}-{at}." for at in range(_MEMORIES // _SESSIONS)]
            memory.add_memories(f"profile {number}", statements)
            memory.record(f"profile {number}", "user", f"My brother Xandor{number} works at Zentrix{number}.")
            memory.extract(f"profile {number}")
        for name, asked in (
            ("user", lambda: memory.user_profile("ann", project_id=project)),
            ("project", lambda: memory.project_profile(project)),
        ):
            asked()
            wall, processor = taken_by(asked, rounds)
            rows.append(line(f"profile of a {name}, {_MEMORIES:,} memories in {_SESSIONS} sessions", wall, target=2))
            rows.append(line(f"profile of a {name}, processor time", processor, target=2))
    return rows


def taken_by(work: Callable[[], object], rounds: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each round by the clock, and of the processor."""
    wall, processor = list[float](), list[float]()
    for _ in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        work()
        processor.append((time.process_time() - used) * 1_000)
        wall.append((time.perf_counter() - began) * 1_000)
    return wall, processor


def opened_cold(directory: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--open", directory]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def record_one(directory: Path, rounds: int) -> dict[str, Any]:
    """One message after another, each acknowledged when durable, in turn with the bare transaction."""
    directory.mkdir(parents=True)
    bare = apsw.Connection(str(directory / "bare.db"))
    bare.pragma("journal_mode", "wal")
    bare.pragma("synchronous", "full")
    bare.execute("CREATE TABLE message (id INTEGER PRIMARY KEY, content TEXT, vector BLOB)")
    vector, words = bytes(512), Words(1)

    def bare_transaction() -> None:
        bare.execute("BEGIN IMMEDIATE")
        bare.execute("INSERT INTO message (content, vector) VALUES (?, ?)", (words.sentence(), vector))
        bare.execute("COMMIT")

    with Cloister(directory) as memory:
        memory.create_session("one")
        ours, floor = alternately(lambda: memory.record("one", "user", words.sentence()), bare_transaction, rounds)
    bare.close()
    return line("record one message, durable", ours, floor=floor, floor_name="bare transaction", factor=3)


def record_many(directory: Path, messages: int, together: int) -> dict[str, Any]:
    """From many threads, so many messages a call, each call waiting for its own acknowledgement."""
    with Cloister(directory) as memory:
        for writer in range(WRITERS):
            memory.create_session(str(writer))
        words = Words(2)
        batches = [
            [
                [{"role": "user", "content": words.sentence()} for _ in range(together)]
                for _ in range(messages // WRITERS // together)
            ]
            for _ in range(WRITERS)
        ]
        ready = threading.Barrier(WRITERS + 1)

        def write(writer: int) -> None:
            ready.wait()
            for batch in batches[writer]:
                memory.record_batch(str(writer), batch)

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
        for thread in threads:
            thread.start()
        ready.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        rate = sum(map(len, batches)) * together / (time.perf_counter() - began)
    name = f"durable messages a second, {WRITERS} threads, {together} a call"
    return line(name, rate, target=8_000, more_is_better=True)


def grown(alone: Cloister, large: Cloister, others: int, rounds: int) -> dict[str, Any]:
    """The same small pool, without and with far more in other pools, asked in turn."""
    questions = Questions()
    ours, floor = alternately(
        lambda: large.context("small/ask", questions.next()),
        lambda: alone.context("small/ask", questions.next()),
        rounds,
    )
    return line(
        f"context, {SMALL_POOL:,} in the pool, {others:,} in others",
        ours,
        floor=floor,
        floor_name="without the others",
        factor=1.1,
        target=2,
    )


def context_of(memory: Cloister, pool: str, size: int, rounds: int) -> dict[str, Any]:
    vectors = np.random.default_rng(1).standard_normal((size, 256)).astype(np.float16)
    out = np.empty(size, np.float32)
    questions = Questions()
    memory.context(f"{pool}/ask", questions.next())
    ours, floor = alternately(
        lambda: memory.context(f"{pool}/ask", questions.next()),
        lambda: numkong.dot(vectors, vectors[0], out=out),
        rounds,
    )
    return line(f"context, {size:,} in the pool", ours, floor=floor, floor_name="bare scan", target=15)


def fill(memory: Cloister, project: str, messages: int) -> None:
    """A project of sessions of 100 messages, and an empty session to ask from."""
    project_id = memory.create_project(project).project_id
    words = Words(len(project) + messages)
    for session in range(0, messages, 100):
        name = f"{project}/{session}"
        memory.create_session(name, project_id=project_id)
        batch = [{"role": ("user", "assistant")[turn % 2], "content": words.sentence()} for turn in range(100)]
        memory.record_batch(name, batch)
    memory.create_session(f"{project}/ask", project_id=project_id)


def open_cold(directory: Path) -> dict[str, Any]:
    """In a process of its own: milliseconds of questions to the large pool, and the megabytes resident after a few."""
    with Cloister(directory) as memory:
        questions = Questions()

        def ask() -> float:
            began = time.perf_counter()
            memory.context("large/ask", questions.next())
            return (time.perf_counter() - began) * 1_000

        memory.context("small/ask", QUESTIONS[0])
        found: dict[str, Any] = {"first": ask()}
        found["warm"] = [ask() for _ in range(60)]
        status = Path("/proc/self/status").read_text()
        found["megabytes"] = int(status.split("VmRSS:")[1].split()[0]) / 1_000
        own, other = (memory.session(f"{name}/0").project_id for name in ("large", "small"))
        changes: dict[str, Callable[[int], object]] = {
            "moved out": lambda at: memory.move_session(f"large/{at}", other),
            "moved in": lambda at: memory.move_session(f"large/{at}", own),
            "deleted": lambda at: memory.delete_session(f"large/{at}"),
            "added": lambda at: memory.record(f"large/{at + 1_000}", "user", "we plant the tomatoes"),
        }
        for name, change in changes.items():
            taken: list[float] = []
            for at in range(0, 1_000, 100):
                change(at)
                taken.append(ask())
            found[name] = taken
        return found


def alternately(
    ours: Callable[[], object], floor: Callable[[], object], rounds: int
) -> tuple[Sequence[float], Sequence[float]]:
    """Milliseconds of each, one after the other, so that a busy machine is busy for both."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for which, work in enumerate((ours, floor)):
            began = time.perf_counter()
            work()
            taken[which].append((time.perf_counter() - began) * 1_000)
    return taken


def line(
    name: str,
    ours: Sequence[float] | float,
    *,
    floor: Sequence[float] | None = None,
    floor_name: str = "",
    factor: float | None = None,
    target: float | None = None,
    more_is_better: bool = False,
) -> dict[str, Any]:
    value = ours if isinstance(ours, float | int) else statistics.median(ours)
    found: dict[str, Any] = {"name": name, "value": round(value, 3)}
    met: list[bool] = []
    if floor is not None:
        base = statistics.median(floor)
        found |= {"floor": floor_name, "floor_value": round(base, 3), "ratio": round(value / base, 2)}
        if factor is not None:
            found["ratio_target"] = factor
            met.append(value <= factor * base)
    if not isinstance(ours, float | int):
        found["p99"] = round(statistics.quantiles(ours, n=100)[98], 3)
    if target is not None:
        found["target"] = target
        met.append(value >= target if more_is_better else value <= target)
    return found | {"met": all(met)}


def readable(report: Sequence[dict[str, Any]]) -> str:
    lines: list[str] = []
    for entry in report:
        target = f"target {entry['target']:g}" if "target" in entry else ""
        ratio = f"{entry['ratio']}x {entry['floor']} ({entry['floor_value']})" if "ratio" in entry else ""
        if "ratio_target" in entry:
            ratio += f", target {entry['ratio_target']}x"
        mark = "ok " if entry["met"] else "MISSED"
        lines.append(f"{mark:<7}{entry['name']:<58}{entry['value']:>10}  {target:<12}{ratio}")
    return "\n".join(lines)


class Words:
    """Sentences of a vocabulary of 5,000 words, frequent and rare as words are."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        letters = random.Random(0)
        syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
        self._vocabulary = ["".join(letters.choices(syllables, k=letters.randint(1, 4))) for _ in range(5_000)]
        self._frequent = [word for question in QUESTIONS for word in question.split()]

    def sentence(self) -> str:
        count = self._random.randint(8, 30)
        picked = [self._vocabulary[int(5_000 * self._random.random() ** 3)] for _ in range(count)]
        if self._random.random() < 0.2:
            picked += self._random.sample(self._frequent, 3)
        return " ".join(picked)


class Questions:
    def __init__(self) -> None:
        self._asked = 0

    def next(self) -> str:
        self._asked += 1
        return f"{QUESTIONS[self._asked % len(QUESTIONS)]} {self._asked}"


if __name__ == "__main__":
    main()
