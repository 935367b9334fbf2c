"""Tenants and projects: make them, find them, change them, delete them softly."""

from collections.abc import Mapping

from cloister.domain.conversation import Project
from cloister.domain.errors import Conflict, Forbidden, InvalidRequest
from cloister.domain.identifiers import (
    PoolId,
    ProjectId,
    SessionId,
    TenantId,
    new_project_id,
    new_tenant_id,
)
from cloister.domain.moments import Clock
from cloister.domain.project_settings import checked_settings
from cloister.domain.scope import MemberVisibility, Reach, Scope
from cloister.domain.text import checked_name
from cloister.storage.interface import Database, Transaction
from cloister.storage.organisation import Projects, Tenants
from cloister.storage.pools import Pools, move_between
from cloister.storage.sessions import Sessions


class Organiser:
    """One use case a method; each is one transaction."""

    def __init__(self, database: Database, generation: int, clock: Clock) -> None:
        self._database = database
        self._generation = generation
        self._clock = clock

    def create_tenant(self, name: str, *, tenant: TenantId | None = None) -> tuple[TenantId, ProjectId]:
        """A tenant starts with one project, its default (ORG-2)."""
        checked_name(name, "name")
        identity = tenant or new_tenant_id()
        project = new_project_id()

        def work(transaction: Transaction) -> None:
            now = self._clock()
            if Tenants(transaction).add(name, now):
                Projects(transaction).add(
                    project, name="Default", is_default=True, member_visibility="shared", created_at=now
                )

        self._database.write(Reach(tenant=identity), work)
        return identity, project

    def create_project(self, reach: Reach, name: str, member_visibility: MemberVisibility = "shared") -> Project:
        _refuse_confined(reach)
        checked_name(name, "name")
        if member_visibility not in ("shared", "private"):
            raise InvalidRequest("member_visibility", f"must be shared or private, not {member_visibility!r}.")

        def work(transaction: Transaction) -> Project:
            project = new_project_id()
            projects = Projects(transaction)
            projects.add(
                project, name=name, is_default=False, member_visibility=member_visibility, created_at=self._clock()
            )
            return projects.get(project)

        return self._database.write(reach, work)

    def project(self, reach: Reach, project: ProjectId) -> Project:
        with self._database.read(reach) as transaction:
            return Projects(transaction).get(project)

    def projects(self, reach: Reach, *, limit: int, after: tuple[int, int] | None = None) -> list[Project]:
        with self._database.read(reach) as transaction:
            store = Projects(transaction)
            return store.page(limit=limit) if after is None else store.page(limit=limit, after=after)

    def change_project(
        self,
        reach: Reach,
        project: ProjectId,
        *,
        name: str | None = None,
        make_default: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> Project:
        """Rename, make default, or merge settings; what is not given stays."""
        if make_default:
            _refuse_confined(reach)
        if name is not None:
            checked_name(name, "name")
        changed = None if settings is None else checked_settings(settings)

        def work(transaction: Transaction) -> Project:
            projects = Projects(transaction)
            projects.lock()
            current = projects.get(project)
            if name is not None:
                projects.rename(project, name)
            if changed is not None:
                projects.set_settings(project, {**current.settings, **changed})
            if make_default:
                projects.make_default(project)
            return projects.get(project)

        return self._database.write(reach, work)

    def delete_project(self, reach: Reach, project: ProjectId) -> int:
        """Soft: its sessions go back to the shared pool, nothing is deleted (ORG-5). Returns how many moved."""
        _refuse_confined(reach)

        def work(transaction: Transaction) -> int:
            projects = Projects(transaction)
            projects.lock()
            if projects.get(project).is_default:
                raise Conflict("The default project cannot be deleted: make another project the default first.")
            moved = Sessions(transaction).lock_of_project(project)
            self._return_to_shared_pools(transaction, moved)
            projects.soft_delete(project, self._clock())
            return len(moved)

        return self._database.write(reach, work)

    def _return_to_shared_pools(
        self, transaction: Transaction, moved: list[tuple[SessionId, PoolId, str | None]]
    ) -> None:
        pools = Pools(transaction, self._generation)
        sessions = Sessions(transaction)
        for session, old_pool, user in moved:
            new_pool = pools.ensure(Scope(tenant=transaction.reach.tenant, project=None, user=user).pool)
            version = move_between(pools, old_pool, new_pool)
            sessions.place(session, project=None, pool=new_pool, version=version)


def _refuse_confined(reach: Reach) -> None:
    """What changes which projects there are, or takes sessions out of one, changes what lies outside a confined reach."""
    if reach.confined_to is not None:
        raise Forbidden("This key is confined to its project: it cannot add or delete projects, or choose the default.")
