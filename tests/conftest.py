"""Databases for tests: real SQLite and real PostgreSQL. `database` and `engine` run a test on both.

`engine` is a fresh one, for tests that open it more than once or look at its rows from outside; `shared_engine` is one for all
tests of a module that make tenants of their own. A folder whose tests need less has its own under the same names.
"""

import os
from collections.abc import Generator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from subprocess import SubprocessError

import hypothesis
import pytest

from cloister.storage.interface import Database
from cloister.storage.postgres.database import PostgresDatabase, open_postgres
from cloister.storage.sqlite.database import SqliteDatabase, open_sqlite
from support.databases.engines import Engine, opened_engine
from support.databases.folders import quick_folder
from support.databases.pgbouncer import as_asked, is_installed, through_pooler
from support.databases.postgres_server import PostgresServer, run_and_worker, running_server

_numbers = count(1)
# Their tests run a third time, on PostgreSQL through a pgbouncer in transaction mode.
ALSO_POOLED = ("test_transactions", "test_erasing_users")
# A deadline would be an assertion about the speed of the machine.
hypothesis.settings.register_profile("without deadline", parent=hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("without deadline")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A mark of the test takes precedence over the parameters of the fixture."""
    if metafunc.definition.path.stem not in ALSO_POOLED:
        return
    marked = {str(mark.args[0]) for mark in metafunc.definition.iter_markers("parametrize")}
    for name in ({"engine", "shared_engine", "database"} & set(metafunc.fixturenames)) - marked:
        kinds = pytest.mark.parametrize(name, ["sqlite", "postgres", "pgbouncer"], indirect=True)
        metafunc.definition.add_marker(kinds)


@pytest.fixture(scope="session")
def pgbouncer_program() -> None:
    """A missing pgbouncer skips at a desk and fails in CI."""
    if not is_installed():
        if os.environ.get("CI"):
            pytest.fail("CI needs a real pgbouncer: apt-get install pgbouncer")
        pytest.skip("no pgbouncer here: apt-get install pgbouncer")


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    """A missing PostgreSQL skips at a desk and fails in CI."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(running_server(*run_and_worker()))
        except (ImportError, OSError, RuntimeError, SubprocessError) as error:
            if os.environ.get("CI"):
                pytest.fail(f"CI needs a real PostgreSQL: {error!r}")
            pytest.skip(f"no PostgreSQL here: {error!r}")
        yield server


def _needed(request: pytest.FixtureRequest) -> None:
    if request.param == "pgbouncer":
        request.getfixturevalue("pgbouncer_program")


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Engine]:
    _needed(request)
    with opened_engine(request.param, tmp_path / "data", lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Engine]:
    _needed(request)
    data = tmp_path_factory.mktemp("shared") / "data"
    with opened_engine(request.param, data, lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


@pytest.fixture(scope="session")
def folder() -> Generator[Path]:
    with quick_folder() as made:
        yield made


@pytest.fixture
def data(folder: Path) -> Path:
    """A directory that is not there yet."""
    return folder / f"data-{next(_numbers)}"


@pytest.fixture
def empty_postgres(postgres_server: PostgresServer) -> Generator[str]:
    """The URL of a database without any table."""
    with postgres_server.empty_database() as url:
        yield url


@pytest.fixture
def migrated_postgres(postgres_server: PostgresServer) -> Generator[str]:
    """The URL of a database that is ready for use, with its owner's rights."""
    with postgres_server.migrated_database() as url:
        yield url


@pytest.fixture
def postgres_database(migrated_postgres: str) -> Generator[PostgresDatabase]:
    database = open_postgres(as_asked(migrated_postgres))
    yield database
    database.close()


@pytest.fixture
def pgbouncer_database(migrated_postgres: str, pgbouncer_program: None) -> Generator[PostgresDatabase]:
    del pgbouncer_program
    database = open_postgres(through_pooler(migrated_postgres))
    yield database
    database.close()


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Generator[SqliteDatabase]:
    database = open_sqlite(tmp_path / "data")
    yield database
    database.close()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Database:
    return request.getfixturevalue(f"{request.param}_database")
