"""Libraries on each engine and at a server; every test uses users of its own."""

from collections.abc import Callable, Generator
from itertools import count
from pathlib import Path

import pytest

from cloister import Cloister
from support.databases.engines import Engine, opened_engine
from support.servers.http_server import Server, serving

NewUser = Callable[[], str]


@pytest.fixture(scope="session")
def new_user() -> NewUser:
    numbers = count()
    return lambda: f"user-{next(numbers)}"


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, folder: Path) -> Generator[Engine]:
    with opened_engine(request.param, folder / "adapters", lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture(scope="session")
def embedded(folder: Path) -> Generator[Cloister]:
    with Cloister(folder / "adapters-alone") as memory:
        yield memory


@pytest.fixture(scope="session")
def server(engine: Engine) -> Generator[Server]:
    with serving(engine.services()) as running:
        yield running


@pytest.fixture(scope="session")
def memory(server: Server) -> Generator[Cloister]:
    """The library at a server, whose tenant is new."""
    tenant = server.new_tenant()
    with Cloister(server.address, key=tenant.key) as remote:
        yield remote
