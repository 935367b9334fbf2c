"""Tenants and their projects."""

import json
import secrets
from collections.abc import Mapping
from typing import Any, cast

from cloister.domain.conversation import Project
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import ProjectId, TenantId, format_project_id, format_tenant_id
from cloister.domain.project_settings import retention_days
from cloister.domain.scope import MemberVisibility
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction


class TenantStore:
    """The transaction's tenant."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def exists(self) -> bool:
        return self._transaction.row("tenant") is not None

    def name(self) -> str | None:
        row = self._transaction.row("tenant")
        return None if row is None else cast(str, row[0])

    def lock_shared(self) -> None:
        """Take a shared lock: the tenant cannot be erased until the transaction ends. `NotFound` if there is no such tenant."""
        self._found(self._transaction.row("lock_tenant_shared"))

    def lock_names(self) -> None:
        """Lock the names of the tenant's projects for one transaction at a time. `NotFound` if there is no such tenant."""
        self._found(self._transaction.row("lock_tenant_names"))

    def lock(self) -> None:
        """Take an exclusive lock: no transaction adds anything to the tenant until this one ends. `NotFound` if there is none."""
        self._found(self._transaction.row("lock_tenant"))

    def _found(self, row: Row | None) -> None:
        if row is None:
            raise NotFound("tenant", format_tenant_id(self._transaction.reach.tenant))

    def add(self, name: str, created_at: int) -> bool:
        """Add the tenant; false if it exists, or existed and was erased."""
        return self._transaction.row("insert_tenant", name=name, created_at=created_at) is not None

    def secret(self) -> bytes | None:
        """The random bytes that keyed hashes of this tenant are made with, if there are any yet. No interface returns them."""
        row = self._transaction.row("tenant_secret")
        self._found(row)
        found = None if row is None else cast(bytes | None, row[0])
        return None if found is None else bytes(found)

    def ensure_secret(self) -> None:
        """Create the tenant's secret, if there is none."""
        self._transaction.execute("set_tenant_secret", secret=secrets.token_bytes(32))


class ProjectStore:
    """The tenant's projects. Deleted ones are never returned."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(
        self,
        project: ProjectId,
        *,
        name: str,
        is_default: bool,
        member_visibility: MemberVisibility,
        created_at: int,
    ) -> None:
        self._transaction.execute(
            "insert_project",
            project_id=project,
            name=name,
            is_default=int(is_default),
            member_visibility=member_visibility,
            settings="{}",
            created_at=created_at,
        )

    def find(self, project: ProjectId) -> Project | None:
        row = self._transaction.row("project", project_id=project)
        return None if row is None else _project(row)

    def get(self, project: ProjectId) -> Project:
        found = self.find(project)
        if found is None:
            raise NotFound("project", format_project_id(project))
        return found

    def default(self) -> ProjectId:
        """The tenant's default project; there is exactly one."""
        row = self._transaction.row("default_project")
        if row is None:
            raise NotFound("project", "default")
        return ProjectId(cast(int, row[0]))

    def lock_shared(self, project: ProjectId) -> Project:
        """The project, with a shared lock: it cannot be deleted until the transaction ends. Lock order: projects before
        sessions."""
        row = self._transaction.row("lock_project_shared", project_id=project)
        if row is None:
            raise NotFound("project", format_project_id(project))
        return _project(row)

    def page(self, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[Project]:
        """A page of projects, oldest first; `after` is the (created_at, id) of the last one of the page before."""
        rows = self._transaction.rows("projects", limit=limit, after_created_at=after[0], after_project_id=after[1])
        return [_project(row) for row in rows]

    def names(self) -> list[tuple[ProjectId, str]]:
        """The ids and names of all projects, oldest first."""
        rows = cast(list[tuple[int, str]], self._transaction.rows("project_names"))
        return [(ProjectId(project), name) for project, name in rows]

    def lock_all(self) -> None:
        """Lock all projects of the tenant, in id order, before one is deleted or becomes the default."""
        self._transaction.rows("lock_projects")

    def rename(self, project: ProjectId, name: str) -> None:
        self._transaction.execute("rename_project", project_id=project, name=name)

    def set_settings(self, project: ProjectId, settings: Mapping[str, object]) -> None:
        self._transaction.execute(
            "set_project_settings",
            project_id=project,
            settings=json.dumps(settings),
            retention_days=retention_days(settings),
        )

    def set_visibility(self, project: ProjectId, visibility: MemberVisibility) -> None:
        """Set the column only: the caller has to move the project's sessions and entities to their new pools in this
        transaction."""
        self._transaction.execute("set_project_visibility", project_id=project, member_visibility=visibility)

    def make_default(self, project: ProjectId) -> None:
        self._transaction.execute("clear_default_project")
        self._transaction.execute("set_default_project", project_id=project)

    def soft_delete(self, project: ProjectId, deleted_at: int) -> None:
        """Mark a project as deleted. Its sessions have left it, so that no receipt shows its prompts any more: their texts go."""
        self._transaction.execute("delete_templates_of_project", project_id=project)
        self._transaction.execute("soft_delete_project", project_id=project, deleted_at=deleted_at)


def _project(row: Row) -> Project:
    project, tenant, name, is_default, visibility, settings, memory_count, created_at = cast(tuple[Any, ...], row)
    return Project(
        id=ProjectId(project),
        tenant=TenantId(tenant),
        name=name,
        is_default=bool(is_default),
        member_visibility=visibility,
        settings=json.loads(settings),
        memory_count=memory_count,
        created_at=created_at,
    )
