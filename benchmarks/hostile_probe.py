"""The probe of `hostile.py`, which asks `/livez` in another process while an attack is under way, and the row that comes of it."""

import multiprocessing
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

from service import Service

LONGEST_PAUSE = 100.0
"""Milliseconds at p99 (ISO-13)."""
PATIENCE = 60.0
REFUSED = ("64 MiB of headers", "bodies of hostile structure")
OPEN, CLOSED = 1, 2
NAMES: Mapping[int, str] = {0: "none", OPEN: "open", CLOSED: "closed"}
"""What became of a connection on which no whole request was sent, and how it is printed."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attack. Times are milliseconds, memory MiB; `slowest` is the longest that one of the attack's own requests took, `work`
    the p99 of the processor time that the server used while the probe waited, `unanswered` how many requests of the probe got no
    answer. `sent` are the requests that did what they asked for, and the connections that stayed open, `refused` the others.
    `doors` has the statuses of the attack's requests by interface, 0 for no answer."""

    attack: str
    sent: int
    refused: int
    slowest: float
    p99: float
    worst: float
    work: float
    unanswered: int
    before: float
    after: float
    doors: Mapping[str, Mapping[int, int]]

    @property
    def statuses(self) -> Counter[int]:
        return sum((Counter(counts) for counts in self.doors.values()), Counter[int]())

    @property
    def is_refused(self) -> bool:
        """Whether all of the attack is meant to be refused."""
        return self.attack.startswith(REFUSED) or "without a key" in self.attack

    @property
    def failures(self) -> list[str]:
        failed = sum(count for status, count in self.statuses.items() if status >= 500 or status == 0)
        return [
            *([f"{self.attack}: p99 is {self.p99} ms"] if self.p99 > LONGEST_PAUSE else []),
            *([f"{self.attack}: /livez did not answer {self.unanswered} times"] if self.unanswered else []),
            *([f"{self.attack}: {failed} requests failed"] if failed else []),
            *([f"{self.attack}: nothing was sent"] if self.refused and not self.sent and not self.is_refused else []),
        ]


class Waited(NamedTuple):
    """How long the probe waited for an answer, and how long the server worked meanwhile, on all its threads together."""

    seconds: float
    work: float
    answered: bool


class Sent:
    """What an attack sent: how long each request took, and with which status it was answered, by interface."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = list(seconds)
        self.doors: dict[str, dict[int, int]] = {}

    @property
    def accepted(self) -> int:
        return sum(
            count
            for statuses in self.doors.values()
            for status, count in statuses.items()
            if 200 <= status < 400 or status == OPEN
        )

    def take(self, door: str, status: int, seconds: float) -> None:
        self.seconds.append(seconds)
        statuses = self.doors.setdefault(door, {})
        statuses[status] = statuses.get(status, 0) + 1


class Probe:
    """Reads what the probe's process wrote down: how long each request for `/livez` took, and whether it was answered."""

    def __init__(self, service: Service, taken: "multiprocessing.SimpleQueue[Waited]") -> None:
        self._service = service
        self._taken = taken

    def during(self, name: str, attack: Callable[[], Sent]) -> Row:
        """Memory is looked at while what the attack opened is still open: `attack` is asked to do so by its own means."""
        while not self._taken.empty():
            self._taken.get()
        before = memory(self._service.pid)
        own = attack()
        rest(0.2)
        probes: list[Waited] = []
        while not self._taken.empty():
            probes.append(self._taken.get())
        waited = sorted(probe.seconds * 1_000 for probe in probes)
        worked = sorted(probe.work * 1_000 for probe in probes)
        return Row(
            attack=name,
            sent=own.accepted,
            refused=sum(map(sum, (statuses.values() for statuses in own.doors.values()))) - own.accepted,
            slowest=round(max(own.seconds, default=0.0) * 1_000),
            work=round(p99_of(worked), 1),
            unanswered=sum(not probe.answered for probe in probes),
            doors=own.doors,
            p99=round(p99_of(waited), 1),
            worst=round(waited[-1], 1),
            before=round(before),
            after=round(max(memory(self._service.pid), HIGHEST.pop() if HIGHEST else 0.0)),
        )


def p99_of(ordered: Sequence[float]) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


HIGHEST: list[float] = []
"""Memory while connections were held, noted by the attack that held them."""


@contextmanager
def probing(service: Service) -> Generator[Probe]:
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    taken: multiprocessing.SimpleQueue[Waited] = context.SimpleQueue()
    process = context.Process(target=ask_livez, args=(service, stop, taken), daemon=True)
    process.start()
    try:
        while taken.empty():
            rest(0.05)
        yield Probe(service, taken)
    finally:
        stop.set()
        while process.is_alive():
            while not taken.empty():
                taken.get()
            process.join(0.05)


def ask_livez(service: Service, stop: Event, taken: "multiprocessing.SimpleQueue[Waited]") -> None:
    """Every few milliseconds. A connection that the server closed between two requests is opened again, which counts as waiting; a
    request without an answer is a failure, however soon that was known."""
    asking: socket.socket | None = None
    while not stop.is_set():
        began, before, answered = time.monotonic(), processor_time(service.pid), False
        for _ in range(1 if asking is None else 2):
            try:
                asking = asking or socket.create_connection(("127.0.0.1", service.port), PATIENCE)
                asking.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                answered = asking.recv(4_096).startswith(b"HTTP/1.1 200")
            except OSError:
                answered = False
            if answered:
                break
            if asking is not None:
                asking.close()
            asking = None
        seconds = time.monotonic() - began
        taken.put(Waited(seconds, processor_time(service.pid) - before, answered))
        time.sleep(0.003)


def memory(pid: int) -> float:
    """The resident memory of the server, in MiB."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    return int(said) / 1_024


def processor_time(pid: int) -> float:
    """The seconds that all threads of a process have run, to the nanosecond where the system says it; 0 where it does not."""
    total = 0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has ended
            total += int(task.read_text().split()[0])
    return total / 1e9


def rest(seconds: float) -> Sent:
    time.sleep(seconds)
    return Sent()


def readable(rows: Sequence[Row]) -> str:
    names = ("sent", "refused", "slowest", "p99", "worst", "work", "unanswered", "before", "after")
    lines = [f"{'attack':<32}" + "".join(f"{name:>11}" for name in names) + "  statuses"]
    for row in rows:
        statuses = " ".join(f"{count}×{NAMES.get(status, status)}" for status, count in sorted(row.statuses.items()))
        lines.append(f"{row.attack:<32}" + "".join(f"{getattr(row, name):>11}" for name in names) + f"  {statuses}")
    by_door: dict[str, Counter[int]] = {}
    for row in rows:
        for door, counts in row.doors.items():
            by_door.setdefault(door, Counter()).update(counts)
    lines += ["", "statuses by interface:"]
    lines += [
        f"{door:<12} " + " ".join(f"{count}×{NAMES.get(status, status)}" for status, count in sorted(counts.items()))
        for door, counts in by_door.items()
    ]
    silent = next((row for row in rows if row.attack.endswith("silent connections")), None)
    if silent is not None:
        lines += ["", f"{silent.attack} hold {max(silent.after - silent.before, 0):.0f} MiB"]
    attacks = [row for row in rows if not row.attack.startswith("nothing")]
    lines.append(
        f"worst pause of /livez {max(row.worst for row in attacks)} ms, worst p99 {max(row.p99 for row in attacks)} ms"
    )
    return "\n".join(lines)
