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
class Principal:
    """The key that a link or a browser stands for, by its name."""

    tenant: TenantId
    key: KeyId


class _ExpiringTokens:
    """Codes or tokens, by their hashes, until they expire. Of one key there are at most so many, and its oldest give way: no key
    pushes out what belongs to another. All of a kind live equally long, so they expire in the order in which they were put in."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: OrderedDict[bytes, tuple[Principal, float]] = OrderedDict()
        self._of: dict[Principal, OrderedDict[bytes, None]] = {}

    def add(self, digest: bytes, principal: Principal, now: float) -> None:
        while self._until and next(iter(self._until.values()))[1] <= now:
            self.remove(next(iter(self._until)), now)
        if len(self._of.get(principal, ())) >= MOST_OF_A_KEY:
            self.remove(next(iter(self._of[principal])), now)
        self._until[digest] = (principal, now + self._seconds)
        self._of.setdefault(principal, OrderedDict())[digest] = None

    def get(self, digest: bytes, now: float) -> Principal:
        principal, until = self._until.get(digest, (None, 0.0))
        if principal is None or until <= now:
            raise Unauthenticated
        return principal

    def remove(self, digest: bytes, now: float) -> Principal | None:
        """Who it belonged to, unless it is unknown or too old."""
        principal, until = self._until.pop(digest, (None, 0.0))
        if principal is None:
            return None
        del self._of[principal][digest]
        if not self._of[principal]:
            del self._of[principal]
        return principal if until > now else None


class SignIns:
    """Links and browsers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._links = _ExpiringTokens(LINK_SECONDS)
        self._browsers = _ExpiringTokens(IDLE_SECONDS)

    def new_code(self, key: ApiKey) -> str:
        """Whoever brings this code first is signed in as the key."""
        return self._issue(self._links, Principal(tenant=key.tenant, key=key.id))

    def promised(self, code: str) -> Principal:
        """Whom a code would sign in as; it stays good."""
        with self._lock:
            return self._links.get(_digest(code), self._clock())

    def redeem(self, code: str) -> str:
        """The token of a browser, for a code that nobody brought before."""
        with self._lock:
            principal = self._links.remove(_digest(code), self._clock())
        if principal is None:
            raise Unauthenticated
        return self._issue(self._browsers, principal)

    def principal(self, token: str) -> Principal:
        """Of whom a browser speaks."""
        with self._lock:
            return self._browsers.get(_digest(token), self._clock())

    def extend(self, token: str) -> None:
        """It was used: it stays signed in for as long again."""
        digest, now = _digest(token), self._clock()
        with self._lock:
            principal = self._browsers.remove(digest, now)
            if principal is not None:
                self._browsers.add(digest, principal, now)

    def end(self, token: str) -> None:
        with self._lock:
            self._browsers.remove(_digest(token), self._clock())

    def _issue(self, tokens: _ExpiringTokens, principal: Principal) -> str:
        text = secrets.token_urlsafe(_BYTES)
        with self._lock:
            tokens.add(_digest(text), principal, self._clock())
        return text


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
