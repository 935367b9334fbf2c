"""Configures connections to an SQLite file, migrates its schema, and translates the driver's errors."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import errno
import os
import time
from pathlib import Path
from typing import cast

import apsw

from cloister.domain.errors import (
    OutcomeUnknown,
    StorageBusy,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from cloister.storage import migrate

BUSY_MILLISECONDS = 15_000
_CHECKPOINT_PAGES = 4_000
# The log is cut to this size when it starts again from the beginning.
_LOG_BYTES = 16 << 20


READ_ONLY = (
    "The file system of the data directory is mounted read-only. Look into the system's log for the reason, and mount it "
    "for writing."
)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
# The error of these calls says that the operating system did not take the data; others may come after it did.
_REFUSED = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_TRUNCATE)


def translated(error: apsw.Error, system_error: int = 0) -> StorageError:
    """A driver's error as a `StorageError` that says what to do. `system_error` is the error number of the operating system."""
    match error:
        case apsw.IOError() if system_error == errno.EROFS:
            return StorageReadOnly(READ_ONLY)
        case apsw.IOError() if system_error in _NO_SPACE:
            return StorageFull("The disk of the data directory is full, or its quota used up. Free some space.")
        case apsw.IOError():
            return StorageUnavailable(
                f"The disk of the data directory reports an error ({error}). Look into the system's log."
            )
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


def commit_failure(error: apsw.Error, system_error: int) -> StorageError:
    """The error of a COMMIT. After a failed fsync the commit is in the file, and may or may not be found after a crash; a write
    that the file system refused is not."""
    refused = getattr(error, "extendedresult", 0) in _REFUSED and system_error in (errno.EROFS, *_NO_SPACE)
    if not isinstance(error, apsw.IOError) or refused:
        return translated(error, system_error)
    return OutcomeUnknown(
        f"The disk did not confirm the commit ({error}): what was written may be there or not after a restart. Repeat the request "
        "with the same idempotency key, or look before you repeat it without one."
    )


def is_read_only(directory: Path) -> bool:
    try:
        return bool(os.statvfs(directory).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def first_bytes(path: Path, length: int) -> bytes:
    """The beginning of a database file; empty if it cannot be read. Read through SQLite, which keeps the file open while this
    process has the database open: to close it would release the locks of those connections, and another process that comes and
    goes would delete the log under them."""
    try:
        file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    except apsw.Error:
        return b""
    try:
        return file.xRead(length, 0)
    except apsw.Error:
        return b""
    finally:
        file.xClose()


def connect(path: Path, *, create: bool = True) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=200)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    # Else SQLite prepares a statement anew for every value that might change its plan, which takes longer than running it.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    _switch_to_wal(connection)
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", True)
    connection.pragma("secure_delete", True)
    connection.pragma("wal_autocheckpoint", _CHECKPOINT_PAGES)
    connection.pragma("journal_size_limit", _LOG_BYTES)
    return connection


def _switch_to_wal(connection: apsw.Connection) -> None:
    """Switch to WAL mode, with retries: while another process opens a new file this fails at once, despite the busy timeout."""
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


def migrate_to_latest(connection: apsw.Connection) -> None:
    known = migrate.migrations(postgres=False)
    if not migrate.pending(applied_migrations(connection), known):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(migrate.RECORD_TABLE)
        for step in migrate.pending(applied_migrations(connection), known):
            connection.execute(step.text)
            connection.execute(
                "INSERT INTO schema_migration (version, name, checksum) VALUES (?, ?, ?)",
                (step.version, step.name, step.checksum),
            )
        connection.execute("COMMIT")
    except BaseException:  # raised again: a migration is applied as a whole or not at all
        connection.execute("ROLLBACK")
        raise


def applied_migrations(connection: apsw.Connection) -> dict[int, str]:
    if not connection.table_exists(None, "schema_migration"):
        return {}
    found = connection.execute("SELECT version, checksum FROM schema_migration").fetchall()
    return {cast(int, version): cast(str, checksum) for version, checksum in found}
