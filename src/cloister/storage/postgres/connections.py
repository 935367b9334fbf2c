"""A pool of connections to PostgreSQL under one role, and the translation of psycopg's errors.

Only this package imports psycopg, which is an optional extra; import it only where PostgreSQL is chosen.
"""

import random
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TypeVar

from cloister.domain.errors import (
    Closed,
    OutcomeUnknown,
    StorageBusy,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from cloister.storage.interface import RowRemoved
from cloister.storage.write_status import WriteStatus

try:
    import psycopg as psycopg
    from psycopg import errors as errors
    from psycopg import sql as sql
    from psycopg.conninfo import conninfo_to_dict as conninfo_to_dict
    from psycopg.conninfo import make_conninfo as make_conninfo
    from psycopg.pq import TransactionStatus
    from psycopg.rows import TupleRow as TupleRow
    from psycopg.types.numeric import Int8BinaryDumper
    from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout
except ImportError as missing:
    raise StorageUnavailable("PostgreSQL needs its driver: pip install cloister[postgres]") from missing

T = TypeVar("T")
Connection = psycopg.Connection[TupleRow]

CONNECT_SECONDS = 10
BUSY_SECONDS = 15
WRITE_ATTEMPTS = 5
_CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected, RowRemoved)

_CONFIGURE = """
SET ROLE {role};
SET lock_timeout = {busy};
SET cursor_tuple_fraction = 1;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""


class Connections:
    """A pool of connections under one role. A connection is borrowed for one transaction, and driver errors are translated."""

    def __init__(self, conninfo: str, server: str, status: WriteStatus, *, role: str, fewest: int, most: int) -> None:
        self._conninfo = conninfo
        self._server = server
        self._status = status
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

    @property
    def address(self) -> tuple[str, str]:
        """The connection string, for work that needs a connection of its own, and the server's name for error messages."""
        return self._conninfo, self._server

    @contextmanager
    def transaction(self, opening: str, *, writes: bool = False) -> Generator[Connection]:
        """A transaction that is committed when the block ends, and rolled back if the block raises. `OutcomeUnknown` if it `writes`
        and the server is lost before it has confirmed the commit."""
        connection = self._begin(opening.encode())
        try:
            yield connection
            self._commit(connection, writes=writes)
        except BaseException as error:
            with suppress(psycopg.Error):
                connection.rollback()
            if isinstance(error, psycopg.Error):
                raise translated(error, self._server) from error
            raise
        finally:
            self._pool.putconn(connection)

    def write(self, opening: str, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction. After a deadlock or another conflict it is retried, after a random pause."""
        try:
            result = self._write(opening, work)
        except StorageError as error:
            self._status.failed_with(error)
            raise
        self._status.succeeded()
        return result

    def _write(self, opening: str, work: Callable[[Connection], T]) -> T:
        for attempt in range(1, WRITE_ATTEMPTS):
            try:
                with self.transaction(opening, writes=True) as connection:
                    return work(connection)
            except StorageBusy as error:
                if not isinstance(error.__cause__, _CONFLICTS):
                    raise
            time.sleep(random.uniform(0, 0.005 * 2**attempt))
        with self.transaction(opening, writes=True) as connection:
            return work(connection)

    def close(self) -> None:
        self._pool.close()

    def _configure(self, connection: Connection) -> None:
        """Send every int as BIGINT, the type of our columns, so that a query is prepared once and uses its indexes."""
        connection.adapters.register_dumper(int, Int8BinaryDumper)
        connection.execute(self._configuration, prepare=False)

    def _begin(self, opening: bytes) -> Connection:
        """A connection in a new transaction. A connection that broke while idle is replaced, since nothing has run on it yet."""
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
        connection = self._borrow()
        try:
            connection.execute(opening, prepare=False)
        except BaseException:
            self._pool.putconn(connection)
            raise
        return connection

    def _borrow(self) -> Connection:
        try:
            return self._pool.getconn()
        except PoolClosed:
            raise Closed from None
        except PoolTimeout as error:
            self._reach_server()
            raise StorageBusy(f"All {self._most} connections to {self._server} are in use. Try again.") from error

    def _reach_server(self) -> None:
        """Raise the reason why the server cannot be reached, which the pool does not tell: it only times out."""
        try:
            psycopg.connect(self._conninfo).close()
        except psycopg.Error as error:
            raise translated(error, self._server) from error

    def _commit(self, connection: Connection, *, writes: bool) -> None:
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


def _leaves_outcome_open(error: psycopg.Error) -> bool:
    """Whether a commit that fails with this error may have been made: a connection pooler that lost its server, and a coordinator
    that lost a node, report one of these on a connection that stays open."""
    state = error.sqlstate or ""
    return state.startswith("08") or state in ("40003", "57P01", "57P02", "57P03")


def translated(error: psycopg.Error, server: str) -> StorageError:
    """A driver's error as a `StorageError` that says what to do; the driver's text never contains the password."""
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


def parsed(url: str) -> tuple[str, str]:
    """The connection string of a URL, with our defaults, and the server's name for error messages, without the password.

    An unescaped slash in a password makes the rest of it look like a port; refusing that here keeps it out of the driver's error.
    """
    try:
        parts = conninfo_to_dict(url)
        port = str(parts.get("port", ""))
        if port.strip("0123456789,"):
            raise ValueError("the port is not a number")
    except (psycopg.ProgrammingError, ValueError):
        raise StorageUnavailable(
            "The database URL cannot be read; it should look like postgresql://user:password@host:5432/database, "
            "where the password writes / as %2F, @ as %40 and # as %23."
        ) from None
    parts.setdefault("connect_timeout", CONNECT_SECONDS)
    parts.setdefault("fallback_application_name", "cloister")
    parts["client_encoding"] = "utf8"
    address = ":".join(filter(None, [str(parts.get("host", "the local socket")), port]))
    return make_conninfo("", **parts), f"PostgreSQL at {address}"
