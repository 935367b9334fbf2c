"""How much is erased with a user or a tenant."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class UserCounts:
    """How much there is of a user."""

    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantCounts:
    """How much there is of a tenant."""

    projects: int
    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    api_keys: int
