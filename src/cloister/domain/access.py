"""API keys, their permissions, and which project a request means (ORG-3, ORG-4, ORG-8)."""

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
_OTHER_PROJECT = "This key is confined to its project, and the request names another."


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """A credential of one tenant, without its secret. `project` is the project of its requests that name none; `confined` forbids
    every other project. A key with a `user` reaches that user's sessions only (ORG-10)."""

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
        """Whether the key can create other keys: it needs the permission admin, and the whole tenant in reach."""
        return "admin" in self.permissions and self.reach.is_whole_tenant

    def require(self, permission: Permission) -> None:
        """Raise `Forbidden` unless the key has the permission. Admin includes the others; write does not include read."""
        if permission not in self.permissions and "admin" not in self.permissions:
            raise Forbidden(f"This key does not have the permission {permission!r}.")


def checked_permissions(given: Sequence[str]) -> tuple[Permission, ...]:
    """The permissions, each known, without duplicates, in the order of `PERMISSIONS`."""
    for permission in given:
        if permission not in PERMISSIONS:
            raise InvalidRequest("permissions", f"{permission!r} is not one of {', '.join(PERMISSIONS)}.")
    if not given:
        raise InvalidRequest("permissions", f"must hold at least one of {', '.join(PERMISSIONS)}.")
    return tuple(permission for permission in PERMISSIONS if permission in given)


def refuse_lockout(keys: Sequence[ApiKey], revoked: KeyId, now: int) -> None:
    """Raise `Conflict` if revoking a key would leave the tenant without a key that can create others (ORG-9). `keys` are the
    tenant's keys that are not revoked. A key that expires is no replacement for one that does not."""
    capable = [key for key in keys if key.can_make_keys and key.is_valid(now)]
    going = next((key for key in capable if key.id == revoked), None)
    if going is None:
        return
    left = [key for key in capable if key is not going and (going.expires_at is not None or key.expires_at is None)]
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
    """The project of a request (ORG-3): the header's, else the key's own, else the tenant's default, unless the route requires one.

    The header is checked for its form first, then against the key's confinement, then for existence, so that a confined key cannot
    find out which other projects exist.
    """
    if header is not None:
        checked_project_form(header)
        if confined and (pinned is None or header != format_project_id(pinned)):
            raise Forbidden(_OTHER_PROJECT)
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


def refuse_no_project(*, confined: bool) -> None:
    """Raise `Forbidden` if a key cannot ask for no project, in the words for any other project that is not the key's own."""
    if confined:
        raise Forbidden(_OTHER_PROJECT)
