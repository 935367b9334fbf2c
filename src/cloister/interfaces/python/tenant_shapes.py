"""The shapes of tenants: usage, what an operator sees of a tenant, and the counts of erasing a user or a tenant."""

from dataclasses import asdict, dataclass, field, fields

from cloister.domain import access
from cloister.domain.erasure import TenantCounts, UserCounts
from cloister.domain.identifiers import format_key_id, format_project_id, format_tenant_id
from cloister.domain.timestamps import iso
from cloister.domain.usage import Usage as DomainUsage
from cloister.interfaces.python.certificates.shapes import Certificate, Removed, RemovedRows
from cloister.services.conversations.retention import OldCounts, Retained
from cloister.services.tenancy.api_keys import CreatedKey as DomainCreatedKey
from cloister.services.tenancy.api_keys import CreatedTenant
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
    files: int | None = None
    entries: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """How much a tenant stores, and its limits."""

    messages: int
    sessions: int
    projects: int
    api_keys: int
    limits: Limits
    files: int = 0
    entries: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasedUser:
    """How much of a user was erased, or would be: of a dry run, `would_remove` names the rows."""

    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    entries: int = 0
    files: int = 0
    certificate: Certificate | None = field(default=None, compare=False)
    would_remove: RemovedRows | None = field(default=None, compare=False)


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
    files: int = 0
    certificate: Certificate | None = field(default=None, compare=False)


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
    """The settings of a tenant. `retention_days`: after how many days what was said is forgotten; None keeps it. `receipt_days`:
    after how many days receipts are deleted; None leaves it to the projects."""

    retention_days: int | None
    receipt_days: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How much was too old, and was forgotten, or would be; `sessions` are those that lost messages. Not `complete`: one call does
    not forget more, and the next one, or the worker, goes on. `certificate` names what went; it is null if nothing did, and for a
    dry run. `entities` lost their last mention; `receipts` are those of contexts and searches, with what was asked."""

    sessions: int
    messages: int
    memories: int
    observations: int
    complete: bool
    files: int = 0
    entities: int = 0
    receipts: int = 0
    certificate: Certificate | None = field(default=None, compare=False)


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


def retention_shape(retained: Retained, certificate: Certificate | None) -> Retention:
    return Retention(**asdict(retained.counts), complete=retained.complete, certificate=certificate)


def retention_preview_shape(counts: OldCounts) -> Retention:
    return Retention(**asdict(counts), complete=True)


def erased_user_shape(counts: UserCounts, removed: Removed) -> ErasedUser:
    return ErasedUser(**_numbers(counts), certificate=removed.certificate, would_remove=removed.would_remove)


def erased_tenant_shape(counts: TenantCounts, certificate: Certificate | None = None) -> ErasedTenant:
    return ErasedTenant(**_numbers(counts), certificate=certificate)


def _numbers(counts: UserCounts) -> dict[str, int]:
    return {part.name: getattr(counts, part.name) for part in fields(counts) if part.name != "removal"}


def tenant_summary_shape(tenant: DomainTenantSummary) -> TenantSummary:
    return TenantSummary(
        tenant_id=format_tenant_id(tenant.tenant),
        name=tenant.name,
        created_at=iso(tenant.created_at),
        projects=tenant.projects,
        sessions=tenant.sessions,
        messages=tenant.messages,
    )


def admin_key_shape(created: DomainCreatedKey) -> AdminKey:
    return AdminKey(key_id=format_key_id(created.key.id), key=created.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """An API key without its secret."""

    key_id: str
    name: str
    project_id: str | None
    confined: bool
    user_id: str | None
    permissions: tuple[str, ...]
    expires_at: str | None
    created_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedKey(ApiKey):
    """A new API key. `key` is the key itself; it is not stored, and cannot be read again."""

    key: str


def key_shape(key: access.ApiKey) -> ApiKey:
    return ApiKey(
        key_id=format_key_id(key.id),
        name=key.name,
        project_id=None if key.project is None else format_project_id(key.project),
        confined=key.confined,
        user_id=key.user,
        permissions=key.permissions,
        expires_at=None if key.expires_at is None else iso(key.expires_at),
        created_at=iso(key.created_at),
    )


def created_key_shape(created: DomainCreatedKey) -> CreatedKey:
    return CreatedKey(**asdict(key_shape(created.key)), key=created.text)
