"""Who may see what. The rules ISO-3 and ISO-10 live here as code, and nowhere else.

`Reach` bounds what a credential can touch at all: a tenant, or one project of it, or one user's sessions, or both. `Scope` bounds
what a session may recall: exactly one pool. Neither has a value that means "everything".
"""

from dataclasses import dataclass
from typing import Literal

from cloister.domain.errors import Forbidden
from cloister.domain.identifiers import ProjectId, SessionId, TenantId

MemberVisibility = Literal["shared", "private"]
DEFAULT_VISIBILITY: MemberVisibility = "private"
"""Of a project, the default one included, where nobody asked for another: what nobody asked to share is not shared (ISO-10)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """All rows a caller may touch: those of one tenant, of one project only where `confined_to` is set, and of one user's sessions
    only where `user` is set (ORG-10)."""

    tenant: TenantId
    confined_to: ProjectId | None = None
    user: str | None = None

    @property
    def is_whole_tenant(self) -> bool:
        return self.confined_to is None and self.user is None

    def covers(self, scope: "Scope") -> bool:
        """Whether a session of this scope lies inside this reach."""
        return (
            scope.tenant == self.tenant
            and self.confined_to in (None, scope.project)
            and self.user in (None, scope.user)
        )

    def covers_pool(self, scope: "Scope") -> bool:
        """Whether all that a session of this scope may recall lies inside this reach, also what others said."""
        return self.covers(scope) and self.user in (None, scope.pool.user)

    def user_of(self, named: str | None) -> str | None:
        """The user that a request means: the one it names, else the one the caller is bound to. A caller that is bound to a user
        may name no other."""
        if self.user is None or named == self.user:
            return named
        if named is None:
            return self.user
        raise Forbidden("This key is bound to one user, and the request names another.")


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
    visibility: MemberVisibility = DEFAULT_VISIBILITY
    session: SessionId | None = None

    @property
    def pool(self) -> PoolKey:
        """ISO-3, ISO-10: a pool is one user's part of a project, or of what is in no project; sessions without a user are a part of
        their own. Only a project whose members share has one pool for all of them."""
        return PoolKey(project=self.project, user=None if self.shared else self.user)

    @property
    def shared(self) -> bool:
        """Whether words of several users can meet here."""
        return self.project is not None and self.visibility == "shared"

    @property
    def entities(self) -> ProjectId | None:
        """ISO-3: the project whose entities may be recalled; none outside a project."""
        return self.project
