"""Limits of one key: requests a second, with bursts of twice that, and concurrent requests, streams included. The counts are in
memory. Requests a second are counted by all processes of one `serve` together, concurrent requests by each for itself."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import ceil

from cloister.domain.errors import RateLimited
from cloister.interfaces.http.dispatch.shared_buckets import SharedBuckets

_SECONDS_OF_BURST = 2
_MOST_KEYS = 100_000
_TRY_AGAIN_SECONDS = 1


class _OwnBuckets:
    """The buckets of one process: the tokens that are left of each key, and since when."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def locked(self) -> AbstractContextManager[object]:
        return self._lock

    def get(self, key: int) -> tuple[float, float] | None:
        return self._buckets.get(key)

    def set(self, key: int, left: float, since: float) -> None:
        self._buckets[key] = (left, since)
        self._buckets.move_to_end(key)
        if len(self._buckets) > _MOST_KEYS:
            self._buckets.popitem(last=False)


class RateLimit:
    """A token bucket for each key; with `shared` those of several processes together, else of this one."""

    def __init__(
        self, per_second: int, clock: Callable[[], float] = time.monotonic, shared: SharedBuckets | None = None
    ) -> None:
        self._per_second = per_second
        self._clock = clock
        self._buckets = shared or _OwnBuckets()

    def count(self, key: int) -> None:
        """Count a request, or raise `RateLimited` if the bucket of the key is empty; a refused request is not counted."""
        if not self._per_second:
            return
        full = float(self._per_second * _SECONDS_OF_BURST)
        with self._buckets.locked():
            now = self._clock()
            left, since = self._buckets.get(key) or (full, now)
            left = min(full, left + (now - since) * self._per_second)
            self._buckets.set(key, left if left < 1 else left - 1, now)
        if left < 1:
            raise RateLimited(retry_after=ceil((1 - left) / self._per_second))


class ConcurrencyLimit:
    """Limits the concurrent requests of each key; a request counts from its admission to the end of its answer."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._lock = threading.Lock()
        self._counts: dict[int, int] = {}

    def begin(self, key: int) -> "CountedRequest | None":
        """Count a request, or raise `RateLimited` if the key is at its limit; none if there is no limit."""
        if not self._at_once:
            return None
        with self._lock:
            count = self._counts.get(key, 0)
            if count >= self._at_once:
                raise RateLimited(_TRY_AGAIN_SECONDS, "too many requests with this key are under way at once")
            self._counts[key] = count + 1
        return CountedRequest(self, key)

    def end(self, key: int) -> None:
        with self._lock:
            count = self._counts[key] - 1
            if count:
                self._counts[key] = count
            else:
                del self._counts[key]


class CountedRequest:
    """One counted request; `end` must be called when it has been answered."""

    __slots__ = ("_key", "_limit")

    def __init__(self, limit: ConcurrencyLimit, key: int) -> None:
        self._limit = limit
        self._key = key

    def end(self) -> None:
        self._limit.end(self._key)
