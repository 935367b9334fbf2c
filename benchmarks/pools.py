"""What a search costs where a project has many small pools, one for each user.

    python benchmarks/pools.py [--pools 10,3000] [--messages 6] [--rounds 2] [--json]

For each number of pools: a project that is divided by user, a few messages of each; then a process of its own that searches in
every pool, in a shuffled order, as often as there are rounds. Milliseconds are processor time of one search, the mean of a round;
megabytes are resident memory, beyond that of the process after its first pool; beside it what the cache counts of itself, and its
limit, which is `CLOISTER_POOL_CACHE_MB`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from cloister import Cloister

PROJECT = "many users"
SAID = (
    "We planted the tomatoes behind the house last spring",
    "The doctor said that my knee needs rest for two weeks",
    "Ana repaired the roof before the rain came",
    "I have been learning the violin since January",
    "The train to Porto leaves at seven in the morning",
    "My sister's puppy ate the recipe for the lemon cake",
)
QUESTIONS = ("who repaired the roof", "what did the doctor say about my knee", "where did we plant the tomatoes")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pools", type=lambda text: [int(each) for each in text.split(",")], default=[10, 3_000])
    arguments.add_argument("--messages", type=int, default=6)
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.open:
        print(json.dumps(search_all(given.open, given.pools[0], given.rounds)))
        return
    reports: list[dict[str, Any]] = []
    for pools in given.pools:
        with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
            fill(Path(directory), pools, given.messages)
            opened = [sys.executable, __file__, "--open", directory, "--pools", str(pools)]
            found = subprocess.run([*opened, "--rounds", str(given.rounds)], capture_output=True, text=True, check=True)
            reports.append(json.loads(found.stdout))
    print(json.dumps(reports) if given.json else readable(reports))


def fill(directory: Path, pools: int, messages: int) -> str:
    """Returns the id of the project."""
    with Cloister(directory) as memory:
        project = memory.create_project(PROJECT, member_visibility="private").project_id
        for number in range(pools):
            user = f"user {number}"
            memory.create_session(user, project_id=project, user_id=user)
            said = [{"role": "user", "content": f"{SAID[at % len(SAID)]}, {number + at}"} for at in range(messages)]
            memory.record_batch(user, said)
    return project


def search_all(directory: Path, pools: int, rounds: int) -> dict[str, Any]:
    rng, users = random.Random(1), [f"user {number}" for number in range(pools)]
    with Cloister(directory) as memory:
        for question in QUESTIONS:  # imports, the table of the embedder, SQLite's pages
            memory.search(question, session_id=users[0])
        before = resident()
        milliseconds: list[float] = []
        for _ in range(rounds):
            rng.shuffle(users)
            began = time.process_time()
            for at, user in enumerate(users):
                memory.search(QUESTIONS[at % len(QUESTIONS)], session_id=user)
            milliseconds.append(round((time.process_time() - began) * 1_000 / pools, 3))
        cache = cast(Any, memory)._backend.services.index.cache
        return {
            "pools": pools,
            "milliseconds": milliseconds,
            "megabytes": round(resident() - before, 1),
            "cached": round(cache.nbytes / 1e6, 1),
            "limit": round(cache.byte_limit / 1e6, 1),
        }


def resident() -> float:
    """The resident memory of this process, in megabytes."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1_000


def readable(reports: list[dict[str, Any]]) -> str:
    lines = [f"{'pools':>10}{'ms a search, round by round':>32}{'MB':>10}{'cached MB':>12}{'limit MB':>12}"]
    for report in reports:
        times = " ".join(f"{each:.2f}" for each in report["milliseconds"])
        lines.append(
            f"{report['pools']:>10}{times:>32}{report['megabytes']:>10}{report['cached']:>12}{report['limit']:>12}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
