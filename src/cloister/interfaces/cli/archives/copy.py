"""`cloister copy`. What it needs is imported when it runs: other commands need none of it."""

from typing import Annotated

import typer

from cloister.domain.errors import InvalidRequest
from cloister.interfaces.cli.options import DryRun, Json, Tenant, given_data


def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="A data directory, or a postgresql:// URL.")],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="Another one: new, empty, or of a copy that was stopped.")
    ],
    no_keys: Annotated[
        bool,
        typer.Option("--no-keys", help="Copy no API keys: those of FROM are refused at TO.", show_default=False),
    ] = False,
    dry_run: DryRun = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Copy all tenants, or one, to another directory or database, and compare both.

    FROM is only read, and can be served meanwhile. A copy that was stopped is completed by repeating it. API keys are copied as
    hashes, so they work at TO as before. At the end counts and hashes of both are compared; the exit code is 1 if they differ.
    """
    if given_data(context) is not None:
        raise InvalidRequest("--data", "is not for this command: name FROM and TO.")
    from cloister.interfaces.cli.archives.copying import copy_installation

    copy_installation(source, target, tenant=tenant, with_keys=not no_keys, dry_run=dry_run, json=json)
