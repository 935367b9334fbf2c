"""`cloister sessions exclude`, `include` and `exclusions`: what one session does not recall."""

from functools import partial
from typing import Annotated

import typer

from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import After, All, Limit, SessionArgument, with_library
from cloister.interfaces.cli.terminal import answer, minute, quotation
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

ItemArgument = Annotated[
    str, typer.Argument(metavar="ITEM", help="The id of a message (msg_…), a memory (mem_…) or an entity (ent_…).")
]


@with_library
def exclude(memory: Cloister, json: bool, session_id: SessionArgument, item_id: ItemArgument) -> None:
    """Exclude a message, a memory or an entity from what a session recalls.

    Other sessions recall it as before.
    """
    made = memory.exclude(session_id, item_id)
    answer(as_json(made), json, f"{session_id!r} does not recall {item_id} any more.")


@with_library
def include(memory: Cloister, json: bool, session_id: SessionArgument, item_id: ItemArgument) -> None:
    """Let a session recall again what it excludes."""
    memory.include(session_id, item_id)
    answer({"session_id": session_id, "id": item_id}, json, f"{session_id!r} may recall {item_id} again.")


@with_library
def exclusions(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    limit: Limit = 50,
    after: After = None,
    everything: All = False,
) -> None:
    """List what a session does not recall, although it could."""
    found = listed(partial(memory.exclusions, session_id), limit, everything, after)
    shown = [quotation([each.kind, each.id, minute(each.created_at)], each.content) for each in found]
    answer_list(found, json, *shown, empty="This session excludes nothing.")
