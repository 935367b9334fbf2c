"""Fixtures of the tests of one interface: a running server on each engine, and a new tenant of it for each test."""

from collections.abc import Generator
from pathlib import Path
from secrets import token_hex

import pytest

from support.databases.engines import postgres_engine, sqlite_engine
from support.databases.postgres_server import PostgresServer
from support.servers.http_server import Server, Tenant, serving


@pytest.fixture(scope="session")
def sqlite_service(folder: Path) -> Generator[Server]:
    """In a directory of its own: several conftests have this fixture."""
    engine = sqlite_engine(folder / f"service-{token_hex(4)}")
    with engine.closing, serving(engine.services()) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_service(postgres_server: PostgresServer) -> Generator[Server]:
    with postgres_server.migrated_database() as url:
        engine = postgres_engine(url)
        with engine.closing, serving(engine.services()) as server:
            yield server


@pytest.fixture(params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest) -> Server:
    return request.getfixturevalue(f"{request.param}_service")


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.new_tenant()
