"""`cloister keys`: list, create, revoke. Callers of a server need a key; a data directory needs none."""

from typing import Annotated, cast

import typer

from cloister.domain.access import PERMISSIONS, Permission
from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import After, All, KeyProject, Limit, Yes, with_library
from cloister.interfaces.cli.organisation.project_names import ProjectNames, project_id_of
from cloister.interfaces.cli.terminal import answer, confirm, minute, remark, table
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

app = typer.Typer(help="API keys: what callers of a server may do.", no_args_is_help=True)


@app.command("list")
@with_library
def list_keys(memory: Cloister, json: bool, limit: Limit = 50, after: After = None, everything: All = False) -> None:
    """List the keys that were not revoked, oldest first. Their secrets are not stored, and cannot be shown."""
    found = listed(memory.keys, limit, everything, after)
    names = ProjectNames(memory)
    rows = [
        (
            made.key_id,
            made.name,
            ", ".join(made.permissions),
            "" if made.project_id is None else names.name(made.project_id) + (" only" if made.confined else ""),
            made.user_id or "",
            "never" if made.expires_at is None else minute(made.expires_at),
        )
        for made in found
    ]
    shown = table(("key", "name", "may", "project", "user", "expires"), rows)
    answer_list(found, json, shown, empty="No keys yet. Create one: cloister keys create NAME")


@app.command("create")
@with_library
def create_key(
    memory: Cloister,
    json: bool,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")],
    permissions: Annotated[
        list[str] | None,
        typer.Option("--may", metavar="|".join(PERMISSIONS), help="What it allows; may be repeated (read and write)."),
    ] = None,
    project: KeyProject = None,
    confined: Annotated[bool, typer.Option("--confined", help="It can reach no other project.")] = False,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="ID", help="Bind it to this user: it reaches that user's sessions only."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="When it ends, as in 2026-12-31T00:00:00Z (never).")
    ] = None,
) -> None:
    """Create a key, and show it this once.

    --project is the project of requests that name none.
    """
    made = memory.create_key(
        name,
        project_id=None if project is None else project_id_of(memory, project),
        confined=confined,
        permissions=cast(list[Permission], permissions or ["read", "write"]),
        expires_at=expires,
        user_id=user,
    )
    remark(f"{made.key_id} {made.name!r} may {' and '.join(made.permissions)}. The key itself is shown this once.")
    answer(as_json(made), json, made.key)


@app.command("revoke")
@with_library
def revoke_key(
    memory: Cloister,
    json: bool,
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The key's id (key_…), which is not the key.")],
    yes: Yes = False,
) -> None:
    """Revoke a key. From then on requests with it are refused.

    The last admin key that does not expire cannot be revoked: create another first.
    """
    confirm(f"Revoke {key_id!r} for good?", yes)
    memory.revoke_key(key_id)
    answer({"key_id": key_id}, json, f"Revoked {key_id}.")
