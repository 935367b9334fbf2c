"""The shapes of erasing users and tenants, and of what an operator sees of tenants."""

from dataclasses import asdict, dataclass

from cloister.domain.erasing import TenantCounts, UserCounts
from cloister.domain.identifiers import key_name, tenant_name
from cloister.domain.moments import iso
from cloister.services.access import CreatedKey
from cloister.services.tenants import TenantSummary as DomainTenantSummary


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasedUser:
    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasedTenant:
    projects: int
    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    api_keys: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantSummary:
    tenant_id: str
    name: str
    created_at: str
    projects: int
    sessions: int
    messages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminKey:
    """`key` is shown this once, and kept nowhere."""

    key_id: str
    key: str


def erased_user_shape(counts: UserCounts) -> ErasedUser:
    return ErasedUser(**asdict(counts))


def erased_tenant_shape(counts: TenantCounts) -> ErasedTenant:
    return ErasedTenant(**asdict(counts))


def tenant_summary_shape(tenant: DomainTenantSummary) -> TenantSummary:
    return TenantSummary(
        tenant_id=tenant_name(tenant.tenant),
        name=tenant.name,
        created_at=iso(tenant.created_at),
        projects=tenant.projects,
        sessions=tenant.sessions,
        messages=tenant.messages,
    )


def admin_key_shape(created: CreatedKey) -> AdminKey:
    return AdminKey(key_id=key_name(created.key.id), key=created.text)
