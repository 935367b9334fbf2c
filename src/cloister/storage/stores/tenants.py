"""Tenants and their projects, inside one transaction's reach."""

import json
from collections.abc import Mapping
from typing import Any, cast

from cloister.domain.conversation import Project
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import ProjectId, TenantId, format_project_id, format_tenant_id
from cloister.domain.scope import MemberVisibility
from cloister.storage.interface import FIRST_PAGE, CursorKey, Row, Transaction


class TenantStore:
    """The one tenant of the transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def exists(self) -> bool:
        return self._transaction.row("tenant") is not None

    def name(self) -> str | None:
        row = self._transaction.row("tenant")
        return None if row is None else cast(str, row[0])

    def lock_shared(self) -> None:
        """The tenant cannot be erased until the transaction ends. `NotFound` where it was erased, or never was."""
        self._found(self._transaction.row("lock_tenant_shared"))

    def lock_names(self) -> None:
        """One transaction at a time gives a project of the tenant its name. `NotFound` where there is no such tenant."""
        self._found(self._transaction.row("lock_tenant_names"))

    def lock(self) -> None:
        """Nobody adds anything to the tenant until the transaction ends. `NotFound` where there is no such tenant."""
        self._found(self._transaction.row("lock_tenant"))

    def _found(self, row: Row | None) -> None:
        if row is None:
            raise NotFound("tenant", format_tenant_id(self._transaction.reach.tenant))

    def add(self, name: str, created_at: int) -> bool:
        """False when it is there already, or was and is erased."""
        return self._transaction.row("insert_tenant", name=name, created_at=created_at) is not None


class ProjectStore:
    """The tenant's projects; deleted ones are gone from every answer."""

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
        """The same, and it stays until the transaction ends. Take it before any session: a deletion does so too."""
        row = self._transaction.row("lock_project_shared", project_id=project)
        if row is None:
            raise NotFound("project", format_project_id(project))
        return _project(row)

    def page(self, *, limit: int, after: CursorKey = FIRST_PAGE) -> list[Project]:
        """Oldest first, from behind the (created_at, id) of the last one seen."""
        rows = self._transaction.rows("projects", limit=limit, after_created_at=after[0], after_project_id=after[1])
        return [_project(row) for row in rows]

    def names(self) -> list[tuple[ProjectId, str]]:
        """Of all projects, oldest first."""
        rows = cast(list[tuple[int, str]], self._transaction.rows("project_names"))
        return [(ProjectId(project), name) for project, name in rows]

    def lock_all(self) -> None:
        """Hold all projects of the tenant, so that which one is the default changes for one caller at a time."""
        self._transaction.rows("lock_projects")

    def rename(self, project: ProjectId, name: str) -> None:
        self._transaction.execute("rename_project", project_id=project, name=name)

    def set_settings(self, project: ProjectId, settings: Mapping[str, object]) -> None:
        self._transaction.execute("set_project_settings", project_id=project, settings=json.dumps(settings))

    def set_visibility(self, project: ProjectId, visibility: MemberVisibility) -> None:
        """The column alone: sessions and entities of the project have to go to their new pools in the same transaction."""
        self._transaction.execute("set_project_visibility", project_id=project, member_visibility=visibility)

    def make_default(self, project: ProjectId) -> None:
        self._transaction.execute("clear_default_project")
        self._transaction.execute("set_default_project", project_id=project)

    def soft_delete(self, project: ProjectId, deleted_at: int) -> None:
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
