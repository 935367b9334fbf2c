"""Tenants as their operator sees them: list, find, erase, and a new admin key. Nothing of what a tenant said is read here."""

from dataclasses import dataclass
from typing import cast

from cloister.domain.erasure import TenantCounts
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import LOCAL_TENANT, TenantId, is_tenant_id, parse_tenant, tenant_name
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.index.interface import Index
from cloister.services.conversations.forget import Forgetter
from cloister.services.events.bus import Bus
from cloister.services.tenancy.api_keys import CreatedKey, Gatekeeper, KeyFields
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.derived_index_rows import EntityIndexRows
from cloister.storage.stores.erasure import TenantRows
from cloister.storage.stores.index_rows import IndexRows
from cloister.storage.stores.messages import Messages
from cloister.storage.stores.tenants import Tenants

_BEGINNING = (-(1 << 63), 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantSummary:
    """A tenant in the operator's list, with what it keeps."""

    tenant: TenantId
    name: str
    created_at: int
    projects: int
    sessions: int
    messages: int


class TenantDirectory:
    """All tenants of a database. Whoever asks has the operator's key, or the database itself."""

    def __init__(
        self,
        database: Database,
        index: Index,
        forgetter: Forgetter,
        access: Gatekeeper,
        generation: int,
        clock: Clock,
        events: Bus,
    ) -> None:
        self._database = database
        self._index = index
        self._forgetter = forgetter
        self._access = access
        self._generation = generation
        self._clock = clock
        self._events = events

    def page(self, *, limit: int, after: tuple[int, int] = _BEGINNING) -> list[TenantSummary]:
        """Oldest first, from behind the (created_at, id) of the last one seen."""
        rows = self._database.maintenance.rows(
            "tenants", limit=limit, after_created_at=after[0], after_tenant_id=after[1]
        )
        return [
            TenantSummary(
                tenant=TenantId(tenant),
                name=name,
                created_at=created_at,
                projects=projects,
                sessions=sessions,
                messages=messages,
            )
            for tenant, name, created_at, projects, sessions, messages in cast(
                list[tuple[int, str, int, int, int, int]], rows
            )
        ]

    def find(self, given: str) -> TenantId:
        """The tenant of this id, or the only one of this name. Nothing is created."""
        if is_tenant_id(given):
            tenant = parse_tenant(given)
            with self._database.read(Reach(tenant=tenant)) as transaction:
                found = [tenant] if Tenants(transaction).exists() else []
        else:
            rows = self._database.maintenance.rows("tenants_named", name=checked_name(given, "tenant"))
            found = [TenantId(cast(int, row[0])) for row in rows]
        if not found:
            raise NotFound("tenant", given)
        if len(found) > 1:
            raise Conflict(f"More than one tenant is called {given!r}: name the one you mean by its id (ten_…).")
        return found[0]

    def create_key(
        self, tenant: TenantId, *, idempotency_key: str | None = None, root: str | None = None
    ) -> CreatedKey:
        """A new admin key, so that no tenant is ever locked out (ORG-9). `root` is the operator's key."""
        self._check(tenant)
        fields = KeyFields(name="admin", permissions=("read", "write", "admin"))
        return self._access.create(Reach(tenant=tenant), fields, idempotency_key=idempotency_key, root=root)

    def preview_erasing(self, tenant: TenantId) -> TenantCounts:
        """What erasing the tenant would remove. Nothing is changed."""
        _refuse_local(tenant)
        self._check(tenant)
        with self._database.read(Reach(tenant=tenant)) as transaction:
            return TenantRows(transaction).counts()

    def erase(self, tenant: TenantId) -> TenantCounts:
        """Everything of the tenant, in one transaction inside the tenant's own walls. Its keys are refused from then on."""
        _refuse_local(tenant)
        counts = self._database.write(Reach(tenant=tenant), self._remove)
        self._events.tenant_erased(tenant)
        self._forgetter.clean_up()
        return counts

    def _check(self, tenant: TenantId) -> None:
        with self._database.read(Reach(tenant=tenant)) as transaction:
            if not Tenants(transaction).exists():
                raise NotFound("tenant", tenant_name(tenant))

    def _remove(self, transaction: Transaction) -> TenantCounts:
        Tenants(transaction).lock()
        rows = TenantRows(transaction)
        sessions = rows.lock_sessions()
        counts = rows.counts()
        messages, index = Messages(transaction), IndexRows(transaction, self._generation)
        for session in sessions:
            messages.remove_all(session)
            if not self._index.immediate:
                index.note_removal(session)
        if not self._index.immediate:
            EntityIndexRows(transaction, self._generation).note_removal(rows.entities())
        rows.remove_all(self._clock())
        return counts


def _refuse_local(tenant: TenantId) -> None:
    if tenant == LOCAL_TENANT:
        raise Conflict(
            "The tenant 'local' belongs to the installation, which makes it at its start: it cannot be erased. "
            "Erase its users, or delete the data directory or database."
        )
