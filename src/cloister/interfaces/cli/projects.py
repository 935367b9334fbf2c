"""`cloister projects`: list, show, create, rename, default, delete."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.interfaces.cli.listing import listed, remark_more
from cloister.interfaces.cli.options import (
    After,
    All,
    Data,
    DryRun,
    DuplicateName,
    Json,
    Key,
    Limit,
    ProjectArgument,
    Tenant,
    Yes,
)
from cloister.interfaces.cli.project_names import project_id_of
from cloister.interfaces.cli.terminal import answer, confirm, counted, details, json_text, minute, table
from cloister.interfaces.python.arguments import LARGEST_PAGE
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.preview_shapes import VisibilityPreview
from cloister.interfaces.python.shapes import Project, as_json

app = typer.Typer(help="Projects: walls around groups of sessions.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")]


@app.command("list")
def list_projects(
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Only projects of this name, in any case.")
    ] = None,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """List projects, oldest first."""
    with Cloister(data, key=key, tenant=tenant) as memory:
        found = listed(
            lambda most, cursor: memory.projects(name=name, limit=most, cursor=cursor),
            limit=limit,
            everything=everything,
            cursor=after,
        )
    answer(as_json(found), json, _table(found))
    remark_more(found)


@app.command("show")
def show_project(
    project: ProjectArgument, data: Data = None, key: Key = None, tenant: Tenant = None, json: Json = False
) -> None:
    """Show a project and its settings."""
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        found = memory.project(project_id)
    answer(as_json(found), json, _described(found))


@app.command("create")
def create_project(
    name: Name,
    members: Annotated[
        MemberVisibility,
        typer.Option(
            "--members",
            metavar="shared|private",
            help="Whether its users recall only themselves (private) or each other (shared).",
        ),
    ] = DEFAULT_VISIBILITY,
    allow_duplicate_name: DuplicateName = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Create a project. It is isolated, which cannot be turned off.

    Each of its users recalls only what their own sessions said, unless it is created with `--members shared`.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        project = memory.create_project(name, member_visibility=members, allow_duplicate_name=allow_duplicate_name)
    answer(as_json(project), json, _table([project]))


@app.command("rename")
def rename_project(
    project: ProjectArgument,
    name: Name,
    allow_duplicate_name: DuplicateName = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Change a project's name; its id stays."""
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        changed = memory.update_project(project_id, name=name, allow_duplicate_name=allow_duplicate_name)
    answer(as_json(changed), json, f"{project_id} is now called {name!r}.")


@app.command("default")
def make_default(
    project: ProjectArgument, data: Data = None, key: Key = None, tenant: Tenant = None, json: Json = False
) -> None:
    """Make a project the default one, instead of the current one."""
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        changed = memory.update_project(project_id, is_default=True)
    answer(as_json(changed), json, f"{changed.name!r} is now the default project.")


@app.command("members")
def change_members(
    project: ProjectArgument,
    members: Annotated[
        MemberVisibility,
        typer.Argument(metavar="shared|private", help="Whether its users recall each other, or only themselves."),
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Change whether the users of a project recall each other.

    It takes effect from the next request on, for everything that was ever said in the project.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        preview = memory.preview_visibility(project_id, members)
        if dry_run:
            answer(as_json(preview), json, f"{_seen_by_others(preview)}. Nothing was changed.")
            return
        name = memory.project(project_id).name
        if not yes and preview.sessions:
            confirm(f"{_seen_by_others(preview)}. Share the project {name!r} between its users?")
        changed = memory.update_project(project_id, member_visibility=members)
    sentence = "its users now recall each other" if members == "shared" else "each user now recalls only their own part"
    answer(as_json(changed), json, f"{name!r} is {members}: {sentence}.")


@app.command("delete")
def delete_project(
    project: ProjectArgument,
    yes: Yes = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Delete a project; its sessions go to the shared pool.

    No message is deleted, and the sessions can be moved into another project.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        project_id = project_id_of(memory, project)
        name = memory.project(project_id).name
        sessions = len(memory.sessions(project_id=project_id, limit=LARGEST_PAGE))
        if not yes:
            number = f"{sessions} or more sessions" if sessions == LARGEST_PAGE else counted(sessions, "session")
            question = f"Delete the project {name!r} and send its {number} back to the shared pool?"
            confirm(question)
        moved = memory.delete_project(project_id)
    sessions_moved = counted(moved.sessions_moved, "session")
    answer(as_json(moved), json, f"Deleted the project {name!r}; {sessions_moved} went back to the shared pool.")


def _seen_by_others(preview: VisibilityPreview) -> str:
    if not preview.sessions:
        return "No session would recall others than now"
    return f"{counted(preview.sessions, 'session')} of {counted(preview.users, 'user')} would recall each other"


def _described(project: Project) -> Table:
    return details(
        [
            ("project", project.project_id),
            ("name", project.name),
            ("members", project.member_visibility),
            ("default", "yes" if project.is_default else "no"),
            ("memories", f"{project.memory_count:,}"),
            ("tenant", project.tenant_id),
            ("created", minute(project.created_at)),
            *((name, json_text(value, indent=None)) for name, value in project.settings.items()),
        ]
    )


def _table(projects: Sequence[Project]) -> Table:
    rows = [
        (
            project.project_id,
            project.name,
            project.member_visibility,
            "yes" if project.is_default else "",
            minute(project.created_at),
        )
        for project in projects
    ]
    return table(("project", "name", "members", "default", "created"), rows)
