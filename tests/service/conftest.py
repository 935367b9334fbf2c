"""Servers for tests that need a running one. `server` is one for all tests of a process: each makes tenants of its own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from support.databases.engines import Engine, opened_engine, sqlite_engine
from support.servers.http_server import Server, Tenant, serving


@pytest.fixture(scope="session")
def shared_engine(folder: Path) -> Generator[Engine]:
    """What `server` keeps, as seen from outside."""
    made = sqlite_engine(folder / "service")
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
def either_engine(request: pytest.FixtureRequest, folder: Path) -> Generator[Engine]:
    """What `either_server` keeps."""
    if request.param == "sqlite":
        yield request.getfixturevalue("shared_engine")
        return
    with opened_engine("postgres", folder, lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture(scope="session")
def either_server(request: pytest.FixtureRequest, either_engine: Engine) -> Generator[Server]:
    """The same on each engine."""
    if either_engine.name == "sqlite":
        yield request.getfixturevalue("server")
        return
    with serving(either_engine.services()) as running:
        yield running


@pytest.fixture
def engine(data: Path) -> Generator[Engine]:
    """Data of its own, for tests that bring their own clock or limits."""
    made = sqlite_engine(data)
    with made.closing:
        yield made
