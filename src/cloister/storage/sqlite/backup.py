"""Backups: one SQLite file with the schema and all rows, written from a database in use, and checked after."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from pathlib import Path
from typing import cast

import apsw

from cloister.domain.errors import StorageError, StorageUnavailable
from cloister.domain.maintenance.backup import BackupReport, StepProgress, no_progress
from cloister.storage import migrate
from cloister.storage.backup_file import disk_full, require_space, whole_file
from cloister.storage.sqlite.connections import applied_migrations, translated

_PAGES_A_STEP = 2_000
# The server processes that ran when the backup was made: not restored.
PROCESSES = "process"
_TABLES = """
SELECT name FROM sqlite_master
WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'schema_migration'
ORDER BY name
"""


def write_backup(source: apsw.Connection, target: Path, progress: StepProgress = no_progress) -> BackupReport:
    """Copy the state of the database at one moment to a new file, while other connections read and write.

    The copy is checked before the file gets its name: pages, references, the number of rows of every table, and the schema.
    """
    with whole_file(target) as partial:
        try:
            source.execute("BEGIN")
            try:
                counts = row_counts(source)
                size = cast(int, source.pragma("page_count")) * cast(int, source.pragma("page_size"))
                require_space(target.parent, size, doing="The backup")
                _copy(source, partial, progress)
            finally:
                source.execute("ROLLBACK")
            report = checked(partial, progress)
        except apsw.FullError as error:
            raise disk_full(target) from error
        except apsw.IOError as error:
            raise StorageError(f"{target} cannot be written: {error}.") from error
        if (found := sum(counts.values())) != report.rows:
            raise StorageError(
                f"The copy has {report.rows:,} rows, and the database {found:,}: nothing was left at {target}."
            )
    return BackupReport(file=str(target), bytes=report.bytes, schema_version=report.schema_version, rows=report.rows)


def _copy(source: apsw.Connection, partial: Path, progress: StepProgress) -> None:
    """Copy all pages. The read transaction of `source` keeps its snapshot, so that writers do not make the copy start again."""
    destination = apsw.Connection(str(partial))
    try:
        destination.pragma("synchronous", "off")
        with destination.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_PAGES_A_STEP)
                progress("copying", backup.page_count - backup.remaining, backup.page_count)
        # One file that can be opened without writing next to it; Cloister switches to WAL when it opens the data.
        destination.pragma("journal_mode", "delete")
    finally:
        destination.close()


def checked(path: Path, progress: StepProgress = no_progress) -> BackupReport:
    """What a backup contains, after reading all of it. A file that is damaged, cut short or no backup is refused."""
    progress("checking", 0, 2)
    connection = opened_backup(path)
    try:
        applied = applied_migrations(connection)
        if not applied:
            raise StorageUnavailable(f"{path} is no backup of Cloister: it has none of its tables.")
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise _damaged(path, found[0])
        progress("checking", 1, 2)
        if (row := connection.execute("PRAGMA foreign_key_check").fetchone()) is not None:
            raise _damaged(path, f"a row of {row[0]} points at a missing {row[2]}")
        rows = sum(row_counts(connection).values())
    except apsw.Error as error:
        raise _damaged(path, str(error)) from error
    finally:
        connection.close()
    progress("checking", 2, 2)
    migrate.pending(applied, migrate.migrations(postgres=False))
    return BackupReport(file=str(path), bytes=path.stat().st_size, schema_version=max(applied), rows=rows)


def opened_backup(path: Path) -> apsw.Connection:
    """A connection that only reads. A database in use has a part of its rows in another file, and is refused."""
    if not path.is_file():
        raise StorageUnavailable(f"There is no file {path}.")
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StorageUnavailable(f"{path} is a database in use, not a backup: make one with `cloister backup`.")
    try:
        return apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=_READ_ONLY)
    except apsw.Error as error:
        raise translated(error) from error


_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def _damaged(path: Path, reason: str) -> StorageUnavailable:
    return StorageUnavailable(f"{path} is damaged or no backup ({reason}): take another one; nothing was changed.")


def row_counts(connection: apsw.Connection) -> dict[str, int]:
    """The number of rows of every table, but for the list of migrations."""
    return {
        table: cast(int, connection.execute(f'SELECT count(*) FROM "{table}"').fetchall()[0][0])
        for table in tables(connection)
    }


def tables(connection: apsw.Connection) -> list[str]:
    return [cast(str, row[0]) for row in connection.execute(_TABLES)]
