"""PostgreSQL through psycopg: transactions on pooled connections, under roles that are subject to row-level security.

The login of the URL only migrates. Tenants' transactions run as `cloister_tenant`, which sees the rows of the tenant that the
transaction sets; maintenance runs as `cloister_maintenance`. Role, tenant and timeouts are set for one transaction, never for a
connection: a pooler may give each transaction another one. Only `RESET ROLE` leaves these roles, and no code here runs it. A login
that is no superuser and owns no tables would gain little even by that: see `row_security.administration`.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from cloister.domain.errors import StorageError
from cloister.domain.maintenance.backup import BackupReport, StepProgress
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.domain.scope import Reach
from cloister.storage import migrate
from cloister.storage.interface import Row, Transaction, Value, bound_parameters
from cloister.storage.postgres import row_security
from cloister.storage.postgres.availability import Availability
from cloister.storage.postgres.backup import write_backup
from cloister.storage.postgres.connections import Connections
from cloister.storage.postgres.driver import (
    Connection,
    TupleRow,
    errors,
    parsed,
    psycopg,
    sql,
    state_of,
    translated,
)
from cloister.storage.postgres.driver import public_url as public_url
from cloister.storage.postgres.notifications import PostgresNotifier
from cloister.storage.postgres.process_locks import PostgresProcessLocks
from cloister.storage.postgres.vacuum import vacuum_database
from cloister.storage.queries import load_queries, split_queries
from cloister.storage.write_status import WriteStatus

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")

CONNECTIONS = 16
SECONDS = 2.0
ROWS_PER_FETCH = 2_000
_MAINTENANCE_CONNECTIONS = 2
_MIGRATION_LOCK = 0x636C6F6973746572

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
_CHECK_WRITES = b"SELECT only_row FROM notification_key FOR UPDATE SKIP LOCKED"


def open_postgres(
    url: str, *, connections: int = CONNECTIONS, seconds: float = SECONDS, direct: str | None = None
) -> "PostgresDatabase":
    """Connect, migrate the schema, and open a database with at most this many connections for reads of tenants, and as many for
    their writes. A server that does not answer for these `seconds` is away. If the `url` is that of a pooler, `direct` is that of
    the server itself, where notifications can be received and this process can have a lock; without it, changes are polled for, and
    the turn of a killed process ends with its lease."""
    conninfo, server = parsed(url)
    try:
        with psycopg.connect(conninfo, autocommit=True, prepare_threshold=None) as connection:
            is_pooled, _ = state_of(connection)
            _migrate(connection)
    except psycopg.Error as error:
        raise translated(error, server) from error
    status, availability = WriteStatus(), Availability(conninfo, server, seconds)

    def pool(role: str, fewest: int, most: int) -> Connections:
        return Connections(conninfo, server, availability, status, role=role, fewest=fewest, most=most)

    own_server = parsed(direct)[0] if direct is not None else None if is_pooled else conninfo
    reads = pool(row_security.TENANT_ROLE, 1, connections)
    return PostgresDatabase(
        notifier=PostgresNotifier(own_server or conninfo, reads, polls=own_server is None),
        process_locks=PostgresProcessLocks(own_server, reads),
        reads=reads,
        writes=pool(row_security.TENANT_ROLE, 1, connections),
        maintenance=pool(row_security.MAINTENANCE_ROLE, 0, _MAINTENANCE_CONNECTIONS),
        availability=availability,
        write_status=status,
    )


def has_schema(url: str) -> bool:
    """Whether the database has the tables of a Cloister, of any version. Nothing is created."""
    conninfo, server = parsed(url)
    try:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            row = connection.execute("SELECT to_regclass('schema_migration') IS NOT NULL").fetchone()
    except psycopg.Error as error:
        raise translated(error, server) from error
    return row is not None and bool(row[0])


class PostgresDatabase:
    """One database of a PostgreSQL server, for any number of threads and processes."""

    embedded = False

    def __init__(
        self,
        *,
        notifier: PostgresNotifier,
        process_locks: PostgresProcessLocks,
        reads: "Connections",
        writes: "Connections",
        maintenance: "Connections",
        availability: Availability,
        write_status: WriteStatus,
    ) -> None:
        self.notifier = notifier
        self.process_locks = process_locks
        self.write_status = write_status
        scoped, unscoped = split_queries(load_queries(postgres=True))
        self._queries = {name: text.encode() for name, text in scoped.items()}
        self._unscoped_queries = {name: text.encode() for name, text in unscoped.items()}
        self._reads = reads
        self._writes = writes
        self._maintenance = maintenance
        self._availability = availability

    @contextmanager
    def read(self, reach: Reach) -> Generator[Transaction]:
        with self._reads.transaction(_READ, tenant=reach.tenant) as connection:
            transaction = _PostgresTransaction(connection, self._queries, reach)
            try:
                yield transaction
            finally:
                transaction.end()

    def write(self, reach: Reach, work: Callable[[Transaction], T]) -> T:
        """Run `work` on the caller's thread, and again from the start after a deadlock or another conflict."""

        def attempt(connection: Connection) -> T:
            transaction = _PostgresTransaction(connection, self._queries, reach)
            try:
                return work(transaction)
            finally:
                transaction.end()

        return self._writes.write(_WRITE, attempt, tenant=reach.tenant)

    def write_batch(
        self,
        items: Sequence[tuple[Reach, A]],
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]],
    ) -> list[T | BaseException]:
        """Write one item after the other, each in its own transaction: PostgreSQL commits concurrent callers in groups by
        itself."""
        answers: list[T | BaseException] = []
        for reach, item in items:
            try:
                answers.append(self._write_one(reach, prepare([item]), work))
            except Exception as error:  # noqa: BLE001 - it is the result of this item
                answers.append(error)
        return answers

    def _write_one(
        self, reach: Reach, prepared: Sequence[B], work: Callable[[Transaction, Sequence[B]], Sequence[T | Exception]]
    ) -> T:
        def alone(transaction: Transaction) -> T:
            (result,) = work(transaction, prepared)
            if isinstance(result, Exception):
                raise result
            return result

        return self.write(reach, alone)

    @property
    def maintenance(self) -> "PostgresMaintenance":
        return PostgresMaintenance(self._reads, self._maintenance, self._unscoped_queries)

    def write_problem(self) -> StorageError | None:
        return self.write_status.problem

    def close(self) -> None:
        self._availability.close()
        self.notifier.close()
        self.process_locks.close()
        for pool in (self._reads, self._writes, self._maintenance):
            pool.close()


class _PostgresTransaction:
    __slots__ = ("_bound", "_connection", "_queries", "_streams", "reach")

    def __init__(self, connection: Connection, queries: Mapping[str, bytes], reach: Reach) -> None:
        self._connection: Connection | None = connection
        self._queries = queries
        self._bound = bound_parameters(reach)
        self._streams = 0
        self.reach = reach

    def rows(self, query: str, **parameters: Value) -> list[Row]:
        return self._run(self._queries[query], parameters).fetchall()

    def row(self, query: str, **parameters: Value) -> Row | None:
        return self._run(self._queries[query], parameters).fetchone()

    def stream(self, query: str, **parameters: Value) -> Iterator[Row]:
        """Rows from a server-side cursor, so that only one fetch is in memory; the cursor ends with the transaction."""
        self._streams += 1
        cursor = b"stream_%d" % self._streams
        self._run(b"DECLARE %b NO SCROLL CURSOR FOR %b" % (cursor, self._queries[query]), parameters, prepare=False)
        return self._fetched(cursor)

    def execute(self, query: str, **parameters: Value) -> int:
        return self._run(self._queries[query], parameters).rowcount

    def execute_each(self, query: str, parameters: Sequence[dict[str, Value]]) -> None:
        for each in parameters:
            self._run(self._queries[query], each)

    def end(self) -> None:
        """Detach from the connection, which goes back to the pool and may serve another tenant next."""
        self._connection = None

    def _fetched(self, cursor: bytes) -> Iterator[Row]:
        while rows := self._run(b"FETCH %d FROM %b" % (ROWS_PER_FETCH, cursor), {}, prepare=False).fetchall():
            yield from rows
        self._run(b"CLOSE %b" % cursor, {}, prepare=False)

    def _run(
        self, text: bytes, parameters: dict[str, Value], *, prepare: bool | None = None
    ) -> psycopg.Cursor[TupleRow]:
        if self._connection is None:
            raise StorageError("This transaction has ended; nothing more can be read or written in it.")
        parameters.update(self._bound)
        return self._connection.execute(text, parameters, prepare=prepare, binary=True)


class PostgresMaintenance:
    """Cross-tenant work, under the maintenance role."""

    def __init__(self, reads: "Connections", maintenance: "Connections", queries: Mapping[str, bytes]) -> None:
        self._reads = reads
        self._connections = maintenance
        self._queries = queries

    def rows(self, query: str, **parameters: Value) -> list[Row]:
        with self._connections.transaction(_READ) as connection:
            return connection.execute(self._queries[query], parameters, binary=True).fetchall()

    def write(self, query: str, **parameters: Value) -> list[Row]:
        def work(connection: Connection) -> list[Row]:
            cursor = connection.execute(self._queries[query], parameters, binary=True)
            return cursor.fetchall() if cursor.description else []

        return self._connections.write(_WRITE, work)

    def schema_version(self) -> int:
        with self._connections.transaction(_READ) as connection:
            return max(_applied(connection))

    def check_writes(self) -> None:
        """Lock a row that no other transaction has locked, which writes a page and is committed with an fsync. While another
        process has the row locked, nothing is learned."""
        self._connections.check_writes(_WRITE, _CHECK_WRITES)

    def check(self) -> list[str]:
        found: list[str] = []
        newest = migrate.migrations(postgres=True)[-1].version
        if (version := self.schema_version()) != newest:
            found.append(f"The schema is at version {version}, and this Cloister expects {newest}.")
        with self._reads.transaction(_READ) as connection:
            if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
                found.append(f"The database is encoded in {encoding}, not UTF8.")
            is_unbound = bool(_first(connection, row_security.ROLE_IS_UNBOUND))
            return found + row_security.breaches(
                connection.execute(row_security.TENANT_TABLES), role_is_unbound=is_unbound
            )

    def scrub(self) -> None:
        """Nothing: autovacuum and the rotation of the write-ahead log remove deleted content in time."""

    def remains(self) -> str | None:
        return row_security.REMAINS

    def rows_in_file(self, sessions: Sequence[int], largest: int) -> int | str:
        return "PostgreSQL's files belong to its server, which removes deleted rows from them in its own time."

    def excess_rights(self) -> str | None:
        with self._reads.transaction(_READ) as connection:
            row = connection.execute(row_security.INHERITS).fetchone()
            assert row is not None
            login, inherits = row
            return row_security.excess_rights(login, connection.info.server_version) if inherits else None

    def log_bytes(self) -> int | None:
        """None: the log belongs to the whole server."""
        return None

    def vacuum(self, progress: StepProgress) -> VacuumReport:
        return vacuum_database(*self._connections.address, progress)

    def backup(self, target: Path, progress: StepProgress) -> BackupReport:
        with self._connections.transaction(_READ) as connection:
            return write_backup(connection, target, progress)


def _migrate(connection: Connection) -> None:
    known = migrate.migrations(postgres=True)
    try:
        with connection.transaction():
            if migrate.pending(_recorded(connection) or _applied(connection), known):
                _apply(connection, known)
            for role in row_security.ROLES:
                connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
    except (errors.InsufficientPrivilege, errors.InvalidParameterValue) as error:
        raise StorageError(
            f"The login {connection.info.user!r} may not set up the database ({error.diag.message_primary}). "
            f"{_administration(connection)}"
        ) from error


def _apply(connection: Connection, known: Sequence[migrate.Migration]) -> None:
    # An advisory lock: one process migrates at a time.
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [_MIGRATION_LOCK])
    connection.execute(migrate.RECORD_TABLE.encode())
    for step in migrate.pending(_applied(connection), known):
        # One message for each statement: Citus forwards the whole message that a statement came with to its shards.
        for statement in migrate.statements(step.text):
            connection.execute(statement.encode())
        connection.execute(
            "INSERT INTO schema_migration (version, name, checksum) VALUES (%s, %s, %s)",
            [step.version, step.name, step.checksum],
        )


def _applied(connection: Connection) -> dict[int, str]:
    if _first(connection, b"SELECT to_regclass('schema_migration')") is None:
        return {}
    return dict(connection.execute("SELECT version, checksum FROM schema_migration").fetchall())


def _recorded(connection: Connection) -> dict[int, str]:
    """The applied migrations, read under the maintenance role: a login that owns no tables has no rights of its own to read
    them."""
    role = sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(row_security.MAINTENANCE_ROLE))
    try:
        with connection.transaction():
            connection.execute(role)
            applied = _applied(connection)
            connection.execute("SET LOCAL ROLE NONE")
            return applied
    except (errors.InsufficientPrivilege, errors.InvalidParameterValue):
        return {}


def _administration(connection: Connection) -> str:
    return row_security.administration(
        login=sql.Identifier(connection.info.user).as_string(),
        owner=_first(connection, row_security.OWNER),
        schema=sql.Identifier(_first(connection, b"SELECT current_schema()") or "public").as_string(),
        existing={name for (name,) in connection.execute("SELECT rolname FROM pg_roles")},
        version=connection.info.server_version,
    )


def _first(connection: Connection, query: bytes) -> Any:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]
