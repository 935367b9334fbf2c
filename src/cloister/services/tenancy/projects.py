"""Create, find, list, change and soft-delete projects; create tenants; usage and limits of a tenant."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from cloister.domain.access import ApiKey
from cloister.domain.conversation import Project, Session
from cloister.domain.erasure import Readers, Removal
from cloister.domain.errors import Conflict, Forbidden, InvalidRequest, NotFound
from cloister.domain.identifiers import (
    ProjectId,
    TenantId,
    format_project_id,
    format_tenant_id,
    new_project_id,
    new_tenant_id,
)
from cloister.domain.project_settings import checked_settings, merged_settings
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility, Reach, Scope
from cloister.domain.text import checked_name, checked_project_name, folded_name
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, Usage, refuse_over
from cloister.services.certificates.rehearsal import run
from cloister.services.conversations.move import MoveCounts, SessionMove
from cloister.services.events.bus import EventBus
from cloister.services.receipts.storing import set_ages
from cloister.services.tenancy.idempotency import done_once, request, write_once
from cloister.services.tenancy.visibility import VisibilityChange, checked_visibility
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.certificates.readers import ReaderStore
from cloister.storage.stores.entries.entries import TenantEntryStore, count_entries
from cloister.storage.stores.files.trees import count_files
from cloister.storage.stores.idempotency import FirstAnswer
from cloister.storage.stores.keys import ApiKeyStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore, TenantStore
from cloister.storage.stores.usage import UsageStore

Named = TypeVar("Named")


@dataclass(frozen=True, kw_only=True, slots=True)
class NewKey:
    """A key to add together with its tenant."""

    key: ApiKey
    secret_hash: bytes


class Projects:
    """Each method is one use case, and one transaction."""

    def __init__(
        self,
        database: Database,
        generation: int,
        clock: Clock,
        limits: Limits,
        events: EventBus,
        visibility: VisibilityChange,
    ) -> None:
        self._database = database
        self._generation = generation
        self._clock = clock
        self._limits = limits
        self._events = events
        self._visibility = visibility

    def create_tenant(
        self, name: str, *, tenant: TenantId | None = None, key: NewKey | None = None
    ) -> tuple[TenantId, ProjectId]:
        """Create a tenant with its default project (ORG-2), and with a key if one is given; returns their ids. If there is a tenant
        with this id and name already, its ids are returned."""
        checked_name(name, "name")
        identity = tenant or new_tenant_id()

        def work(transaction: Transaction) -> ProjectId:
            if self.add_tenant(transaction, name):
                if key is not None:
                    ApiKeyStore(transaction).add(key.key, key.secret_hash)
            elif TenantStore(transaction).name() != name:
                raise Conflict("There is a tenant of this id already, under another name.")
            return ProjectStore(transaction).default()

        return identity, self._database.write(Reach(tenant=identity), work)

    def add_tenant(self, transaction: Transaction, name: str) -> bool:
        """Add the transaction's tenant with its default project, in a larger use case. False if it exists already."""
        now = self._clock()
        if not TenantStore(transaction).add(name, now):
            return False
        ProjectStore(transaction).add(
            new_project_id(),
            name="Default",
            is_default=True,
            member_visibility=DEFAULT_VISIBILITY,
            created_at=now,
        )
        return True

    def create_project(
        self,
        reach: Reach,
        name: str,
        member_visibility: MemberVisibility = DEFAULT_VISIBILITY,
        *,
        allow_duplicate_name: bool = False,
        idempotency_key: str | None = None,
    ) -> Project:
        """Create a project. Its members recall only their own sessions, unless it is `shared`. A second project with the same name
        is refused, unless `allow_duplicate_name`."""
        _refuse_narrow(reach)
        checked_project_name(name)
        checked_visibility(member_visibility)

        def first(transaction: Transaction) -> tuple[Project, FirstAnswer]:
            TenantStore(transaction).lock_names()
            usage = UsageStore(transaction)
            refuse_over("projects", usage.projects(), 1, usage.limits().over(self._limits).projects)
            project = new_project_id()
            projects = ProjectStore(transaction)
            _refuse_taken_name(projects, name, allowed=allow_duplicate_name)
            projects.add(
                project, name=name, is_default=False, member_visibility=member_visibility, created_at=self._clock()
            )
            created = projects.get(project)
            return created, FirstAnswer("projects", json.dumps([created.id, created.created_at]))

        if idempotency_key is None:
            return self._database.write(reach, lambda transaction: first(transaction)[0])

        def again(transaction: Transaction, kept: Sequence[Any]) -> Project:
            if ProjectStore(transaction).find(ProjectId(kept[0])) is None:
                raise Conflict("The project that was made under this idempotency key was deleted since: use a new key.")
            return Project(
                id=ProjectId(kept[0]),
                tenant=reach.tenant,
                name=name,
                is_default=False,
                member_visibility=member_visibility,
                settings={},
                memory_count=0,
                created_at=kept[1],
            )

        given = request(idempotency_key, name, member_visibility, *([True] if allow_duplicate_name else []))

        def work(transaction: Transaction) -> Project:
            return done_once(
                transaction,
                given,
                ("projects",),
                self._clock,
                first=lambda: first(transaction),
                again=lambda kept: again(transaction, kept),
            )

        try:
            return write_once(self._database, reach, work)
        except Conflict:
            # A concurrent repetition of this request may have taken the name: then its answer can be read now.
            return write_once(self._database, reach, work)

    def default_project(self, reach: Reach) -> ProjectId:
        with self._database.read(reach) as transaction:
            return ProjectStore(transaction).default()

    def owns(self, reach: Reach, project: ProjectId) -> bool:
        with self._database.read(reach) as transaction:
            return ProjectStore(transaction).find(project) is not None

    def usage(self, reach: Reach) -> Usage:
        """How much the whole tenant has stored; confined and bound callers are refused."""
        _refuse_narrow(reach)
        with self._database.read(reach) as transaction:
            rows = UsageStore(transaction)
            stored = rows.counts()
            return Usage(
                messages=stored.messages,
                sessions=stored.sessions,
                projects=rows.projects(),
                api_keys=rows.api_keys(),
                files=count_files(transaction),
                entries=count_entries(transaction),
                limits=stored.limits.over(self._limits),
            )

    def set_limits(self, reach: Reach, limits: Limits) -> None:
        """Set the tenant's own limits; those that are None fall back to the server's."""
        _refuse_narrow(reach)

        def work(transaction: Transaction) -> None:
            if not TenantStore(transaction).exists():
                raise NotFound("tenant", format_tenant_id(reach.tenant))
            UsageStore(transaction).set_limits(limits)

        self._database.write(reach, work)

    def project(self, reach: Reach, project: ProjectId) -> Project:
        with self._database.read(reach) as transaction:
            return _reached(transaction, ProjectStore(transaction).get(project))

    def projects(
        self, reach: Reach, *, limit: int, after: tuple[int, int] | None = None, name: str | None = None
    ) -> list[Project]:
        """A page of projects, oldest first; with `name`, those with this name, ignoring case."""
        if name is not None:
            checked_name(name, "name")
        with self._database.read(reach) as transaction:
            store = ProjectStore(transaction)
            if name is not None:
                named = [store.get(project) for project, _ in _called(store, name)]
                found = [each for each in named if after is None or (each.created_at, each.id) > after][:limit]
            else:
                found = store.page(limit=limit) if after is None else store.page(limit=limit, after=after)
            return [_reached(transaction, project) for project in found]

    def find_project(self, reach: Reach, name: str) -> Project:
        """The only project with this name, ignoring case."""
        return the_only_project(self.projects(reach, limit=2, name=name), name)

    def change_project(
        self,
        reach: Reach,
        project: ProjectId,
        *,
        name: str | None = None,
        is_default: bool | None = None,
        member_visibility: MemberVisibility | None = None,
        settings: Mapping[str, object] | None = None,
        allow_duplicate_name: bool = False,
    ) -> Project:
        """Rename a project, make it the default, change its visibility, or merge settings; None leaves a field as it is, and
        resets a setting."""
        check_project_change(reach, name=name, is_default=is_default, member_visibility=member_visibility)
        changed = None if settings is None else checked_settings(settings)

        def work(transaction: Transaction) -> tuple[Project, bool]:
            projects = ProjectStore(transaction)
            if name is not None:
                TenantStore(transaction).lock_names()
            projects.lock_all()
            current = projects.get(project)
            if name is not None:
                _refuse_taken_name(projects, name, allowed=allow_duplicate_name, by=project)
            is_regrouped = member_visibility is not None and self._visibility.apply(
                transaction, current, member_visibility
            )
            if name is not None:
                projects.rename(project, name)
            if changed is not None:
                merged = merged_settings(current.settings, changed)
                projects.set_settings(project, merged)
                if "receipt_days" in changed:
                    set_ages(transaction, project, merged)
            if is_default:
                projects.make_default(project)
            return projects.get(project), is_regrouped

        after, is_regrouped = self._database.write(reach, work)
        if is_regrouped:
            self._events.regrouped(reach.tenant, project)
        return after

    def check_settings(self, reach: Reach, project: ProjectId, settings: Mapping[str, object]) -> None:
        """Raise if the settings of the project could not be changed so. Nothing is changed."""
        merged_settings(self.project(reach, project).settings, checked_settings(settings))

    def check_name(self, reach: Reach, project: ProjectId, name: str, *, allow_duplicate: bool) -> None:
        """Raise if the project could not be renamed now. Nothing is changed."""
        with self._database.read(reach) as transaction:
            projects = ProjectStore(transaction)
            projects.get(project)
            _refuse_taken_name(projects, name, allowed=allow_duplicate, by=project)

    def preview_visibility(
        self, reach: Reach, project: ProjectId, member_visibility: MemberVisibility, *, names_users: bool = False
    ) -> Readers:
        """Who would recall each other after a change of the visibility, and do not now. Nothing is changed. `names_users` is for
        admins."""
        _refuse_bound(reach)
        checked_visibility(member_visibility)
        with self._database.read(reach) as transaction:
            stored = ProjectStore(transaction).get(project)
            return self._visibility.preview(transaction, stored, member_visibility, names_users=names_users)

    def delete_project(self, reach: Reach, project: ProjectId, *, dry_run: bool = False) -> MoveCounts:
        """Soft-delete a project: its sessions with their memories and files, and the entries of its users, move to the shared pool,
        and nothing is lost (ORG-5). With `dry_run` the transaction is rolled back, and `readers` are those who would recall them
        there."""
        _refuse_narrow(reach)

        def work(transaction: Transaction) -> tuple[list[Session], MoveCounts]:
            projects, now, removal = ProjectStore(transaction), self._clock(), Removal(projects=[project])
            projects.lock_all()
            if projects.get(project).is_default:
                raise Conflict("The default project cannot be deleted: make another project the default first.")
            readers = ReaderStore(transaction, names_users=True).outside_projects(project) if dry_run else None
            moved = SessionStore(transaction).lock_of_project(project)
            mover = SessionMove(transaction, self._generation, now)
            for locked in moved:
                mover.move(locked, Scope(tenant=reach.tenant, project=None, user=locked.session.user_id))
            mover.finish()
            projects.soft_delete(project, now)
            removal.name("projects", [format_project_id(project)])
            counts = MoveCounts(
                sessions=len(moved),
                memories=sum(locked.session.memory_count for locked in moved),
                files=self._visibility.take_files_out(transaction, project),
                entries=_take_entries_out(transaction, project, now),
                removal=removal,
                readers=readers,
            )
            return [locked.session for locked in moved], counts

        moved, counts = run(self._database, reach, work, dry_run=dry_run)
        if not dry_run:
            self._events.moved(moved, None)
        return counts


def _take_entries_out(transaction: Transaction, project: ProjectId, now: int) -> int:
    """No entry may be stored where one of the project goes, so the tenant is locked first."""
    entries = TenantEntryStore(transaction)
    if entries.count_of_project(project, now):
        TenantStore(transaction).lock()
    return entries.take_out_of_project(project, now)


def check_project_change(
    reach: Reach, *, name: str | None, is_default: bool | None, member_visibility: MemberVisibility | None
) -> None:
    _refuse_bound(reach)
    if is_default is False:
        raise InvalidRequest("is_default", "can only be set to true: make another project the default instead.")
    if is_default:
        _refuse_narrow(reach)
    if member_visibility is not None:
        checked_visibility(member_visibility)
    if name is not None:
        checked_project_name(name)


def the_only_project(found: Sequence[Named], name: str) -> Named:
    """The only one of the projects with this name; raises `NotFound` or `Conflict` otherwise."""
    if not found:
        raise NotFound("project", name)
    if len(found) > 1:
        raise Conflict(f"More than one project is called {name!r}: name the one you mean by its id (proj_…).")
    return found[0]


def _called(projects: ProjectStore, name: str) -> list[tuple[ProjectId, str]]:
    wanted = folded_name(name)
    return [(project, stored) for project, stored in projects.names() if folded_name(stored) == wanted]


def _refuse_taken_name(projects: ProjectStore, name: str, *, allowed: bool, by: ProjectId | None = None) -> None:
    """Before a change the names are locked, so that of two concurrent requests for one name the second sees the first. A confined
    caller sees only the name of its own project."""
    taken = [(project, stored) for project, stored in _called(projects, name) if project != by]
    if taken and not allowed:
        project, stored = taken[0]
        raise Conflict(
            f"There is a project called {stored!r} already ({format_project_id(project)}): use that one, choose another name, or "
            "allow the duplicate (allow_duplicate_name)."
        )


def _reached(transaction: Transaction, project: Project) -> Project:
    """The project as the caller may see it: a bound caller sees the count of its user's memories, and no settings."""
    if transaction.reach.user is None:
        return project
    return replace(project, settings={}, memory_count=SessionStore(transaction).reached_memories(project.id))


def _refuse_narrow(reach: Reach) -> None:
    """Refuse confined and bound callers, for changes that affect the tenant outside their reach."""
    _refuse_bound(reach)
    if reach.confined_to is not None:
        raise Forbidden("This key is confined to its project: it cannot do what concerns the whole tenant.")


def _refuse_bound(reach: Reach) -> None:
    if reach.user is not None:
        raise Forbidden("This key is bound to one user: it cannot do what concerns other users too.")
