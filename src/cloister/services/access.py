"""Keys: who is calling, and who may call. A key is checked behind the walls of the tenant that it names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cloister.domain.access import ApiKey, checked_permissions
from cloister.domain.errors import (
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    NotFound,
    Unauthenticated,
)
from cloister.domain.identifiers import KeyId, ProjectId, TenantId, key_name, new_key_id, new_tenant_id
from cloister.domain.keys import (
    derived_number,
    derived_secret,
    key_text,
    new_secret,
    parse_key,
    same_secret,
    secret_hash,
)
from cloister.domain.moments import Clock
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.services.once import request, write_once
from cloister.services.organise import NewKey, Organiser
from cloister.storage.interface import Database, Transaction
from cloister.storage.keys import ApiKeys
from cloister.storage.organisation import Projects

_ALL_IDS = 1 << 63


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyFields:
    """What a caller may say of a key when making one."""

    name: str
    project: ProjectId | None = None
    confined: bool = False
    permissions: Sequence[str] = ("read", "write")
    expires_at: int | None = None
    user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedKey:
    """A key with its text, which nobody can show again."""

    key: ApiKey
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedTenant:
    tenant: TenantId
    name: str
    default_project: ProjectId
    admin_key: str


class Gatekeeper:
    """Checks keys, makes them, and takes them away at once: nothing of a key is remembered between two requests."""

    def __init__(self, database: Database, organiser: Organiser, clock: Clock) -> None:
        self._database = database
        self._organiser = organiser
        self._clock = clock

    def authenticate(self, given: str) -> ApiKey:
        """The key behind this text. Whatever is wrong with it, the answer is the same."""
        parsed = parse_key(given)
        if parsed is None:
            raise Unauthenticated
        with self._database.read(Reach(tenant=parsed.tenant)) as transaction:
            held = ApiKeys(transaction).find(parsed.key)
        if held is None or not same_secret(parsed.secret, held.secret_hash) or not held.key.is_valid(self._clock()):
            raise Unauthenticated
        return held.key

    def still_valid(self, tenant: TenantId, key: KeyId) -> ApiKey:
        """The key that somebody showed before, by its name, as it is now; the answer is the same whatever became of it."""
        with self._database.read(Reach(tenant=tenant)) as transaction:
            held = ApiKeys(transaction).find(key)
        if held is None or not held.key.is_valid(self._clock()):
            raise Unauthenticated
        return held.key

    def create(
        self, reach: Reach, fields: KeyFields, *, idempotency_key: str | None = None, root: str | None = None
    ) -> CreatedKey:
        """A new key. With an idempotency key its secret is derived from `root`, the caller's own key, so that the same answer can
        be given again without having been kept; never two keys have the same."""
        self._refuse_confined(reach)
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
        key = ApiKey(
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
        drawn = new_secret()

        def secret_of(made: ApiKey) -> str:
            if idempotency_key is None or root is None:
                return drawn
            return derived_secret(root, f"key {made.id} {idempotency_key}")

        def first(transaction: Transaction) -> tuple[ApiKey, list[object]]:
            if key.project is not None:
                Projects(transaction).hold(key.project)
            ApiKeys(transaction).add(key, secret_hash(secret_of(key)))
            return key, [key.id, key.created_at]

        def again(transaction: Transaction, kept: Sequence[Any]) -> ApiKey:
            return replace(key, id=KeyId(kept[0]), created_at=kept[1])

        if idempotency_key is None or root is None:
            made = self._database.write(reach, lambda transaction: first(transaction)[0])
        else:
            parts = (key.name, key.project, key.confined, key.permissions, key.expires_at, key.user)
            given = request(idempotency_key, ("keys", _trace(root)), *parts)
            made = write_once(self._database, reach, given, self._clock, first=first, again=again)
        return CreatedKey(key=made, text=key_text(reach.tenant, made.id, secret_of(made)))

    def page(self, reach: Reach, *, limit: int, after: tuple[int, int] | None = None) -> list[ApiKey]:
        self._refuse_confined(reach)
        with self._database.read(reach) as transaction:
            keys = ApiKeys(transaction)
            return keys.page(limit=limit) if after is None else keys.page(limit=limit, after=after)

    def revoke(self, reach: Reach, key: KeyId) -> None:
        self._refuse_confined(reach)
        if not self._database.write(reach, lambda transaction: ApiKeys(transaction).revoke(key, self._clock())):
            raise NotFound("API key", key_name(key))

    def create_tenant(self, name: str, *, idempotency_key: str | None = None, root: str | None = None) -> CreatedTenant:
        """A tenant with its default project and its first key. With an idempotency key their ids and the secret are derived from
        it and from `root`, the operator's key; the same request finds the tenant that is there."""
        checked_name(name, "name")
        if idempotency_key is not None and root is not None:
            checked_name(idempotency_key, "idempotency_key")
            tenant = TenantId(derived_number(root, f"tenant {idempotency_key}", below=_ALL_IDS - 1) + 1)
            key_id = KeyId(derived_number(root, f"tenant's key {idempotency_key}", below=_ALL_IDS - 1) + 1)
            secret = derived_secret(root, f"tenant's secret {idempotency_key}")
        else:
            tenant, key_id, secret = new_tenant_id(), new_key_id(), new_secret()
        key = ApiKey(
            id=key_id,
            tenant=tenant,
            name="admin",
            project=None,
            confined=False,
            permissions=("read", "write", "admin"),
            created_at=self._clock(),
        )
        first_key = NewKey(key=key, secret_hash=secret_hash(secret))
        try:
            _, default = self._organiser.create_tenant(name, tenant=tenant, key=first_key)
        except Conflict:
            if idempotency_key is None:
                raise
            raise IdempotencyMismatch(idempotency_key) from None
        return CreatedTenant(
            tenant=tenant, name=name, default_project=default, admin_key=key_text(tenant, key_id, secret)
        )

    def _refuse_confined(self, reach: Reach) -> None:
        """A narrow key that could make keys could make one that is not."""
        if not reach.is_whole_tenant:
            bound = "confined to its project" if reach.user is None else "bound to one user"
            raise Forbidden(f"This key is {bound}: it cannot make, list or revoke keys.")


def _trace(root: str) -> str:
    """Which key asked, without saying it: another key's requests are other requests."""
    return secret_hash(root).hex()[:16]
