"""`memory`: a new Cloister through one of the ways in. Behind a server it is a new tenant, and the server goes on."""

from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest

from cloister import Cloister
from cloister.bootstrap import wire
from support.clients.command_line import CommandLine
from support.clients.entry_points import ALL, EMBEDDED, through
from support.clients.library_over_commands import OverCommands
from support.databases.engines import EMBEDDER, exact_index, opened_engine
from support.databases.postgres_server import PostgresServer
from support.servers.http_server import Server
from support.servers.pairs import serving_as_chosen


@pytest.fixture(scope="session")
def sqlite_service(folder: Path) -> Generator[Server]:
    yield from running("sqlite", folder)


@pytest.fixture(scope="session")
def postgres_service(folder: Path, postgres_server: PostgresServer) -> Generator[Server]:
    yield from running("postgres", folder, postgres_server)


def running(kind: str, folder: Path, *servers: PostgresServer) -> Generator[Server]:
    with (
        opened_engine(kind, folder / "interaction", lambda: servers[0]) as engine,
        serving_as_chosen(engine, engine.services) as server,
    ):
        yield server


@pytest.fixture(params=ALL)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Cloister]:
    way: str = request.param
    if way == "commands-directory":
        yield cast(Cloister, OverCommands(CommandLine(data=str(tmp_path / "data"))))
        return
    engine = "postgres" if "postgres" in way else "sqlite"
    if way in EMBEDDED:
        database = request.getfixturevalue(f"{engine}_database")
        yield Cloister(services=wire(database, index=exact_index(), embedder=EMBEDDER))
        return
    server: Server = request.getfixturevalue(f"{engine}_service")
    with through(way, server.new_tenant()) as memory:
        yield memory
