"""The part of the library that organises: projects, users and keys."""

from collections.abc import Mapping, Sequence

from cloister.bootstrap import Services
from cloister.domain.access import Permission
from cloister.domain.identifiers import parse_key_id, parse_project_id
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility, Reach
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.python import preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.arguments import page_size, project_of
from cloister.services.tenancy.api_keys import KeyFields


class OrganisationCalls:
    """Of the one tenant that `Cloister` opened."""

    _services: Services
    _reach: Reach

    # Projects

    def create_project(
        self,
        name: str,
        *,
        member_visibility: MemberVisibility = DEFAULT_VISIBILITY,
        allow_duplicate_name: bool = False,
    ) -> shapes.Project:
        """A new project. Each user recalls only their own sessions of it; with `member_visibility="shared"` all recall all. A name
        that another project has, in whatever case, is a `Conflict`, unless duplicates are allowed."""
        created = self._services.projects.create_project(
            self._reach, name, member_visibility, allow_duplicate_name=allow_duplicate_name
        )
        return shapes.project_shape(created)

    def projects(self, *, name: str | None = None, limit: int = 50) -> list[shapes.Project]:
        """Oldest first; with a `name` only those that are called so, whatever the case."""
        found = self._services.projects.projects(self._reach, limit=page_size(limit), name=name)
        return [shapes.project_shape(project) for project in found]

    def find_project(self, name: str) -> shapes.Project:
        """The project that is called so, whatever the case. `NotFound` where there is none, `Conflict` where there are two."""
        return shapes.project_shape(self._services.projects.find_project(self._reach, name))

    def project(self, project_id: str) -> shapes.Project:
        return shapes.project_shape(self._services.projects.project(self._reach, parse_project_id(project_id)))

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
        """Rename, make default, change whether members recall each other, or change settings; what is not given stays."""
        changed = self._services.projects.change_project(
            self._reach,
            parse_project_id(project_id),
            name=name,
            is_default=is_default,
            member_visibility=member_visibility,
            settings=settings,
            allow_duplicate_name=allow_duplicate_name,
        )
        return shapes.project_shape(changed)

    def preview_visibility(
        self, project_id: str, member_visibility: MemberVisibility
    ) -> preview_shapes.VisibilityPreview:
        """How many sessions, of how many users, would recall each other that do not now. Nothing is changed."""
        preview = self._services.projects.preview_visibility(
            self._reach, parse_project_id(project_id), member_visibility
        )
        return preview_shapes.visibility_preview_shape(preview)

    def delete_project(self, project_id: str) -> shapes.DeletedProject:
        """Softly: its sessions go back to the shared pool with all that was said and kept in them. Says how many."""
        moved = self._services.projects.delete_project(self._reach, parse_project_id(project_id))
        return shapes.deleted_project_shape(moved)

    # Users

    def erase_user(self, user_id: str, *, dry_run: bool = False) -> tenant_shapes.ErasedUser:
        """Everything of a user, in all projects and in none: sessions, all that was said in them and derives from that, and the
        keys that are bound to the user. Says how much; with `dry_run` how much it would be, and nothing is changed."""
        eraser = self._services.erase_user
        counts = eraser.preview(self._reach, user_id) if dry_run else eraser.erase(self._reach, user_id)
        return tenant_shapes.erased_user_shape(counts)

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
        """A key for callers over HTTP, shown this once. `project_id` is the project its callers mean where they name none; with
        `confined` they can reach no other. With `user_id` they reach that user's sessions only."""
        fields = KeyFields(
            name=name,
            project=project_of(project_id),
            confined=confined,
            permissions=permissions,
            expires_at=None if expires_at is None else parse_iso(expires_at, "expires_at"),
            user_id=user_id,
        )
        return shapes.created_key_shape(self._services.api_keys.create(self._reach, fields))

    def keys(self, *, limit: int = 50) -> list[shapes.ApiKey]:
        """Those that were not revoked, oldest first, without their secrets."""
        return [shapes.key_shape(key) for key in self._services.api_keys.page(self._reach, limit=page_size(limit))]

    def revoke_key(self, key_id: str) -> None:
        """At once: the next request with it is refused. The last admin key that does not expire stays (`Conflict`)."""
        self._services.api_keys.revoke(self._reach, parse_key_id(key_id))
