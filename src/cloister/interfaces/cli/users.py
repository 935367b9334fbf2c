"""`cloister users`: erase."""

from typing import Annotated

import typer

from cloister.interfaces.cli.options import Data, DryRun, Json, Key, Tenant, Yes
from cloister.interfaces.cli.terminal import answer, confirm, counted
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json
from cloister.interfaces.python.tenant_shapes import ErasedUser

app = typer.Typer(help="Users: the people whom sessions belong to.", no_args_is_help=True)


@app.command("erase")
def erase_user(
    user_id: Annotated[str, typer.Argument(metavar="USER", help="The id that the user's sessions carry.")],
    dry_run: DryRun = False,
    yes: Yes = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Erase everything of a user, in all projects and in none.

    That is the user's sessions and messages, everything that derives from them, and the keys that are bound to the user.
    """
    with Cloister(data, key=key, tenant=tenant) as memory:
        preview = memory.erase_user(user_id, dry_run=True)
        if dry_run:
            answer(as_json(preview), json, f"Of {user_id!r} there are {_counts(preview)}. Nothing was changed.")
            return
        if not yes:
            confirm(f"Erase the user {user_id!r}, with {_counts(preview)}, for good?")
        gone = memory.erase_user(user_id)
    answer(as_json(gone), json, f"Erased the user {user_id!r}: {_counts(gone)}.")


def _counts(erased: ErasedUser) -> str:
    derived = (
        (erased.memories, "memory", "memories"),
        (erased.observations, "note", "notes"),
        (erased.entities, "entity", "entities"),
    )
    parts = [counted(erased.sessions, "session"), counted(erased.messages, "message")]
    parts += [counted(number, one, many) for number, one, many in derived if number]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
