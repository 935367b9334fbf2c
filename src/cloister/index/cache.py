"""What recall keeps in memory of all pools, under one limit in bytes: messages, memories, entities, and additional vectors.

Every entry has its size, and their sum is a running total, so that a change costs the same whatever the number of pools.
"""

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from typing import Generic, TypeVar, cast

T = TypeVar("T")
CACHE_BYTES = 256_000_000
"""The limit unless the settings name another."""
# The bytes of an entry besides its value: its key, its lock, and its place in the order of use.
_ENTRY = 700
# The bytes of the numbers of one item of a dictionary.
_ITEM = 64


def bytes_of(table: Sized, each: int = _ITEM) -> int:
    """The bytes of a dictionary or list whose items have so many bytes each."""
    return sys.getsizeof(table) + each * len(table)


class PoolCache:
    """The entries of all parts. Above the limit those go that were not used for longest, of whichever part; the one used last
    stays, whatever its size."""

    def __init__(self, byte_limit: int) -> None:
        self.byte_limit = byte_limit
        self._entries: OrderedDict[tuple[str, Hashable], _Entry] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        """The bytes of all entries."""
        return self._total

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._total = 0

    def find(self, key: tuple[str, Hashable], make: Callable[[], object] | None = None) -> object | None:
        """The value of an entry, which is now the one used last; without an entry, a new one that is made, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                if make is None:
                    return None
                entry = self._set(key, make(), 0)
            self._entries.move_to_end(key)
            return entry.value

    def put(self, key: tuple[str, Hashable], value: object, nbytes: int) -> None:
        with self._lock:
            self._set(key, value, nbytes)

    def resize(self, key: tuple[str, Hashable], value: object, nbytes: int) -> None:
        """Note the size of a value that has changed, if the cache still has it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.value is value:
                self._set(key, value, nbytes)

    def remove(self, key: tuple[str, Hashable], value: object) -> None:
        """Remove a value, if the cache still has it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.value is value:
                del self._entries[key]
                self._total -= entry.nbytes

    def _set(self, key: tuple[str, Hashable], value: object, nbytes: int) -> "_Entry":
        known = self._entries.get(key)
        self._total += _ENTRY + nbytes - (0 if known is None else known.nbytes)
        entry = self._entries[key] = _Entry(value, _ENTRY + nbytes)
        self._entries.move_to_end(key)
        while self._total > self.byte_limit and len(self._entries) > 1:
            _, oldest = self._entries.popitem(last=False)
            self._total -= oldest.nbytes
        return entry


class CachePart(Generic[T]):
    """The entries of one kind, each of one tenant and partition; `key` has to name both."""

    def __init__(self, cache: PoolCache, kind: str) -> None:
        self._cache = cache
        self._kind = kind

    def get(self, key: Hashable) -> T | None:
        return cast("T | None", self._cache.find((self._kind, key)))

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key. A new one has no size until `resize`."""
        return cast(T, self._cache.find((self._kind, key), make))

    def put(self, key: Hashable, value: T, nbytes: int) -> None:
        self._cache.put((self._kind, key), value, nbytes)

    def resize(self, key: Hashable, value: T, nbytes: int) -> None:
        """Note the size of a value that has changed. One that has none is removed."""
        if nbytes:
            self._cache.resize((self._kind, key), value, nbytes)
        else:
            self._cache.remove((self._kind, key), value)


class _Entry:
    __slots__ = ("nbytes", "value")

    def __init__(self, value: object, nbytes: int) -> None:
        self.value = value
        self.nbytes = nbytes
