"""Limits concurrent calls in total and of each tenant, so that no tenant can take all of them."""

import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from cloister.domain.errors import RateLimited
from cloister.domain.identifiers import TenantId

_TRY_AGAIN_SECONDS = 2


class TenantConcurrencyLimit:
    """Nobody waits: a call over a limit raises `RateLimited`."""

    def __init__(self, *, of_all: int, of_one: int) -> None:
        self._of_all = of_all
        self._of_one = of_one
        self._lock = threading.Lock()
        self._taken: Counter[TenantId] = Counter()

    @contextmanager
    def taken(self, tenant: TenantId, refusal: str) -> Generator[None]:
        with self._lock:
            if self._taken[tenant] >= self._of_one or self._taken.total() >= self._of_all:
                raise RateLimited(_TRY_AGAIN_SECONDS, refusal)
            self._taken[tenant] += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken[tenant] -= 1
                self._taken = +self._taken
