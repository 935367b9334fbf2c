"""The part of the remote library that organises: projects, users and keys, over HTTP."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from cloister.domain.access import Permission, checked_permissions
from cloister.domain.identifiers import parse_key_id, parse_project_id
from cloister.domain.project_settings import checked_settings
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.domain.text import checked_name
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.python import preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.arguments import page_size, project_of
from cloister.services.tenancy.projects import the_only_project
from cloister.services.tenancy.visibility import checked_visibility

if TYPE_CHECKING:
    from cloister.interfaces.python.connection import Connection

PROJECTS: Final = "/org/projects"
_KEYS: Final = "/org/api-keys"
# A user may have said a lot.
_SECONDS_TO_ERASE: Final = 1_800


class RemoteOrganisationCalls:
    """Of the tenant whose key was given."""

    _server: "Connection"

    # Projects

    def create_project(
        self,
        name: str,
        *,
        member_visibility: MemberVisibility = DEFAULT_VISIBILITY,
        allow_duplicate_name: bool = False,
    ) -> shapes.Project:
        body = {"name": checked_name(name, "name"), "member_visibility": checked_visibility(member_visibility)}
        return self._server.create(PROJECTS, {**body, **_duplicate(allow_duplicate_name)}).one(shapes.Project)

    def projects(self, *, name: str | None = None, limit: int = 50) -> list[shapes.Project]:
        if name is not None:
            checked_name(name, "name")
        return self._server.get(PROJECTS, name=name, limit=page_size(limit)).many(shapes.Project)

    def find_project(self, name: str) -> shapes.Project:
        return the_only_project(self.projects(name=name, limit=2), name)

    def project(self, project_id: str) -> shapes.Project:
        return self._server.get(_project(project_id)).one(shapes.Project)

    def update_project(
        self,
        project_id: str,
        *,
        name: str | None = None,
        is_default: bool | None = None,
        member_visibility: MemberVisibility | None = None,
        settings: Mapping[str, object] | None = None,
        allow_duplicate_name: bool = False,
    ) -> shapes.Project:
        if settings is not None:
            checked_settings(settings)
        if member_visibility is not None:
            checked_visibility(member_visibility)
        body = given_fields(name=name, is_default=is_default, member_visibility=member_visibility, settings=settings)
        body |= _duplicate(allow_duplicate_name)
        return self._server.change("PATCH", _project(project_id), body).one(shapes.Project)

    def preview_visibility(
        self, project_id: str, member_visibility: MemberVisibility
    ) -> preview_shapes.VisibilityPreview:
        body = {"member_visibility": checked_visibility(member_visibility)}
        answer = self._server.change("PATCH", f"{_project(project_id)}?dry_run=true", body)
        return answer.one(preview_shapes.VisibilityPreview)

    def delete_project(self, project_id: str) -> shapes.DeletedProject:
        return self._server.change("DELETE", _project(project_id)).one(shapes.DeletedProject)

    # Users

    def erase_user(self, user_id: str, *, dry_run: bool = False) -> tenant_shapes.ErasedUser:
        path = f"/v1/users/{segment(checked_name(user_id, 'user_id'))}{'?dry_run=true' if dry_run else ''}"
        return self._server.change("DELETE", path, seconds=_SECONDS_TO_ERASE).one(tenant_shapes.ErasedUser)

    # Keys

    def create_key(
        self,
        name: str,
        *,
        project_id: str | None = None,
        confined: bool = False,
        permissions: Sequence[Permission] = ("read", "write"),
        expires_at: str | None = None,
        user_id: str | None = None,
    ) -> shapes.CreatedKey:
        project_of(project_id)
        if expires_at is not None:
            parse_iso(expires_at, "expires_at")
        given = given_fields(project_id=project_id, expires_at=expires_at, user_id=user_id)
        allowed = checked_permissions(permissions)
        body = {**given, "name": checked_name(name, "name"), "confined": confined, "permissions": allowed}
        return self._server.create(_KEYS, body).one(shapes.CreatedKey)

    def keys(self, *, limit: int = 50) -> list[shapes.ApiKey]:
        return self._server.get(_KEYS, limit=page_size(limit)).many(shapes.ApiKey)

    def revoke_key(self, key_id: str) -> None:
        parse_key_id(key_id)
        self._server.change("DELETE", f"{_KEYS}/{key_id}")


def given_fields(**fields: object) -> dict[str, object]:
    """What the caller said; what was not said is not sent."""
    return {name: value for name, value in fields.items() if value is not None}


def _duplicate(allowed: bool) -> dict[str, object]:
    """Sent only where it is asked for: an older server does not know the field."""
    return {"allow_duplicate_name": True} if allowed else {}


def _project(project_id: str) -> str:
    parse_project_id(project_id)
    return f"{PROJECTS}/{project_id}"


def segment(name: str) -> str:
    """A name as one segment of a path; dots alone would be a step in it."""
    encoded = quote(name, safe="")
    return encoded.replace(".", "%2E") if encoded in (".", "..") else encoded
