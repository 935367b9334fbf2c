"""A pool of connections to PostgreSQL under one role."""

import random
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from typing import TypeVar

from cloister.domain.errors import Closed, OutcomeUnknown, StorageBusy, StorageError
from cloister.domain.identifiers import TenantId
from cloister.storage.interface import RowRemoved
from cloister.storage.postgres.availability import Availability, ServerSilent, WatchedConnection
from cloister.storage.postgres.driver import (
    Connection,
    ConnectionPool,
    Int8BinaryDumper,
    PoolClosed,
    PoolTimeout,
    TransactionStatus,
    conninfo_to_dict,
    errors,
    make_conninfo,
    psycopg,
    state_of,
    translated,
)
from cloister.storage.postgres.tenant_share import TenantShare
from cloister.storage.write_status import WriteStatus

T = TypeVar("T")

LOCK_SECONDS = 15
BUSY_SECONDS = 2.0
# A transaction that waits for a connection looks at these parts of the time whether the server is away.
_BUSY_PARTS = (0.5, 0.2, 0.2)
# A broken network: unanswered bytes and silence are given up by the operating system. A unix socket ignores these.
_NETWORK = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}
WRITE_ATTEMPTS = 5
_CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected, RowRemoved)

# Sent at the start of every transaction, after BEGIN and as a message of its own: what is set ends with the transaction. Behind a
# pooler in transaction mode the next one of this connection may run on another connection of the server; and Citus forwards the
# whole message to its shards.
_LOCAL = "SET LOCAL ROLE {role}; SET LOCAL lock_timeout = {lock}; SET LOCAL cursor_tuple_fraction = 1"
_LOCAL_TENANT = b"; SET LOCAL cloister.tenant = '%d'"
_LOCAL_DURABLE = b"; SET LOCAL synchronous_commit = on"
_HAS_STORED = b"SELECT pg_current_xact_id_if_assigned() IS NOT NULL"


class Connections:
    """A pool of connections, each of whose transactions runs under one role. A connection is borrowed for one transaction, and has
    no settings outside of it; driver errors are translated. While the server is away, every transaction is refused at once."""

    def __init__(
        self,
        conninfo: str,
        server: str,
        availability: Availability,
        status: WriteStatus,
        *,
        role: str,
        fewest: int,
        most: int,
    ) -> None:
        self._conninfo = conninfo
        self._server = server
        self._availability = availability
        self._status = status
        self._most = most
        self._share = TenantShare(most)
        self._local = _LOCAL.format(role=role, lock=round(1000 * LOCK_SECONDS)).encode()
        self._pool = ConnectionPool[WatchedConnection](
            make_conninfo("", **{**_NETWORK, **conninfo_to_dict(conninfo)}),
            connection_class=WatchedConnection,
            kwargs={"autocommit": True},
            configure=self._configure,
            min_size=fewest,
            max_size=most,
            timeout=BUSY_SECONDS,
            num_workers=1,
            name=role,
            open=True,
        )

    @property
    def address(self) -> tuple[str, str]:
        """The connection string, for work that needs a connection of its own, and the server's name for error messages."""
        return self._conninfo, self._server

    @contextmanager
    def transaction(
        self, opening: str, *, tenant: TenantId | None = None, writes: bool = False
    ) -> Generator[Connection]:
        """A transaction that is committed when the block ends, and rolled back if the block raises. `OutcomeUnknown` if it `writes`
        and the server is lost before it has confirmed the commit. Row-level security shows the rows of the `tenant`, which does not
        get all connections."""
        self._availability.check()
        with nullcontext() if tenant is None else self._share_of(tenant):
            connection = self._begin(opening.encode(), tenant, writes=writes)
            try:
                yield connection
                self._commit(connection, writes=writes)
            except BaseException as error:  # raised again: nothing may stay open in a connection that others use
                with suppress(psycopg.Error):
                    connection.rollback()
                if isinstance(error, psycopg.Error):
                    raise translated(error, self._server) from error
                raise
            finally:
                self._pool.putconn(connection)

    @contextmanager
    def _share_of(self, tenant: TenantId) -> Generator[None]:
        with self._share.taken(tenant, BUSY_SECONDS) as is_free:
            self._availability.check()
            if not is_free:
                raise StorageBusy(f"All connections of one tenant to {self._server} are in use. Try again.")
            yield

    def write(self, opening: str, work: Callable[[Connection], T], *, tenant: TenantId | None = None) -> T:
        """Run `work` in a transaction. After a deadlock or another conflict it is retried, after a random pause. While writes fail,
        a transaction that has written something shows that they succeed again."""
        has_stored = False

        def watched(connection: Connection) -> T:
            nonlocal has_stored
            result = work(connection)
            has_stored = connection.execute(_HAS_STORED).fetchone() == (True,)
            return result

        try:
            result = self._write(opening, work if self._status.problem is None else watched, tenant)
        except StorageError as error:
            if _is_of_a_part(error):
                self._status.failed_in_part()
            else:
                self._status.failed_with(error)
            raise
        if has_stored:
            self._status.succeeded()
        return result

    def check_writes(self, opening: str, query: bytes) -> None:
        """Run a query that locks a row. If it finds none, it has written nothing, and the state of writes stays as it was."""
        if self.write(opening, lambda connection: connection.execute(query).fetchone()) is not None:
            self._status.succeeded()

    def _write(self, opening: str, work: Callable[[Connection], T], tenant: TenantId | None) -> T:
        for attempt in range(1, WRITE_ATTEMPTS):
            try:
                with self.transaction(opening, tenant=tenant, writes=True) as connection:
                    return work(connection)
            except StorageBusy as error:
                if not isinstance(error.__cause__, _CONFLICTS):
                    raise
            time.sleep(random.uniform(0, 0.005 * 2**attempt))
        with self.transaction(opening, tenant=tenant, writes=True) as connection:
            return work(connection)

    def close(self) -> None:
        self._pool.close()

    def _configure(self, connection: WatchedConnection) -> None:
        """Send every int as BIGINT, the type of our columns, so that a query is prepared once and uses its indexes. Behind a pooler
        nothing is prepared: the statement would be on another connection of the server, where another client's can have its
        name."""
        connection.availability = self._availability
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        is_pooled, connection.commits_early = state_of(connection)
        if is_pooled:
            connection.prepare_threshold = None

    def _begin(self, opening: bytes, tenant: TenantId | None, *, writes: bool) -> WatchedConnection:
        """A connection in a new transaction. A connection that broke while idle is replaced, since nothing has run on it yet."""
        try:
            try:
                return self._opened(opening, tenant, writes=writes)
            except ServerSilent:
                raise
            except psycopg.OperationalError:
                self._availability.ask()
                self._pool.check()
                return self._opened(opening, tenant, writes=writes)
        except psycopg.Error as error:
            raise translated(error, self._server) from error

    def _opened(self, opening: bytes, tenant: TenantId | None, *, writes: bool) -> WatchedConnection:
        connection = self._borrow()
        local = self._local if tenant is None else self._local + _LOCAL_TENANT % tenant
        try:
            connection.execute(opening, prepare=False)
            connection.execute(local + _LOCAL_DURABLE if writes and connection.commits_early else local, prepare=False)
        except BaseException:  # raised again: a connection that is not given back is lost to the pool
            self._pool.putconn(connection)
            raise
        return connection

    def _borrow(self) -> WatchedConnection:
        """A connection of the pool. If none is free, the server is asked meanwhile: the pool does not say why it cannot connect."""
        if not self._pool.get_stats().get("pool_available"):
            self._availability.suspect()
        for part in _BUSY_PARTS:
            try:
                return self._pool.getconn(part * BUSY_SECONDS)
            except PoolClosed:
                raise Closed from None
            except PoolTimeout:
                self._availability.check()
        raise StorageBusy(f"All {self._most} connections to {self._server} are in use. Try again.")

    def _commit(self, connection: WatchedConnection, *, writes: bool) -> None:
        """Commit. After a failed statement PostgreSQL would silently roll back instead, so that is an error here."""
        if connection.pgconn.transaction_status == TransactionStatus.INERROR:
            raise StorageError("A statement of this transaction failed, so nothing of it was kept.")
        try:
            connection.commit()
        except psycopg.OperationalError as error:
            if not writes or not (connection.closed or _leaves_outcome_open(error)):
                raise
            raise OutcomeUnknown(
                f"{self._server} was lost before it confirmed the commit: what was written may be there or not. "
                "Repeat the request with the same idempotency key, or look before you repeat it without one."
            ) from error


def _is_of_a_part(error: StorageError) -> bool:
    """Whether the server itself answered that it lost a connection: a coordinator does so that cannot reach a node, and writes of
    tenants on other nodes succeed."""
    cause = error.__cause__
    return isinstance(cause, psycopg.Error) and cause.pgresult is not None and (cause.sqlstate or "").startswith("08")


def _leaves_outcome_open(error: psycopg.Error) -> bool:
    """Whether a commit that fails with this error may have been made: a connection pooler that lost its server, and a coordinator
    that lost a node, report one of these on a connection that stays open."""
    state = error.sqlstate or ""
    return state.startswith("08") or state in ("40003", "57P01", "57P02", "57P03")
