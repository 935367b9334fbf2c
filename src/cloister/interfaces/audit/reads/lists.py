"""Reads without the id of a session: lists, what is known of a user or a project, exports, and what anybody may ask."""

from collections.abc import Iterator, Sequence

from cloister.domain.identifiers import format_project_id
from cloister.interfaces.audit.reads.read import EXPORT, HTTP, Read, View
from cloister.interfaces.audit.targets import Reader, Target


def part_reads(view: View) -> Iterator[Read]:
    """What the part of the target's user in its project has: its sessions, entities and profiles."""
    target, project = view.target, view.target.scope.project
    name = "none" if project is None else format_project_id(project)
    of_part = f"project_id={name}&user_id={target.user}"
    yield view.in_project(HTTP, "sessions of a user", "GET", f"/v1/sessions?{of_part}&limit=200")
    profile = f"/v1/users/{target.user}/profile?project_id={name}"
    yield view.in_project(HTTP, "profile", "GET", profile)
    yield view.in_project(HTTP, "memories", "GET", f"/v1/memories?{of_part}&limit=200", allowed=view.pool)
    if project is None:
        return
    path = f"/org/projects/{name}/timeline?user_id={target.user}&limit=200"
    yield view.in_project(HTTP, "timeline", "GET", path, allowed=view.pool)
    yield view.in_project(
        HTTP, "entities", "GET", f"/v1/entities?{of_part}&limit=200", allowed=view.pool, expected=view.entity
    )
    path = f"/org/projects/{name}/profile?user_id={target.user}"
    yield view.in_project(HTTP, "project's profile", "GET", path, allowed=view.pool)


def lists(reader: Reader, targets: Sequence[Target], *, with_tenant: bool) -> Iterator[Read]:
    """All that a reader may list. With `with_tenant`, the tenant is the audit's own, and is exported as a whole too."""
    own = reader.reached(targets)
    inside = [target for target in targets if target.tenant == reader.reach.tenant]
    yield Read(door=HTTP, name="sessions", method="GET", path="/v1/sessions?limit=200", allowed=own, is_answered=True)
    for path in ("/metrics", "/readyz", "/livez"):
        yield Read(door=HTTP, name=path, method="GET", path=path)
    for user in dict.fromkeys(target.user for target in inside):
        yield from _of_user(reader, user, [target for target in own if target.user == user])
    for project in dict.fromkeys(target.scope.project for target in targets if target.scope.project is not None):
        of_project = [target for target in own if target.scope.project == project]
        name = format_project_id(project)
        path = f"/org/projects/{name}/sessions"
        yield _list(HTTP, "project's sessions", path, of_project, is_shown=True)
        path = f"/v1/memories?project_id={name}&users=all&limit=200"
        yield _list(HTTP, "project's memories", path, of_project, is_shown=reader.is_admin)
        path = f"/v1/export?scope=project&id={name}"
        yield _list(EXPORT, "project", path, of_project, is_shown=reader.is_admin)
    if with_tenant:
        yield _list(EXPORT, "tenant", "/v1/export", own, is_shown=reader.is_admin)


def _of_user(reader: Reader, user: str, of_user: Sequence[Target]) -> Iterator[Read]:
    """Of one user in all projects that the reader reaches: for an admin, and for the user."""
    exported = of_user if reader.is_admin or reader.reach.user == user else ()
    yield _list(EXPORT, "user", f"/v1/export?scope=user&id={user}", exported, is_shown=True)
    memories = f"/v1/users/{user}/memories?limit=200"
    yield _list(HTTP, "memories of a user", memories, of_user, is_shown=reader.is_admin)
    timeline = f"/v1/users/{user}/timeline?limit=200"
    yield _list(HTTP, "timeline of a user", timeline, of_user, is_shown=reader.is_admin)


def _list(door: str, name: str, path: str, found: Sequence[Target], *, is_shown: bool) -> Read:
    """A list that shows all of `found`, or to this reader nothing."""
    shown = found if is_shown else ()
    return Read(
        door=door,
        name=name,
        method="GET",
        path=path,
        allowed=shown,
        expected=shown,
        is_answered=True if shown else None,
    )
