"""`cloister memories`: list, add, forget. A server extracts memories by itself; these commands are for people."""

from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import RenderableType

from cloister.interfaces.cli.listing import listed, remark_more
from cloister.interfaces.cli.options import All, Data, Json, Key, Limit, SessionArgument, Tenant, User, Yes
from cloister.interfaces.cli.terminal import answer, confirm, counted, minute, quotation, remark
from cloister.interfaces.python.derived_shapes import Memory
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.pages import Page
from cloister.interfaces.python.shapes import as_json

app = typer.Typer(help="Memories: short statements worth keeping.", no_args_is_help=True)


@app.command("list")
def list_memories(
    session_id: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="The session's external id; or else give --user.")
    ] = None,
    user: User = None,
    limit: Limit = 50,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="Show those after this memory (mem_…).")
    ] = None,
    everything: All = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """List the memories of a session, or of a user across sessions, oldest first."""
    with Cloister(data, key=key, tenant=tenant) as memory:
        found = listed(_fetch(memory, session_id, user, after), limit=limit, everything=everything)
    answer(as_json(found), json, *map(_quoted, found))
    if not found:
        remark("No memories here yet.")
    remark_more(found, lambda shown: shown.id)


@app.command("add")
def add_memories(
    session_id: SessionArgument,
    contents: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What to keep; one or more statements.")],
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Add memories by hand.

    A memory that the session has already, also in other case, spacing or punctuation, is not added again.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        added = memory.add_memories(session_id, contents)
    sentences = [f"Keeps {kept.id}: {kept.content}" for kept in added.appended]
    if added.duplicates:
        sentences.append(f"{counted(added.duplicates, 'statement')} known already.")
    answer(as_json(added), json, *sentences)


@app.command("forget")
def forget_memory(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id (mem_…).")],
    yes: Yes = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Forget one memory for good. What it came from stays."""
    with Cloister(data, key=key, tenant=tenant) as memory:
        if not yes:
            confirm(f"Forget the memory {memory_id!r} for good?")
        memory.forget_memory(memory_id)
    answer({"memories": 1}, json, f"Forgot {memory_id}.")


def _fetch(
    memory: Cloister, session_id: str | None, user: str | None, after: str | None
) -> Callable[[int, str | None], Page[Memory]]:
    if session_id is not None and user is None:
        return lambda limit, cursor: memory.memories(session_id, limit=limit, after=after, cursor=cursor)
    if user is not None and session_id is None:
        return lambda limit, cursor: memory.user_memories(user, limit=limit, after=after, cursor=cursor)
    raise typer.BadParameter("name a SESSION or a --user, and not both.")


def _quoted(memory: Memory) -> RenderableType:
    about = [memory.session_id, minute(memory.created_at), memory.id]
    if memory.importance is not None:
        about.append(f"importance {memory.importance:.1f}")
    if not memory.source_message_ids:
        about.append("by hand")
    return quotation(about, memory.content)
