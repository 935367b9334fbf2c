"""`cloister sessions`: list, show, create, move, branch, rename, set, clear."""

from functools import partial
from typing import Annotated

import typer
from rich.table import Table

from cloister.domain.identifiers import NO_PROJECT
from cloister.interfaces.cli.certificates.sentences import checks_made
from cloister.interfaces.cli.forget import gone_counts
from cloister.interfaces.cli.listing import answer_list, listed, remark_more
from cloister.interfaces.cli.options import (
    After,
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
from cloister.interfaces.cli.organisation.project_names import ProjectNames, chosen_project
from cloister.interfaces.cli.terminal import answer, confirm, counted, details, minute, quotation, speaker, table
from cloister.interfaces.python.arguments import NOT_GIVEN
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.preview_shapes import MovePreview
from cloister.interfaces.python.shapes import Message, Session, as_json

app = typer.Typer(help="Sessions: one conversation each.", no_args_is_help=True)


@app.command("list")
@with_library
def list_sessions(
    memory: Cloister,
    json: bool,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="PROJECT", help="Only of this project (id or name); `none` for those in no project."
        ),
    ] = None,
    user: User = None,
    pinned: Annotated[
        bool | None, typer.Option("--pinned/--not-pinned", help="Only those that are, or are not.")
    ] = None,
    archived: Annotated[
        bool | None, typer.Option("--archived/--not-archived", help="Only those that are, or are not.")
    ] = None,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
) -> None:
    """List sessions, newest activity first."""
    conditions = {"user_id": user, "pinned": pinned, "archived": archived}
    found = listed(
        partial(memory.sessions, project_id=chosen_project(memory, project), **conditions), limit, everything, after
    )
    names = ProjectNames(memory)
    headings = ("session", "project", "user", "messages", "last activity", "title")
    rows = [
        (
            session.external_id,
            names.name(session.project_id),
            session.user_id or "",
            f"{session.message_count:,}",
            minute(session.updated_at),
            session.title or "",
        )
        for session in found
    ]
    shown = table(headings, rows, numbers=("messages",))
    answer_list(found, json, shown, empty="No sessions here yet. Create one: cloister sessions create NAME")


@app.command("show")
@with_library
def show_session(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    limit: Limit = 50,
    after: Annotated[str | None, after_item("message (msg_…)")] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="ID", help="Show those before this message; `end`: the last ones.")
    ] = None,
    around: Annotated[
        str | None, typer.Option("--around", metavar="ID", help="Show those around this message.")
    ] = None,
    everything: All = False,
    filter: Filter = None,
    all_branches: Annotated[
        bool, typer.Option("--all-branches", help="The messages of all branches, not only of the current one.")
    ] = False,
) -> None:
    """Show a session and its messages."""
    session = memory.session(session_id)
    window = {"after": after, "before": before, "around": around}
    list_messages = partial(
        memory.messages,
        session_id,
        **window,
        filter=filter_option(filter),
        branch="all" if all_branches else "current",
    )
    messages = listed(list_messages, limit, everything)
    shown = _described(session, ProjectNames(memory))
    said = [quotation(_heading(message), message.content) for message in messages]
    answer({"session": as_json(session), "messages": as_json(messages)}, json, shown, *(["", *said] if said else []))
    remark_more(messages, lambda message: message.id)


@app.command("create")
@with_library
def create_session(
    memory: Cloister,
    json: bool,
    session_id: Annotated[str | None, typer.Argument(metavar="SESSION", help="Its external id (a random one).")] = None,
    project: Project = None,
    user: User = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TITLE", help="What people call it.")] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag of your own; may be repeated.")
    ] = None,
) -> None:
    """Create a session in a project.

    Without --project it is in the default project; `--project none` is no project. Creating the same one twice is fine.
    """
    session = memory.create_session(
        session_id, project_id=chosen_project(memory, project), user_id=user, title=title, tags=tags or ()
    )
    pool = ProjectNames(memory).phrase(session)
    answer(as_json(session), json, f"The session {session.external_id!r} is ready, in {pool}.")


@app.command("move")
@with_library
def move_session(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    project: Annotated[
        str, typer.Argument(metavar="PROJECT", help="Project, by its id (proj_…) or name, or `none` for no project.")
    ],
    dry_run: DryRun = False,
) -> None:
    """Move a session into a project, or out of it.

    Its messages and memories move along, by the next request; what replies quote of the project it leaves is no longer shown.
    """
    project = str(chosen_project(memory, project))
    if dry_run:
        preview = memory.preview_move(session_id, project)
        answer(as_json(preview), json, f"{_moving_along(preview)}. Nothing was changed.")
        return
    before = memory.session(session_id)
    session = memory.move_session(session_id, project)
    names = ProjectNames(memory)
    there, here = names.phrase(before), names.phrase(session)
    if before.project_id == session.project_id:
        sentence = f"{session_id!r} was in {here} already."
    else:
        messages = counted(session.message_count, "message")
        sentence = f"{session_id!r} moved to {here}: its {messages} can be recalled there, and no longer in {there}."
    answer(as_json(session), json, sentence)


@app.command("branch")
@with_library
def choose_branch(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    message_id: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="A message of the branch (msg_…): see `show --all-branches`.")
    ],
) -> None:
    """Make another branch of a session the current one.

    Editing a message or regenerating a reply in a chat makes a branch. What is not on the current one is kept, and not recalled.
    """
    before = memory.session(session_id)
    session = memory.choose_branch(session_id, message_id)
    if before.current_leaf_id == session.current_leaf_id:
        sentence = f"{message_id} is on the current branch of {session_id!r} already."
    else:
        sentence = f"The branch of {message_id} is now the current one of {session_id!r}."
    answer(as_json(session), json, sentence)


@app.command("title")
@with_library
def title_session(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    replaces: Annotated[str | None, typer.Option(help="A title that may be replaced; any other stays.")] = None,
) -> None:
    """Have the chat model name a session by its first exchange. A session that has a title keeps it."""
    session = memory.title_session(session_id, replaces=replaces)
    answer(as_json(session), json, f"{session_id!r} is called {session.title!r}.")


@app.command("rename")
@with_library
def rename_session(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What people call it.")],
) -> None:
    """Change a session's title; its external id stays."""
    session = memory.update_session(session_id, title=title)
    answer(as_json(session), json, f"{session_id!r} is now titled {title!r}.")


@app.command("set")
@with_library
def set_session(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    pinned: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Show it first in lists.", show_default=False)
    ] = None,
    archived: Annotated[
        bool | None,
        typer.Option("--archive/--unarchive", help="Put it away; it is still recalled.", show_default=False),
    ] = None,
    system_prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="TEXT", help="Its own system prompt; `none` for the project's.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Its own model; `none` for the project's.")
    ] = None,
) -> None:
    """Pin or archive a session, or give it a system prompt or a model of its own.

    The model's server has to list the model. A system prompt without placeholders gives the model nothing that is remembered.
    """
    session = memory.update_session(
        session_id, pinned=pinned, archived=archived, system_prompt=_own(system_prompt), model=_own(model)
    )
    flags = [name for name, is_so in (("pinned", session.pinned), ("archived", session.archived)) if is_so]
    own = [name for name, value in (("system prompt", session.system_prompt), ("model", session.model)) if value]
    parts = [*flags, *(["with its own " + " and ".join(own)] if own else [])]
    sentence = f"{session_id!r} is {', '.join(parts)}." if parts else f"{session_id!r} has nothing of its own set."
    answer(as_json(session), json, sentence, *(f"Note: {warning}" for warning in session.warnings))


def _own(given: str | None) -> str | None:
    """The value to store: `none` is the project's."""
    return NOT_GIVEN if given is None else None if given == NO_PROJECT else given


@app.command("clear")
@with_library
def clear_session(
    memory: Cloister, json: bool, session_id: SessionArgument, dry_run: DryRun = False, yes: Yes = False
) -> None:
    """Delete the messages of a session; the session stays."""
    if dry_run:
        gone = memory.clear_session(session_id, dry_run=True)
        answer(as_json(gone), json, f"{session_id!r} has {gone_counts(gone)}. Nothing was changed.")
        return
    messages = counted(memory.session(session_id).message_count, "message")
    confirm(f"Forget the {messages} of {session_id!r} for good?", yes)
    gone = memory.clear_session(session_id)
    sentence = f"Forgot {gone_counts(gone)}; {session_id!r} is empty."
    answer(as_json(gone), json, sentence, *checks_made(gone.certificate))


def _moving_along(preview: MovePreview) -> str:
    parts = (
        counted(preview.messages, "message"),
        counted(preview.memories, "memory", "memories"),
        counted(preview.observations, "observation"),
    )
    replies = counted(preview.replies_given_recalled_text, "reply", "replies")
    others = "" if preview.sessions is None else f"; {counted(preview.sessions, 'other session')} would recall it"
    return f"{parts[0]}, {parts[1]} and {parts[2]} would move along; {replies} had been given text of where it is now{others}"


def _heading(message: Message) -> tuple[str, ...]:
    """Who said a message and when, its id, and whether it is on another branch than the current one."""
    heading = (str(speaker(message.role, message.author)), minute(message.created_at), message.id)
    return heading if message.is_current else (*heading, "another branch")


def _described(session: Session, names: ProjectNames) -> Table:
    project = f" ({session.project_id})" if session.project_id else ""
    fields = [
        ("session", session.external_id),
        ("project", names.name(session.project_id) + project),
        ("user", session.user_id or "–"),
        ("title", session.title or "–"),
        ("pinned", "yes" if session.pinned else "–"),
        ("archived", "yes" if session.archived else "–"),
        ("system prompt", session.system_prompt or "–"),
        ("model", session.model or "–"),
        ("tags", ", ".join(session.tags) or "–"),
        ("messages", f"{session.message_count:,}" + (", on several branches" if session.is_forked else "")),
        ("extraction", "pending" if session.memory_job_pending else "–"),
        ("extraction failed", session.last_extraction_error or "–"),
        ("created", minute(session.created_at)),
        ("last activity", minute(session.updated_at)),
    ]
    return details([(name, value) for name, value in fields if value != "–"])
