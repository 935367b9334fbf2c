"""`engine`: a fresh database of each engine, for tests that open it more than once or look at its rows from outside.

`shared_engine` is one for all tests of a module that make tenants of their own.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from engines import Engine, postgres_engine, sqlite_engine
from postgres_server import PostgresServer


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Engine]:
    if request.param == "sqlite":
        made = sqlite_engine(tmp_path / "data")
    else:
        made = postgres_engine(request.getfixturevalue("migrated_postgres"))
    with made.closing:
        yield made


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Engine]:
    if request.param == "sqlite":
        made = sqlite_engine(tmp_path_factory.mktemp("shared") / "data")
        with made.closing:
            yield made
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.migrated_database() as url:
        made = postgres_engine(url)
        with made.closing:
            yield made
