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
MOST_OF_A_KEY = 100
_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """The key that a link or a browser stands for, by its name."""

    tenant: TenantId
    key: KeyId


class _Kept:
    """Codes or tokens, by their hashes, until they expire. Of one key there are at most so many, and its oldest give way: no key
    pushes out what belongs to another. All of a kind live equally long, so they expire in the order in which they were put in."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: OrderedDict[bytes, tuple[Holder, float]] = OrderedDict()
        self._of: dict[Holder, OrderedDict[bytes, None]] = {}

    def put(self, trace: bytes, holder: Holder, now: float) -> None:
        while self._until and next(iter(self._until.values()))[1] <= now:
            self.take(next(iter(self._until)), now)
        if len(self._of.get(holder, ())) >= MOST_OF_A_KEY:
            self.take(next(iter(self._of[holder])), now)
        self._until[trace] = (holder, now + self._seconds)
        self._of.setdefault(holder, OrderedDict())[trace] = None

    def look(self, trace: bytes, now: float) -> Holder:
        holder, until = self._until.get(trace, (None, 0.0))
        if holder is None or until <= now:
            raise Unauthenticated
        return holder

    def take(self, trace: bytes, now: float) -> Holder | None:
        """Who it belonged to, unless it is unknown or too old."""
        holder, until = self._until.pop(trace, (None, 0.0))
        if holder is None:
            return None
        del self._of[holder][trace]
        if not self._of[holder]:
            del self._of[holder]
        return holder if until > now else None


class SignIns:
    """Links and browsers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._links = _Kept(LINK_SECONDS)
        self._browsers = _Kept(IDLE_SECONDS)

    def new_code(self, key: ApiKey) -> str:
        """Whoever brings this code first is signed in as the key."""
        return self._keep(self._links, Holder(tenant=key.tenant, key=key.id))

    def promised(self, code: str) -> Holder:
        """Whom a code would sign in as; it stays good."""
        with self._lock:
            return self._links.look(_trace(code), self._clock())

    def redeem(self, code: str) -> str:
        """The token of a browser, for a code that nobody brought before."""
        with self._lock:
            holder = self._links.take(_trace(code), self._clock())
        if holder is None:
            raise Unauthenticated
        return self._keep(self._browsers, holder)

    def holder(self, token: str) -> Holder:
        """Of whom a browser speaks."""
        with self._lock:
            return self._browsers.look(_trace(token), self._clock())

    def keep(self, token: str) -> None:
        """It was used: it stays signed in for as long again."""
        trace, now = _trace(token), self._clock()
        with self._lock:
            holder = self._browsers.take(trace, now)
            if holder is not None:
                self._browsers.put(trace, holder, now)

    def end(self, token: str) -> None:
        with self._lock:
            self._browsers.take(_trace(token), self._clock())

    def _keep(self, kept: _Kept, holder: Holder) -> str:
        text = secrets.token_urlsafe(_BYTES)
        with self._lock:
            kept.put(_trace(text), holder, self._clock())
        return text


def _trace(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
