"""Servers for tests that need a running one. `server` is one for all tests of a process: each makes tenants of its own."""

from collections.abc import Generator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from engines import Engine, postgres_engine, sqlite_engine
from postgres_server import PostgresServer
from servers import Server, Tenant, serving

_numbers = count(1)


@pytest.fixture(scope="session")
def folder() -> Generator[Path]:
    """In memory where there is such a place: these tests write small things often, and none of them pulls the plug."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(prefix="cloister-service-", dir=memory if memory.is_dir() else None) as made:
        yield Path(made)


@pytest.fixture(scope="session")
def shared_engine(folder: Path) -> Generator[Engine]:
    """What `server` keeps, as seen from outside."""
    made = sqlite_engine(folder / "shared")
    with made.closing:
        yield made


@pytest.fixture(scope="session")
def server(shared_engine: Engine) -> Generator[Server]:
    with serving(shared_engine.services()) as running:
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.new_tenant()


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def either_server(request: pytest.FixtureRequest) -> Generator[Server]:
    """The same on each engine."""
    if request.param == "sqlite":
        yield request.getfixturevalue("server")
        return
    databases: PostgresServer = request.getfixturevalue("postgres_server")
    with databases.migrated_database() as url:
        engine = postgres_engine(url)
        with engine.closing, serving(engine.services()) as running:
            yield running


@pytest.fixture
def data(folder: Path) -> Path:
    """A directory that is not there yet."""
    return folder / f"data-{next(_numbers)}"


@pytest.fixture
def engine(data: Path) -> Generator[Engine]:
    """Data of its own, for tests that bring their own clock or limits."""
    made = sqlite_engine(data)
    with made.closing:
        yield made
