"""Faults of backups, restores, the disk, the log and vacuum: what is lost, and what the caller is told, as a table.

    python benchmarks/faults_storage.py [--tries 20] [--engines sqlite postgres]

Kills are SIGKILL at a random moment of the work, in a fork of this process. A backup must be whole or not there, a restored or
vacuumed database the old one or the new one. A byte of a stored text is changed in the file itself. The log is measured while two
readers overlap.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cloister import Cloister
from cloister.bootstrap import build_services, restore_backup
from cloister.domain.errors import DamagedRow
from cloister.domain.identifiers import LOCAL_TENANT
from cloister.domain.scope import Reach
from cloister.settings import Settings, read_settings
from cloister.storage.sqlite import checkpoints
from cloister.storage.sqlite.backup import checked
from temporary import open_engine

MESSAGES = 3_000
WORDS = "The parcel came from Lisbon with forty lemons and a letter for Anna. " * 8
_TEXT = b"parcel came from Lisbon"


@dataclass(frozen=True, kw_only=True)
class Fault:
    name: str
    tries: int
    wrong: int
    told: str


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tries", type=int, default=20)
    arguments.add_argument("--engines", nargs="+", default=["sqlite", "postgres"])
    given = arguments.parse_args()
    faults: list[Fault] = []
    for engine in given.engines:
        with open_engine(engine) as data, TemporaryDirectory() as folder:
            fill(data)
            faults += [
                killed_backups(engine, data, Path(folder), given.tries),
                killed_restores(engine, data, Path(folder), given.tries),
            ]
            if engine == "sqlite":
                faults += [
                    killed_vacuums(data, given.tries),
                    flipped_bytes(data, given.tries),
                    long_reader_at_vacuum(data),
                    *constant_readers(data),
                ]
    print("| fault | tries | lost or inconsistent | what the caller is told |\n|---|---|---|---|")
    for fault in faults:
        print(f"| {fault.name} | {fault.tries} | {fault.wrong} | {fault.told} |")
    sys.exit(any(fault.wrong for fault in faults))


def fill(data: str) -> None:
    with Cloister(data) as memory:
        memory.create_session("s")
        for _ in range(MESSAGES // 100):
            memory.record_batch("s", [{"role": "user", "content": WORDS}] * 100)


def killed(work: Callable[[], object], after: float) -> None:
    """Run `work` in a fork, and kill that after so many seconds."""
    if (child := os.fork()) == 0:
        os.close(1)
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def killed_backups(engine: str, data: str, folder: Path, tries: int) -> Fault:
    def backup(target: Path) -> None:
        with Cloister(data) as memory:
            memory.backup(target)

    whole = timed(lambda: backup(folder / "whole"))
    rows = checked(folder / "whole").rows
    wrong = there = 0
    for number in range(tries):
        target = folder / f"killed-{number}"
        killed(lambda target=target: backup(target), random.uniform(0, 1.1 * whole))
        if target.exists():
            there += 1
            wrong += checked(target).rows != rows
    told = f"no file of the name in {tries - there}, a whole one in {there}"
    return Fault(name=f"backup killed, {engine}", tries=tries, wrong=wrong, told=told)


def killed_restores(engine: str, data: str, folder: Path, tries: int) -> Fault:
    """Restore one message less over what is there: either is right, nothing between."""
    settings = read_settings(data)

    def restore() -> None:
        restore_backup(settings, folder / "whole", replace=True)

    def count() -> int:
        with Cloister(data) as memory:
            return memory.session("s").message_count

    whole = timed(restore)
    wrong = replaced = 0
    for _ in range(tries):
        with Cloister(data) as memory:
            memory.record("s", "user", "One more.")
        now = count()
        killed(restore, random.uniform(0, 1.1 * whole))
        found = count()
        replaced += found == MESSAGES
        wrong += found not in (MESSAGES, now)
    told = f"the old database in {tries - replaced}, the restored one in {replaced}"
    return Fault(name=f"restore killed, {engine}", tries=tries, wrong=wrong, told=told)


def killed_vacuums(data: str, tries: int) -> Fault:
    def vacuum() -> None:
        with Cloister(data) as memory:
            memory.vacuum()

    whole, wrong = timed(vacuum), 0
    for _ in range(tries):
        killed(vacuum, random.uniform(0, 1.1 * whole))
        with Cloister(data) as memory:
            wrong += bool(memory.health().problems) or memory.session("s").message_count < MESSAGES
    return Fault(name="vacuum killed, sqlite", tries=tries, wrong=wrong, told="the database is whole")


def flipped_bytes(data: str, tries: int) -> Fault:
    path, wrong = Path(data) / "cloister.db", 0
    for _ in range(tries):
        before = path.read_bytes()
        at = random.choice(positions(before))
        path.write_bytes(before[:at] + bytes([before[at] ^ random.choice((1, 0x80))]) + before[at + 1 :])
        with Cloister(data) as memory:
            wrong += len(memory.check_rows().damaged) != 1
            try:
                after = None
                while page := memory.messages("s", limit=200, after=after):
                    after = page[-1].id
                wrong += 1
            except DamagedRow:
                pass
        path.write_bytes(before)
    told = "doctor names the row; a reader gets damaged_row with its id"
    return Fault(name="one bit of a text changed in the file, sqlite", tries=tries, wrong=wrong, told=told)


def positions(content: bytes) -> Sequence[int]:
    """Where texts are in the file, some hundred of them."""
    found: list[int] = []
    at = content.find(_TEXT)
    while at >= 0 and len(found) < 500:
        found.append(at)
        at = content.find(_TEXT, at + len(_TEXT))
    return found


def long_reader_at_vacuum(data: str) -> Fault:
    """How long readers wait while the database is rewritten: the longest read meanwhile."""
    with Cloister(data) as memory, Cloister(data) as other:
        longest, done = 0.0, threading.Event()

        def vacuum() -> None:
            other.vacuum()
            done.set()

        thread = threading.Thread(target=vacuum)
        began = time.monotonic()
        thread.start()
        while not done.is_set():
            longest = max(longest, timed(lambda: memory.messages("s", limit=20)))
        took = time.monotonic() - began
        thread.join()
    told = f"vacuum {took:.2f} s; the longest read meanwhile {1_000 * longest:.0f} ms, none refused"
    return Fault(name="readers during vacuum, sqlite", tries=1, wrong=0, told=told)


def constant_readers(data: str) -> list[Fault]:
    """The largest log while some 60 MB are written and there is always a reader, without the thread and with it."""
    found: list[Fault] = []
    for name, limit in (("without checkpoints", 1 << 40), ("with them", 4 << 20)):
        checkpoints.LARGE_BYTES, checkpoints.SECONDS = limit, 0.1
        told = f"cloister_wal_bytes, at most {largest_log(data) / 1e6:.0f} MB"
        found.append(Fault(name=f"100 batches under constant readers, {name}", tries=1, wrong=0, told=told))
    return found


def largest_log(data: str) -> int:
    largest, stop = 0, threading.Event()
    services = build_services(Settings(data=data))

    def read(pause: float) -> None:
        time.sleep(pause)
        while not stop.is_set():
            with services.database.read(Reach(tenant=LOCAL_TENANT)) as transaction:
                transaction.row("pool_size", pool_id=1)
                time.sleep(0.1)

    threads = [threading.Thread(target=read, args=(pause,)) for pause in (0, 0.05)]
    for thread in threads:
        thread.start()
    try:
        with Cloister(data) as memory:
            for _ in range(100):
                memory.record_batch("s", [{"role": "user", "content": WORDS}] * 100)
                largest = max(largest, services.database.maintenance.log_bytes() or 0)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        services.close()
    return largest


if __name__ == "__main__":
    main()
