"""`engine`: a fresh database of each engine, for tests that open it more than once or look at its rows from outside.

`shared_engine` is one for all tests of a module that make tenants of their own; `world` is two such tenants.
"""

from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from cloister.storage.interface import Database
from engines import Engine, postgres_engine, sqlite_engine
from postgres_server import PostgresServer
from twin_tenants import World, settle_home


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


@pytest.fixture
def login(postgres_server: PostgresServer, empty_postgres: str) -> Generator[str]:
    """A login that may do nothing but connect to the empty database."""
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        name = f"login_of_{connection.info.dbname}"
        role = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        yield name
        connection.execute(sql.SQL("DROP OWNED BY {}").format(role))
    postgres_server.run(sql.SQL("DROP ROLE {}").format(role))


@pytest.fixture(scope="module")
def shared_database(shared_engine: Engine) -> Generator[Database]:
    """Opened once: a pool of connections takes longer to open than most tests to run."""
    database = shared_engine.open()
    yield database
    database.close()


@pytest.fixture
def world(shared_engine: Engine, shared_database: Database) -> World:
    database = shared_database
    return World(engine=shared_engine, database=database, ours=settle_home(database), theirs=settle_home(database))
