"""Which processes of a PostgreSQL database are running, by advisory locks: the server releases that of a process when its
connection ends.

The connection may also end while the process goes on, because the server was restarted or the network was away. It is opened again
then, and for a moment the lock is free: a free lock alone does not say that a process has ended.
"""

import select
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

from cloister.domain.errors import StorageError
from cloister.storage.postgres.connections import Connections
from cloister.storage.postgres.driver import Connection, conninfo_to_dict, make_conninfo, psycopg
from cloister.storage.postgres.row_security import TENANT_ROLE

_RECONNECT_SECONDS = 0.5
_WAIT_SECONDS = 5.0
# TCP keepalive: both sides notice soon that the other is gone.
_NETWORK = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}
_OPEN = f"SET ROLE {TENANT_ROLE}; SET lock_timeout = '5s'; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2".encode()
# After a restart of the server its locks are free until the processes have connected again. The lock is shared, so that it disturbs
# no other look.
_IS_FREE = b"SELECT pg_try_advisory_xact_lock_shared(%s), pg_postmaster_start_time() < clock_timestamp() - INTERVAL '5 seconds'"

_FREE = b"""
    SELECT
        ARRAY(
            SELECT number FROM unnest(CAST(%s AS bigint[])) AS number
            EXCEPT
            SELECT CAST(classid AS bigint) << 32 | CAST(objid AS bigint) FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND objsubid = 1
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        ),
        pg_postmaster_start_time() < clock_timestamp() - INTERVAL '5 seconds'
"""


class PostgresProcessLocks:
    """The locks of this process, and a look at those of others. Nothing is started before a lock is taken. `conninfo` is that of
    the server itself: a pooler would not release the lock of a process that ended. Without it this process takes no lock."""

    def __init__(self, conninfo: str | None, connections: Connections) -> None:
        self._conninfo = conninfo and make_conninfo("", **{**_NETWORK, **conninfo_to_dict(conninfo)})
        self._connections = connections
        self._locks: dict[int, _Lock] = {}

    def take(self, number: int) -> None:
        if self._conninfo is not None:
            self._locks[number] = _Lock(self._conninfo, number)

    def has(self, number: int) -> bool:
        lock = self._locks.get(number)
        return lock is not None and lock.is_taken.is_set()

    def release(self, number: int) -> None:
        lock = self._locks.pop(number, None)
        if lock is not None:
            lock.release()

    def is_taken(self, number: int) -> bool | None:
        """None where it cannot be known."""
        try:
            with self._connections.transaction("BEGIN") as connection:
                row = connection.execute(_IS_FREE, [number]).fetchone()
        except StorageError:
            return None
        assert row is not None
        is_free, has_run_long = row
        return True if not is_free else False if has_run_long else None

    def free(self, numbers: Sequence[int]) -> set[int]:
        """In one look at all locks; none while the server has just started."""
        with self._connections.transaction("BEGIN") as connection:
            row = connection.execute(_FREE, [list(numbers)]).fetchone()
        assert row is not None
        free, has_run_long = row
        return set(free) if has_run_long else set()

    def close(self) -> None:
        for number in list(self._locks):
            self.release(number)


class _Lock:
    """A lock, on a connection and a thread of its own, which takes it again after the connection was lost."""

    def __init__(self, conninfo: str, number: int) -> None:
        self.is_taken = threading.Event()
        self._conninfo = conninfo
        self._number = number
        self._stopping = threading.Event()
        self._stop, self._stopped = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="cloister-process", daemon=True)
        self._thread.start()
        self.is_taken.wait(_WAIT_SECONDS)

    def release(self) -> None:
        self._stopping.set()
        self._stop.close()
        self._thread.join(_WAIT_SECONDS)
        self._stopped.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            with suppress(psycopg.Error), psycopg.connect(self._conninfo, autocommit=True) as connection:
                connection.execute(_OPEN)
                connection.execute("SELECT pg_advisory_lock(%s)", [self._number])
                self.is_taken.set()
                while not self._stopping.is_set():
                    self._wait(connection)
                    connection.execute("SELECT 1")
            self.is_taken.clear()
            self._stopping.wait(_RECONNECT_SECONDS)

    def _wait(self, connection: Connection) -> None:
        """Wait until the server sends something, which is mostly that it ends the connection, or until the lock is released."""
        waiting = select.poll()
        waiting.register(connection.fileno(), select.POLLIN)
        waiting.register(self._stopped, select.POLLIN)
        waiting.poll()
