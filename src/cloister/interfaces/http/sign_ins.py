"""Who is signed in to the console: links that work once, and the sessions of browsers that they open.

All of it is in this process's memory, and of every code and token only its hash: a restart signs everybody out. A signed-in browser
stands for the key its link was made with, no more and no longer than that key is valid.
"""

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from cloister.domain.access import ApiKey
from cloister.domain.errors import Unauthenticated
from cloister.domain.identifiers import KeyId, TenantId

LINK_SECONDS = 15 * 60
IDLE_SECONDS = 12 * 60 * 60
_MOST = 10_000
_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """The key that a link or a browser stands for, by its name."""

    tenant: TenantId
    key: KeyId


class SignIns:
    """Links and browsers. The oldest give way when there are very many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._links: OrderedDict[bytes, tuple[Holder, float]] = OrderedDict()
        self._browsers: OrderedDict[bytes, tuple[Holder, float]] = OrderedDict()

    def new_code(self, key: ApiKey) -> str:
        """Whoever brings this code first is signed in as the key."""
        return self._keep(self._links, Holder(tenant=key.tenant, key=key.id), LINK_SECONDS)

    def redeem(self, code: str) -> str:
        """The token of a browser, for a code that nobody brought before."""
        with self._lock:
            found = self._links.pop(_trace(code), None)
        if found is None or found[1] <= self._clock():
            raise Unauthenticated
        return self._keep(self._browsers, found[0], IDLE_SECONDS)

    def holder(self, token: str) -> Holder:
        """Of whom a browser speaks."""
        with self._lock:
            found = self._browsers.get(_trace(token))
        if found is None or found[1] <= self._clock():
            raise Unauthenticated
        return found[0]

    def keep(self, token: str) -> None:
        """It was used: it stays signed in for as long again."""
        trace, now = _trace(token), self._clock()
        with self._lock:
            found = self._browsers.pop(trace, None)
            if found is not None and found[1] > now:
                self._browsers[trace] = (found[0], now + IDLE_SECONDS)

    def end(self, token: str) -> None:
        with self._lock:
            self._browsers.pop(_trace(token), None)

    def _keep(self, place: OrderedDict[bytes, tuple[Holder, float]], holder: Holder, seconds: float) -> str:
        text = secrets.token_urlsafe(_BYTES)
        with self._lock:
            place[_trace(text)] = (holder, self._clock() + seconds)
            if len(place) > _MOST:
                place.popitem(last=False)
        return text


def _trace(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
