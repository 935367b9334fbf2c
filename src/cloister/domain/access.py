"""Who is calling, what they may do, and which project a request means (ORG-3, ORG-4, ORG-8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from cloister.domain.errors import Conflict, Forbidden, InvalidRequest, NotFound, ProjectRequired
from cloister.domain.identifiers import (
    KeyId,
    ProjectId,
    TenantId,
    checked_project_form,
    format_project_id,
    parse_project_id,
)
from cloister.domain.scope import Reach

Permission = Literal["read", "write", "admin"]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """A credential of one tenant, without its secret. `project` pins it; `confined` forbids every other. With a `user` it reaches
    that user's sessions only (ORG-10)."""

    id: KeyId
    tenant: TenantId
    name: str
    project: ProjectId | None
    confined: bool
    permissions: tuple[Permission, ...]
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    user: str | None = None

    @property
    def reach(self) -> Reach:
        return Reach(tenant=self.tenant, confined_to=self.project if self.confined else None, user=self.user)

    def is_valid(self, now: int) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def can_make_keys(self) -> bool:
        """Whether its holder can give the tenant another key: an admin's, with the whole tenant in reach."""
        return "admin" in self.permissions and self.reach.is_whole_tenant

    def require(self, permission: Permission) -> None:
        """An admin may do everything; the other permissions stand for themselves."""
        if permission not in self.permissions and "admin" not in self.permissions:
            raise Forbidden(f"This key does not have the permission {permission!r}.")


def checked_permissions(given: Sequence[str]) -> tuple[Permission, ...]:
    """Each known, none twice, in the order of their weight."""
    for permission in given:
        if permission not in PERMISSIONS:
            raise InvalidRequest("permissions", f"{permission!r} is not one of {', '.join(PERMISSIONS)}.")
    if not given:
        raise InvalidRequest("permissions", f"must hold at least one of {', '.join(PERMISSIONS)}.")
    return tuple(permission for permission in PERMISSIONS if permission in given)


def refuse_lockout(keys: Sequence[ApiKey], revoked: KeyId, now: int) -> None:
    """A tenant always keeps a key that can make others and does not expire (ORG-9). `keys` are the tenant's keys that were not
    revoked. One that expires counts only beside others that do."""
    able = [key for key in keys if key.can_make_keys and key.is_valid(now)]
    going = next((key for key in able if key.id == revoked), None)
    if going is None:
        return
    left = [key for key in able if key is not going and (going.expires_at is not None or key.expires_at is None)]
    if not left:
        raise Conflict(
            "This is the last admin key of the tenant that does not expire: without it nobody could make another. "
            "Make a new admin key without expires_at first, and revoke this one with it."
        )


def resolve_project(
    header: str | None,
    *,
    pinned: ProjectId | None,
    confined: bool,
    required: bool,
    default: Callable[[], ProjectId],
    owns: Callable[[ProjectId], bool],
) -> ProjectId:
    """ORG-3: the header, else the key's own project, else the default one where the route does not insist.

    A header is checked first for its form, then against what the key is confined to, then for ownership. A confined key learns
    nothing of other projects, not even whether they exist.
    """
    if header is not None:
        checked_project_form(header)
        if confined and (pinned is None or header != format_project_id(pinned)):
            raise Forbidden("This key is confined to its project, and the header names another.")
        named = parse_project_id(header)
        if not owns(named):
            raise NotFound("project", header)
        return named
    if pinned is not None:
        if not owns(pinned):
            raise NotFound("project", format_project_id(pinned))
        return pinned
    if required:
        raise ProjectRequired
    return default()
