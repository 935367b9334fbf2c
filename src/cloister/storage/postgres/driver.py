"""psycopg, which is an optional extra: its errors as Cloister's, and connection strings.

Only this package imports psycopg, and only from here; import it only where PostgreSQL is chosen.
"""

from cloister.domain.errors import (
    StorageBusy,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)

try:
    import psycopg as psycopg
    from psycopg import errors as errors
    from psycopg import sql as sql
    from psycopg.conninfo import conninfo_to_dict as conninfo_to_dict
    from psycopg.conninfo import make_conninfo as make_conninfo
    from psycopg.pq import TransactionStatus as TransactionStatus
    from psycopg.rows import TupleRow as TupleRow
    from psycopg.types.numeric import Int8BinaryDumper as Int8BinaryDumper
    from psycopg_pool import ConnectionPool as ConnectionPool
    from psycopg_pool import PoolClosed as PoolClosed
    from psycopg_pool import PoolTimeout as PoolTimeout
except ImportError as missing:
    raise StorageUnavailable("PostgreSQL needs its driver: pip install cloister[postgres]") from missing

Connection = psycopg.Connection[TupleRow]

# A pooler gives each of its clients a process id of its own making.
_STATE = b"SELECT pg_backend_pid(), current_setting('synchronous_commit')"

CONNECT_SECONDS = 5


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


def state_of(connection: Connection) -> tuple[bool, bool]:
    """Whether a pooler, such as pgbouncer, is between here and the server, and whether the server confirms a commit before it is on
    disk."""
    row = connection.execute(_STATE, prepare=False).fetchone()
    assert row is not None
    process, commit = row
    return process != connection.info.backend_pid, commit == "off"


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


def public_url(url: str) -> str:
    """The URL without login and password: for people, and to compare two."""
    conninfo, _ = parsed(url)
    parts = conninfo_to_dict(conninfo)
    host, port = str(parts.get("host") or parts.get("hostaddr") or ""), str(parts.get("port") or "5432")
    name = str(parts.get("dbname") or parts.get("user") or "")
    options = f"?options={parts['options']}" if parts.get("options") else ""
    return f"postgresql://{host}:{port}/{name}{options}"
