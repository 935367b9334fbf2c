"""PostgreSQL through psycopg: pooled connections under roles that row-level security binds, one transaction at a time.

The role of the URL only migrates. Tenants' work runs as `cloister_tenant`, which sees the rows of the tenant that its
transaction names; maintenance runs as `cloister_maintenance`. `RESET ROLE` is the only way out of either, and nothing
here says it. A login that is no superuser and owns nothing leaves even that way little worth: see `administration`.

Only this module imports psycopg, which is an optional extra; import it where PostgreSQL is chosen, not before.
"""

import itertools
import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from cloister.domain.errors import (
    Closed,
    StorageBusy,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from cloister.domain.scope import Reach
from cloister.storage import migrate
from cloister.storage.interface import Row, Transaction, Value
from cloister.storage.queries import load_queries
from cloister.storage.walls import (
    MAINTENANCE_ROLE,
    ROLE_IS_UNBOUND,
    ROLES,
    TENANT_ROLE,
    TENANT_TABLES,
    administration,
    breaches,
)

try:
    import psycopg
    from psycopg import errors, sql
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
    from psycopg.pq import TransactionStatus
    from psycopg.rows import TupleRow
    from psycopg.types.numeric import Int8BinaryDumper
    from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout
except ImportError as missing:
    raise StorageUnavailable("PostgreSQL needs its driver: pip install cloister[postgres]") from missing

T = TypeVar("T")
Connection = psycopg.Connection[TupleRow]

CONNECT_SECONDS = 10
BUSY_SECONDS = 15
WRITE_ATTEMPTS = 5
ROWS_PER_FETCH = 2_000
_MIGRATION_LOCK = 0x636C6F6973746572
_CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected)

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"

_CONFIGURE = """
SET ROLE {role};
SET lock_timeout = {busy};
SET cursor_tuple_fraction = 1;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""

_stream_numbers = itertools.count()


def open_postgres(url: str, *, connections: int = 16) -> "PostgresDatabase":
    """Connect, bring the schema up to date, and serve tenants over at most that many connections."""
    conninfo, server = _parsed(url)
    try:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            _migrate(connection)
    except psycopg.Error as error:
        raise translated(error, server) from error
    return PostgresDatabase(
        tenants=_Connections(conninfo, server, role=TENANT_ROLE, fewest=1, most=connections),
        maintenance=_Connections(conninfo, server, role=MAINTENANCE_ROLE, fewest=0, most=2),
    )


class PostgresDatabase:
    """One database of a server; any number of threads and processes."""

    def __init__(self, *, tenants: "_Connections", maintenance: "_Connections") -> None:
        self._queries = {name: text.encode() for name, text in load_queries(postgres=True).items()}
        self._tenants = tenants
        self._maintenance = maintenance

    @contextmanager
    def read(self, reach: Reach) -> Generator[Transaction]:
        with self._tenants.transaction(_within(_READ, reach)) as connection:
            transaction = _PostgresTransaction(connection, self._queries, reach)
            try:
                yield transaction
            finally:
                transaction.end()

    def write(self, reach: Reach, work: Callable[[Transaction], T]) -> T:
        """`work` runs in the caller's thread, and again from the start when another transaction got in its way."""
        opening = _within(_WRITE, reach)

        def attempt(connection: Connection) -> T:
            transaction = _PostgresTransaction(connection, self._queries, reach)
            try:
                return work(transaction)
            finally:
                transaction.end()

        return self._tenants.write(opening, attempt)

    @property
    def maintenance(self) -> "PostgresMaintenance":
        return PostgresMaintenance(self._tenants, self._maintenance, self._queries)

    def close(self) -> None:
        self._tenants.close()
        self._maintenance.close()


class _PostgresTransaction:
    __slots__ = ("_bound", "_connection", "_queries", "reach")

    def __init__(self, connection: Connection, queries: Mapping[str, bytes], reach: Reach) -> None:
        self._connection: Connection | None = connection
        self._queries = queries
        self._bound: dict[str, Value] = {"tenant_id": reach.tenant, "confined_to": reach.confined_to}
        self.reach = reach

    def rows(self, query: str, **parameters: Value) -> list[Row]:
        return self._run(self._queries[query], parameters).fetchall()

    def row(self, query: str, **parameters: Value) -> Row | None:
        return self._run(self._queries[query], parameters).fetchone()

    def stream(self, query: str, **parameters: Value) -> Iterator[Row]:
        """A cursor on the server, so that no more than one fetch is in memory; it ends with the transaction."""
        cursor = b"stream_%d" % next(_stream_numbers)
        self._run(b"DECLARE %b NO SCROLL CURSOR FOR %b" % (cursor, self._queries[query]), parameters, prepare=False)
        return self._fetched(cursor)

    def execute(self, query: str, **parameters: Value) -> int:
        return self._run(self._queries[query], parameters).rowcount

    def end(self) -> None:
        """A transaction kept too long must not speak on a connection that now serves another tenant."""
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
    """Cross-tenant work, under a role of its own."""

    def __init__(self, tenants: "_Connections", maintenance: "_Connections", queries: Mapping[str, bytes]) -> None:
        self._tenants = tenants
        self._connections = maintenance
        self._queries = queries

    def rows(self, query: str, **parameters: Value) -> list[Row]:
        with self._connections.transaction(_READ) as connection:
            return connection.execute(self._queries[query], parameters, binary=True).fetchall()

    def write(self, query: str, **parameters: Value) -> None:
        self._connections.write(_WRITE, lambda connection: connection.execute(self._queries[query], parameters))

    def schema_version(self) -> int:
        with self._connections.transaction(_READ) as connection:
            return max(_applied(connection))

    def check(self) -> list[str]:
        found: list[str] = []
        newest = migrate.migrations(postgres=True)[-1].version
        if (version := self.schema_version()) != newest:
            found.append(f"The schema is at version {version}, and this Cloister expects {newest}.")
        with self._tenants.transaction(_READ) as connection:
            if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
                found.append(f"The database is encoded in {encoding}, not UTF8.")
            is_unbound = bool(_first(connection, ROLE_IS_UNBOUND))
            return found + breaches(connection.execute(TENANT_TABLES), role_is_unbound=is_unbound)

    def backup(self, target: Path) -> None:
        raise StorageError(f"PostgreSQL has its own tool for this: pg_dump --format=custom --file={target} URL")


class _Connections:
    """A pool of connections under one role. They are lent only inside a transaction, and driver errors end here."""

    def __init__(self, conninfo: str, server: str, *, role: str, fewest: int, most: int) -> None:
        self._conninfo = conninfo
        self._server = server
        self._most = most
        self._configuration = _CONFIGURE.format(role=role, busy=round(1000 * BUSY_SECONDS)).encode()
        self._pool = ConnectionPool[Connection](
            conninfo,
            connection_class=psycopg.Connection[TupleRow],
            kwargs={"autocommit": True},
            configure=self._configure,
            min_size=fewest,
            max_size=most,
            timeout=BUSY_SECONDS,
            num_workers=1,
            name=role,
            open=True,
        )

    @contextmanager
    def transaction(self, opening: str) -> Generator[Connection]:
        """Committed when the block ends, rolled back when it raises."""
        connection = self._begin(opening.encode())
        try:
            yield connection
            self._commit(connection)
        except BaseException as error:
            with suppress(psycopg.Error):
                connection.rollback()
            if isinstance(error, psycopg.Error):
                raise translated(error, self._server) from error
            raise
        finally:
            self._pool.putconn(connection)

    def write(self, opening: str, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction, and again, a little later, when the server made it give way to another."""
        for attempt in range(1, WRITE_ATTEMPTS):
            try:
                with self.transaction(opening) as connection:
                    return work(connection)
            except StorageBusy as error:
                if not isinstance(error.__cause__, _CONFLICTS):
                    raise
            time.sleep(random.uniform(0, 0.005 * 2**attempt))
        with self.transaction(opening) as connection:
            return work(connection)

    def close(self) -> None:
        self._pool.close()

    def _configure(self, connection: Connection) -> None:
        """Every int goes out as the type of our columns, so that a query is prepared once and finds its indexes."""
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        connection.execute(self._configuration, prepare=False)

    def _begin(self, opening: bytes) -> Connection:
        """A connection in a new transaction. One that broke while it lay idle is replaced: nothing has run on it."""
        try:
            try:
                return self._opened(opening)
            except psycopg.OperationalError:
                self._reach_server()
                self._pool.check()
                return self._opened(opening)
        except psycopg.Error as error:
            raise translated(error, self._server) from error

    def _opened(self, opening: bytes) -> Connection:
        connection = self._lend()
        try:
            connection.execute(opening, prepare=False)
        except BaseException:
            self._pool.putconn(connection)
            raise
        return connection

    def _lend(self) -> Connection:
        try:
            return self._pool.getconn()
        except PoolClosed:
            raise Closed from None
        except PoolTimeout as error:
            self._reach_server()
            raise StorageBusy(f"All {self._most} connections to {self._server} are in use. Try again.") from error

    def _reach_server(self) -> None:
        """The pool can only say that it waited; a connection of our own says why."""
        try:
            psycopg.connect(self._conninfo).close()
        except psycopg.Error as error:
            raise translated(error, self._server) from error

    def _commit(self, connection: Connection) -> None:
        """PostgreSQL answers a commit after a failed statement with a silent rollback; here that is an error."""
        if connection.pgconn.transaction_status == TransactionStatus.INERROR:
            raise StorageError("A statement of this transaction failed, so nothing of it was kept.")
        try:
            connection.commit()
        except psycopg.OperationalError as error:
            if not connection.closed:
                raise
            raise StorageUnavailable(
                f"{self._server} was lost before it confirmed the commit: what was written may be there or not. "
                "Look, or repeat the request with its idempotency key."
            ) from error


def translated(error: psycopg.Error, server: str) -> StorageError:
    """A driver's error as one of ours, saying what to do; the driver's text never holds the password."""
    said = error.diag.message_primary or " ".join(str(error).split())
    match error:
        case errors.DiskFull():
            return StorageFull(f"The disk of {server} is full. Free some space and try again; nothing was lost.")
        case errors.SerializationFailure() | errors.DeadlockDetected() | errors.LockNotAvailable():
            return StorageBusy("Another transaction was in the way for too long. Try again.")
        case errors.ReadOnlySqlTransaction():
            return StorageReadOnly(
                f"{server} refused to write ({said}). If it is a standby, use the URL of the primary."
            )
        case errors.QueryCanceled() | errors.OutOfMemory() | errors.ConfigurationLimitExceeded():
            return StorageError(f"{server} gave up on the request: {said}.")
        case psycopg.OperationalError() | psycopg.InterfaceError() | errors.IoError():
            return StorageUnavailable(f"{server} cannot be reached: {said}.")
        case _:
            return StorageError(f"The database refused the request: {said}.")


def _parsed(url: str) -> tuple[str, str]:
    """The URL with our defaults where it names none, and the server's name for messages, without the password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StorageUnavailable(
            "The database URL cannot be read; it should look like postgresql://user:password@host:5432/database."
        ) from None
    parts.setdefault("connect_timeout", CONNECT_SECONDS)
    parts.setdefault("fallback_application_name", "cloister")
    parts["client_encoding"] = "utf8"
    port = f":{parts['port']}" if "port" in parts else ""
    return make_conninfo("", **parts), f"PostgreSQL at {parts.get('host', 'the local socket')}{port}"


def _within(opening: str, reach: Reach) -> str:
    """One round trip opens the transaction and names its tenant; `:d` lets nothing but an integer through."""
    return f"{opening}; SELECT set_config('cloister.tenant', '{reach.tenant:d}', true)"


def _migrate(connection: Connection) -> None:
    known = migrate.migrations(postgres=True)
    try:
        with connection.transaction():
            if migrate.pending(_applied(connection), known):
                _apply(connection, known)
            for role in ROLES:
                connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
    except (errors.InsufficientPrivilege, errors.InvalidParameterValue) as error:
        raise StorageError(
            f"The login {connection.info.user!r} may not set up the database ({error.diag.message_primary}). "
            f"Let an administrator run, in this database: {_administration(connection)}"
        ) from error


def _apply(connection: Connection, known: list[migrate.Migration]) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%s)", [_MIGRATION_LOCK])
    connection.execute(migrate.RECORD_TABLE.encode())
    for step in migrate.pending(_applied(connection), known):
        connection.execute(step.text.encode())
        connection.execute(
            "INSERT INTO schema_migration (version, name, checksum) VALUES (%s, %s, %s)",
            [step.version, step.name, step.checksum],
        )


def _applied(connection: Connection) -> dict[int, str]:
    if _first(connection, b"SELECT to_regclass('schema_migration')") is None:
        return {}
    return dict(connection.execute("SELECT version, checksum FROM schema_migration").fetchall())


def _administration(connection: Connection) -> str:
    return administration(
        login=sql.Identifier(connection.info.user).as_string(),
        schema=sql.Identifier(_first(connection, b"SELECT current_schema()") or "public").as_string(),
        existing={name for (name,) in connection.execute("SELECT rolname FROM pg_roles")},
    )


def _first(connection: Connection, query: bytes) -> Any:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]
