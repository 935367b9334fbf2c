"""Kills of a server on SQLite, of one of two servers on PostgreSQL, and of PostgreSQL, while clients write, read and chat.

    python benchmarks/faults_kills.py [--tries 20] [--only WORDS] [--json]

Every kill is SIGKILL at a moment that the clients do not choose, after a few more acknowledged writes. The clients repeat what a
client repeats by itself; `reordered` counts acknowledged writes of one writer that are stored before an earlier one of it. Exit
code 1 if anything acknowledged was lost, stored twice or stored in another order, or if a request failed for good.
"""

# ruff: noqa: E402 - the means are those of the tests, which have to be on the path first

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

# This folder has an `http.py`, which would hide the standard library's.
sys.path[0] = str(Path(__file__).resolve().parent.parent / "tests")

from support.clients.chat_client import words
from support.clients.persistent_clients import SESSION, PersistentClients
from support.databases.own_postgres import own_postgres
from support.servers.fake_endpoint import FakeEndpoint, fake_endpoint
from support.servers.fleets import Fleet, fleet
from support.servers.http_server import Server, postgres_address

_WRITES = 5
# A server starts again in seconds, and PostgreSQL may take longer to recover.
_ATTEMPTS = 1_000


@dataclass(kw_only=True)
class Row:
    """`told` says what clients were told, and how often; `failed` is what a client would not repeat."""

    fault: str
    tries: int
    acknowledged: int = 0
    chats: int = 0
    lost: int = 0
    duplicated: int = 0
    reordered: int = 0
    inconsistent: int = 0
    failed: list[str] = field(default_factory=list[str])
    told: Counter[str] = field(default_factory=Counter[str])

    @property
    def is_wrong(self) -> bool:
        return bool(self.lost or self.duplicated or self.reordered or self.inconsistent or self.failed)


def killed_on_sqlite(tries: int) -> Row:
    with (
        tempfile.TemporaryDirectory(prefix="cloister-faults-") as directory,
        model() as endpoint,
        fleet(str(Path(directory) / "data"), endpoint, count=1) as (processes, server),
    ):
        return killed("SQLite: the server killed", tries, clients_of(server), lambda _: processes.kill(0))


def killed_on_postgres(tries: int) -> Row:
    with (
        own_postgres() as postgres,
        model() as endpoint,
        fleet(postgres_address(postgres.url), endpoint) as (processes, server),
    ):
        name = "PostgreSQL: one of two servers killed"
        clients = clients_of(server, waits_for_turns=True)
        return killed(name, tries, clients, lambda number: processes.kill(number % 2))


def killed_postgres(tries: int) -> Row:
    with (
        own_postgres() as postgres,
        model() as endpoint,
        fleet(postgres_address(postgres.url), endpoint) as (processes, server),
    ):

        def kill(_: int) -> None:
            postgres.kill()
            postgres.start()
            wait_until_ready(processes)

        return killed("PostgreSQL itself killed", tries, clients_of(server, waits_for_turns=True), kill)


ROWS = (killed_on_sqlite, killed_on_postgres, killed_postgres)


def killed(fault: str, tries: int, clients: PersistentClients, kill: Callable[[int], None]) -> Row:
    with clients.running():
        for number in range(tries):
            clients.wait_for(writes=_WRITES)
            kill(number)
        clients.wait_for(writes=_WRITES, chats=1)
    return Row(
        fault=fault,
        tries=tries,
        acknowledged=len(clients.acknowledged),
        chats=len(clients.chats),
        lost=len(clients.lost()),
        duplicated=len(clients.duplicated()),
        reordered=len(clients.reordered()),
        inconsistent=len(clients.inconsistent()),
        failed=clients.failed,
        told=clients.told,
    )


def clients_of(server: Server, *, waits_for_turns: bool = False) -> PersistentClients:
    tenant = server.new_tenant()
    tenant.new_session(SESSION)
    return PersistentClients(tenant, attempts=_ATTEMPTS, waits_for_turns=waits_for_turns)


def wait_until_ready(processes: Fleet) -> None:
    for process in processes.processes:
        while process.server.nobody.get("/readyz").status_code != 200:
            time.sleep(0.1)


@contextmanager
def model() -> Generator[FakeEndpoint]:
    """Takes a moment for each word, so that there is mostly a reply that can be cut."""
    with fake_endpoint() as endpoint:
        answer = words("One ", "two ", "three ", "four.")
        endpoint.answers(type(answer)(pieces=answer.pieces, headers=answer.headers, pause=lambda: time.sleep(0.02)))
        yield endpoint


def table(rows: list[Row]) -> str:
    lines = [
        "fault | tries | acknowledged | replies | lost | duplicated | reordered | inconsistent | what callers were told"
    ]
    for row in rows:
        told = ", ".join(f"{what} {count}" for what, count in row.told.most_common())
        numbers = (row.tries, row.acknowledged, row.chats, row.lost, row.duplicated, row.reordered, row.inconsistent)
        lines.append(" | ".join([row.fault, *map(str, numbers), told]))
        lines += [f"  failed: {each}" for each in row.failed]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--only", default="", help="run the functions whose names contain these words")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = [rows(given.tries) for rows in ROWS if given.only in rows.__name__]
    print(json.dumps([asdict(row) for row in found]) if given.json else table(found))
    return int(any(row.is_wrong for row in found))


if __name__ == "__main__":
    sys.exit(main())
