"""`cloister memories`: list, add, forget; the commands that change one memory are in `corrections`. A server extracts memories by
itself; these commands are for people."""

from functools import partial
from typing import Annotated, cast

import typer
from rich.console import RenderableType

from cloister.domain.memory import MEMORY_STATUSES, MemoryStatus
from cloister.interfaces.cli import corrections
from cloister.interfaces.cli.certificates.sentences import answer_dry_run, checks_made
from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import (
    All,
    DryRun,
    Filter,
    Limit,
    Project,
    SessionArgument,
    User,
    Yes,
    after_item,
    filter_option,
    with_library,
)
from cloister.interfaces.cli.organisation.project_names import chosen_project
from cloister.interfaces.cli.terminal import answer, confirm, counted, minute, quotation
from cloister.interfaces.python.derived_shapes import Memory
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

app = typer.Typer(help="Memories: short statements worth keeping.", no_args_is_help=True)


@app.command("list")
@with_library
def list_memories(
    memory: Cloister,
    json: bool,
    session_id: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="The session's external id; or else give --user.")
    ] = None,
    user: User = None,
    limit: Limit = 50,
    after: Annotated[str | None, after_item("memory (mem_…)")] = None,
    everything: All = False,
    filter: Filter = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="|".join(MEMORY_STATUSES), help="Only of this status (all).")
    ] = None,
) -> None:
    """List the memories of a session, or of a user across sessions, oldest first."""
    wanted = cast(MemoryStatus | None, status)
    if session_id is not None and user is None:
        fetch = partial(memory.memories, session_id, after=after, filter=filter_option(filter), status=wanted)
    elif user is not None and session_id is None:
        fetch = partial(memory.user_memories, user, after=after, filter=filter_option(filter), status=wanted)
    else:
        raise typer.BadParameter("name a SESSION or a --user, and not both.")
    found = listed(fetch, limit, everything)
    answer_list(found, json, *map(memory_quotation, found), empty="No memories here yet.", after=lambda shown: shown.id)


@app.command("preview")
@with_library
def preview_extraction(
    memory: Cloister,
    json: bool,
    contents: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What a user says; one or more messages.")],
    project: Project = None,
) -> None:
    """Show what an extraction would keep of messages, and store nothing.

    The settings are those of --project: without it the default project, and `none` for no project.
    """
    messages = [{"role": "user", "content": content} for content in contents]
    found = memory.preview_extraction(messages, project_id=chosen_project(memory, project))
    lines: list[RenderableType] = [
        quotation((", ".join(kept.categories), kept.subject or ""), kept.content) for kept in found.memories
    ]
    lines += [quotation((named.type, named.name), named.notes) for named in found.entities]
    notices = [] if found.notice is None else [found.notice]
    answer(as_json(found), json, *(lines or ["Nothing would be kept."]), *notices)


@app.command("add")
@with_library
def add_memories(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    contents: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What to keep; one or more statements.")],
    categories: Annotated[
        list[str] | None, typer.Option("--category", metavar="LABEL", help="A label for filters; may be repeated.")
    ] = None,
    importance: Annotated[
        float | None, typer.Option("--importance", metavar="0..1", help="How important they are.")
    ] = None,
) -> None:
    """Add memories by hand.

    A memory that the session has already, also in other case, spacing or punctuation, is not added again.
    """
    added = memory.add_memories(session_id, contents, categories=categories or (), importance=importance)
    sentences = [f"Keeps {kept.id}: {kept.content}" for kept in added.appended]
    if added.duplicates:
        sentences.append(f"{counted(added.duplicates, 'statement')} known already.")
    answer(as_json(added), json, *sentences)


app.command("show")(corrections.show_memory)
app.command("correct")(corrections.correct_memory)
app.command("retract")(corrections.retract_memory)
app.command("restore")(corrections.restore_memory)
app.command("history")(corrections.memory_history)


@app.command("forget")
@with_library
def forget_memory(
    memory: Cloister,
    json: bool,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id (mem_…).")],
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Forget one memory for good. What it came from stays."""
    if dry_run:
        answer_dry_run(memory.forget_memory(memory_id, dry_run=True), json)
        return
    confirm(f"Forget the memory {memory_id!r} for good?", yes)
    gone = memory.forget_memory(memory_id)
    answer({"memories": 1, **as_json(gone)}, json, f"Forgot {memory_id}.", *checks_made(gone.certificate))


def memory_quotation(memory: Memory) -> RenderableType:
    about = [memory.session_id, minute(memory.created_at), memory.id]
    if memory.importance is not None:
        about.append(f"importance {memory.importance:.1f}")
    if memory.source != "extracted":
        about.append("by hand" if memory.source == "written" else memory.source)
    if memory.status != "active":
        about.append(memory.status)
    if memory.pinned:
        about.append("pinned")
    return quotation(about, memory.content)
