"""How long others wait while somebody sends what is meant to stop the server, and how much memory that holds (ISO-13).

    python benchmarks/hostile.py [--quick] [--json]

`cloister serve` runs in a process of its own, and so does a probe that asks `/livez` all the time. Each text goes through every
interface (`hostile_doors.py`); then come the attacks of those who have no key. A request that is refused is an answer too. A pause
is how long the probe waited; the first row is the same machine at rest. Where other programs compete for the processors, `work` is
the figure to read: the processor time that the server used while the probe waited, which is what the server itself makes it wait.
All of it stays on this machine, bounded in number and time.

Exits with 1 if the probe waited for more than 100 ms at p99 in a row, once got no answer, or a request got a 5xx or no answer.
"""

import argparse
import json
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

from hostile_doors import LARGEST_BODY, Asked, doors
from service import Service, serving

LONGEST = 65_536
LONGEST_PAUSE = 100.0
"""Milliseconds at p99 (ISO-13)."""
CALLERS = 4
PATIENCE = 60.0
ATTACKER = "127.0.0.9"
"""Another address of this machine than the probe's, where there is one: limits by address must not stop the probe."""
UNITS: Mapping[str, tuple[str, str]] = {
    "“<” and spaces": ("<", " "),
    "“I just just …”": ("I ", "just "),
    "U+FDFA": ("", "\ufdfa"),
    "marks that are never closed": ("", "<recalled-memory "),
    "letters": ("", "a"),
    "digits and dots": ("", "1."),
    "short lines": ("", "a\n"),
    "one-word names": ("I met ", "Ab "),
    "quotation marks": ("", "'a "),
    "Chinese": ("", "私"),
    "emoji": ("", "😀"),
    "wide spaces": ("<", "\u3000"),
    "“and I”": ("", "and I "),
    "brackets": ("", "[{"),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attack. Times are milliseconds, memory MiB; `slowest` is the longest that one of the attack's own requests took, `work`
    the p99 of the processor time that the server used while the probe waited, `unanswered` how many requests of the probe got no
    answer. `doors` has the statuses of the attack's requests by interface, 0 for no answer."""

    attack: str
    requests: int
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
    def failures(self) -> list[str]:
        failed = sum(count for status, count in self.statuses.items() if status >= 500 or status == 0)
        return [
            *([f"{self.attack}: p99 is {self.p99} ms"] if self.p99 > LONGEST_PAUSE else []),
            *([f"{self.attack}: /livez did not answer {self.unanswered} times"] if self.unanswered else []),
            *([f"{self.attack}: {failed} requests failed"] if failed else []),
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

    def take(self, door: str, status: int, seconds: float) -> None:
        self.seconds.append(seconds)
        statuses = self.doors.setdefault(door, {})
        statuses[status] = statuses.get(status, 0) + 1


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="fewer texts and connections, to see that it runs")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory, serving(Path(directory)) as service:
        rows = list(attack_all(service, quick=given.quick))
    print(json.dumps([vars(row) for row in rows], ensure_ascii=False) if given.json else readable(rows))
    failures = [failure for row in rows for failure in row.failures]
    print(*failures, sep="\n", file=sys.stderr)
    sys.exit(1 if failures else 0)


def attack_all(service: Service, *, quick: bool) -> Iterator[Row]:
    names = list(UNITS)[:3] if quick else list(UNITS)
    connections = (20, 20) if quick else (150, 500)
    with probing(service) as probe:
        yield probe.during("nothing", lambda: rest(3.0))
        for name in names:
            yield probe.during(name, lambda name=name: send_text(service, name))
        yield probe.during("all of these at once", lambda: send_together(service, names))
        yield probe.during("64 MiB of headers", lambda: send_header(service, 8 if quick else 64))
        for count in connections:
            yield probe.during(f"{count} bodies without a key", lambda count=count: hold_bodies(service, count))
        yield probe.during(f"{connections[1]} silent connections", lambda: hold_silent(service, connections[1]))
        yield probe.during("nothing again", lambda: rest(3.0))


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
            requests=len(own.seconds),
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


def send_text(service: Service, name: str) -> Sent:
    """One text through every interface, by a few callers at once, and then recalled by a session that says something else."""
    session = f"hostile {list(UNITS).index(name)}"
    call(service, Asked("messages", "POST", "/v1/sessions", {"external_id": session}))
    return together(service, list(doors(session, text_of(name))))


def send_together(service: Service, names: Sequence[str]) -> Sent:
    asked = [one for name in names for one in doors(f"hostile {list(UNITS).index(name)}", text_of(name))]
    return together(service, asked, callers=4 * CALLERS)


def text_of(name: str) -> str:
    head, unit = UNITS[name]
    return (head + unit * LONGEST)[:LONGEST]


def together(service: Service, asked: Sequence[Asked], callers: int = CALLERS) -> Sent:
    waiting = iter(asked)
    lock = threading.Lock()
    sent = Sent()

    def work() -> None:
        while True:
            with lock:
                one = next(waiting, None)
            if one is None:
                return
            status, seconds = call(service, one)
            with lock:
                sent.take(one.door, status, seconds)

    threads = [threading.Thread(target=work) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sent


def call(service: Service, asked: Asked) -> tuple[int, float]:
    """The status of the answer, 0 if there was none, and the seconds until it ended."""
    began = time.monotonic()
    text = b"" if asked.body is None else json.dumps(asked.body, ensure_ascii=False).encode()
    own = "".join(f"{name}: {value}\r\n" for name, value in asked.headers.items())
    head = (
        f"{asked.method} {asked.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.key}\r\n{own}"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    )
    said = b""
    with suppress(OSError), socket.create_connection(("127.0.0.1", service.port), PATIENCE) as asking:
        asking.settimeout(PATIENCE)
        asking.sendall(head.encode() + text)
        while part := asking.recv(65_536):
            said = said or part
    status = said[9:12]
    return int(status) if status.isdigit() else 0, time.monotonic() - began


def send_header(service: Service, mebibytes: int) -> Sent:
    """One header that goes on and on; the server may close at any time."""
    began = time.monotonic()
    with suppress(OSError), attacker(service) as sending:
        sending.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        for _ in range(mebibytes * 16):
            sending.sendall(b"a" * 65_536)
            if time.monotonic() - began > PATIENCE:
                break
    return Sent(time.monotonic() - began)


def hold_bodies(service: Service, count: int) -> Sent:
    """Connections without a key, each with nearly all of the largest body; none is ever finished."""
    head = (
        "POST /v1/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {LARGEST_BODY}\r\n\r\n"
    )
    return stored(service, count, head.encode() + b" " * (LARGEST_BODY - 1))


def hold_silent(service: Service, count: int) -> Sent:
    """Connections that say nothing at all."""
    return stored(service, count, b"")


def stored(service: Service, count: int, sent: bytes) -> Sent:
    taken: list[float] = []
    with ExitStack() as stack:
        for _ in range(count):
            began = time.monotonic()
            with suppress(OSError):
                connection = stack.enter_context(attacker(service))
                connection.settimeout(0.05)
                connection.sendall(sent)
            taken.append(time.monotonic() - began)
        rest(1.0)
        HIGHEST.append(memory(service.pid))
    return Sent(*taken)


def attacker(service: Service) -> socket.socket:
    try:
        return socket.create_connection(("127.0.0.1", service.port), 2.0, source_address=(ATTACKER, 0))
    except OSError:
        return socket.create_connection(("127.0.0.1", service.port), 2.0)


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
    names = ("requests", "slowest", "p99", "worst", "work", "unanswered", "before", "after")
    lines = [f"{'attack':<32}" + "".join(f"{name:>11}" for name in names) + "  statuses"]
    for row in rows:
        statuses = " ".join(f"{count}×{status or 'none'}" for status, count in sorted(row.statuses.items()))
        lines.append(f"{row.attack:<32}" + "".join(f"{getattr(row, name):>11}" for name in names) + f"  {statuses}")
    by_door: dict[str, Counter[int]] = {}
    for row in rows:
        for door, counts in row.doors.items():
            by_door.setdefault(door, Counter()).update(counts)
    lines += ["", "statuses by interface:"]
    lines += [
        f"{door:<12} " + " ".join(f"{count}×{status or 'none'}" for status, count in sorted(counts.items()))
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


if __name__ == "__main__":
    main()
