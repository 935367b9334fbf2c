"""API keys of one tenant, inside one transaction's reach. The secret itself is never here."""

import json
from dataclasses import dataclass
from typing import Any, cast

from cloister.domain.access import ApiKey
from cloister.domain.identifiers import KeyId, ProjectId, TenantId
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredKey:
    """A key with the hash of its secret, for those who check one."""

    key: ApiKey
    secret_hash: bytes


class ApiKeyStore:
    """The keys of the one tenant of the transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(self, key: ApiKey, secret_hash: bytes) -> bool:
        """False when the drawn id is taken."""
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
        return None if row is None else StoredKey(key=_key(row), secret_hash=bytes(cast(bytes, row[-1])))

    def page(self, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[ApiKey]:
        """Those not revoked, oldest first, from behind the (created_at, id) of the last one seen."""
        rows = self._transaction.rows("api_keys", limit=limit, after_created_at=after[0], after_key_id=after[1])
        return [_key(row) for row in rows]

    def lock_admins(self) -> list[ApiKey]:
        """Those not revoked that have the permission admin, held until the transaction ends, so that they are revoked one after the
        other."""
        return [_key(row) for row in self._transaction.rows("lock_admin_keys")]

    def revoke(self, key: KeyId, now: int) -> bool:
        """False when there is none, or it was revoked before."""
        return self._transaction.execute("revoke_api_key", key_id=key, revoked_at=now) > 0


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
