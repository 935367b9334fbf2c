"""The command `cloister`: its commands put together, and its errors turned into one line and an exit code."""

import sys
from importlib.metadata import version as installed_version
from io import TextIOWrapper
from textwrap import fill
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cloister.domain.errors import CloisterError
from cloister.interfaces.cli import care, entities, keys, memories, projects, sessions, tenants, users
from cloister.interfaces.cli.console import console
from cloister.interfaces.cli.demo import demo
from cloister.interfaces.cli.doctor import doctor
from cloister.interfaces.cli.extract import extract, observations
from cloister.interfaces.cli.forget import forget
from cloister.interfaces.cli.options import Data, Json, Key, Tenant, wants_json
from cloister.interfaces.cli.recall import context, search
from cloister.interfaces.cli.remember import remember
from cloister.interfaces.cli.serve import serve
from cloister.interfaces.cli.terminal import complain
from cloister.interfaces.cli.usage import usage
from cloister.interfaces.cli.worker import worker
from cloister.settings import VARIABLES


class _Root(TyperGroup):
    """Exit codes: 0 done, 1 refused or broken, 2 wrongly called."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CloisterError as error:
            complain(error.code, str(error), getattr(error, "__notes__", ()), wants_json(ctx))
            raise typer.Exit(1) from error


def _environment() -> str:
    """The variables as a list that the help formatter leaves as it is (`\\b`)."""
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
        bool, typer.Option("--version", help="Say which version this is.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Memory for AI assistants that stays inside its walls.

    Every command takes --data and --json, before its name or after it. Where a server has the data, --data is its address, and
    --key a key to it. Where a directory or a database has several tenants, --tenant names one.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


app.command()(serve)
app.command()(console)
app.command()(worker)
app.command()(demo)
app.command()(remember)
app.command()(context)
app.command()(search)
app.command()(forget)
app.command()(extract)
app.command()(observations)
app.add_typer(memories.app, name="memories")
app.add_typer(entities.app, name="entities")
app.add_typer(sessions.app, name="sessions")
app.add_typer(projects.app, name="projects")
app.add_typer(keys.app, name="keys")
app.add_typer(users.app, name="users")
app.add_typer(tenants.app, name="tenants")
app.command()(usage)
app.command()(care.reindex)
app.command()(care.migrate)
app.command()(care.backup)
app.command()(doctor)
