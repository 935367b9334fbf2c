"""So many requests a second for one key, with bursts of twice that. Kept in memory: each process counts for itself."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil

from cloister.domain.errors import RateLimited

_SECONDS_OF_BURST = 2
_MOST_KEYS = 100_000


class RateLimit:
    """A bucket for each key: it fills steadily, and every request takes one out."""

    def __init__(self, per_second: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def count(self, key: int) -> None:
        """Raises when the key has used up its share; that request does not count."""
        if not self._per_second:
            return
        full = float(self._per_second * _SECONDS_OF_BURST)
        with self._lock:
            now = self._clock()
            left, since = self._buckets.get(key, (full, now))
            left = min(full, left + (now - since) * self._per_second)
            if left < 1:
                self._buckets[key] = (left, now)
                raise RateLimited(retry_after=ceil((1 - left) / self._per_second))
            self._buckets[key] = (left - 1, now)
            self._buckets.move_to_end(key)
            if len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
