"""Which processes of a data directory are running, by locks on single bytes of a file: the operating system releases those of a
process when it ends, however it ends.

The locks belong to an open file, and not to a process, so that two databases that one process has opened have one each. On an
operating system without such locks nothing is known.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

LOCK_FILE = "processes.lock"
# `struct flock` of systems with 64 bits: type, whence, start, length, process.
_FLOCK = struct.Struct("hhqqi0q")
_SET_LOCK: int | None = getattr(fcntl, "F_OFD_SETLK", None)


class SqliteProcessLocks:
    """One byte of the file for each process, at the offset of its number."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOCK_FILE
        self._taken: dict[int, int] = {}

    def take(self, number: int) -> None:
        with suppress(OSError):  # without a lock it is not known of this process whether it is running
            descriptor = self._opened()
            try:
                _lock(descriptor, number, fcntl.F_WRLCK)
            except OSError:
                os.close(descriptor)
                raise
            self._taken[number] = descriptor

    def has(self, number: int) -> bool:
        return number in self._taken

    def release(self, number: int) -> None:
        descriptor = self._taken.pop(number, None)
        if descriptor is not None:
            os.close(descriptor)

    def is_taken(self, number: int) -> bool | None:
        """None where it cannot be known."""
        try:
            descriptor = self._opened()
        except OSError:
            return None
        try:
            _lock(descriptor, number, fcntl.F_RDLCK)  # which does not disturb others that look
        except OSError as error:
            return True if error.errno in (errno.EAGAIN, errno.EACCES) else None
        finally:
            os.close(descriptor)
        return False

    def free(self, numbers: Sequence[int]) -> set[int]:
        return {number for number in numbers if self.is_taken(number) is False}

    def close(self) -> None:
        for number in list(self._taken):
            self.release(number)

    def _opened(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(descriptor: int, number: int, kind: int) -> None:
    """Lock one byte, or raise an `OSError`."""
    if _SET_LOCK is None:
        raise OSError(errno.ENOSYS, "no locks of open files")
    fcntl.fcntl(descriptor, _SET_LOCK, _FLOCK.pack(kind, os.SEEK_SET, number, 1, 0))
