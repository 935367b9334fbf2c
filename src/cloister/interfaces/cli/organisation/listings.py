"""`memories`, `timeline` and `activity` of `cloister projects` and `cloister users`: look through what is remembered."""

from functools import partial
from typing import Annotated, Literal, cast

import typer
from rich.console import RenderableType

from cloister.domain.memory import MEMORY_STATUSES, MemoryStatus
from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.memories import memory_quotation
from cloister.interfaces.cli.options import (
    After,
    All,
    Filter,
    Limit,
    ProjectArgument,
    User,
    filter_option,
    with_library,
)
from cloister.interfaces.cli.organisation.project_names import chosen_project, project_id_of
from cloister.interfaces.cli.terminal import answer, minute, quotation, table
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.listing.shapes import Activity, TimelineEntry
from cloister.interfaces.python.shapes import as_json
from cloister.services.listing.activity import DEFAULT_DAYS

AllUsers = Annotated[
    bool, typer.Option("--all-users", help="Of everybody, where memory is divided by user.", show_default=False)
]
Days = Annotated[int, typer.Option("--days", metavar="N", help="So many days of UTC, of which the last is today.")]


@with_library
def list_project_memories(
    memory: Cloister,
    json: bool,
    project: Annotated[
        str, typer.Argument(metavar="PROJECT", help="Project, by its id (proj_…) or name, or `none` for no project.")
    ],
    user: User = None,
    all_users: AllUsers = False,
    query: Annotated[
        str | None, typer.Option("--query", metavar="WORDS", help="Only those with all of these words.")
    ] = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="|".join(MEMORY_STATUSES), help="Only of this status (all).")
    ] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pinned/--not-pinned", help="Only pinned ones, or only others.", show_default=False)
    ] = None,
    filter: Filter = None,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
) -> None:
    """List the memories of a project, newest first.

    Where memory is divided by user: those of sessions without a user, or else of --user, or of all with --all-users.
    """
    fetch = partial(
        memory.project_memories,
        chosen_project(memory, project),
        user_id=user,
        users=_users(all_users),
        query=query,
        status=cast(MemoryStatus | None, status),
        pinned=pinned,
        filter=filter_option(filter),
    )
    found = listed(fetch, limit, everything, after)
    answer_list(found, json, *map(memory_quotation, found), empty="No memories here.")


@with_library
def show_project_timeline(
    memory: Cloister,
    json: bool,
    project: ProjectArgument,
    user: User = None,
    all_users: AllUsers = False,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
) -> None:
    """Show what was learnt and what changed in a project, newest first."""
    fetch = partial(memory.project_timeline, project_id_of(memory, project), user_id=user, users=_users(all_users))
    found = listed(fetch, limit, everything, after)
    answer_list(found, json, *map(_happened, found), empty="Nothing was learnt here yet.")


@with_library
def show_user_timeline(
    memory: Cloister,
    json: bool,
    user_id: Annotated[str, typer.Argument(metavar="USER", help="The id that the user's sessions carry.")],
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
) -> None:
    """Show what was learnt of a user and what changed, in all projects, newest first."""
    found = listed(partial(memory.user_timeline, user_id), limit, everything, after)
    answer_list(found, json, *map(_happened, found), empty="Nothing was learnt here yet.")


@with_library
def show_project_activity(
    memory: Cloister,
    json: bool,
    project: ProjectArgument,
    user: User = None,
    all_users: AllUsers = False,
    days: Days = DEFAULT_DAYS,
) -> None:
    """Count the messages and memories that were stored in a project on each of the last days."""
    found = memory.project_activity(project_id_of(memory, project), user_id=user, users=_users(all_users), days=days)
    answer(as_json(found), json, *_days(found))


@with_library
def show_user_activity(
    memory: Cloister,
    json: bool,
    user_id: Annotated[str, typer.Argument(metavar="USER", help="The id that the user's sessions carry.")],
    days: Days = DEFAULT_DAYS,
) -> None:
    """Count the messages and memories of a user that were stored on each of the last days, in all projects."""
    found = memory.user_activity(user_id, days=days)
    answer(as_json(found), json, *_days(found))


def _days(found: Activity) -> list[RenderableType]:
    """Only the days on which something was stored."""
    rows = [(day.date, f"{day.messages:,}", f"{day.memories:,}") for day in found.days if day.messages or day.memories]
    if not rows:
        return ["Nothing was stored on these days."]
    shown: list[RenderableType] = [table(("day", "messages", "memories"), rows, numbers=("messages", "memories"))]
    return (
        shown if found.complete else [*shown, "Only the 1,000 sessions in which something was done last are counted."]
    )


def _users(everybody: bool) -> Literal["all"] | None:
    return "all" if everybody else None


def _happened(entry: TimelineEntry) -> RenderableType:
    about = [minute(entry.at), entry.kind, entry.memory.id]
    if entry.undone_at is not None:
        about.append("undone")
    if entry.before is not None:
        return quotation(about, f"{entry.before} → {entry.after}")
    return quotation(about, entry.after or entry.memory.content)
