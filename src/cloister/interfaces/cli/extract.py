"""`cloister extract` and `cloister observations`: what a session's messages are boiled down to."""

from typing import Annotated

import typer

from cloister.interfaces.cli.options import Data, Json, Key, Limit, SessionArgument, Tenant
from cloister.interfaces.cli.terminal import answer, counted, minute, quotation, remark, remark_more
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json


def extract(
    session_id: SessionArgument, data: Data = None, key: Key = None, tenant: Tenant = None, json: Json = False
) -> None:
    """Look now for memories, entities and notes in a session.

    It reads what nobody has read for them yet. A server does so by itself, after every few replies.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        done = memory.extract(session_id)
    memories = counted(done.appended, "memory", "memories")
    answer(as_json(done), json, f"Read {counted(done.checked_messages, 'message')}, and kept {memories}.")


def observations(
    session_id: SessionArgument,
    limit: Limit = 50,
    after: Annotated[str | None, typer.Option("--after", metavar="ID", help="Go on behind this note (obs_…).")] = None,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Show the notes that compress a long session's past.

    A note is made when enough has fallen out of the last 40 messages.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        found = memory.observations(session_id, limit=limit, after=after)
        more = bool(len(found) == limit and memory.observations(session_id, limit=1, after=found[-1].id))
    answer(as_json(found), json, *(quotation((minute(note.created_at), note.id), note.content) for note in found))
    if not found:
        remark("No notes of this session yet.")
    if more:
        remark_more(found[-1].id)
