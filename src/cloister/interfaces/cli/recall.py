"""`cloister context` and `cloister search`: what can be recalled, and from where."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from cloister.interfaces.cli.options import Data, Json, Key, Project, SessionArgument, User
from cloister.interfaces.cli.places import Places
from cloister.interfaces.cli.terminal import answer, counted, minute, quotation, remark
from cloister.interfaces.library import Cloister
from cloister.interfaces.shapes import Context, ContextItem, as_json


def context(
    session_id: SessionArgument,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="What to recall; without it, the user's last message.")
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", metavar="N", help="Fit into so many tokens.")] = None,
    recent: Annotated[
        int | None, typer.Option("--recent", metavar="N", help="The last N messages of each role (20).")
    ] = None,
    semantic: Annotated[
        int | None, typer.Option("--semantic", metavar="N", help="The best N matches of each role (10).")
    ] = None,
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """What an assistant should know now.

    That is what was just said in the session, and what is related to it in the session's pool.
    """
    with Cloister(data, key=key) as memory:
        found = memory.context(session_id, query, budget_tokens=budget, recent_limit=recent, semantic_limit=semantic)
        place = Places(memory).phrase(memory.session(session_id))
    answer(
        as_json(found),
        json,
        *_part("current conversation", f"in {session_id!r}", found.current_conversation),
        "",
        *_part("relevant history", f"from {place}", found.relevant_history),
        "",
        _sum(found),
    )


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Search what this session may recall.")
    ] = None,
    project: Project = None,
    user: User = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many episodes, 1 to 200.")] = 10,
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """Find the best episodes of one pool.

    The pool is a session's, a project's, or the shared one; there is no search across pools.
    """
    if session is not None and (project or user):
        raise typer.BadParameter("--session says where to search; leave out --project and --user.")
    with Cloister(data, key=key) as memory:
        hits = memory.search(query, session_id=session, project_id=project, user_id=user, limit=limit)
    shown = [
        quotation((hit.session_id, hit.role, minute(hit.created_at), f"{hit.score:.3f}", hit.id), hit.content)
        for hit in hits
    ]
    answer(as_json(hits), json, *shown)
    if not hits:
        remark("Nothing found in this pool.")


def _part(name: str, whence: str, items: Sequence[ContextItem]) -> list[RenderableType]:
    head = Text(name, style="bold underline")
    head.append(f" {whence}", style="not bold not underline")
    return [head, *(map(_quoted, items) if items else ["    nothing"])]


def _quoted(item: ContextItem) -> RenderableType:
    about = [item.author or item.role, minute(item.created_at)]
    if item.source != "session":
        about.append(item.session_id)
    if item.score is not None:
        about.append(f"{item.score:.3f}")
    return quotation(about, item.content)


def _sum(found: Context) -> str:
    left_out = [f"{number:,} of {part.replace('_', ' ')}" for part, number in found.omitted.items() if number]
    return f"{counted(found.tokens, 'token')}; left out: {', '.join(left_out) or 'nothing'}."
