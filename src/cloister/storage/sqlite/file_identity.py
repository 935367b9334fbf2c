"""Compares the files that a connection has open with the files that are at their paths now (OPS-1).

SQLite goes on writing into a file that was deleted or replaced, and what it writes there is gone when the process ends.
"""

import os
from pathlib import Path

from cloister.domain.errors import StorageMissing

_Identity = tuple[int, int]


class FileIdentity:
    """The device and inode of a database file and of its write-ahead log, which exists as long as a connection is open."""

    def __init__(self, path: Path) -> None:
        """Call it when the file has just been opened."""
        self._path = os.fspath(path)
        self._log_path = f"{self._path}-wal"
        self._opened = _identity(self._path)
        self._opened_log: _Identity | None = None

    def check(self) -> None:
        """Raise `StorageMissing` unless both paths still name the files that are open. Two `stat` calls."""
        if _identity(self._path) != self._opened or self._opened is None:
            raise StorageMissing(
                f"{self._path} was removed, moved or replaced while it was open. Nothing is written any more: put the file "
                "back, or restore a backup, and restart."
            )
        log = _identity(self._log_path)
        if self._opened_log is None:
            self._opened_log = log
        elif log != self._opened_log:
            raise StorageMissing(
                f"{self._log_path} was removed or replaced while it was open, and recent writes were in it. Nothing is "
                "written any more: stop all processes, then run `cloister doctor`, and restore a backup if need be."
            )


def _identity(path: str) -> _Identity | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path would cost more than the call, and every write makes it
    except OSError:
        return None
    return found.st_dev, found.st_ino
