"""The methods of `Cloister` for projects, users, keys and maintenance."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cloister.domain.access import Permission, checked_permissions
from cloister.domain.context import HIGHEST_BUDGET
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_key_id, parse_project_id
from cloister.domain.maintenance.backup import BackupReport, StepProgress, no_progress
from cloister.domain.maintenance.damage import RowCheck
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.domain.project_settings import checked_receipt_days, checked_retention_days, checked_settings
from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.domain.text import checked_limit, checked_name
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.audit.report import Audit
from cloister.interfaces.python.arguments import (
    NO_DAYS_GIVEN,
    NOT_GIVEN,
    checked_user,
    page_request,
    project_choice,
    project_of,
)
from cloister.interfaces.python.backends.interface import Backend, ProjectChange
from cloister.interfaces.python.derived_shapes import Profile
from cloister.interfaces.python.pages import Page
from cloister.interfaces.python.preview_shapes import VisibilityPreview
from cloister.interfaces.python.shapes import DeletedProject, Project
from cloister.interfaces.python.tenant_shapes import ApiKey, CreatedKey, ErasedUser, Retention, TenantSettings, Usage
from cloister.services.erasure.erase_project import ProjectContents, checked_contents
from cloister.services.health import HealthReport
from cloister.services.indexing.reindex import IndexCounts, Progress
from cloister.services.tenancy.api_keys import KeyFields
from cloister.services.tenancy.projects import the_only_project
from cloister.services.tenancy.visibility import checked_visibility


class OrganisationMethods:
    """The half of `Cloister` that is not about sessions."""

    _backend: Backend

    # Projects

    def create_project(
        self, name: str, *, member_visibility: MemberVisibility = DEFAULT_VISIBILITY, allow_duplicate_name: bool = False
    ) -> Project:
        """Create a project.

        With `member_visibility="private"` each user recalls only their own sessions of it, with `"shared"` all users recall all. A
        name that another project has, in any case, is a `Conflict`, unless `allow_duplicate_name`.
        """
        visibility = checked_visibility(member_visibility)
        return self._backend.create_project(checked_name(name, "name"), visibility, allow_duplicate_name)

    def projects(self, *, name: str | None = None, limit: int = 50, cursor: str | None = None) -> Page[Project]:
        """List projects, oldest first; with `name` only those of this name, in any case."""
        if name is not None:
            checked_name(name, "name")
        return self._backend.projects(name, page_request(limit, cursor))

    def find_project(self, name: str) -> Project:
        """Return the project of this name, in any case. `NotFound` where there is none, `Conflict` where there are several."""
        return the_only_project(self.projects(name=name, limit=2), name)

    def project(self, project_id: str) -> Project:
        """Return a project by its id."""
        return self._backend.project(parse_project_id(project_id))

    def update_project(
        self,
        project_id: str,
        *,
        name: str | None = None,
        is_default: bool | None = None,
        member_visibility: MemberVisibility | None = None,
        settings: Mapping[str, object] | None = None,
        allow_duplicate_name: bool = False,
    ) -> Project:
        """Change a project's name, settings, or member visibility, or make it the default one. What is not given stays; a
        setting that is None is reset to its default."""
        if settings is not None:
            checked_settings(settings)
        change = ProjectChange(
            name=name,
            is_default=is_default,
            member_visibility=None if member_visibility is None else checked_visibility(member_visibility),
            settings=settings,
            allow_duplicate_name=allow_duplicate_name,
        )
        return self._backend.update_project(parse_project_id(project_id), change)

    def preview_visibility(self, project_id: str, member_visibility: MemberVisibility) -> VisibilityPreview:
        """Count the sessions and users that a change of `member_visibility` would let recall each other, and name the users.
        Nothing is changed."""
        visibility = checked_visibility(member_visibility)
        return self._backend.preview_visibility(parse_project_id(project_id), visibility)

    def delete_project(
        self, project_id: str, *, contents: ProjectContents = "keep", dry_run: bool = False
    ) -> DeletedProject:
        """Delete a project; its sessions are in no project then, with their messages, memories, files
        and entries. Returns how many.

        With `contents="delete"` everything in the project is deleted too, in one transaction: `deleted` says how much. With
        `dry_run` nothing is changed: `visible_to` says who would recall the sessions in no project, or `deleted` what would go.
        """
        return self._backend.delete_project(parse_project_id(project_id), checked_contents(contents), dry_run)

    def project_profile(
        self, project_id: str, *, user_id: str | None = None, budget_tokens: int | None = None
    ) -> Profile:
        """Return what a project knows: its pinned memories, its decisions, and the entities that are mentioned most.

        `budget_tokens` limits the text, by default to 300 tokens. A project with private members is divided by user: `user_id` says
        whose part to describe.
        """
        project, user = parse_project_id(project_id), checked_user(user_id)
        return self._backend.project_profile(project, user, _profile_budget(budget_tokens))

    # Users

    def user_profile(
        self, user_id: str, *, project_id: str | None = NOT_GIVEN, budget_tokens: int | None = None
    ) -> Profile:
        """Return the stable facts of a user that are true now: grouped, pinned ones first, each with its memories.

        They are of one pool: without `project_id` of the key's project, else of the default project, with None of no project.
        `budget_tokens` limits the text, by default to 300 tokens.
        """
        user, project = checked_name(user_id, "user_id"), project_choice(project_id)
        return self._backend.user_profile(user, project, _profile_budget(budget_tokens))

    def erase_user(self, user_id: str, *, dry_run: bool = False) -> ErasedUser:
        """Erase everything of a user in all projects: sessions, messages, what derives from them, and keys bound to the user.

        Returns how many of each. With `dry_run` they are counted, and nothing is changed.
        """
        return self._backend.erase_user(checked_name(user_id, "user_id"), dry_run)

    # Retention

    def tenant_settings(self) -> TenantSettings:
        """Return the settings that apply to all projects of the tenant, and outside them."""
        return self._backend.tenant_settings()

    def update_tenant_settings(
        self, *, retention_days: int | None = NO_DAYS_GIVEN, receipt_days: int | None = NO_DAYS_GIVEN
    ) -> TenantSettings:
        """Change the tenant's settings; what is not given stays. A project may be stricter, with its own setting of the name.

        `retention_days`: after how many days what was said is forgotten, in all projects and outside them; 0 or None keeps it.
        `receipt_days`: after how many days receipts are deleted, in all projects and outside them; None leaves it to the projects,
        and keeps those of sessions in no project as long as the reply.
        """
        changed: dict[str, int | None] = {}
        if retention_days is not NO_DAYS_GIVEN:
            changed["retention_days"] = checked_retention_days(retention_days, "retention_days")
        if receipt_days is not NO_DAYS_GIVEN:
            changed["receipt_days"] = checked_receipt_days(receipt_days, "receipt_days")
        return self._backend.update_tenant_settings(changed)

    def apply_retention(
        self, project_id: str | None = None, *, dry_run: bool = False, retention_days: int | None = None
    ) -> Retention:
        """Forget now what is older than a project and its tenant keep; without `project_id` in all projects and outside them.

        A worker does so every few minutes. With `dry_run` it is counted, and nothing is changed; `retention_days` then counts as if
        the setting of the project, or of the tenant, were this number. One call forgets a limited number of messages: if the result
        is not `complete`, call again.
        """
        if retention_days is not None:
            checked_retention_days(retention_days, "retention_days")
            if not dry_run:
                raise InvalidRequest("retention_days", "can only be tried, with dry_run: change the setting instead.")
        return self._backend.apply_retention(project_of(project_id), dry_run, retention_days)

    # API keys

    def create_key(
        self,
        name: str,
        *,
        project_id: str | None = None,
        confined: bool = False,
        permissions: Sequence[Permission] = ("read", "write"),
        expires_at: str | None = None,
        user_id: str | None = None,
    ) -> CreatedKey:
        """Create an API key for a server. The key itself is in the result, and cannot be read again.

        `project_id` is the project of requests that name none; with `confined` the key reaches no other project. With `user_id` it
        reaches that user's sessions only. `expires_at` is an ISO 8601 time; without it the key does not expire.
        """
        fields = KeyFields(
            name=checked_name(name, "name"),
            project=project_of(project_id),
            confined=confined,
            permissions=checked_permissions(permissions),
            expires_at=None if expires_at is None else parse_iso(expires_at, "expires_at"),
            user_id=checked_user(user_id),
        )
        return self._backend.create_key(fields)

    def keys(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiKey]:
        """List the API keys that were not revoked, oldest first, without their secrets."""
        return self._backend.keys(page_request(limit, cursor))

    def revoke_key(self, key_id: str) -> None:
        """Revoke an API key: the next request with it is refused. The last admin key that does not expire cannot be revoked, which
        is a `Conflict`."""
        self._backend.revoke_key(parse_key_id(key_id))

    # Maintenance

    def usage(self) -> Usage:
        """Count what the tenant stores, with its limits."""
        return self._backend.usage()

    def reindex(self, *, everything: bool = False, progress: Progress | None = None) -> IndexCounts:
        """Rebuild the index of messages, memories and entities that another embedder or tokeniser indexed, or of `everything`.

        `progress` is called with how many are done and how many there are. Returns how many were indexed. Not possible at a server.
        """
        return self._backend.reindex(everything, progress)

    def audit(self, *, progress: Progress | None = None) -> Audit:
        """Check the isolation of this installation: make throw-away tenants, projects, users, sessions and keys with markers, ask
        for these through every interface, and remove everything again.

        `crossings` of the report is 0 if nothing was shown where it must not be. On a directory or a database two tenants are
        made; at a server everything is made within the key's tenant, and an admin key is needed. `progress` is called with how many
        reads are done and how many there are, except at a server.
        """
        return self._backend.audit(progress)

    def backup(self, target: str | os.PathLike[str], *, progress: StepProgress | None = None) -> BackupReport:
        """Write a copy of the whole database, with all tenants, to a new file, while the database is in use, and check the copy.

        The file gets its name when it is whole and on the disk. `progress` is called with what is being done, how much of it is
        done, and how much there is. Not possible at a server.
        """
        return self._backend.backup(Path(target), progress or no_progress)

    def vacuum(self, *, progress: StepProgress | None = None) -> VacuumReport:
        """Give the space of deleted rows back to the file system. Readers go on; writers wait until it is done.

        It needs free space of twice what the database contains. Not possible at a server.
        """
        return self._backend.vacuum(progress or no_progress)

    def check_rows(
        self, *, set_aside: str | os.PathLike[str] | None = None, progress: StepProgress | None = None
    ) -> RowCheck:
        """Read every row that has text, of all tenants, and compare it with its checksum.

        With `set_aside`, damaged rows are copied to that new file and taken out of the database: a message is replaced by a
        sentence that says so, other rows are removed. Not possible at a server.
        """
        return self._backend.check_rows(None if set_aside is None else Path(set_aside), progress or no_progress)

    def health(self) -> HealthReport:
        """Report what is stored, whether it is intact, and whether the index is up to date. Reads the whole database.

        Not possible at a server.
        """
        return self._backend.health()

    def schema_version(self) -> int:
        """Return the version of the database's schema."""
        return self._backend.schema_version()


def _profile_budget(given: int | None) -> int:
    return DEFAULT_PROFILE_TOKENS if given is None else checked_limit(given, "budget_tokens", HIGHEST_BUDGET)
