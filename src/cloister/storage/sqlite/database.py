"""SQLite through APSW: WAL mode with an fsync on every commit, one write connection with group commit, a connection per reader."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast

import apsw

from cloister.domain.errors import (
    Closed,
    StorageBusy,
    StorageError,
    StorageMissing,
    StorageReadOnly,
    StorageUnavailable,
)
from cloister.domain.maintenance.backup import BackupReport, StepProgress
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.domain.scope import Reach
from cloister.storage.interface import Row, Transaction, Value
from cloister.storage.queries import load_queries, split_queries
from cloister.storage.sqlite.backup import write_backup
from cloister.storage.sqlite.checkpoints import Checkpoints, truncated
from cloister.storage.sqlite.connections import (
    BUSY_MILLISECONDS,
    READ_ONLY,
    applied_migrations,
    commit_failure,
    connect,
    is_read_only,
    migrate_to_latest,
    translated,
)
from cloister.storage.sqlite.file_identity import FileIdentity
from cloister.storage.sqlite.file_scan import count_rows
from cloister.storage.sqlite.group_commit import BatchKind, GroupCommit
from cloister.storage.sqlite.notifications import SqliteNotifier
from cloister.storage.sqlite.old_logs import refuse_damaged, refuse_lost
from cloister.storage.sqlite.process_locks import SqliteProcessLocks
from cloister.storage.sqlite.transaction import SqliteTransaction, Statement
from cloister.storage.sqlite.vacuum import vacuum_file
from cloister.storage.write_status import WriteStatus

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
DATABASE_FILE = "cloister.db"


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
        reason = READ_ONLY if is_read_only(directory) else "Check its owner and mode."
        raise StorageReadOnly(f"{directory} cannot be written by this user. {reason}")
    refuse_lost(path)
    refuse_damaged(path)
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
        self.path = path
        queries, self._unscoped_queries = split_queries(load_queries(postgres=False))
        self._statements = {name: Statement(text) for name, text in queries.items()}
        self._write_connection = connection
        self._file = FileIdentity(path)
        self.write_status = WriteStatus()
        self.process_locks = SqliteProcessLocks(path.parent)
        self._writer = GroupCommit(_WriteConnection(connection, self._file, self.write_status))
        self._readers: deque[apsw.Connection] = deque()
        self._closed = False
        self.checkpoints = Checkpoints(path, self.between_writes)
        self.notifier = SqliteNotifier(path.parent, self._data_version)

    def read(self, reach: Reach) -> AbstractContextManager[Transaction]:
        return _ReadTransaction(self, reach)

    def write(self, reach: Reach, work: Callable[[Transaction], T]) -> T:
        transaction = SqliteTransaction(self._write_connection, self._statements, reach)
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
        transaction = SqliteTransaction(self._write_connection, self._statements, reach)
        return BatchKind((reach, work), prepare, lambda items: work(transaction, items))

    @property
    def maintenance(self) -> "SqliteMaintenance":
        return SqliteMaintenance(self)

    def write_problem(self) -> StorageError | None:
        try:
            self._file.check()
        except StorageMissing as error:
            return error
        return self.write_status.problem

    def close(self) -> None:
        self._closed = True
        self.notifier.close()
        self.checkpoints.close()
        self._writer.close()
        self.process_locks.close()
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
            connection = connect(self.path, create=False)
            connection.pragma("query_only", True)
        except apsw.Error as error:
            self._file.check()
            raise translated(error) from error
        try:
            self._file.check()  # else it would read another database than the connections that were opened before
        except StorageMissing:
            connection.close()
            raise
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

    def _data_version(self) -> object:
        return self.between_writes(lambda own: own.pragma("data_version"))

    def between_writes(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            return self._writer.between_writes(lambda: work(self._write_connection))
        except apsw.Error as error:
            raise translated(error) from error


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
        return SqliteTransaction(self._connection, self._database._statements, self._reach)  # pyright: ignore[reportPrivateUsage]

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

    def __init__(self, connection: apsw.Connection, file: FileIdentity, status: WriteStatus) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._file = file
        self._status = status
        self._unchanged = 0

    def begin(self) -> None:
        self._unchanged = self._connection.total_changes()
        try:
            self._execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            failure = self._translated(error)
            if isinstance(failure, StorageBusy):  # another process has the only write lock, so every write fails
                self._status.failed(failure)
            raise failure from error

    def commit(self) -> None:
        """Commit, unless the file is not the one at its path any more: what is written there would be lost. The commit of a
        transaction that changed no row writes nothing, so it does not show that writes succeed."""
        try:
            self._file.check()
            self._execute("COMMIT")
        except StorageMissing as error:
            self._status.failed(error)
            raise
        except apsw.Error as error:
            failure = commit_failure(error, self._connection.system_errno)
            self._status.failed_with(failure)
            raise failure from error
        if self._connection.total_changes() != self._unchanged:
            self._status.succeeded()

    def _translated(self, error: apsw.Error) -> StorageError:
        failure = translated(error, self._connection.system_errno)
        self._status.failed_with(failure)
        return failure

    def abandon(self) -> None:
        if self._connection.in_transaction:
            self._execute("ROLLBACK")

    def attempt(self, work: Callable[[Any], Any], item: Any) -> Any:
        self._execute("SAVEPOINT job")
        before = self._connection.total_changes()
        try:
            result = work(item)
        except BaseException as error:  # raised again: what the job wrote is undone, and the other jobs stay
            self._unchanged += self._connection.total_changes() - before
            if self._connection.in_transaction:
                self._execute("ROLLBACK TO job")
                self._execute("RELEASE job")
            if isinstance(error, apsw.Error):
                raise self._translated(error) from error
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

    def check_writes(self) -> None:
        """Write the header of the file again, as it is: a page, a commit and an fsync."""

        def work(connection: apsw.Connection) -> None:
            connection.pragma("user_version", connection.pragma("user_version"))

        self._database.run_unscoped(work)
        self._database.write_status.succeeded()  # no row was changed, so the commit does not say so

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

    def rows_in_file(self, sessions: Sequence[int], largest: int) -> int | str:
        """Only with an empty WAL, which could still have the rows."""

        def empty(connection: apsw.Connection) -> bool:
            try:
                connection.set_busy_timeout(0)
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                return False
            finally:
                connection.set_busy_timeout(BUSY_MILLISECONDS)
            return True

        if not self._database.between_writes(empty):
            return "Somebody reads an older state, which the write-ahead log keeps until then: it is emptied by a later call."

        def scan(connection: apsw.Connection) -> int | str:
            """Read through the connection: to open and close the file again in this process would release SQLite's locks."""
            if connection.pragma("page_count") * connection.pragma("page_size") > largest:
                return f"The database file has more than {largest // (1024 * 1024)} MB."
            return count_rows(connection.serialize("main"), sessions)

        return self._borrowed(scan)

    def excess_rights(self) -> str | None:
        """None: access to an SQLite file is decided by the file system."""
        return None

    def backup(self, target: Path, progress: StepProgress) -> BackupReport:
        return self._borrowed(lambda connection: write_backup(connection, target, progress))

    def log_bytes(self) -> int | None:
        return self._database.checkpoints.log_bytes()

    def vacuum(self, progress: StepProgress) -> VacuumReport:
        return vacuum_file(self._database.path, progress)

    def scrub(self) -> None:
        """Truncate the WAL, which may still hold deleted content. While a reader has an older snapshot this is left to the next
        call."""
        self._database.between_writes(truncated)

    def _borrowed(self, work: Callable[[apsw.Connection], T]) -> T:
        connection = self._database.borrow_reader()
        try:
            return work(connection)
        except apsw.Error as error:
            raise translated(error) from error
        finally:
            self._database.return_reader(connection)
