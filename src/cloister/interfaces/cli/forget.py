"""`cloister forget`: deletes a session with its messages, or one message."""

from typing import Annotated

import typer

from cloister.interfaces.cli.options import Data, Json, Key, Tenant, Yes
from cloister.interfaces.cli.terminal import answer, confirm, counted
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import Forgotten, as_json


def forget(
    session_id: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="Forget this session and all its messages.")
    ] = None,
    message: Annotated[
        str | None, typer.Option("--message", metavar="ID", help="Forget this one message (msg_…).")
    ] = None,
    yes: Yes = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Delete a session or a message for good. From then on nothing recalls it."""
    if (session_id is None) == (message is None):
        raise typer.BadParameter("name a SESSION or a --message, and not both.")
    with Cloister(data, key=key, tenant=tenant) as memory:
        if session_id is not None:
            _forget_session(memory, session_id, yes=yes, json=json)
        elif message is not None:
            _forget_message(memory, message, yes=yes, json=json)


def gone_counts(gone: Forgotten) -> str:
    """The counts as part of a sentence; memories and notes are left out where there were none."""
    counts = f"{counted(gone.messages, 'message')} in {counted(gone.episodes, 'episode')}"
    memories = counted(gone.memories, "memory", "memories")
    derived = [memories] * bool(gone.memories) + [counted(gone.observations, "note")] * bool(gone.observations)
    return counts + (f", with {' and '.join(derived)}" if derived else "")


def _forget_session(memory: Cloister, session_id: str, *, yes: bool, json: bool) -> None:
    messages = counted(memory.session(session_id).message_count, "message")
    if not yes:
        confirm(f"Forget the session {session_id!r} and its {messages} for good?")
    gone = memory.delete_session(session_id)
    answer(as_json(gone), json, f"Forgot the session {session_id!r}: {gone_counts(gone)}.")


def _forget_message(memory: Cloister, message: str, *, yes: bool, json: bool) -> None:
    if not yes:
        confirm(f"Forget 1 message, {message!r}, for good?")
    memory.forget_message(message)
    answer({"messages": 1}, json, f"Forgot {message}.")
