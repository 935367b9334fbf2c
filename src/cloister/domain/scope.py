"""Access rules: which rows a credential reaches, and which pool a session recalls from. ISO-3 and ISO-10 are implemented here only.

`Reach` bounds what a credential can touch: a tenant, one project of it, one user's sessions, or both. `Scope` bounds what a session
may recall: exactly one pool. Neither has a value that means "everything".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import ProjectId, SessionId, TenantId

MemberVisibility = Literal["shared", "private"]
DEFAULT_VISIBILITY: MemberVisibility = "private"
"""The visibility of a new project, the default one included: nothing is shared unless somebody asks for it (ISO-10)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """The rows that a caller may touch: those of one tenant; only one project's if `confined_to` is set, and only one user's
    sessions if `user` is set (ORG-10)."""

    tenant: TenantId
    confined_to: ProjectId | None = None
    user: str | None = None

    @property
    def is_whole_tenant(self) -> bool:
        return self.confined_to is None and self.user is None

    def covers(self, scope: "Scope") -> bool:
        """Whether a session with this scope is within the reach."""
        return (
            scope.tenant == self.tenant
            and self.confined_to in (None, scope.project)
            and self.user in (None, scope.user)
        )

    def covers_pool(self, scope: "Scope") -> bool:
        """Whether everything that a session with this scope may recall is within the reach, including other users' messages."""
        return self.covers(scope) and self.user in (None, scope.pool.user)

    def user_of(self, named: str | None) -> str | None:
        """The user of a request: the one it names, else the one the caller is bound to. `Forbidden` if a bound caller names another
        user."""
        if self.user is None or named == self.user:
            return named
        if named is None:
            return self.user
        raise Forbidden("The request is one user's, by its key or its header X-User-ID, and names another user.")


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolKey:
    """Identifies a pool within its tenant. Without a project it is the shared pool; with a user, that user's part of it."""

    project: ProjectId | None
    user: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The session, user and project of a recall, which determine the one pool it may read.

    `visibility` is the project's, and has no meaning without a project.
    """

    tenant: TenantId
    project: ProjectId | None
    user: str | None
    visibility: MemberVisibility = DEFAULT_VISIBILITY
    session: SessionId | None = None

    @property
    def pool(self) -> PoolKey:
        """The one pool of this scope (ISO-3, ISO-10): the user's part of the project, or of the shared pool. Sessions without a
        user are a part of their own. A project with shared visibility has one pool for all users."""
        return PoolKey(project=self.project, user=None if self.shared else self.user)

    @property
    def shared(self) -> bool:
        """Whether the pool may have messages of several users."""
        return self.project is not None and self.visibility == "shared"

    @property
    def entities(self) -> ProjectId | None:
        """The project whose entities may be recalled (ISO-3); None outside a project."""
        return self.project


def refuse_scope(given: Mapping[str, Any], field: str = "") -> None:
    """Refuse a message or an item that names a scope: it is recorded in that of its request, and who named another one meant that.
    No client's library sends such fields; other fields that are not known here may be its own."""
    for name in ("user_id", "project_id", "session_id"):
        if given.get(name) is not None:
            raise InvalidRequest(
                f"{field}{name}",
                "is not read here: the key and the request, with X-Project-ID, X-User-ID and X-Session-ID, name the scope of all "
                "that it has.",
            )
