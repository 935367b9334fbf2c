"""`cloister record`: record one message in a session."""

import shlex
import sys
from typing import Annotated

import typer

from cloister.domain.conversation import ROLES, Role
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import NO_PROJECT
from cloister.interfaces.cli.options import Data, Json, Key, Project, SessionArgument, Tenant, User
from cloister.interfaces.cli.organisation.project_names import ProjectNames, chosen_project
from cloister.interfaces.cli.terminal import answer
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import Session, as_json


def record(
    session_id: SessionArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was said; `-` reads it from standard input.")],
    role: Annotated[Role, typer.Option("--role", metavar="|".join(ROLES), help="Who said it.")] = "user",
    author: Annotated[
        str | None, typer.Option("--author", metavar="NAME", help="The speaker's name, if the role does not say it.")
    ] = None,
    categories: Annotated[
        list[str] | None, typer.Option("--category", metavar="LABEL", help="A label for filters; may be repeated.")
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Create the session if it does not exist.")] = False,
    project: Project = None,
    user: User = None,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Record one message. When this returns, it is on disk and can be recalled.

    --project and --user are for a session that --create makes. Without --project it is in the default project, and recalls only
    what other sessions of the same user said there; `--project none` is no project.
    """
    if not create and (project or user):
        raise typer.BadParameter("--project and --user need --create.")
    content = sys.stdin.read().removesuffix("\n") if text == "-" else text
    with Cloister(data, key=key, tenant=tenant) as memory:
        session = _session(memory, session_id, create=create, project=project, user=user)
        message = memory.record(session_id, role, content, author=author, categories=categories or ())
        pool = ProjectNames(memory).phrase(session)
    answer(as_json(message), json, f"Recorded {message.id} in {session_id!r}, in {pool}.")


def _session(memory: Cloister, session_id: str, *, create: bool, project: str | None, user: str | None) -> Session:
    try:
        session = memory.session(session_id)
    except NotFound as missing:
        if create:
            return memory.create_session(session_id, project_id=chosen_project(memory, project), user_id=user)
        missing.add_note(f"Make it first: cloister sessions create {shlex.quote(session_id)}, or add --create.")
        raise
    chosen = session.project_id if project is None else chosen_project(memory, project)
    wanted = None if chosen == NO_PROJECT else chosen
    if (wanted, user or session.user_id) != (session.project_id, session.user_id):
        raise Conflict(f"The session {session_id!r} exists already, in another project or of another user.")
    return session
