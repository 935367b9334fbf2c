"""One-time links to the console, and the browsers that are signed in with them.

Everything is in the memory of this process, codes and tokens as hashes only: a restart signs everybody out. A signed-in browser has
the permissions of the key that its link was created with, and only while that key is valid.
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
    """The key that a link or a signed-in browser represents."""

    tenant: TenantId
    key: KeyId


class _ExpiringTokens:
    """Hashes of codes or tokens, with their expiry. One key has at most `MOST_OF_A_KEY`; a new one evicts its oldest, and none of
    another key. All have the same lifetime, so they expire in the order in which they were added."""

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
        """Remove a hash; its principal, or none if it is unknown or has expired."""
        principal, until = self._until.pop(digest, (None, 0.0))
        if principal is None:
            return None
        del self._of[principal][digest]
        if not self._of[principal]:
            del self._of[principal]
        return principal if until > now else None


class SignIns:
    """The codes of links and the tokens of signed-in browsers. Safe to use from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._links = _ExpiringTokens(LINK_SECONDS)
        self._browsers = _ExpiringTokens(IDLE_SECONDS)

    def new_code(self, key: ApiKey) -> str:
        """A new code for a link; the first browser that redeems it is signed in with the key."""
        return self._issue(self._links, Principal(tenant=key.tenant, key=key.id))

    def principal_of_code(self, code: str) -> Principal:
        """The key that a code would sign in with; the code stays valid."""
        with self._lock:
            return self._links.get(_digest(code), self._clock())

    def redeem(self, code: str) -> str:
        """Exchange a code for the token of a browser; a code can be redeemed once."""
        with self._lock:
            principal = self._links.remove(_digest(code), self._clock())
        if principal is None:
            raise Unauthenticated
        return self._issue(self._browsers, principal)

    def principal(self, token: str) -> Principal:
        """The key with which a browser is signed in."""
        with self._lock:
            return self._browsers.get(_digest(token), self._clock())

    def extend(self, token: str) -> None:
        """Restart the idle timeout of a browser; called at every request of it."""
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
