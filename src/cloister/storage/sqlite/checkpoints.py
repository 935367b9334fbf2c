"""Keeps SQLite's write-ahead log small: checkpoints on a thread of their own.

SQLite starts its log again from the beginning only at a moment when no reader uses the log, and under constant readers that moment
never comes by itself. A checkpoint that truncates makes the moment: it lets new readers read the database file directly, and waits
for those that are still on the log, while writers wait too. So most pages are copied before, by a checkpoint that nobody waits for,
and the wait is bounded. A reader that stays longer is left alone, and tried again later: until it ends, the log grows with what is
written.
"""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

import threading
from collections.abc import Callable
from pathlib import Path

import apsw

from cloister.domain.errors import CloisterError, Closed
from cloister.storage.sqlite.connections import BUSY_MILLISECONDS, connect

LARGE_BYTES = 32 << 20
SECONDS = 1.0
# Writers wait at most so long for readers, and then not again for a while.
WAIT_MILLISECONDS = 200
PAUSE_SECONDS = 5.0


class Checkpoints:
    """Looks at the size of the log every second; `between_writes` runs work on the write connection while it writes nothing."""

    def __init__(self, path: Path, between_writes: Callable[[Callable[[apsw.Connection], bool]], bool]) -> None:
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._between_writes = between_writes
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cloister-checkpoints", daemon=True)
        self._thread.start()

    def log_bytes(self) -> int:
        try:
            return self._log.stat().st_size
        except OSError:
            return 0

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        pause = SECONDS
        while not self._stopping.wait(pause):
            pause = SECONDS
            if self.log_bytes() > LARGE_BYTES and not self._shorten():
                pause = PAUSE_SECONDS

    def _shorten(self) -> bool:
        """Copy the log into the database and truncate it; false if a reader was in the way, or the disk failed."""
        try:
            connection = connect(self._path)
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            finally:
                connection.close()
            return self._between_writes(truncated)
        except Closed:
            return True
        except (apsw.Error, CloisterError):
            # The next write that meets the same trouble reports it to its caller.
            return False


def truncated(connection: apsw.Connection, wait_milliseconds: int = WAIT_MILLISECONDS) -> bool:
    """Truncate the log on the write connection, whose `data_version` a checkpoint of its own does not change; false if a reader was
    in the way for too long."""
    connection.set_busy_timeout(wait_milliseconds)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
    return True
