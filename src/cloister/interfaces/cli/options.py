"""Options that every command shares. Given before the command or after it, they mean the same; after it wins."""

from typing import Annotated

import typer

from cloister.settings import VARIABLES

_DATA = "cloister.data"
_KEY = "cloister.key"
_TENANT = "cloister.tenant"
_JSON = "cloister.json"


def wants_json(context: typer.Context) -> bool:
    return context.meta.get(_JSON, False)


def _keep_data(context: typer.Context, given: str | None) -> str | None:
    return _keep(context, _DATA, given)


def _keep_key(context: typer.Context, given: str | None) -> str | None:
    return _keep(context, _KEY, given)


def _keep_tenant(context: typer.Context, given: str | None) -> str | None:
    return _keep(context, _TENANT, given)


def _keep(context: typer.Context, name: str, given: str | None) -> str | None:
    if given == "":
        raise typer.BadParameter("must not be empty.")
    if given is not None:
        context.meta[name] = given
    return context.meta.get(name)


def _keep_json(context: typer.Context, given: bool) -> bool:
    context.meta[_JSON] = given or wants_json(context)
    return context.meta[_JSON]


def named(variable: str) -> str:
    meaning = VARIABLES[variable]
    return f"{meaning[0].upper()}{meaning[1:]}. Environment: {variable}."


Data = Annotated[
    str | None,
    typer.Option("--data", metavar="PLACE", help=named("CLOISTER_DATA"), callback=_keep_data, show_default=False),
]
Key = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help=named("CLOISTER_KEY"), callback=_keep_key, show_default=False),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", metavar="TENANT", help=named("CLOISTER_TENANT"), callback=_keep_tenant, show_default=False
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Answer in JSON, for programs.", callback=_keep_json, show_default=False)
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.", show_default=False)
]
DuplicateName = Annotated[
    bool,
    typer.Option("--allow-duplicate-name", help="Even if another project is called so already.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.", show_default=False)]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="PROJECT",
        help="Project, by its id (proj_…) or name, or `none` for no project (the default project).",
    ),
]
KeyProject = Annotated[
    str | None, typer.Option("--project", metavar="PROJECT", help="Project, by its id (proj_…) or name.")
]
User = Annotated[str | None, typer.Option("--user", metavar="ID", help="User id.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="How many, 1 to 200.")]
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The session's external id.")]
ProjectArgument = Annotated[str, typer.Argument(metavar="PROJECT", help="Project, by its id (proj_…) or name.")]
