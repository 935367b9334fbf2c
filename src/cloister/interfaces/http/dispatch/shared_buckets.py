"""The token buckets of keys in a file that several processes have mapped into memory, so that they count together (OPS-4)."""

import fcntl
import mmap
import os
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager

_ENTRY = struct.Struct("=qdd")
_ENTRIES = 8_192
_LOOKED_AT = 16
SIZE = _ENTRY.size * _ENTRIES


class SharedBuckets:
    """A table of fixed size: key, tokens left, and since when. A key has one of a few positions; if all are taken, it takes that of
    the key that was counted longest ago."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        os.ftruncate(descriptor, SIZE)
        self._table = mmap.mmap(descriptor, SIZE)
        # Locks of files are of processes, and not of threads.
        self._lock = threading.Lock()

    @contextmanager
    def locked(self) -> Generator[None]:
        with self._lock:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN)

    def get(self, key: int) -> tuple[float, float] | None:
        """The tokens that are left, and since when."""
        found, left, since = self._entry(self._position(key))
        return (left, since) if found == key else None

    def set(self, key: int, left: float, since: float) -> None:
        _ENTRY.pack_into(self._table, self._position(key), key, left, since)

    def _position(self, key: int) -> int:
        """Where the key is, or is to be."""
        positions = [(key + step) % _ENTRIES * _ENTRY.size for step in range(_LOOKED_AT)]
        entries = [(position, self._entry(position)) for position in positions]
        for position, (found, _, _) in entries:
            if found == key:
                return position
        return min(entries, key=lambda entry: entry[1][2])[0]

    def _entry(self, position: int) -> tuple[int, float, float]:
        found, left, since = _ENTRY.unpack_from(self._table, position)
        return found, left, since
