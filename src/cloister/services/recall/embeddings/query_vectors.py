"""Vectors of questions by an additional embedder, which may be slow or down: cached, and skipped while it fails.

It is asked before the snapshot of a recall is taken and before any lock. Without a vector, recall uses the table alone.
"""

import hashlib
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Literal

from cloister.domain.errors import ModelUnavailable
from cloister.domain.identifiers import TenantId
from cloister.models.interface import AdditionalEmbedder
from cloister.models.unit_vectors import UnitVector

Outcome = Literal["embedded", "cached", "failed", "skipped"]
_MOST_CACHED = 1_000
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


class QueryVectors:
    """A circuit breaker: after a failure the embedder is not asked for a while, longer after each; then one question tries it.

    `outcomes` counts questions by what became of them: `skipped` ones were asked while it was not.
    """

    def __init__(self, embedder: AdditionalEmbedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[TenantId, bytes], UnitVector] = OrderedDict()
        self._failures = 0
        self._retry_at = 0.0
        self._trying = False
        self.outcomes: Counter[Outcome] = Counter()

    def vector(self, tenant: TenantId, question: str) -> UnitVector | None:
        """The vector of a question, or None. The cache is divided by tenant, so that no answer is faster because another tenant
        asked the same."""
        if not question.strip():
            return None
        key = tenant, hashlib.blake2b(question.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            known = self._cache.get(key)
            if known is not None:
                self._cache.move_to_end(key)
                self.outcomes["cached"] += 1
                return known
            if self._is_open():
                self.outcomes["skipped"] += 1
                return None
            self._trying = self._failures > 0
        return self._ask(key, question)

    def _is_open(self) -> bool:
        return self._failures > 0 and (self._trying or self._clock() < self._retry_at)

    def _ask(self, key: tuple[TenantId, bytes], question: str) -> UnitVector | None:
        vector: UnitVector | None = None
        try:
            vector = self._embedder.embed_query(question)
        except ModelUnavailable:
            pass  # counted below; recall goes on without it
        finally:
            with self._lock:
                self._trying = False
                self.outcomes["failed" if vector is None else "embedded"] += 1
                self._note(key, vector)
        return vector

    def _note(self, key: tuple[TenantId, bytes], vector: UnitVector | None) -> None:
        if vector is None:
            if self._clock() < self._retry_at:  # several were under way when it failed; that is one failure
                return
            self._failures += 1
            pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(self._failures - 1, 10))
            self._retry_at = self._clock() + pause
            return
        self._failures = 0
        self._cache[key] = vector
        if len(self._cache) > _MOST_CACHED:
            self._cache.popitem(last=False)
