"""Tenants for the operator: list, find and erase them, and create an admin key. No content of a tenant is read here."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import cast

from cloister.domain.erasure import EmptiedSession, Removal, TenantCounts
from cloister.domain.errors import Conflict, NotFound, StorageBusy
from cloister.domain.identifiers import (
    LOCAL_TENANT,
    SessionId,
    TenantId,
    format_key_id,
    format_memory_id,
    format_observation_id,
    format_project_id,
    format_receipt_id,
    format_tenant_id,
    is_tenant_id,
    parse_tenant_id,
)
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.index.interface import ExternalIndex
from cloister.services.conversations.forget import Forgetting
from cloister.services.events.bus import EventBus
from cloister.services.tenancy.api_keys import ApiKeys, CreatedKey, KeyFields
from cloister.storage.interface import FIRST_PAGE, Database, Transaction
from cloister.storage.stores.certificates.removals import RemovalStore, TenantRemovalStore
from cloister.storage.stores.erasure import TenantErasureStore
from cloister.storage.stores.indexing.derived_index_rows import EntityIndexStore
from cloister.storage.stores.indexing.index_rows import IndexStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.tenants import TenantStore

_RETRIES = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantSummary:
    """A tenant in the operator's list, with how much it has stored."""

    tenant: TenantId
    name: str
    created_at: int
    projects: int
    sessions: int
    messages: int


class Tenants:
    """All tenants of a database, for callers with the operator's key or direct access to the database."""

    def __init__(
        self,
        database: Database,
        external: ExternalIndex | None,
        forgetting: Forgetting,
        access: ApiKeys,
        generation: int,
        clock: Clock,
        events: EventBus,
    ) -> None:
        self._database = database
        self._external = external
        self._forgetting = forgetting
        self._access = access
        self._generation = generation
        self._clock = clock
        self._events = events

    def page(self, *, limit: int, after: tuple[int, int] = FIRST_PAGE) -> list[TenantSummary]:
        """A page of tenants, oldest first, after the cursor (created_at, id)."""
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
        """The tenant with this id, or the only one with this name. Nothing is created."""
        if is_tenant_id(given):
            tenant = parse_tenant_id(given)
            with self._database.read(Reach(tenant=tenant)) as transaction:
                found = [tenant] if TenantStore(transaction).exists() else []
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
        """Create an admin key, so that no tenant is ever locked out (ORG-9). `root` is the operator's key."""
        self._check(tenant)
        fields = KeyFields(name="admin", permissions=("read", "write", "admin"))
        return self._access.create(Reach(tenant=tenant), fields, idempotency_key=idempotency_key, root=root)

    def preview_erasing(self, tenant: TenantId) -> TenantCounts:
        """What erasing the tenant would remove. Nothing is changed."""
        _refuse_local(tenant)
        self._check(tenant)
        with self._database.read(Reach(tenant=tenant)) as transaction:
            return TenantErasureStore(transaction).counts()

    def erase(self, tenant: TenantId) -> TenantCounts:
        """Remove everything of a tenant, in one transaction with the tenant's own reach. Its keys are refused from then on."""
        _refuse_local(tenant)
        counts = self._erase(tenant)
        self._events.tenant_erased(tenant)
        self._forgetting.clean_up()
        return counts

    def _erase(self, tenant: TenantId) -> TenantCounts:
        """Retry more often than other writes: a session that was created a moment ago, and is recorded in, is a deadlock."""
        for _ in range(_RETRIES):
            with suppress(StorageBusy):
                return self._database.write(Reach(tenant=tenant), self._remove)
        return self._database.write(Reach(tenant=tenant), self._remove)

    def _check(self, tenant: TenantId) -> None:
        with self._database.read(Reach(tenant=tenant)) as transaction:
            if not TenantStore(transaction).exists():
                raise NotFound("tenant", format_tenant_id(tenant))

    def _remove(self, transaction: Transaction) -> TenantCounts:
        """Lock sessions before the tenant, as who records does (a foreign key locks the tenant), to avoid deadlock; then the
        sessions that were created meanwhile."""
        rows = TenantErasureStore(transaction)
        rows.lock_sessions()
        TenantStore(transaction).lock()
        sessions = rows.lock_sessions()
        counts = replace(rows.counts(), removal=Removal(is_tenant=True))
        _note_rows(transaction, sessions, counts)
        messages, index = MessageStore(transaction), IndexStore(transaction, self._generation)
        for session in sessions:
            messages.remove_all(session)
            if self._external is not None:
                index.note_removal(session)
        if self._external is not None:
            EntityIndexStore(transaction, self._generation).note_removal(rows.entities())
        rows.remove_all(self._clock())
        return counts


def _note_rows(transaction: Transaction, sessions: Sequence[SessionId], counts: TenantCounts) -> None:
    """Note what is erased. The operator is given ids that Cloister made, and numbers: not the ids that the tenant's callers chose
    for sessions, users and files, which may be people's names."""
    rows, removal = TenantRemovalStore(transaction), counts.removal
    removal.name("tenants", [format_tenant_id(transaction.reach.tenant)])
    removal.name("projects", list(map(format_project_id, rows.projects())), counts.projects)
    removal.name("api_keys", list(map(format_key_id, rows.keys())), counts.api_keys)
    removal.name("memories", list(map(format_memory_id, rows.memories())), counts.memories)
    removal.name("observations", list(map(format_observation_id, rows.observations())), counts.observations)
    receipts, count = rows.all_receipts()
    removal.name("receipts", list(map(format_receipt_id, receipts)), count)
    for kind in ("sessions", "messages", "episodes", "entities", "entries"):
        removal.name(kind, [], getattr(counts, kind))
    for session in sessions:
        last = RemovalStore(transaction).last_message(session)
        removal.sessions.append(EmptiedSession(id=session, last_message=last, is_deleted=True))


def _refuse_local(tenant: TenantId) -> None:
    if tenant == LOCAL_TENANT:
        raise Conflict(
            "The tenant 'local' belongs to the installation, which makes it at its start: it cannot be erased. "
            "Erase its users, or delete the data directory or database."
        )
