"""How much erasing a user or a tenant removes."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class UserCounts:
    """The rows of one user."""

    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    entries: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantCounts(UserCounts):
    """The rows of all users of a tenant, and what belongs to the tenant itself."""

    projects: int
    api_keys: int
