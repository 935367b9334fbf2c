"""`server`: a running server on each engine, whose tests make tenants of their own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from engines import Engine, postgres_engine, sqlite_engine
from postgres_server import PostgresServer
from servers import Server, Tenant, serving


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Engine]:
    if request.param == "sqlite":
        made = sqlite_engine(tmp_path_factory.mktemp("events") / "data")
        with made.closing:
            yield made
        return
    databases: PostgresServer = request.getfixturevalue("postgres_server")
    with databases.migrated_database() as url:
        made = postgres_engine(url)
        with made.closing:
            yield made


@pytest.fixture(scope="module")
def server(shared_engine: Engine) -> Generator[Server]:
    with serving(shared_engine.services()) as running:
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    return server.new_tenant()


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Engine]:
    """Data of its own."""
    if request.param == "sqlite":
        made = sqlite_engine(tmp_path / "data")
    else:
        made = postgres_engine(request.getfixturevalue("migrated_postgres"))
    with made.closing:
        yield made
