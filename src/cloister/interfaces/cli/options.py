"""Options and arguments that several commands share. --data, --key, --tenant and --json may stand before the command or after it;
after it wins."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast

import typer

from cloister.domain.recall.filter_language import filter_object
from cloister.interfaces.python.library import Cloister
from cloister.settings import VARIABLES

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
    "retention_days": "days",
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


def given_data(context: typer.Context) -> str | None:
    """The value of --data before the command, for a command that does not take it."""
    return context.meta.get("cloister.data")


def _keep_json(context: typer.Context, given: bool) -> bool:
    context.meta[_JSON] = given or wants_json(context)
    return context.meta[_JSON]


def named(variable: str) -> str:
    meaning = VARIABLES[variable]
    return f"{meaning[0].upper()}{meaning[1:]}. Environment: {variable}."


def _shared(name: str) -> Any:
    """An option that may stand before the command or after it; its value is kept in the context for both."""
    variable, stored = f"CLOISTER_{name.upper()}", f"cloister.{name}"

    def keep(context: typer.Context, given: str | None) -> str | None:
        context.meta[_COMMAND] = context.command
        if given == "":
            raise typer.BadParameter("must not be empty.")
        if given is not None:
            context.meta[stored] = given
        return context.meta.get(stored)

    return typer.Option(f"--{name}", metavar=name.upper(), help=named(variable), callback=keep, show_default=False)


def filter_option(given: str | None) -> Mapping[str, object] | None:
    """The filter in an option, which is JSON text; its conditions are checked by the library."""
    return None if given is None else cast(Mapping[str, object], filter_object(given))


def after_item(item: str) -> Any:
    """The option --after of a list that goes on behind an item, given by its id."""
    return typer.Option("--after", metavar="ID", help=f"Show those after this {item}.")


Data = Annotated[str | None, _shared("data")]
Key = Annotated[str | None, _shared("key")]
Tenant = Annotated[str | None, _shared("tenant")]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON, for programs.", callback=_keep_json, show_default=False)
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and change nothing.", show_default=False)
]
DuplicateName = Annotated[
    bool, typer.Option("--allow-duplicate-name", help="Also if another project has this name.", show_default=False)
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
ProfileBudget = Annotated[int, typer.Option("--budget", metavar="N", help="The largest size of its text, in tokens.")]
User = Annotated[str | None, typer.Option("--user", metavar="ID", help="User id.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="How many, 1 to 200.")]
After = Annotated[
    str | None,
    typer.Option("--after", metavar="CURSOR", help="Show the next page: the cursor that the last one printed."),
]
All = Annotated[bool, typer.Option("--all", help="Show all of them, not only the first --limit.", show_default=False)]
Filter = Annotated[
    str | None,
    typer.Option("--filter", metavar="JSON", help='Only what this lets pass, such as {"role": "user"}.'),
]
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The session's external id.")]
ProjectArgument = Annotated[str, typer.Argument(metavar="PROJECT", help="Project, by its id (proj_…) or name.")]


def with_library(run: Callable[..., None]) -> Callable[..., None]:
    """The command with the options --data, --key, --tenant and --json added: `run` is called with the library that they open and
    whether to print JSON, then with its own arguments."""

    def command(data: Data = None, key: Key = None, tenant: Tenant = None, json: Json = False, **given: Any) -> None:
        with Cloister(data, key=key, tenant=tenant) as memory:
            run(memory, json, **given)

    _, _, *own = inspect.signature(run).parameters.values()
    *added, _ = inspect.signature(command).parameters.values()
    parameters = [*own, *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in added)]
    functools.update_wrapper(command, run)
    # Typer reads the parameters of a command from these.
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)
    return command
