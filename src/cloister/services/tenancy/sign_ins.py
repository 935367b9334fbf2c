"""One-time links to the console, and the browsers that are signed in with them.

They are in the database, codes and tokens as hashes only, so that any process knows them. A signed-in browser has the permissions
of the key that its link was created with, and only while that key is valid.
"""

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass

from cloister.domain.access import ApiKey
from cloister.domain.errors import StorageError, Unauthenticated
from cloister.domain.identifiers import KeyId, TenantId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.keys import Kind, SignInStore, StoredSignIn

LINK_SECONDS = 15 * 60
IDLE_SECONDS = 12 * 60 * 60
MOST_OF_A_KEY = 100
_MICROSECONDS = 1_000_000
_SECONDS: dict[Kind, int] = {"link": LINK_SECONDS, "browser": IDLE_SECONDS}
# The idle timeout is restarted by a write, and not at every request.
_SECONDS_BETWEEN_EXTENSIONS = IDLE_SECONDS // 144
_BYTES = 32
_LONGEST_TENANT = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Principal:
    """The key that a link or a signed-in browser represents."""

    tenant: TenantId
    key: KeyId


class SignIns:
    """The codes of links and the tokens of signed-in browsers. Both begin with the tenant, whose rows are searched for the rest."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def new_code(self, key: ApiKey) -> str:
        """A new code for a link; the first browser that redeems it is signed in with the key."""
        return self._issue("link", Principal(tenant=key.tenant, key=key.id))

    def principal_of_code(self, code: str) -> Principal:
        """The key that a code would sign in with; the code stays valid."""
        return self._find("link", code)[0]

    def redeem(self, code: str) -> str:
        """Exchange a code for the token of a browser; a code can be redeemed once."""
        tenant, now = _tenant_of(code), self._clock()
        removed = self._database.write(
            Reach(tenant=tenant),
            lambda transaction: SignInStore(transaction).remove("link", _digest(code), now=now),
        )
        if removed is None:
            raise Unauthenticated
        return self._issue("browser", Principal(tenant=tenant, key=removed.key))

    def principal(self, token: str) -> Principal:
        """The key with which a browser is signed in. Restarts its idle timeout, if the database can be written to."""
        principal, expires_at = self._find("browser", token)
        now = self._clock()
        until = now + IDLE_SECONDS * _MICROSECONDS
        if until - expires_at >= _SECONDS_BETWEEN_EXTENSIONS * _MICROSECONDS:
            with suppress(StorageError):
                self._database.write(
                    Reach(tenant=principal.tenant),
                    lambda transaction: SignInStore(transaction).extend(
                        "browser", _digest(token), now=now, until=until
                    ),
                )
        return principal

    def end(self, token: str) -> None:
        """Sign a browser out."""
        with suppress(Unauthenticated):
            tenant = _tenant_of(token)
            self._database.write(
                Reach(tenant=tenant),
                lambda transaction: SignInStore(transaction).remove("browser", _digest(token), now=self._clock()),
            )

    def _find(self, kind: Kind, text: str) -> tuple[Principal, int]:
        tenant = _tenant_of(text)
        with self._database.read(Reach(tenant=tenant)) as transaction:
            found = SignInStore(transaction).find(kind, _digest(text), now=self._clock())
        if found is None:
            raise Unauthenticated
        return Principal(tenant=tenant, key=found.key), found.expires_at

    def _issue(self, kind: Kind, principal: Principal) -> str:
        text = f"{principal.tenant:x}.{secrets.token_urlsafe(_BYTES)}"
        now = self._clock()
        new = StoredSignIn(principal.key, now + _SECONDS[kind] * _MICROSECONDS)

        def add(transaction: Transaction) -> None:
            SignInStore(transaction).add(kind, _digest(text), new, now=now, most=MOST_OF_A_KEY)

        self._database.write(Reach(tenant=principal.tenant), add)
        return text


def _tenant_of(text: str) -> TenantId:
    """The tenant of a code or token. Raises `Unauthenticated` for any other text."""
    given = text.partition(".")[0]
    if not 0 < len(given) <= _LONGEST_TENANT or any(letter not in "0123456789abcdef" for letter in given):
        raise Unauthenticated
    tenant = int(given, 16)
    if tenant >= 1 << 63:
        raise Unauthenticated
    return TenantId(tenant)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
