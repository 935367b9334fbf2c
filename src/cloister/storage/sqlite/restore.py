"""Restores a backup as the database of a data directory: all of it, or nothing."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import apsw

from cloister.domain.errors import Conflict, StorageBusy, StorageUnavailable
from cloister.domain.maintenance.backup import BackupReport, StepProgress, no_progress
from cloister.storage.backup_file import require_space, whole_file
from cloister.storage.sqlite.backup import PROCESSES, checked
from cloister.storage.sqlite.connections import migrate_to_latest, translated
from cloister.storage.sqlite.old_logs import old_logs

_BLOCK = 4 << 20
_WAIT_MILLISECONDS = 2_000


def restore_directory(
    file: Path, path: Path, *, replace: bool = False, progress: StepProgress = no_progress
) -> BackupReport:
    """Make the backup `file` the database `path` of a data directory, at the newest schema. The old one stays until the new one is
    whole on the disk. A database that any process has open is not replaced."""
    if not file.is_file():
        raise StorageUnavailable(f"There is no file {file}.")
    exists = path.exists() and path.stat().st_size > 0
    if exists and not replace:
        raise Conflict(
            f"{path} has a database already, and nothing was changed. Restore into another directory, or replace it with "
            "--replace, after stopping everything that uses it."
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(f"The data directory {path.parent} cannot be created: {error.strerror}.") from error
    require_space(path.parent, file.stat().st_size, doing="The restored database")
    with (
        old_logs(path) as put_aside,
        _locked(path) if exists else nullcontext(False) as is_locked,
        whole_file(path, replace=True) as partial,
    ):
        if not is_locked:
            put_aside(partial)
        _copy(file, partial, progress)
        report = checked(partial, progress)
        _migrate(partial)
    return BackupReport(file=str(file), bytes=report.bytes, schema_version=report.schema_version, rows=report.rows)


def copy_migrated(file: Path, target: Path, progress: StepProgress = no_progress) -> None:
    """Copy a backup, and bring the copy to the newest schema."""
    _copy(file, target, progress)
    _migrate(target)


def _copy(file: Path, partial: Path, progress: StepProgress) -> None:
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StorageUnavailable(f"{file} is a database in use, not a backup: make one with `cloister backup`.")
    total, done = file.stat().st_size, 0
    try:
        source = file.open("rb")
    except OSError as error:
        raise StorageUnavailable(f"{file} cannot be read: {error.strerror}.") from error
    with source, partial.open("wb") as target:
        while block := source.read(_BLOCK):
            target.write(block)
            done += len(block)
            progress("copying", done // _BLOCK, total // _BLOCK)


def _migrate(partial: Path) -> None:
    connection = apsw.Connection(str(partial))
    try:
        connection.pragma("journal_mode", "delete")
        migrate_to_latest(connection)
        connection.execute(f"DELETE FROM {PROCESSES}")
    except apsw.Error as error:
        raise translated(error) from error
    finally:
        connection.close()


@contextmanager
def _locked(path: Path) -> Generator[bool]:
    """Lock a database that no other connection uses, with its log merged into it: a log of the old database next to the new one
    would damage the new one. False if the old one is damaged, and cannot be locked."""
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(_WAIT_MILLISECONDS)
        is_locked = True
        try:
            connection.pragma("locking_mode", "exclusive")
            connection.pragma("journal_mode", "delete")
            connection.execute("BEGIN EXCLUSIVE")
        except (apsw.NotADBError, apsw.CorruptError):
            is_locked = False
        except apsw.BusyError as error:
            raise StorageBusy(
                f"{path} is in use: stop `cloister serve`, `cloister worker` and whatever else uses it, then try again; "
                "nothing was changed."
            ) from error
        yield is_locked
    except apsw.Error as error:
        raise translated(error) from error
    finally:
        connection.close()
