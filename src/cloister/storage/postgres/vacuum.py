"""Removes dead rows on PostgreSQL, table by table, while others read and write."""

from cloister.domain.errors import StorageError
from cloister.domain.maintenance.backup import StepProgress, no_progress
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.storage.postgres.driver import Connection, psycopg, sql, translated

_TABLES = """
SELECT relname, pg_has_role(relowner, 'USAGE') FROM pg_class
WHERE relkind IN ('r', 'p') AND relnamespace = to_regnamespace(quote_ident(current_schema()))
ORDER BY relname
"""
_SIZE = "SELECT pg_database_size(current_database())"


def vacuum_database(conninfo: str, server: str, progress: StepProgress = no_progress) -> VacuumReport:
    """`VACUUM` of every table that the login owns. The space of dead rows is used again; only free pages at the end of a table go
    back to the file system. `VACUUM FULL` gives all of it back, and locks each table while it does."""
    try:
        with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
            before = _size(connection)
            tables: list[tuple[str, bool]] = connection.execute(_TABLES).fetchall()
            owned = [table for table, is_owned in tables if is_owned]
            if not owned:
                raise StorageError("The login owns none of the tables: open the database as their owner.")
            for number, table in enumerate(owned, 1):
                connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table)))
                progress("vacuuming tables", number, len(owned))
            return VacuumReport(
                bytes_before=before,
                bytes_after=_size(connection),
                skipped=tuple(table for table, is_owned in tables if not is_owned),
            )
    except psycopg.Error as error:
        raise translated(error, server) from error


def _size(connection: Connection) -> int:
    row = connection.execute(_SIZE).fetchone()
    return 0 if row is None else int(row[0])
