"""`cloister extract` and `cloister observations`: extraction from a session's messages, and the notes that it made."""

from functools import partial
from typing import Annotated

from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import All, Filter, Limit, SessionArgument, after_item, filter_option, with_library
from cloister.interfaces.cli.terminal import answer, counted, minute, quotation
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json


@with_library
def extract(memory: Cloister, json: bool, session_id: SessionArgument) -> None:
    """Extract memories, entities and notes from a session now.

    It reads the messages that were not read for this yet. A server does so by itself, after every few replies.
    """
    done = memory.extract(session_id)
    memories = counted(done.appended, "memory", "memories")
    answer(as_json(done), json, f"Read {counted(done.checked_messages, 'message')}, and kept {memories}.")


@with_library
def observations(
    memory: Cloister,
    json: bool,
    session_id: SessionArgument,
    limit: Limit = 50,
    after: Annotated[str | None, after_item("note (obs_…)")] = None,
    everything: All = False,
    filter: Filter = None,
) -> None:
    """Show the notes that compress the older messages of a long session.

    A note is made when enough messages are older than the last 40.
    """
    fetch = partial(memory.observations, session_id, after=after, filter=filter_option(filter))
    found = listed(fetch, limit, everything)
    shown = (quotation((minute(note.created_at), note.id), note.content) for note in found)
    answer_list(found, json, *shown, empty="No notes of this session yet.", after=lambda note: note.id)
