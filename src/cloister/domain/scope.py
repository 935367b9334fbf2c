"""Who may see what. The rules ISO-3 and ISO-10 live here as code, and nowhere else.

`Reach` bounds what a credential can touch at all: a tenant, or one project of it. `Scope` bounds what a session may recall:
exactly one pool. Neither has a value that means "everything".
"""

from dataclasses import dataclass
from typing import Literal

from cloister.domain.identifiers import ProjectId, SessionId, TenantId

MemberVisibility = Literal["shared", "private"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """All rows a caller may touch: those of one tenant, and of one project only where `confined_to` is set."""

    tenant: TenantId
    confined_to: ProjectId | None = None

    def covers(self, scope: "Scope") -> bool:
        """Whether all that the scope may recall lies inside this reach."""
        return scope.tenant == self.tenant and self.confined_to in (None, scope.project)


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolKey:
    """Names a pool inside its tenant. No project: the shared pool; a user: the part of it that is theirs alone."""

    project: ProjectId | None
    user: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """From where a recall is made; it decides the one pool that may answer.

    `visibility` is the project's, and has no meaning without one.
    """

    tenant: TenantId
    project: ProjectId | None
    user: str | None
    visibility: MemberVisibility = "shared"
    session: SessionId | None = None

    @property
    def pool(self) -> PoolKey:
        """ISO-3, ISO-10: the shared pool is divided by user; a project's is shared by its users unless it is private."""
        if self.project is not None and self.visibility == "shared":
            return PoolKey(project=self.project, user=None)
        return PoolKey(project=self.project, user=self.user)

    @property
    def entities(self) -> ProjectId | None:
        """ISO-3: the project whose entities may be recalled; none outside a project."""
        return self.project
