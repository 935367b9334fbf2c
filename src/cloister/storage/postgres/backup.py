"""Backups of a PostgreSQL database: the rows of all tenants in an SQLite file with the same schema, which restores on either
engine."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, cast

import apsw

from cloister.domain.errors import Conflict, StorageBusy, StorageError
from cloister.domain.maintenance.backup import BackupReport, StepProgress, no_progress
from cloister.storage import migrate
from cloister.storage.backup_file import disk_full, whole_file
from cloister.storage.postgres import row_security
from cloister.storage.postgres.driver import Connection, errors, parsed, psycopg, sql, translated
from cloister.storage.sqlite.backup import PROCESSES, checked, opened_backup, row_counts, tables
from cloister.storage.sqlite.connections import migrate_to_latest
from cloister.storage.sqlite.restore import copy_migrated

_ROWS_A_FETCH = 2_000
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_MOST_LOOKS = 20
_PAUSE_SECONDS = 0.1
_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'cloister'
"""


def write_backup(connection: Connection, target: Path, progress: StepProgress = no_progress) -> BackupReport:
    """Copy the rows of all tables, in the snapshot of the connection's transaction, to a new file, and check it."""
    with whole_file(target) as partial:
        try:
            copied = _copy(connection, partial, progress)
        except apsw.FullError as error:
            raise disk_full(target) from error
        except apsw.Error as error:
            raise StorageError(f"{target} cannot be written: {error}.") from error
        report = checked(partial, progress)
        if report.rows != copied:
            raise StorageError(
                f"The copy has {report.rows:,} rows, and the database {copied:,}: nothing was left at {target}."
            )
    return BackupReport(file=str(target), bytes=report.bytes, schema_version=report.schema_version, rows=report.rows)


def _copy(connection: Connection, partial: Path, progress: StepProgress) -> int:
    """Write the schema and all rows; returns how many there are in the database."""
    with closing(apsw.Connection(str(partial))) as destination:
        # A file that was not finished is thrown away, so nothing needs to be rolled back or synced before the end.
        destination.pragma("journal_mode", "off")
        destination.pragma("synchronous", "off")
        migrate_to_latest(destination)
        names = tables(destination)
        total = sum(_counted(connection, name) for name in names)
        done = 0
        destination.execute("BEGIN")
        for name in names:
            columns = _columns(destination, name)
            text = f'INSERT INTO "{name}" ({", ".join(columns)}) VALUES ({", ".join("?" * len(columns))})'
            for rows in _fetched(connection, name, columns):
                destination.executemany(text, rows)
                done += len(rows)
                progress("copying", done, total)
        destination.execute("COMMIT")
        destination.pragma("journal_mode", "delete")
    return total


def _counted(connection: Connection, table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    return 0 if row is None else cast(int, row[0])


def _columns(destination: apsw.Connection, table: str) -> list[str]:
    return [cast(str, row[1]) for row in destination.execute(f'PRAGMA table_info("{table}")')]


def _fetched(connection: Connection, table: str, columns: list[str]) -> Iterator[list[tuple[Any, ...]]]:
    statement = sql.SQL("SELECT {} FROM {}").format(_list(columns), sql.Identifier(table))
    with psycopg.ServerCursor(connection, "backup") as cursor:
        cursor.execute(statement, binary=True)
        while rows := cursor.fetchmany(_ROWS_A_FETCH):
            yield rows


def restore_database(
    url: str, file: Path, *, replace: bool = False, progress: StepProgress = no_progress
) -> BackupReport:
    """Write the rows of a backup into a database whose schema is up to date, in one transaction: all of them, or none."""
    report = checked(file, progress)
    conninfo, server = parsed(url)
    with TemporaryDirectory(prefix="cloister-restore-") as folder:
        newest = file
        if report.schema_version != migrate.migrations(postgres=False)[-1].version:
            newest = Path(folder) / "migrated"
            copy_migrated(file, newest, progress)
        try:
            with (
                psycopg.connect(conninfo, prepare_threshold=None) as connection,
                closing(opened_backup(newest)) as source,
            ):
                _load(connection, source, progress, replace=replace)
        except errors.InsufficientPrivilege as error:
            raise StorageError(
                f"The login may not restore ({error.diag.message_primary}): it needs TEMPORARY on the database, and to be "
                f"able to become {row_security.MAINTENANCE_ROLE}. Nothing was changed."
            ) from error
        except psycopg.Error as error:
            raise translated(error, server) from error
    return report


def _refuse_others(connection: Connection) -> None:
    """Raise `StorageBusy` if others use the database. A connection that was closed just now, as that of this command before, is
    still among those of the server for a moment."""
    for looks in range(_MOST_LOOKS):
        if looks:
            sleep(_PAUSE_SECONDS)
        connection.execute("SELECT pg_stat_clear_snapshot()")
        if not cast(int, cast(tuple[Any], connection.execute(_OTHERS).fetchone())[0]):
            return
    raise StorageBusy(
        "Other processes of Cloister use this database: stop `cloister serve` and `cloister worker`, then try again; "
        "nothing was changed."
    )


def _load(connection: Connection, source: apsw.Connection, progress: StepProgress, *, replace: bool) -> None:
    connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(row_security.MAINTENANCE_ROLE)))
    _refuse_others(connection)
    ordered = _referenced_first(source)
    if not replace and _counted(connection, "tenant"):
        raise Conflict(
            "The database has tenants already, and nothing was changed. Restore into an empty database, or replace what is "
            "there with --replace."
        )
    for table in reversed(ordered):
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    counts = {**row_counts(source), PROCESSES: 0}
    total, done = sum(counts.values()), 0
    for table in ordered:
        if table != PROCESSES:
            done += _insert(connection, source, table)
        progress("restoring", done, total)
        if _counted(connection, table) != counts[table]:
            raise StorageError(f"Not every row of {table} could be restored; nothing was changed.")


def _insert(connection: Connection, source: apsw.Connection, table: str) -> int:
    """Copy one table through a temporary one: PostgreSQL has no COPY into a table with row-level security, and rows that point at
    others of the same table must arrive in one statement."""
    columns = _columns(source, table)
    into, temporary = sql.Identifier(table), sql.Identifier(f"restoring_{table}")
    connection.execute(sql.SQL("CREATE TEMPORARY TABLE {} (LIKE {}) ON COMMIT DROP").format(temporary, into))
    quoted = ", ".join(f'"{column}"' for column in columns)
    with (
        connection.cursor() as cursor,
        cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(temporary, _list(columns))) as copy,
    ):
        for row in source.execute(f'SELECT {quoted} FROM "{table}"'):
            copy.write_row(row)
    inserted = connection.execute(
        sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(into, _list(columns), _list(columns), temporary)
    )
    connection.execute(sql.SQL("DROP TABLE {}").format(temporary))
    return inserted.rowcount


def _list(columns: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _referenced_first(source: apsw.Connection) -> list[str]:
    """The tables, each after those that its foreign keys point at."""
    waiting = {
        table: {cast(str, row[2]) for row in source.execute(f'PRAGMA foreign_key_list("{table}")')} - {table}
        for table in tables(source)
    }
    ordered: list[str] = []
    while waiting:
        free = sorted(table for table, needed in waiting.items() if not needed & waiting.keys())
        if not free:
            raise StorageError(f"The tables {', '.join(sorted(waiting))} point at each other.")
        ordered += free
        for table in free:
            del waiting[table]
    return ordered
