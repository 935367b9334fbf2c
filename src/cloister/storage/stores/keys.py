"""API keys, and the links to the console and browsers that stand for them. Only hashes of secrets, codes and tokens are stored."""

import json
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from cloister.domain.access import ApiKey
from cloister.domain.identifiers import KeyId, ProjectId, TenantId
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction

Kind = Literal["link", "browser"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredKey:
    """A key with the hash of its secret, for authentication."""

    key: ApiKey
    secret_hash: bytes


class ApiKeyStore:
    """The API keys of the transaction's tenant."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, key: ApiKey, secret_hash: bytes) -> bool:
        """Add a key; false if the id is taken."""
        row = self._transaction.row(
            "insert_api_key",
            key_id=key.id,
            name=key.name,
            secret_hash=secret_hash,
            project_id=key.project,
            is_confined=int(key.confined),
            permissions=json.dumps(key.permissions),
            created_at=key.created_at,
            expires_at=key.expires_at,
            user_id=key.user,
        )
        return row is not None

    def find(self, key: KeyId) -> StoredKey | None:
        row = self._transaction.row("api_key", key_id=key)
        return None if row is None else stored_key(row)

    def page(self, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[ApiKey]:
        """A page of keys that are not revoked, oldest first; `after` is the (created_at, id) of the last one of the page before."""
        rows = self._transaction.rows("api_keys", limit=limit, after_created_at=after[0], after_key_id=after[1])
        return [_key(row) for row in rows]

    def lock_admins(self) -> list[ApiKey]:
        """Lock the admin keys that are not revoked until the transaction ends, so that two transactions cannot each revoke one of
        the last two."""
        return [_key(row) for row in self._transaction.rows("lock_admin_keys")]

    def revoke(self, key: KeyId, now: int) -> bool:
        """Revoke a key; false if there is no such key, or it was revoked before."""
        return self._transaction.execute("revoke_api_key", key_id=key, revoked_at=now) > 0


def stored_key(row: Row) -> StoredKey:
    return StoredKey(key=_key(row), secret_hash=bytes(cast(bytes, row[-1])))


def _key(row: Row) -> ApiKey:
    key, tenant, name, project, confined, permissions, created_at, expires_at, revoked_at, user, _ = cast(
        tuple[Any, ...], row
    )
    return ApiKey(
        id=KeyId(key),
        tenant=TenantId(tenant),
        name=name,
        project=None if project is None else ProjectId(project),
        confined=bool(confined),
        permissions=tuple(json.loads(permissions)),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
        user=user,
    )


class StoredSignIn(NamedTuple):
    """The key that a link or a browser stands for, and until when."""

    key: KeyId
    expires_at: int


class SignInStore:
    """The links and browsers of the transaction's tenant."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, kind: Kind, digest: bytes, found: StoredSignIn, *, now: int, most: int) -> None:
        """Add one. What has expired is deleted, and of the same key the oldest that are more than `most`."""
        self._transaction.execute("delete_expired_sign_ins", now=now)
        self._transaction.execute(
            "insert_sign_in", digest=digest, kind=kind, key_id=found.key, expires_at=found.expires_at
        )
        self._transaction.execute("delete_oldest_sign_ins", key_id=found.key, kind=kind, most=most)

    def find(self, kind: Kind, digest: bytes, *, now: int) -> StoredSignIn | None:
        row = self._transaction.row("sign_in", digest=digest, kind=kind, now=now)
        return None if row is None else StoredSignIn(KeyId(cast(int, row[0])), cast(int, row[1]))

    def extend(self, kind: Kind, digest: bytes, *, now: int, until: int) -> None:
        self._transaction.execute("extend_sign_in", digest=digest, kind=kind, now=now, expires_at=until)

    def remove(self, kind: Kind, digest: bytes, *, now: int) -> StoredSignIn | None:
        """Remove one; what it stood for, or none if it is unknown or has expired. Of several who remove it at once, one gets it."""
        row = self._transaction.row("delete_sign_in", digest=digest, kind=kind)
        if row is None or cast(int, row[1]) <= now:
            return None
        return StoredSignIn(KeyId(cast(int, row[0])), cast(int, row[1]))
