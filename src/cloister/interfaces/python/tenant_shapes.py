"""The shapes of tenants: usage, what an operator sees of a tenant, and the counts of erasing a user or a tenant."""

from dataclasses import asdict, dataclass

from cloister.domain.erasure import TenantCounts, UserCounts
from cloister.domain.identifiers import format_key_id, format_project_id, format_tenant_id
from cloister.domain.timestamps import iso
from cloister.domain.usage import Usage as DomainUsage
from cloister.services.conversations.retention import OldCounts, Retained
from cloister.services.tenancy.api_keys import CreatedKey, CreatedTenant
from cloister.services.tenancy.tenants import TenantSummary as DomainTenantSummary


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenant:
    """A new tenant. `admin_key` is not stored, and cannot be read again."""

    tenant_id: str
    name: str
    default_project_id: str
    admin_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much a tenant may store; None is no limit."""

    messages: int | None
    sessions: int | None
    projects: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """How much a tenant stores, and its limits."""

    messages: int
    sessions: int
    projects: int
    api_keys: int
    limits: Limits


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasedUser:
    """How much of a user was erased, or would be."""

    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    entries: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasedTenant:
    """How much of a tenant was erased, or would be."""

    projects: int
    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    api_keys: int
    entries: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantSummary:
    """A tenant as its operator sees it, with how much it stores."""

    tenant_id: str
    name: str
    created_at: str
    projects: int
    sessions: int
    messages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminKey:
    """A new admin key of a tenant. `key` is not stored, and cannot be read again."""

    key_id: str
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantSettings:
    """The settings of a tenant. `retention_days`: after how many days what was said is forgotten; None keeps it."""

    retention_days: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How much was too old, and was forgotten, or would be; `sessions` are those that lost messages. Not `complete`: one call does
    not forget more, and the next one, or the worker, goes on."""

    sessions: int
    messages: int
    memories: int
    observations: int
    complete: bool


def tenant_shape(created: CreatedTenant) -> Tenant:
    return Tenant(
        tenant_id=format_tenant_id(created.tenant),
        name=created.name,
        default_project_id=format_project_id(created.default_project),
        admin_key=created.admin_key,
    )


def usage_shape(usage: DomainUsage) -> Usage:
    fields = asdict(usage)
    fields["limits"] = Limits(**fields["limits"])
    return Usage(**fields)


def retention_shape(retained: Retained) -> Retention:
    return Retention(**asdict(retained.counts), complete=retained.complete)


def retention_preview_shape(counts: OldCounts) -> Retention:
    return Retention(**asdict(counts), complete=True)


def erased_user_shape(counts: UserCounts) -> ErasedUser:
    return ErasedUser(**asdict(counts))


def erased_tenant_shape(counts: TenantCounts) -> ErasedTenant:
    return ErasedTenant(**asdict(counts))


def tenant_summary_shape(tenant: DomainTenantSummary) -> TenantSummary:
    return TenantSummary(
        tenant_id=format_tenant_id(tenant.tenant),
        name=tenant.name,
        created_at=iso(tenant.created_at),
        projects=tenant.projects,
        sessions=tenant.sessions,
        messages=tenant.messages,
    )


def admin_key_shape(created: CreatedKey) -> AdminKey:
    return AdminKey(key_id=format_key_id(created.key.id), key=created.text)
