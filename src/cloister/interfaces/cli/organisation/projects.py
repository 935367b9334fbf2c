"""`cloister projects`: list, show, profile, memories, timeline, activity, create, rename, default, delete."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from rich.table import Table

from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.interfaces.cli.certificates.sentences import checks_made
from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import (
    After,
    All,
    DryRun,
    DuplicateName,
    Limit,
    ProfileBudget,
    ProjectArgument,
    User,
    Yes,
    with_library,
)
from cloister.interfaces.cli.organisation.listings import (
    list_project_memories,
    show_project_activity,
    show_project_timeline,
)
from cloister.interfaces.cli.organisation.project_names import project_id_of
from cloister.interfaces.cli.organisation.users import erased_counts, profile_table
from cloister.interfaces.cli.terminal import answer, confirm, counted, details, json_text, minute, table
from cloister.interfaces.python.arguments import LARGEST_PAGE
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.preview_shapes import VisibilityPreview
from cloister.interfaces.python.shapes import DeletedProject, Project, as_json

_USERS_SHOWN = 10
app = typer.Typer(help="Projects: walls around groups of sessions.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")]


@app.command("list")
@with_library
def list_projects(
    memory: Cloister,
    json: bool,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Only projects of this name, in any case.")
    ] = None,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
) -> None:
    """List projects, oldest first."""
    found = listed(partial(memory.projects, name=name), limit, everything, after)
    answer_list(found, json, _table(found))


@app.command("show")
@with_library
def show_project(memory: Cloister, json: bool, project: ProjectArgument) -> None:
    """Show a project and its settings."""
    project_id = project_id_of(memory, project)
    found = memory.project(project_id)
    answer(as_json(found), json, _described(found))


@app.command("profile")
@with_library
def show_profile(
    memory: Cloister,
    json: bool,
    project: ProjectArgument,
    user: User = None,
    budget: ProfileBudget = DEFAULT_PROFILE_TOKENS,
) -> None:
    """Show what a project knows: pinned memories, decisions and entities.

    A project with private members is divided by user: `--user` says whose part.
    """
    found = memory.project_profile(project_id_of(memory, project), user_id=user, budget_tokens=budget)
    answer(as_json(found), json, profile_table(found))


app.command("memories")(list_project_memories)
app.command("timeline")(show_project_timeline)
app.command("activity")(show_project_activity)


@app.command("create")
@with_library
def create_project(
    memory: Cloister,
    json: bool,
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
) -> None:
    """Create a project. It is isolated, which cannot be turned off.

    Each of its users recalls only what their own sessions said, unless it is created with `--members shared`.
    """
    project = memory.create_project(name, member_visibility=members, allow_duplicate_name=allow_duplicate_name)
    answer(as_json(project), json, _table([project]))


@app.command("rename")
@with_library
def rename_project(
    memory: Cloister, json: bool, project: ProjectArgument, name: Name, allow_duplicate_name: DuplicateName = False
) -> None:
    """Change a project's name; its id stays."""
    project_id = project_id_of(memory, project)
    changed = memory.update_project(project_id, name=name, allow_duplicate_name=allow_duplicate_name)
    answer(as_json(changed), json, f"{project_id} is now called {name!r}.")


@app.command("default")
@with_library
def make_default(memory: Cloister, json: bool, project: ProjectArgument) -> None:
    """Make a project the default one, instead of the current one."""
    project_id = project_id_of(memory, project)
    changed = memory.update_project(project_id, is_default=True)
    answer(as_json(changed), json, f"{changed.name!r} is now the default project.")


@app.command("members")
@with_library
def change_members(
    memory: Cloister,
    json: bool,
    project: ProjectArgument,
    members: Annotated[
        MemberVisibility,
        typer.Argument(metavar="shared|private", help="Whether its users recall each other, or only themselves."),
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Change whether the users of a project recall each other.

    It takes effect from the next request on, for everything that was ever said in the project.
    """
    project_id = project_id_of(memory, project)
    preview = memory.preview_visibility(project_id, members)
    if dry_run:
        answer(as_json(preview), json, f"{_seen_by_others(preview)}. Nothing was changed.")
        return
    name = memory.project(project_id).name
    question = f"{_seen_by_others(preview)}. Share the project {name!r} between its users?"
    confirm(question, yes or not preview.sessions)
    changed = memory.update_project(project_id, member_visibility=members)
    sentence = "its users now recall each other" if members == "shared" else "each user now recalls only their own part"
    answer(as_json(changed), json, f"{name!r} is {members}: {sentence}.")


@app.command("delete")
@with_library
def delete_project(
    memory: Cloister,
    json: bool,
    project: ProjectArgument,
    with_contents: Annotated[
        bool, typer.Option("--with-contents", help="Also delete everything in it, for good.", show_default=False)
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Delete a project; its sessions are in no project then.

    Nothing else is deleted, and the sessions can be moved into another project. Files of memory tools go with their sessions, and
    entries of LangGraph's store to their users' parts of no project. With --dry-run it is said who would recall them there.

    With --with-contents the sessions are deleted too, with their messages, memories, entities, notes, files and entries.
    """
    project_id = project_id_of(memory, project)
    name = memory.project(project_id).name
    if with_contents:
        _delete_with_contents(memory, json, project_id, name, dry_run=dry_run, yes=yes)
        return
    if dry_run:
        tried = memory.delete_project(project_id, dry_run=True)
        answer(as_json(tried), json, f"{_recalled_outside(tried)}. Nothing was changed.")
        return
    sessions = len(memory.sessions(project_id=project_id, limit=LARGEST_PAGE))
    number = f"{sessions} or more sessions" if sessions == LARGEST_PAGE else counted(sessions, "session")
    confirm(f"Delete the project {name!r} and leave its {number} in no project?", yes)
    moved = memory.delete_project(project_id)
    others = ((moved.files_moved, "file", "files"), (moved.entries_moved, "entry", "entries"))
    parts = [counted(moved.sessions_moved, "session"), *(counted(*each) for each in others if each[0])]
    answer(as_json(moved), json, f"Deleted the project {name!r}, and left {', '.join(parts)} in no project.")


def _delete_with_contents(
    memory: Cloister, json: bool, project_id: str, name: str, *, dry_run: bool, yes: bool
) -> None:
    tried = memory.delete_project(project_id, contents="delete", dry_run=True)
    if dry_run:
        answer(as_json(tried), json, f"In {name!r} there are {_contents(tried)}. Nothing was changed.")
        return
    confirm(f"Delete the project {name!r}, with {_contents(tried)}, for good?", yes)
    gone = memory.delete_project(project_id, contents="delete")
    answer(as_json(gone), json, f"Deleted the project {name!r}: {_contents(gone)}.", *checks_made(gone.certificate))


def _contents(deleted: DeletedProject) -> str:
    return "nothing" if deleted.deleted is None else erased_counts(deleted.deleted, "sessions", "messages")


def _recalled_outside(tried: DeletedProject) -> str:
    there = tried.visible_to
    readers = 0 if there is None else there.sessions
    moved = counted(tried.sessions_moved, "session")
    return f"{moved} would be in no project; {counted(readers, 'other session')} of the same users would recall them"


def _seen_by_others(preview: VisibilityPreview) -> str:
    if not preview.sessions:
        return "No session would recall others than now"
    users = counted(preview.users, "user")
    first = [*(preview.user_ids or ())[:_USERS_SHOWN], *(["…"] if preview.users > _USERS_SHOWN else [])]
    named = f" ({', '.join(first)})" if preview.user_ids else ""
    return f"{counted(preview.sessions, 'session')} of {users}{named} would recall each other"


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
            *(("warning", warning) for warning in project.warnings),
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
