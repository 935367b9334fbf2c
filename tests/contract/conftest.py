"""`world`: two tenants of `shared_engine` that hold the same things."""

from collections.abc import Generator

import psycopg
import pytest
from psycopg import sql

from cloister.storage.interface import Database
from support.databases.engines import Engine
from support.databases.postgres_server import PostgresServer
from support.isolation.twin_tenants import World, settle_home


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
