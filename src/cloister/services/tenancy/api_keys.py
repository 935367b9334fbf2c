"""Authenticate, create, list and revoke API keys. A key is looked up within the reach of the tenant that its text names."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cloister.domain.access import ApiKey, checked_permissions, refuse_lockout
from cloister.domain.authenticated_encryption import decrypt, encrypt
from cloister.domain.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    StorageError,
    Unauthenticated,
)
from cloister.domain.identifiers import KeyId, ProjectId, TenantId, format_key_id, new_key_id, new_tenant_id
from cloister.domain.keys import derived_number, key_text, new_secret, parse_key, same_secret, secret_hash
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.services.tenancy.idempotency import HOUR, done_once, request, write_once
from cloister.services.tenancy.projects import NewKey, Projects
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.idempotency import FirstAnswer, IdempotencyStore
from cloister.storage.stores.keys import ApiKeyStore
from cloister.storage.stores.tenants import ProjectStore, TenantStore

_ALL_IDS = 1 << 63
_REVOKED = (
    "cannot be answered again: that API key, or the one that asked for it, was revoked. Use a new idempotency key."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyFields:
    """The fields that a caller may set when creating a key."""

    name: str
    project: ProjectId | None = None
    confined: bool = False
    permissions: Sequence[str] = ("read", "write")
    expires_at: int | None = None
    user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedKey:
    """A key with its text, which cannot be shown again."""

    key: ApiKey
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedTenant:
    tenant: TenantId
    name: str
    default_project: ProjectId
    admin_key: str


class ApiKeys:
    """Nothing of a key is cached between requests, so that a revoked key is refused at once."""

    def __init__(self, database: Database, projects: Projects, clock: Clock) -> None:
        self._database = database
        self._projects = projects
        self._clock = clock

    def authenticate(self, given: str) -> ApiKey:
        """The key with this text. Every failure raises the same `Unauthenticated`."""
        parsed = parse_key(given)
        if parsed is None:
            raise Unauthenticated
        with self._database.read(Reach(tenant=parsed.tenant)) as transaction:
            stored = ApiKeyStore(transaction).find(parsed.key)
        if (
            stored is None
            or not same_secret(parsed.secret, stored.secret_hash)
            or not stored.key.is_valid(self._clock())
        ):
            raise Unauthenticated
        return stored.key

    def still_valid(self, tenant: TenantId, key: KeyId) -> ApiKey:
        """The present state of a key that was authenticated before. Every failure raises the same `Unauthenticated`."""
        with self._database.read(Reach(tenant=tenant)) as transaction:
            stored = ApiKeyStore(transaction).find(key)
        if stored is None or not stored.key.is_valid(self._clock()):
            raise Unauthenticated
        return stored.key

    def create(
        self,
        reach: Reach,
        fields: KeyFields,
        *,
        idempotency_key: str | None = None,
        root: str | None = None,
        asked_by: KeyId | None = None,
    ) -> CreatedKey:
        """Create a key with a random secret. With an idempotency key the secret is kept for an hour, encrypted with `root`, the
        caller's own credential, so that a repeated request gets the same answer; the encrypted copy is removed when the new key or
        `asked_by`, the caller's key, is revoked. Within the hour an idempotency key of the tenant makes one key: repeated after
        such a revocation, or by another key, the request is refused."""
        self._refuse_confined(reach)
        key, drawn = self._new_key(reach, fields), new_secret()

        def add(transaction: Transaction) -> CreatedKey:
            TenantStore(transaction).lock_shared()
            if key.project is not None:
                ProjectStore(transaction).lock_shared(key.project)
            ApiKeyStore(transaction).add(key, secret_hash(drawn))
            return CreatedKey(key=key, text=key_text(reach.tenant, key.id, drawn))

        if idempotency_key is None or root is None:
            return self._database.write(reach, add)
        parts = (key.name, key.project, key.confined, key.permissions, key.expires_at, key.user)
        given, seal = request(idempotency_key, *parts), _Seal(root)
        asking = asked_by or _key_in(root)

        def first(transaction: Transaction) -> tuple[CreatedKey, FirstAnswer]:
            kept = json.dumps([key.id, key.created_at, seal.close(key.id, drawn)])
            return add(transaction), FirstAnswer("keys", kept, first_id=asking, last_id=key.id)

        def again(kept: Sequence[Any]) -> CreatedKey:
            made = replace(key, id=KeyId(kept[0]), created_at=kept[1])
            secret = seal.open(made.id, kept[2])
            if secret is None:
                raise Conflict(
                    f"The idempotency key {idempotency_key!r} was used with another API key, and the secret that was made is "
                    "answered to that one only. Use a new idempotency key."
                )
            return CreatedKey(key=made, text=key_text(reach.tenant, made.id, secret))

        def work(transaction: Transaction) -> CreatedKey:
            return done_once(
                transaction,
                given,
                ("keys", "operator" if asking is None else "tenant"),
                self._clock,
                first=lambda: first(transaction),
                again=again,
                kept_for=HOUR,
                gone=_REVOKED,
            )

        return write_once(self._database, reach, work)

    def _new_key(self, reach: Reach, fields: KeyFields) -> ApiKey:
        """A key with these fields, which are checked, and a random id."""
        now = self._clock()
        checked_name(fields.name, "name")
        if fields.confined and fields.project is None:
            raise InvalidRequest("confined", "needs a project_id to be confined to.")
        permissions = checked_permissions(fields.permissions)
        if fields.user_id is not None:
            checked_name(fields.user_id, "user_id")
            if "admin" in permissions:
                raise InvalidRequest("permissions", "of a key that is bound to a user cannot hold admin.")
        if fields.expires_at is not None and fields.expires_at <= now:
            raise InvalidRequest("expires_at", "must lie in the future.")
        return ApiKey(
            id=new_key_id(),
            tenant=reach.tenant,
            name=fields.name,
            project=fields.project,
            confined=fields.confined,
            permissions=permissions,
            created_at=now,
            expires_at=fields.expires_at,
            user=fields.user_id,
        )

    def page(self, reach: Reach, *, limit: int, after: tuple[int, int] | None = None) -> list[ApiKey]:
        self._refuse_confined(reach)
        with self._database.read(reach) as transaction:
            keys = ApiKeyStore(transaction)
            return keys.page(limit=limit) if after is None else keys.page(limit=limit, after=after)

    def revoke(self, reach: Reach, key: KeyId) -> None:
        """Revoke a key at once. The last admin key cannot be revoked, because the tenant would be locked out."""
        self._refuse_confined(reach)

        def work(transaction: Transaction) -> None:
            keys = ApiKeyStore(transaction)
            now = self._clock()
            refuse_lockout(keys.lock_admins(), key, now)
            if not keys.revoke(key, now):
                raise NotFound("API key", format_key_id(key))
            IdempotencyStore(transaction).forget_key(key)

        self._database.write(reach, work)
        self._database.maintenance.scrub()

    def create_tenant(self, name: str, *, idempotency_key: str | None = None, root: str | None = None) -> CreatedTenant:
        """Create a tenant with its default project and an admin key. With an idempotency key the tenant's id is derived from that
        and from `root`, the operator's key, so that a repeated request finds the tenant; the secret of the admin key is kept for an
        hour, encrypted with `root`."""
        checked_name(name, "name")
        drawn = new_secret()
        if idempotency_key is None or root is None:
            tenant = new_tenant_id()
            key = _admin_key(tenant, self._clock())
            first_key = NewKey(key=key, secret_hash=secret_hash(drawn))
            _, default = self._projects.create_tenant(name, tenant=tenant, key=first_key)
            return _created_tenant(name, key, default, drawn)
        given, seal = request(idempotency_key, name), _Seal(root)
        tenant = TenantId(derived_number(root, f"tenant {idempotency_key}", below=_ALL_IDS - 1) + 1)
        key = _admin_key(tenant, self._clock())

        def work(transaction: Transaction) -> CreatedTenant:
            is_new = self._projects.add_tenant(transaction, name)

            def first() -> tuple[CreatedTenant, FirstAnswer]:
                if not is_new:
                    raise Conflict(
                        f"A tenant was made under the idempotency key {idempotency_key!r} before, "
                        "and its answer is no longer kept. Use a new key."
                    )
                ApiKeyStore(transaction).add(key, secret_hash(drawn))
                default = ProjectStore(transaction).default()
                kept = json.dumps([key.id, default, seal.close(key.id, drawn)])
                return _created_tenant(name, key, default, drawn), FirstAnswer("keys", kept, last_id=key.id)

            def again(kept: Sequence[Any]) -> CreatedTenant:
                made = replace(key, id=KeyId(kept[0]))
                secret = seal.open(made.id, kept[2])
                if secret is None:
                    raise StorageError("The first answer to this request is damaged. Use a new idempotency key.")
                return _created_tenant(name, made, ProjectId(kept[1]), secret)

            return done_once(
                transaction,
                given,
                ("tenants",),
                self._clock,
                first=first,
                again=again,
                kept_for=HOUR,
                gone=_REVOKED,
            )

        return write_once(self._database, Reach(tenant=tenant), work)

    def _refuse_confined(self, reach: Reach) -> None:
        """A confined or bound key that could create keys could create one that is not."""
        if not reach.is_whole_tenant:
            bound = "confined to its project" if reach.user is None else "bound to one user"
            raise Forbidden(f"This key is {bound}: it cannot make, list or revoke keys.")


class _Seal:
    """Encrypts the secrets of new keys with the credential of the request that created them."""

    def __init__(self, root: str) -> None:
        self._key = root.encode()

    def close(self, key: KeyId, secret: str) -> str:
        return encrypt(self._key, f"secret of {format_key_id(key)}", secret.encode()).hex()

    def open(self, key: KeyId, given: str) -> str | None:
        """The secret; None if it was encrypted with another credential."""
        secret = decrypt(self._key, f"secret of {format_key_id(key)}", bytes.fromhex(given))
        return None if secret is None else secret.decode()


def _admin_key(tenant: TenantId, now: int) -> ApiKey:
    return ApiKey(
        id=new_key_id(),
        tenant=tenant,
        name="admin",
        project=None,
        confined=False,
        permissions=("read", "write", "admin"),
        created_at=now,
    )


def _created_tenant(name: str, key: ApiKey, default: ProjectId, secret: str) -> CreatedTenant:
    text = key_text(key.tenant, key.id, secret)
    return CreatedTenant(tenant=key.tenant, name=name, default_project=default, admin_key=text)


def _key_in(root: str) -> KeyId | None:
    """The id of the key with this text; None for another kind of credential."""
    parsed = parse_key(root)
    return None if parsed is None else parsed.key
