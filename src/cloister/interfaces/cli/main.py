"""The command `cloister`: registers all commands, and prints errors as one line with an exit code."""

import sys
from importlib.metadata import version as installed_version
from io import TextIOWrapper
from textwrap import fill
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cloister.domain.errors import CloisterError, InvalidRequest, TooLarge
from cloister.interfaces.cli import entities, maintenance, memories, sessions
from cloister.interfaces.cli.archives.commands import export_archive, import_archive
from cloister.interfaces.cli.archives.copy import copy
from cloister.interfaces.cli.audit.command import audit
from cloister.interfaces.cli.console import console
from cloister.interfaces.cli.demo import demo
from cloister.interfaces.cli.doctor import doctor
from cloister.interfaces.cli.extract import extract, observations
from cloister.interfaces.cli.forget import forget
from cloister.interfaces.cli.options import Data, Json, Key, Tenant, spelled, wants_json
from cloister.interfaces.cli.organisation import keys, projects, tenants, users
from cloister.interfaces.cli.organisation.usage import usage
from cloister.interfaces.cli.recall import context, search
from cloister.interfaces.cli.receipts import commands as receipts
from cloister.interfaces.cli.receipts.commands import explain
from cloister.interfaces.cli.receipts.exclusions import exclude, exclusions, include
from cloister.interfaces.cli.record import record
from cloister.interfaces.cli.serve import serve
from cloister.interfaces.cli.terminal import complain
from cloister.interfaces.cli.upkeep.backup import backup, restore
from cloister.interfaces.cli.upkeep.distribute import distribute
from cloister.interfaces.cli.upkeep.vacuum import vacuum
from cloister.interfaces.cli.worker import worker
from cloister.interfaces.mcp.command import mcp
from cloister.settings import VARIABLES


class _Root(TyperGroup):
    """Exit codes: 0 success, 1 error, 2 wrong usage. For people an error names the option, in JSON the field of the API."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CloisterError as error:
            as_json, detail = wants_json(ctx), str(error)
            if isinstance(error, InvalidRequest | TooLarge) and not as_json:
                detail = f"{spelled(ctx, error.field)}: {error.problem}"
            complain(error.code, detail, getattr(error, "__notes__", ()), as_json)
            raise typer.Exit(1) from error


def _environment() -> str:
    """The environment variables as a list that the help formatter does not wrap (`\\b`)."""
    indent = 2 + max(map(len, VARIABLES)) + 2
    lines = [
        fill(f"  {name}".ljust(indent) + meaning, width=76, subsequent_indent=" " * indent)
        for name, meaning in VARIABLES.items()
    ]
    return "\n".join(["\b", "Environment:", *lines])


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cloister {installed_version('cloister')}")
        raise typer.Exit


app = typer.Typer(
    name="cloister",
    cls=_Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog=_environment(),
)


@app.callback()
def root(
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Memory for AI assistants that stays inside its walls.

    Every command takes --data and --json, before its name or after it. If the data is on a server, --data is its address, and
    --key an API key. If a directory or a database has several tenants, --tenant names one.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


app.command()(serve)
app.command()(console)
app.command()(worker)
app.command()(mcp)
app.command()(demo)
app.command()(record)
# The name of `record` in earlier versions.
app.command("remember", hidden=True)(record)
app.command()(context)
app.command()(search)
app.command()(explain)
app.command()(forget)
app.command()(extract)
app.command()(observations)
app.add_typer(receipts.app, name="receipts")
app.add_typer(memories.app, name="memories")
app.add_typer(entities.app, name="entities")
sessions.app.command("exclude")(exclude)
sessions.app.command("include")(include)
sessions.app.command("exclusions")(exclusions)
app.add_typer(sessions.app, name="sessions")
app.add_typer(projects.app, name="projects")
app.add_typer(keys.app, name="keys")
app.add_typer(users.app, name="users")
app.add_typer(tenants.app, name="tenants")
app.command("export")(export_archive)
app.command("import")(import_archive)
app.command()(copy)
app.command()(usage)
app.command()(maintenance.retention)
app.command()(maintenance.reindex)
app.command()(maintenance.migrate)
app.command()(backup)
app.command()(restore)
app.command()(vacuum)
app.command()(distribute)
app.command()(audit)
app.command()(doctor)
