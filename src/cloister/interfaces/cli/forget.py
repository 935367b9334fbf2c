"""`cloister forget`: deletes a session with its messages, or one message."""

from typing import Annotated

import typer

from cloister.interfaces.cli.certificates.sentences import answer_dry_run, checks_made
from cloister.interfaces.cli.options import Data, DryRun, Json, Key, Tenant, Yes
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
    dry_run: DryRun = False,
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
            _forget_session(memory, session_id, dry_run=dry_run, yes=yes, json=json)
        elif message is not None:
            _forget_message(memory, message, dry_run=dry_run, yes=yes, json=json)


def gone_counts(gone: Forgotten) -> str:
    """The counts as part of a sentence; memories, notes and files are left out where there were none."""
    counts = f"{counted(gone.messages, 'message')} in {counted(gone.episodes, 'episode')}"
    memories = counted(gone.memories, "memory", "memories")
    derived = [memories] * bool(gone.memories) + [counted(gone.observations, "note")] * bool(gone.observations)
    derived += [counted(gone.files, "file")] * bool(gone.files)
    return counts + (f", with {' and '.join(derived)}" if derived else "")


def _forget_session(memory: Cloister, session_id: str, *, dry_run: bool, yes: bool, json: bool) -> None:
    if dry_run:
        gone = memory.delete_session(session_id, dry_run=True)
        answer(as_json(gone), json, f"{session_id!r} has {gone_counts(gone)}. Nothing was changed.")
        return
    messages = counted(memory.session(session_id).message_count, "message")
    confirm(f"Forget the session {session_id!r} and its {messages} for good?", yes)
    gone = memory.delete_session(session_id)
    sentence = f"Forgot the session {session_id!r}: {gone_counts(gone)}."
    answer(as_json(gone), json, sentence, *checks_made(gone.certificate))


def _forget_message(memory: Cloister, message: str, *, dry_run: bool, yes: bool, json: bool) -> None:
    if dry_run:
        answer_dry_run(memory.forget_message(message, dry_run=True), json)
        return
    confirm(f"Forget 1 message, {message!r}, for good?", yes)
    gone = memory.forget_message(message)
    answer({"messages": 1, **as_json(gone)}, json, f"Forgot {message}.", *checks_made(gone.certificate))
