"""`cloister tenants`: create, limits. The operator's work, done where the data is: a key opens one tenant only."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import typer

from cloister.bootstrap import Services, build_services
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_tenant
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.interfaces.cli.options import Data, Json
from cloister.interfaces.cli.terminal import answer, is_watched, record, remark
from cloister.interfaces.cli.usage import usage_table
from cloister.interfaces.shapes import as_json, tenant_shape, usage_shape
from cloister.settings import read_settings

app = typer.Typer(
    help="Tenants: who shares a server, and sees nothing of each other. Work of the operator, beside the data.",
    no_args_is_help=True,
)


@app.command("create")
def create_tenant(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")],
    data: Data = None,
    json: Json = False,
) -> None:
    """Make a tenant, with its default project and its admin key, which is shown this once.

    Where the output is no terminal, but perhaps a log, --json says that the key is wanted there.
    """
    read_settings(data)
    if not (json or is_watched()):
        raise InvalidRequest("--json", "is needed here: the admin key is shown on a terminal, and this may be a log.")
    with _services(data) as services:
        made = tenant_shape(services.access.create_tenant(name))
    remark(f"The tenant {made.name!r} is ready. Its admin key, on the last line, is shown this once.")
    fields = [("tenant", made.tenant_id), ("default project", made.default_project_id)]
    answer(as_json(made), json, record(fields), made.admin_key)


@app.command("limits")
def set_limits(
    tenant_id: Annotated[str, typer.Argument(metavar="TENANT", help="Tenant id (ten_…).")],
    messages: Annotated[int | None, typer.Option("--messages", metavar="N", min=0, help="The most messages.")] = None,
    sessions: Annotated[int | None, typer.Option("--sessions", metavar="N", min=0, help="The most sessions.")] = None,
    projects: Annotated[int | None, typer.Option("--projects", metavar="N", min=0, help="The most projects.")] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Set how much a tenant may keep.

    These replace the limits it had. Where none is given, that of the environment holds (CLOISTER_MAX_…). What is kept already
    stays, also over a limit.
    """
    reach = Reach(tenant=parse_tenant(tenant_id))
    with _services(data) as services:
        services.organise.set_limits(reach, Limits(messages=messages, sessions=sessions, projects=projects))
        found = usage_shape(services.organise.usage(reach))
    answer(as_json(found), json, usage_table(found))


@contextmanager
def _services(data: str | None) -> Generator[Services]:
    services = build_services(read_settings(data))
    try:
        yield services
    finally:
        services.close()
