"""Options and arguments that several commands share. --data, --key, --tenant and --json may stand before the command or after it;
after it wins."""

from typing import Annotated

import typer

from cloister.settings import VARIABLES

_DATA = "cloister.data"
_KEY = "cloister.key"
_TENANT = "cloister.tenant"
_JSON = "cloister.json"
_COMMAND = "cloister.command"
# Fields of the API by the name of the parameter that sets them, where the two differ.
_PARAMETERS = {
    "budget_tokens": "budget",
    "content": "text",
    "cursor": "after",
    "expires_at": "expires",
    "external_id": "session_id",
    "member_visibility": "members",
    "project_id": "project",
    "recent_limit": "recent",
    "semantic_limit": "semantic",
    "user_id": "user",
}


def wants_json(context: typer.Context) -> bool:
    return context.meta.get(_JSON, False)


def spelled(context: typer.Context, field: str) -> str:
    """A field of the API as the running command spells it: its option or argument. Other fields stay as they are."""
    name, bracket, rest = field.partition("[")
    wanted = _PARAMETERS.get(name, name)
    for parameter in context.meta[_COMMAND].params if _COMMAND in context.meta else ():
        if parameter.name == wanted:
            is_option = parameter.param_type_name == "option"
            return (parameter.opts[0] if is_option else parameter.metavar.rstrip(".")) + bracket + rest
    return field


def _keep_data(context: typer.Context, given: str | None) -> str | None:
    context.meta[_COMMAND] = context.command
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
    typer.Option("--data", metavar="DATA", help=named("CLOISTER_DATA"), callback=_keep_data, show_default=False),
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
    bool, typer.Option("--json", help="Print JSON, for programs.", callback=_keep_json, show_default=False)
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and change nothing.", show_default=False)
]
DuplicateName = Annotated[
    bool,
    typer.Option("--allow-duplicate-name", help="Also if another project has this name.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.", show_default=False)]
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
After = Annotated[
    str | None,
    typer.Option("--after", metavar="CURSOR", help="Show the next page: the cursor that the last one printed."),
]
All = Annotated[bool, typer.Option("--all", help="Show all of them, not only the first --limit.", show_default=False)]
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The session's external id.")]
ProjectArgument = Annotated[str, typer.Argument(metavar="PROJECT", help="Project, by its id (proj_…) or name.")]
