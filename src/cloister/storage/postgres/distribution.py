"""Distributes the tables of tenants over the servers of a Citus cluster, by tenant: all rows of a tenant are on one server.

Citus is an extension of PostgreSQL that an operator installs on every server. The coordinator is the server of the URL; Cloister
connects to no other.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from cloister.domain.errors import InvalidRequest, StorageError
from cloister.domain.maintenance.backup import StepProgress, no_progress
from cloister.domain.maintenance.distribution import DistributionReport
from cloister.storage.postgres.driver import Connection, parsed, psycopg, sql, translated
from cloister.storage.postgres.row_security import MAINTENANCE_ROLE, ROLES

# The models of embedders: a row of each, which vectors of every tenant refer to.
_COPIED_TABLE = "embedding_model"
# All other tables are kept on the same server as their tenant's row in this one.
_FIRST_TABLE = "tenant"

_CITUS = b"SELECT extversion FROM pg_extension WHERE extname = 'citus'"
_SERVERS = b"SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards"
_SHARDS = b"SELECT CAST(current_setting('citus.shard_count') AS bigint)"
_DONE = b"""
SELECT c.relname FROM pg_dist_partition AS p JOIN pg_class AS c ON c.oid = p.logicalrelid
WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema()))
"""
_TABLES = b"""
SELECT c.relname, c.relforcerowsecurity FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p')
ORDER BY c.relname
"""
_FOREIGN_KEYS = b"""
SELECT t.relname, c.conname, pg_get_constraintdef(c.oid)
FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid
WHERE c.contype = 'f' AND t.relnamespace = to_regnamespace(quote_ident(current_schema())) AND t.relname = ANY (%s)
ORDER BY t.relname, c.conname
"""
# The owners of the tables of whose rights the login has none.
_OTHER_OWNERS = b"""
SELECT DISTINCT quote_ident(pg_get_userbyid(c.relowner)) FROM pg_class AS c
WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relname = ANY (%s)
    AND NOT pg_has_role(c.relowner, 'USAGE')
"""
# The roles that cannot log in yet, and whether this login may change that: PostgreSQL 16 asks for ADMIN of the role besides.
_CLOSED_ROLES = b"""
SELECT r.rolname, u.rolsuper OR u.rolcreaterole AND (
    CAST(current_setting('server_version_num') AS int) < 160000 OR pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION')
)
FROM pg_roles AS r CROSS JOIN pg_roles AS u
WHERE r.rolname = ANY (%s) AND NOT r.rolcanlogin AND u.rolname = current_user
ORDER BY r.rolname
"""
# A transaction names its tenant with SET LOCAL: this lets the coordinator send that on, for connections of this login only.
_PROPAGATION = "ALTER ROLE {login} IN DATABASE {database} SET citus.propagate_set_commands = 'local'"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tables:
    """The tables of the database by what is to be done with them. The rows of a `forced` table are hidden from its owner too."""

    to_distribute: Sequence[str]
    to_copy: Sequence[str]
    done: Sequence[str]
    forced: Collection[str]

    @property
    def all(self) -> Sequence[str]:
        return (*self.to_distribute, *self.to_copy, *self.done)


def distribute_tables(url: str, *, dry_run: bool = False, progress: StepProgress = no_progress) -> DistributionReport:
    """Distribute the tables that are not distributed yet, in one transaction: all of them, or none. Stop every process of Cloister
    before: the tables are locked meanwhile, and connections of before do not name their tenant to the shards. A login that may not
    do all of it is refused before anything is changed. A call that was interrupted is repeated."""
    conninfo, server = parsed(url)
    try:
        with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
            return _distribute(connection, dry_run=dry_run, progress=progress)
    except psycopg.Error as error:
        raise translated(error, server) from error


def _distribute(connection: Connection, *, dry_run: bool, progress: StepProgress) -> DistributionReport:
    version = _first(connection, _CITUS)
    if version is None:
        raise InvalidRequest(
            "--data", "is a database without Citus. Install it on every server, and run there: CREATE EXTENSION citus;"
        )
    servers = _first(connection, _SERVERS)
    if not servers:
        raise InvalidRequest(
            "--data", "is a coordinator without servers. Add each one: SELECT citus_add_node('host', 5432);"
        )
    tables = _tables(connection)
    closed = _check_rights(connection, tables)
    report = DistributionReport(
        citus_version=version,
        servers=servers,
        shards=_first(connection, _SHARDS),
        tables=tuple(tables.to_distribute),
        copied_tables=tuple(tables.to_copy),
        done_before=tuple(sorted(tables.done)),
        rows=_rows(connection, (*tables.to_distribute, *tables.to_copy)),
    )
    if not dry_run:
        _prepare_roles(connection, closed)
        if tables.to_distribute or tables.to_copy:
            with connection.transaction():
                _distribute_all(connection, tables, progress)
        _remove_local_rows(connection, tables.all, progress)
    return report


def _tables(connection: Connection) -> _Tables:
    of_tenants = {str(table): bool(forced) for table, forced in connection.execute(_TABLES)}
    done = {str(table) for (table,) in connection.execute(_DONE)} & {*of_tenants, _COPIED_TABLE}
    return _Tables(
        to_distribute=[table for table in of_tenants if table not in done],
        to_copy=[_COPIED_TABLE] if _COPIED_TABLE not in done else [],
        done=sorted(done),
        forced={table for table, forced in of_tenants.items() if forced},
    )


def _check_rights(connection: Connection, tables: _Tables) -> Sequence[str]:
    """The roles that cannot log in yet. A login that lacks a right is refused, with what to do about it."""
    login = connection.info.user
    owners = [str(owner) for (owner,) in connection.execute(_OTHER_OWNERS, [list(tables.all)])]
    if owners:
        raise StorageError(
            f"The login {login!r} does not own the tables: run this with the login {', '.join(owners)}. Nothing was changed."
        )
    closed = connection.execute(_CLOSED_ROLES, [list(ROLES)]).fetchall()
    if not all(may for _, may in closed):
        statements = " ".join(_opening(role).as_string() + ";" for role, _ in closed)
        raise StorageError(
            f"The login {login!r} may not let Cloister's roles log in, which Citus needs to reach its servers as one of them. "
            f"Nothing was changed. Let an administrator run, in this database: {statements}"
        )
    return [str(role) for role, _ in closed]


def _prepare_roles(connection: Connection, closed: Sequence[str]) -> None:
    """The coordinator connects to the shards as the role of a transaction, which therefore must be able to log in there. It has no
    password: the shards have to trust the coordinator (`pg_hba.conf`, or `pg_dist_authinfo`)."""
    for role in closed:
        connection.execute(_opening(role))
    names = {"login": sql.Identifier(connection.info.user), "database": sql.Identifier(connection.info.dbname)}
    connection.execute(sql.SQL(_PROPAGATION).format(**names))


def _distribute_all(connection: Connection, tables: _Tables, progress: StepProgress) -> None:
    """Foreign keys are made again afterwards: between a table that is distributed and one that is not yet, Citus allows none.
    Meanwhile row-level security does not bind the owner, since PostgreSQL refuses to COPY, as Citus does, into a table whose rows
    are hidden from the login; other transactions wait for the locks, and never see that."""
    keys = connection.execute(_FOREIGN_KEYS, [list(tables.to_distribute)]).fetchall()
    forced = [table for table in tables.to_distribute if table in tables.forced]
    connection.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    for table, name, _ in keys:
        connection.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(*map(sql.Identifier, (table, name))))
    for table in forced:
        connection.execute(_changed(table, "NO FORCE ROW LEVEL SECURITY"))
    for table in tables.to_copy:
        connection.execute("SELECT create_reference_table(%s)", [table])
    ordered = sorted(tables.to_distribute, key=lambda table: (table != _FIRST_TABLE, table))
    for number, table in enumerate(ordered, 1):
        colocated = "none" if table == _FIRST_TABLE else _FIRST_TABLE
        connection.execute("SELECT create_distributed_table(%s, 'tenant_id', colocate_with => %s)", [table, colocated])
        progress("distributing tables", number, len(ordered))
    for table, name, definition in keys:
        added = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} ").format(*map(sql.Identifier, (table, name)))
        connection.execute(added.as_bytes() + definition.encode())
    for table in forced:
        connection.execute(_changed(table, "FORCE ROW LEVEL SECURITY"))


def _remove_local_rows(connection: Connection, tables: Sequence[str], progress: StepProgress) -> None:
    """Remove the rows that the coordinator had before the distribution: Citus copies them, and leaves them on its disk, where
    nothing reads or deletes them. Also after a call that was interrupted before this."""
    for number, table in enumerate(tables, 1):
        connection.execute("SELECT truncate_local_data_after_distributing_table(%s)", [table])
        progress("removing what was copied", number, len(tables))


def _rows(connection: Connection, tables: Sequence[str]) -> int:
    """How many rows the tables have, read as the role from which row-level security hides none."""
    with connection.transaction():
        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(MAINTENANCE_ROLE)))
        return sum(
            _first(connection, sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))) for name in tables
        )


def _opening(role: str) -> sql.Composed:
    return sql.SQL("ALTER ROLE {} LOGIN").format(sql.Identifier(role))


def _changed(table: str, change: LiteralString) -> sql.Composed:
    return sql.SQL("ALTER TABLE {} ").format(sql.Identifier(table)) + sql.SQL(change)


def _first(connection: Connection, query: "bytes | sql.Composed") -> Any:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]
