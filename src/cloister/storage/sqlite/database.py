"""SQLite through APSW: WAL mode with an fsync on every commit, one write connection with group commit, a connection per reader."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

import apsw

from cloister.domain.errors import Closed, StorageError, StorageReadOnly, StorageUnavailable
from cloister.domain.scope import Reach
from cloister.storage.interface import Row, Transaction, Value, bound_parameters
from cloister.storage.notifications import PollingNotifier
from cloister.storage.queries import load_queries, positional, split_queries
from cloister.storage.sqlite.connections import (
    BUSY_MILLISECONDS,
    applied_migrations,
    connect,
    migrate_to_latest,
    private_file,
    translated,
)
from cloister.storage.sqlite.group_commit import BatchKind, GroupCommit

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
DATABASE_FILE = "cloister.db"
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
        connection = connect(path)
        migrate_to_latest(connection)
    except apsw.Error as error:
        raise translated(error) from error
    return SqliteDatabase(path, connection)


class SqliteDatabase:
    """The database of one file, for any number of threads and processes."""

    embedded = True

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self._path = path
        queries, self._unscoped_queries = split_queries(load_queries(postgres=False))
        self._statements = {name: _Statement(text) for name, text in queries.items()}
        self._write_connection = connection
        self._writer = GroupCommit(_WriteConnection(connection))
        self._readers: deque[apsw.Connection] = deque()
        self._closed = False
        self.notifier = PollingNotifier(lambda: self.between_writes(lambda own: own.pragma("data_version")))

    def read(self, reach: Reach) -> AbstractContextManager[Transaction]:
        return _ReadTransaction(self, reach)

    def write(self, reach: Reach, work: Callable[[Transaction], T]) -> T:
        transaction = _SqliteTransaction(self._write_connection, self._statements, reach)
        return self._writer.run(lambda: work(transaction))

    def write_batch(
        self,
        items: Sequence[tuple[Reach, A]],
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]],
    ) -> list[T | BaseException]:
        return self._writer.run_batch([(item, self._batch_kind(reach, prepare, work)) for reach, item in items])

    def _batch_kind(
        self,
        reach: Reach,
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]],
    ) -> BatchKind[A, B, T]:
        transaction = _SqliteTransaction(self._write_connection, self._statements, reach)
        return BatchKind((reach, work), prepare, lambda items: work(transaction, items))

    @property
    def maintenance(self) -> "SqliteMaintenance":
        return SqliteMaintenance(self)

    def close(self) -> None:
        self._closed = True
        self.notifier.close()
        self._writer.close()
        while self._readers:
            self._readers.pop().close()

    def borrow_reader(self) -> apsw.Connection:
        if self._closed:
            raise Closed
        try:
            return self._readers.pop()
        except IndexError:
            return self._new_reader()

    def _new_reader(self) -> apsw.Connection:
        try:
            connection = connect(self._path)
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

    def between_writes(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            return self._writer.between_writes(lambda: work(self._write_connection))
        except apsw.Error as error:
            raise translated(error) from error


class _Statement:
    """A query with numbered parameters, and the function that puts named parameters into that order."""

    __slots__ = ("picked", "text")

    def __init__(self, query: str) -> None:
        self.text, names = positional(query)
        self.picked: Callable[[Mapping[str, Value]], Any] = itemgetter(*names)
        if len(names) == 1:
            self.picked = lambda parameters: (parameters[names[0]],)


class _SqliteTransaction:
    __slots__ = ("_bound", "_connection", "_statements", "reach")

    def __init__(self, connection: apsw.Connection, statements: Mapping[str, _Statement], reach: Reach) -> None:
        self._connection = connection
        self._statements = statements
        self._bound = bound_parameters(reach)
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
        statement = self._statements[query]
        self._connection.executemany(statement.text, map(statement.picked, parameters))

    def _cursor(self, query: str, parameters: dict[str, Value]) -> Any:
        parameters.update(self._bound)
        statement = self._statements[query]
        return self._connection.execute(statement.text, statement.picked(parameters))


class _ReadTransaction:
    """A read transaction, which is one snapshot, on a connection borrowed from the database."""

    __slots__ = ("_connection", "_database", "_reach")

    def __init__(self, database: SqliteDatabase, reach: Reach) -> None:
        self._database = database
        self._reach = reach

    def __enter__(self) -> Transaction:
        self._connection = self._database.borrow_reader()
        try:
            self._connection.execute("BEGIN")
        except apsw.Error as error:
            self._connection.close()
            raise translated(error) from error
        return _SqliteTransaction(self._connection, self._database._statements, self._reach)  # pyright: ignore[reportPrivateUsage]

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
    """The write connection, with the operations that group commit needs."""

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
    """Cross-tenant work on the SQLite file."""

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
        return self._borrowed(lambda connection: max(applied_migrations(connection)))

    def check(self) -> list[str]:
        def examine(connection: apsw.Connection) -> list[str]:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
            broken = [
                f"A row of {row[0]} points at a missing {row[2]}."
                for row in connection.execute("PRAGMA foreign_key_check")
            ]
            return [sentence for sentence in found if sentence != "ok"] + broken

        return self._borrowed(examine)

    def remains(self) -> str | None:
        """Nothing: `secure_delete` overwrites freed pages, and `scrub` truncates the WAL."""
        return None

    def excess_rights(self) -> str | None:
        """None: access to an SQLite file is decided by the file system."""
        return None

    def backup(self, target: Path) -> None:
        def copy(connection: apsw.Connection) -> None:
            destination = private_file(target)
            try:
                with destination.backup("main", connection, "main") as backup:
                    backup.step(-1)
            finally:
                destination.close()

        if target.exists():
            raise StorageError(f"{target} exists already; name a new file for the backup.")
        self._borrowed(copy)

    def scrub(self) -> None:
        """Truncate the WAL, which may still hold deleted content. While a reader has an older snapshot this is left to the next
        call. On the write connection, whose `data_version` a checkpoint of its own does not change."""

        def empty(connection: apsw.Connection) -> None:
            connection.set_busy_timeout(_SCRUB_MILLISECONDS)
            with suppress(apsw.BusyError):
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.set_busy_timeout(BUSY_MILLISECONDS)

        self._database.between_writes(empty)

    def _borrowed(self, work: Callable[[apsw.Connection], T]) -> T:
        connection = self._database.borrow_reader()
        try:
            return work(connection)
        except apsw.Error as error:
            raise translated(error) from error
        finally:
            self._database.return_reader(connection)
