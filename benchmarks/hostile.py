"""How long others wait while somebody sends what is meant to stop the server, and how much memory that holds (ISO-13).

    python benchmarks/hostile.py [--quick] [--json]

`cloister serve` runs in a process of its own, and so does a probe that asks `/livez` all the time. Each text goes through every way
in: messages, batches, queries of context and search, extraction, memories, chat, OpenAI front; then come the attacks of those
who have no key. A request that is refused is an answer too. A pause is how long the probe waited; the first row is the
same machine at rest. All of it stays on this machine, bounded in number and time.
"""

import argparse
import json
import multiprocessing
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from service import Service, serving

LONGEST = 65_536
LARGEST_BODY = 1 << 20
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
    """One attack. Times are milliseconds, memory MiB; `slowest` is the longest that one of the attack's own requests took."""

    attack: str
    requests: int
    slowest: float
    p99: float
    worst: float
    before: float
    after: float


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="fewer texts and connections, to see that it runs")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory, serving(Path(directory)) as service:
        rows = list(attack_all(service, quick=given.quick))
    print(json.dumps([vars(row) for row in rows], ensure_ascii=False) if given.json else readable(rows))


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
    """Reads what the probe's process wrote down: when each request for `/livez` began, and how long it took."""

    def __init__(self, service: Service, taken: "multiprocessing.SimpleQueue[tuple[float, float]]") -> None:
        self._service = service
        self._taken = taken

    def during(self, name: str, attack: Callable[[], Sequence[float]]) -> Row:
        """Memory is looked at while what the attack opened is still open: `attack` is asked to do so by its own means."""
        while not self._taken.empty():
            self._taken.get()
        before = memory(self._service.pid)
        own = attack()
        rest(0.2)
        waited: list[float] = []
        while not self._taken.empty():
            waited.append(self._taken.get()[1] * 1_000)
        waited.sort()
        return Row(
            attack=name,
            requests=len(own),
            slowest=round(max(own, default=0.0) * 1_000),
            p99=round(waited[min(len(waited) - 1, int(len(waited) * 0.99))], 1),
            worst=round(waited[-1], 1),
            before=round(before),
            after=round(max(memory(self._service.pid), HIGHEST.pop() if HIGHEST else 0.0)),
        )


HIGHEST: list[float] = []
"""Memory while connections were held, noted by the attack that held them."""


@contextmanager
def probing(service: Service) -> Generator[Probe]:
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    taken: multiprocessing.SimpleQueue[tuple[float, float]] = context.SimpleQueue()
    process = context.Process(target=ask_livez, args=(service.port, stop, taken), daemon=True)
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


def ask_livez(port: int, stop: Event, taken: "multiprocessing.SimpleQueue[tuple[float, float]]") -> None:
    """Every few milliseconds; a connection that was closed is opened again, and that counts as waiting."""
    asking: socket.socket | None = None
    while not stop.is_set():
        began = time.monotonic()
        try:
            if asking is None:
                asking = socket.create_connection(("127.0.0.1", port), PATIENCE)
            asking.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if not asking.recv(4_096):
                raise ConnectionError
        except OSError:
            if asking is not None:
                asking.close()
            asking = None
        taken.put((began, time.monotonic() - began))
        time.sleep(0.003)


def send_text(service: Service, name: str) -> list[float]:
    """One text through every way in, by a few callers at once, and then recalled by somebody who wrote something else."""
    text = text_of(name)
    session = f"hostile {list(UNITS).index(name)}"
    asked = [request for way in ways(session, text) for request in way]
    call(service, "POST", "/v1/sessions", {"external_id": session})
    return together(service, asked)


def send_together(service: Service, names: Sequence[str]) -> list[float]:
    asked = [
        request
        for name in names
        for way in ways(f"hostile {list(UNITS).index(name)}", text_of(name))
        for request in way
    ]
    return together(service, asked, callers=4 * CALLERS)


def text_of(name: str) -> str:
    head, unit = UNITS[name]
    return (head + unit * LONGEST)[:LONGEST]


Asked = tuple[str, str, Any]


def ways(session: str, text: str) -> Iterator[list[Asked]]:
    path = f"/v1/sessions/{session.replace(' ', '%20')}"
    message = {"role": "user", "content": text}
    size = len(json.dumps(message, ensure_ascii=False).encode()) + 2
    batch = {"messages": [message] * max(1, (LARGEST_BODY - 100) // size)}
    yield [("POST", f"{path}/messages", message)] * 4
    yield [("POST", f"{path}/messages/batch", batch)] * 2
    yield [("POST", f"{path}/messages/batch", {"messages": [message, {"role": "assistant", "content": text}]})]
    yield [("POST", "/v1/context", {"session_id": session, "query": text})] * 2
    yield [("POST", "/v1/context", {"session_id": session})] * 2
    yield [("POST", "/v1/search", {"session_id": session, "query": text})] * 2
    yield [("POST", "/v1/search", {"session_id": session, "query": "What was said?", "limit": 200})]
    yield [("POST", f"{path}/extract", None)]
    yield [("POST", "/v1/memories", {"session_id": session, "contents": [text[:2_000]] * 20})]
    asked = {"id": "1", "role": "user", "parts": [{"type": "text", "text": text}]}
    yield [("POST", "/v1/chat/stream", {"id": session, "messages": [asked]})]
    completion = {"model": "any", "messages": [message], "metadata": {"session_id": session}}
    yield [("POST", "/v1/chat/completions", completion)]
    yield [("POST", "/v1/embeddings", {"model": "any", "input": text})]


def together(service: Service, asked: Sequence[Asked], callers: int = CALLERS) -> list[float]:
    waiting = iter(asked)
    lock = threading.Lock()
    taken: list[float] = []

    def work() -> None:
        while True:
            with lock:
                one = next(waiting, None)
            if one is None:
                return
            seconds = call(service, *one)
            with lock:
                taken.append(seconds)

    threads = [threading.Thread(target=work) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def call(service: Service, method: str, path: str, body: Any) -> float:
    """Seconds until the answer ended, whatever it was."""
    began = time.monotonic()
    text = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    )
    with suppress(OSError), socket.create_connection(("127.0.0.1", service.port), PATIENCE) as asking:
        asking.settimeout(PATIENCE)
        asking.sendall(head.encode() + text)
        while asking.recv(65_536):
            pass
    return time.monotonic() - began


def send_header(service: Service, mebibytes: int) -> list[float]:
    """One header that goes on and on; the server may close at any time."""
    began = time.monotonic()
    with suppress(OSError), attacker(service) as sending:
        sending.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        for _ in range(mebibytes * 16):
            sending.sendall(b"a" * 65_536)
            if time.monotonic() - began > PATIENCE:
                break
    return [time.monotonic() - began]


def hold_bodies(service: Service, count: int) -> list[float]:
    """Connections without a key, each with nearly all of the largest body; none is ever finished."""
    head = (
        "POST /v1/context HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {LARGEST_BODY}\r\n\r\n"
    )
    return stored(service, count, head.encode() + b" " * (LARGEST_BODY - 1))


def hold_silent(service: Service, count: int) -> list[float]:
    """Connections that say nothing at all."""
    return stored(service, count, b"")


def stored(service: Service, count: int, sent: bytes) -> list[float]:
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
    return taken


def attacker(service: Service) -> socket.socket:
    try:
        return socket.create_connection(("127.0.0.1", service.port), 2.0, source_address=(ATTACKER, 0))
    except OSError:
        return socket.create_connection(("127.0.0.1", service.port), 2.0)


def memory(pid: int) -> float:
    """The resident memory of the server, in MiB."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    return int(said) / 1_024


def rest(seconds: float) -> list[float]:
    time.sleep(seconds)
    return []


def readable(rows: Sequence[Row]) -> str:
    names = ("requests", "slowest", "p99", "worst", "before", "after")
    lines = [f"{'attack':<32}" + "".join(f"{name:>10}" for name in names)]
    lines += [f"{row.attack:<32}" + "".join(f"{getattr(row, name):>10}" for name in names) for row in rows]
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
