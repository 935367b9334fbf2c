"""Configures connections to an SQLite file, migrates its schema, and translates the driver's errors."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import time
from pathlib import Path
from typing import cast

import apsw

from cloister.domain.errors import StorageBusy, StorageError, StorageFull, StorageReadOnly, StorageUnavailable
from cloister.storage import migrate

BUSY_MILLISECONDS = 15_000
_CHECKPOINT_PAGES = 4_000


def translated(error: apsw.Error) -> StorageError:
    """A driver's error as a `StorageError` that says what to do."""
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


def private_file(target: Path) -> apsw.Connection:
    """Create a database file that only its owner can read, and connect to it."""
    try:
        target.touch(mode=0o600, exist_ok=False)
    except OSError as error:
        raise StorageError(f"The backup cannot be written to {target}: {error.strerror}.") from error
    return apsw.Connection(str(target))


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), statementcachesize=200)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    _switch_to_wal(connection)
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", True)
    connection.pragma("secure_delete", True)
    connection.pragma("wal_autocheckpoint", _CHECKPOINT_PAGES)
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
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def applied_migrations(connection: apsw.Connection) -> dict[int, str]:
    if not connection.table_exists(None, "schema_migration"):
        return {}
    found = connection.execute("SELECT version, checksum FROM schema_migration").fetchall()
    return {cast(int, version): cast(str, checksum) for version, checksum in found}
