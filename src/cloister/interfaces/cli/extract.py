"""`cloister extract` and `cloister observations`: extraction from a session's messages, and the notes that it made."""

from typing import Annotated

import typer

from cloister.interfaces.cli.listing import listed, remark_more
from cloister.interfaces.cli.options import All, Data, Json, Key, Limit, SessionArgument, Tenant
from cloister.interfaces.cli.terminal import answer, counted, minute, quotation, remark
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json


def extract(
    session_id: SessionArgument, data: Data = None, key: Key = None, tenant: Tenant = None, json: Json = False
) -> None:
    """Extract memories, entities and notes from a session now.

    It reads the messages that were not read for this yet. A server does so by itself, after every few replies.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        done = memory.extract(session_id)
    memories = counted(done.appended, "memory", "memories")
    answer(as_json(done), json, f"Read {counted(done.checked_messages, 'message')}, and kept {memories}.")


def observations(
    session_id: SessionArgument,
    limit: Limit = 50,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="Show those after this note (obs_…).")
    ] = None,
    everything: All = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Show the notes that compress the older messages of a long session.

    A note is made when enough messages are older than the last 40.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        found = listed(
            lambda most, cursor: memory.observations(session_id, limit=most, after=after, cursor=cursor),
            limit=limit,
            everything=everything,
        )
    answer(as_json(found), json, *(quotation((minute(note.created_at), note.id), note.content) for note in found))
    if not found:
        remark("No notes of this session yet.")
    remark_more(found, lambda note: note.id)
