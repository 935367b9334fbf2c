"""How long others wait while somebody sends what is meant to stop the server, and how much memory that holds (ISO-13).

    python benchmarks/hostile.py [--quick] [--only WORDS] [--json]

`cloister serve` runs in a process of its own, and so does a probe that asks `/livez` all the time. Each text goes through every
interface (`hostile_doors.py`), and so do bodies and files of hostile structure (`hostile_structures.py`); then come the attacks of
those who have no key, and a server with a slow model, whose replies are followed while sessions move (`hostile_streams.py`).
A request that is refused is an answer, and is counted as refused, not as sent. A pause is how long the probe waited; the first row
is the same machine at rest. Where other programs compete for the processors, `work` is the figure to read: the processor time that
the server used while the probe waited, which is what the server itself makes it wait. All of it stays on this machine, bounded in
number and time. `--only` runs the attacks with these words in their names; --quick takes about a minute.

Exits with 1 if the probe waited for more than 100 ms at p99 in a row, once got no answer, or a request got a 5xx or no answer.
"""

import argparse
import json
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from hostile_doors import LARGEST_BODY, Asked, doors
from hostile_probe import CLOSED, HIGHEST, OPEN, PATIENCE, Row, Sent, memory, probing, readable, rest
from hostile_streams import during_streams, moves, new_projects, sessions, slow_model, titles
from hostile_structures import bodies, files
from service import Service, serving

LONGEST = 65_536
CALLERS = 4
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


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="fewer texts and connections, to see that it runs")
    arguments.add_argument("--only", default="", help="only the attacks with these words in their names")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    rows: list[Row] = []
    for attacks in (attacks_of_texts, attacks_of_streams):
        with ExitStack() as stack:
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="cloister-benchmark-"))
            environment: dict[str, str] = {}
            if attacks is attacks_of_streams:
                environment = {
                    "CLOISTER_MODEL_URL": stack.enter_context(slow_model(60.0)),
                    "CLOISTER_MODEL_NAME": "slow",
                }
            service = stack.enter_context(serving(Path(directory), **environment))
            probe = stack.enter_context(probing(service))
            for name, attack in attacks(service, quick=given.quick):
                if given.only in name:
                    rows.append(probe.during(name, attack))
    print(json.dumps([vars(row) for row in rows], ensure_ascii=False) if given.json else readable(rows))
    failures = [failure for row in rows for failure in row.failures]
    print(*failures, sep="\n", file=sys.stderr)
    sys.exit(1 if failures else 0)


Attack = tuple[str, Callable[[], Sent]]


def attacks_of_texts(service: Service, *, quick: bool) -> Iterator[Attack]:
    names = list(UNITS)[:3] if quick else list(UNITS)
    connections = (20, 20) if quick else (150, 500)
    yield "nothing", lambda: rest(3.0)
    for name in names:
        yield name, lambda name=name: send_text(service, name)
    yield "all of these at once", lambda: send_together(service, names)
    yield "bodies of hostile structure", lambda: send_structures(service)
    # One after the other: a tenant has one import at a time.
    yield "files of hostile structure", lambda: together(service, list(files(*([1 << 21] if quick else []))), callers=1)
    yield "64 MiB of headers", lambda: send_header(service, 8 if quick else 64)
    for count in connections:
        yield f"{count} bodies without a key", lambda count=count: hold_bodies(service, count)
    yield f"{connections[1]} silent connections", lambda: hold_silent(service, connections[1])
    yield "nothing again", lambda: rest(3.0)


def attacks_of_streams(service: Service, *, quick: bool) -> Iterator[Attack]:
    turns, followers, moved = (5, 4, 40) if quick else (40, 10, 400)
    yield "titles", lambda: send_titles(service, turns)
    yield f"{turns * (1 + followers)} streams", lambda: send_moves(service, turns, followers, 0)
    yield f"{turns * (1 + followers)} streams and moves", lambda: send_moves(service, turns, followers, moved)


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


def send_structures(service: Service) -> Sent:
    call(service, Asked("batch", "POST", "/v1/sessions", {"external_id": "structures"}))
    return together(service, list(bodies("structures")))


def send_titles(service: Service, count: int) -> Sent:
    together(service, list(sessions(range(count))), callers=1)
    return together(service, list(titles(count)))


def send_moves(service: Service, turns: int, followers: int, count: int) -> Sent:
    """Moves of one session while replies in others are followed; without moves, the same time passes."""
    used = range(1_000 * count, 1_000 * count + turns)
    together(service, list(sessions(used)), callers=1)
    projects = list(new_projects(service))
    call(service, Asked("moves", "POST", "/v1/sessions", {"external_id": "moved"}))
    sent = Sent()

    def move() -> None:
        nonlocal sent
        sent = together(service, list(moves(count, projects))) if count else rest(5.0)

    opened = during_streams(service, used, followers, move)
    for status, seconds in opened:
        sent.take("streams", status, seconds)
    return sent


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
    text = asked.encoded()
    headers = {"Content-Type": "application/json", **asked.headers}
    own = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        f"{asked.method} {asked.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.key}\r\n{own}"
        f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    )
    said = b""
    with suppress(OSError), socket.create_connection(("127.0.0.1", service.port), PATIENCE) as asking:
        asking.settimeout(PATIENCE)
        with suppress(OSError):  # it may answer before it has read all, and close
            asking.sendall(head.encode() + text)
        while part := asking.recv(65_536):
            said = said or part
    status = said[9:12]
    return int(status) if status.isdigit() else 0, time.monotonic() - began


def send_header(service: Service, mebibytes: int) -> Sent:
    """One header that goes on and on; the server may close at any time."""
    sent, began, status = Sent(), time.monotonic(), CLOSED
    with suppress(OSError), attacker(service) as sending:
        with suppress(OSError):
            sending.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
            for _ in range(mebibytes * 16):
                sending.sendall(b"a" * 65_536)
                if time.monotonic() - began > PATIENCE:
                    break
        status = state_of(sending)
    sent.take("connections", status, time.monotonic() - began)
    return sent


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


def stored(service: Service, count: int, text: bytes) -> Sent:
    sent = Sent()
    opened: list[tuple[socket.socket | None, float]] = []
    with ExitStack() as stack:
        for _ in range(count):
            began, connection = time.monotonic(), None
            with suppress(OSError):
                connection = stack.enter_context(attacker(service))
                connection.settimeout(0.05)
                connection.sendall(text)
            opened.append((connection, time.monotonic() - began))
        rest(1.0)
        HIGHEST.append(memory(service.pid))
        for connection, seconds in opened:
            sent.take("connections", CLOSED if connection is None else state_of(connection), seconds)
    return sent


def state_of(connection: socket.socket) -> int:
    """The status that the server answered on a connection, else whether it closed it."""
    connection.settimeout(0.001)
    try:
        said = connection.recv(4_096)
    except TimeoutError:
        return OPEN
    except OSError:
        return CLOSED
    return int(said[9:12]) if said[9:12].isdigit() else CLOSED


def attacker(service: Service) -> socket.socket:
    try:
        return socket.create_connection(("127.0.0.1", service.port), 2.0, source_address=(ATTACKER, 0))
    except OSError:
        return socket.create_connection(("127.0.0.1", service.port), 2.0)


if __name__ == "__main__":
    main()
