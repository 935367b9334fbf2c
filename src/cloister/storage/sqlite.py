"""SQLite through APSW: WAL, full synchronisation, one writer thread with group commit, a connection for each reader."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

import apsw

from cloister.domain.errors import (
    Closed,
    StorageBusy,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from cloister.domain.scope import Reach
from cloister.storage import migrate
from cloister.storage.group_commit import GroupCommit, Together
from cloister.storage.interface import Row, Transaction, Value
from cloister.storage.queries import load_queries, split_queries

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
DATABASE_FILE = "cloister.db"
BUSY_MILLISECONDS = 15_000
_CHECKPOINT_PAGES = 4_000
_SCRUB_MILLISECONDS = 200


def open_sqlite(directory: Path) -> "SqliteDatabase":
    """Open or create the database of a data directory, and bring its schema up to date."""
    if directory.is_file():
        raise StorageUnavailable(
            f"{directory} is a file, and a data directory is wanted. A backup is opened from a directory of its own, "
            f"as {DATABASE_FILE}."
        )
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(f"The data directory {directory} cannot be created: {error.strerror}.") from error
    path = directory / DATABASE_FILE
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise StorageReadOnly(f"{directory} cannot be written by this user: check its owner and mode.")
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise StorageReadOnly(f"{path} cannot be written: {error.strerror}.") from error
    try:
        connection = _connect(path)
        _migrate(connection)
    except apsw.Error as error:
        raise translated(error) from error
    return SqliteDatabase(path, connection)


class SqliteDatabase:
    """One file; any number of threads and processes."""

    embedded = True

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self._path = path
        self._queries, self._unscoped_queries = split_queries(load_queries(postgres=False))
        self._write_connection = connection
        self._writer = GroupCommit(_WriteConnection(connection))
        self._readers: deque[apsw.Connection] = deque()
        self._closed = False

    def read(self, reach: Reach) -> AbstractContextManager[Transaction]:
        return _Reading(self, reach)

    def write(self, reach: Reach, work: Callable[[Transaction], T]) -> T:
        transaction = _SqliteTransaction(self._write_connection, self._queries, reach)
        return self._writer.run(lambda: work(transaction))

    def write_together(
        self,
        items: Sequence[tuple[Reach, A]],
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]],
    ) -> list[T | BaseException]:
        return self._writer.run_together([(item, self._together(reach, prepare, work)) for reach, item in items])

    def _together(
        self,
        reach: Reach,
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]],
    ) -> Together[A, B, T]:
        transaction = _SqliteTransaction(self._write_connection, self._queries, reach)
        return Together((reach, work), prepare, lambda items: work(transaction, items))

    @property
    def maintenance(self) -> "SqliteMaintenance":
        return SqliteMaintenance(self)

    def close(self) -> None:
        self._closed = True
        self._writer.close()
        while self._readers:
            self._readers.pop().close()

    def lend_reader(self) -> apsw.Connection:
        if self._closed:
            raise Closed
        try:
            return self._readers.pop()
        except IndexError:
            return self._new_reader()

    def _new_reader(self) -> apsw.Connection:
        try:
            connection = _connect(self._path)
            connection.pragma("query_only", True)
        except apsw.Error as error:
            raise translated(error) from error
        return connection

    def return_reader(self, connection: apsw.Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._readers.append(connection)

    def run_unscoped(self, work: Callable[[apsw.Connection], T]) -> T:
        return self._writer.run(lambda: work(self._write_connection))

    def unscoped_query(self, name: str) -> str:
        return self._unscoped_queries[name]


class _SqliteTransaction:
    __slots__ = ("_bound", "_connection", "_queries", "reach")

    def __init__(self, connection: apsw.Connection, queries: Mapping[str, str], reach: Reach) -> None:
        self._connection = connection
        self._queries = queries
        self._bound: dict[str, Value] = {"tenant_id": reach.tenant, "confined_to": reach.confined_to}
        self.reach = reach

    def rows(self, query: str, **parameters: Value) -> list[Row]:
        return self._cursor(query, parameters).fetchall()

    def row(self, query: str, **parameters: Value) -> Row | None:
        return next(self._cursor(query, parameters), None)

    def stream(self, query: str, **parameters: Value) -> Iterator[Row]:
        return self._cursor(query, parameters)

    def execute(self, query: str, **parameters: Value) -> int:
        self._cursor(query, parameters)
        return self._connection.changes()

    def execute_each(self, query: str, parameters: Sequence[dict[str, Value]]) -> None:
        for each in parameters:
            each.update(self._bound)
        self._connection.executemany(self._queries[query], parameters)

    def _cursor(self, query: str, parameters: dict[str, Value]) -> Any:
        parameters.update(self._bound)
        return self._connection.execute(self._queries[query], parameters)


class _Reading:
    """A read snapshot on a borrowed connection."""

    __slots__ = ("_connection", "_database", "_reach")

    def __init__(self, database: SqliteDatabase, reach: Reach) -> None:
        self._database = database
        self._reach = reach

    def __enter__(self) -> Transaction:
        self._connection = self._database.lend_reader()
        try:
            self._connection.execute("BEGIN")
        except apsw.Error as error:
            self._connection.close()
            raise translated(error) from error
        return _SqliteTransaction(self._connection, self._database._queries, self._reach)  # pyright: ignore[reportPrivateUsage]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except apsw.Error:
            self._connection.close()
        else:
            self._database.return_reader(self._connection)
        if isinstance(error, apsw.Error):
            raise translated(error) from error


class _WriteConnection:
    """The write connection as group commit uses it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute

    def begin(self) -> None:
        try:
            self._execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            raise translated(error) from error

    def commit(self) -> None:
        try:
            self._execute("COMMIT")
        except apsw.Error as error:
            raise translated(error) from error

    def abandon(self) -> None:
        if self._connection.in_transaction:
            self._execute("ROLLBACK")

    def attempt(self, work: Callable[[Any], Any], item: Any) -> Any:
        self._execute("SAVEPOINT job")
        try:
            result = work(item)
        except BaseException as error:
            if self._connection.in_transaction:
                self._execute("ROLLBACK TO job")
                self._execute("RELEASE job")
            if isinstance(error, apsw.Error):
                raise translated(error) from error
            raise
        self._execute("RELEASE job")
        return result

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def close(self) -> None:
        self._connection.close()


class SqliteMaintenance:
    """Cross-tenant work on the same file."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def rows(self, query: str, **parameters: Value) -> list[Row]:
        text = self._database.unscoped_query(query)
        return cast(list[Row], self._borrowed(lambda connection: connection.execute(text, parameters).fetchall()))

    def write(self, query: str, **parameters: Value) -> list[Row]:
        text = self._database.unscoped_query(query)
        run = self._database.run_unscoped
        return cast(list[Row], run(lambda connection: connection.execute(text, parameters).fetchall()))

    def schema_version(self) -> int:
        return self._borrowed(lambda connection: max(_applied(connection)))

    def check(self) -> list[str]:
        def examine(connection: apsw.Connection) -> list[str]:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            broken = [
                f"A row of {row[0]} points at a missing {row[2]}."
                for row in connection.execute("PRAGMA foreign_key_check")
            ]
            return [sentence for sentence in found if sentence != "ok"] + broken

        return self._borrowed(examine)

    def backup(self, target: Path) -> None:
        def copy(connection: apsw.Connection) -> None:
            destination = _private_file(target)
            try:
                with destination.backup("main", connection, "main") as backup:
                    backup.step(-1)
            finally:
                destination.close()

        if target.exists():
            raise StorageError(f"{target} exists already; name a new file for the backup.")
        self._borrowed(copy)

    def scrub(self) -> None:
        """Empty the log, which may still hold what was deleted; the pages themselves were overwritten. While another process
        reads an older state the log has to stay, and goes with the next time."""

        def empty(connection: apsw.Connection) -> None:
            connection.set_busy_timeout(_SCRUB_MILLISECONDS)
            with suppress(apsw.BusyError):
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.set_busy_timeout(BUSY_MILLISECONDS)

        self._borrowed(empty)

    def _borrowed(self, work: Callable[[apsw.Connection], T]) -> T:
        connection = self._database.lend_reader()
        try:
            return work(connection)
        except apsw.Error as error:
            raise translated(error) from error
        finally:
            self._database.return_reader(connection)


def translated(error: apsw.Error) -> StorageError:
    """A driver's error as one of ours, saying what to do."""
    match error:
        case apsw.FullError():
            return StorageFull(
                "The disk of the data directory is full. Free some space and try again; nothing was lost."
            )
        case apsw.BusyError() | apsw.LockedError():
            return StorageBusy("Another process has been writing to this data directory for too long. Try again.")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StorageReadOnly("The database cannot be written: check the owner and mode of the data directory.")
        case apsw.CantOpenError():
            return StorageUnavailable(f"The database cannot be opened: {error}.")
        case apsw.NotADBError() | apsw.CorruptError():
            return StorageUnavailable(f"The database file is damaged or not a database ({error}); restore a backup.")
        case _:
            return StorageError(f"The database refused the request: {error}.")


def _private_file(target: Path) -> apsw.Connection:
    """A new database that only its owner can read."""
    try:
        target.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise StorageError(f"The backup cannot be written to {target}: {error.strerror}.") from error
    return apsw.Connection(str(target))


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), statementcachesize=200)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    _switch_to_wal(connection)
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", True)
    connection.pragma("secure_delete", True)
    connection.pragma("wal_autocheckpoint", _CHECKPOINT_PAGES)
    return connection


def _switch_to_wal(connection: apsw.Connection) -> None:
    """The first switch of a new file fails at once while another opens it, whatever the busy timeout says."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1_000
    while True:
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _migrate(connection: apsw.Connection) -> None:
    known = migrate.migrations(postgres=False)
    if not migrate.pending(_applied(connection), known):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(migrate.RECORD_TABLE)
        for step in migrate.pending(_applied(connection), known):
            connection.execute(step.text)
            connection.execute(
                "INSERT INTO schema_migration (version, name, checksum) VALUES (?, ?, ?)",
                (step.version, step.name, step.checksum),
            )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _applied(connection: apsw.Connection) -> dict[int, str]:
    if not connection.table_exists(None, "schema_migration"):
        return {}
    found = connection.execute("SELECT version, checksum FROM schema_migration").fetchall()
    return {cast(int, version): cast(str, checksum) for version, checksum in found}
