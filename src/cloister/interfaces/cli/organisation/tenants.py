"""`cloister tenants`: list, create, key, limits, erase. For the operator, on the database itself: an API key reaches one tenant."""

from contextlib import closing
from functools import partial
from typing import Annotated

import typer

from cloister.bootstrap import Services, build_services
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_tenant_id
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.interfaces.cli.certificates.sentences import checks_made
from cloister.interfaces.cli.listing import answer_list, listed
from cloister.interfaces.cli.options import After, All, Data, DryRun, Json, Limit, Yes
from cloister.interfaces.cli.organisation.usage import usage_table
from cloister.interfaces.cli.organisation.users import erased_counts
from cloister.interfaces.cli.terminal import answer, confirm, details, is_watched, minute, remark, table
from cloister.interfaces.python.arguments import page_size
from cloister.interfaces.python.certificates.shapes import certificate_shape
from cloister.interfaces.python.pages import ListCursors, Page
from cloister.interfaces.python.shapes import as_json
from cloister.interfaces.python.tenant_shapes import (
    ErasedTenant,
    TenantSummary,
    admin_key_shape,
    erased_tenant_shape,
    tenant_shape,
    tenant_summary_shape,
    usage_shape,
)
from cloister.settings import read_settings

app = typer.Typer(
    help="Tenants: they share a server, and see nothing of each other. For the operator, where the data is.",
    no_args_is_help=True,
)


# The list is of no single tenant.
_ALL_TENANTS = 0
TenantArgument = Annotated[
    str, typer.Argument(metavar="TENANT", help="Tenant, by its id (ten_…) or, where only one has it, its name.")
]


@app.command("create")
def create_tenant(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")],
    data: Data = None,
    json: Json = False,
) -> None:
    """Create a tenant, with its default project and its admin key, which is shown this once.

    If the output is not a terminal, it may be a log: then the key is printed only with --json.
    """
    _refuse_logs(data, json)
    with _services(data) as services:
        made = tenant_shape(services.api_keys.create_tenant(name))
    where = "" if json else ", on the last line,"
    remark(f"The tenant {made.name!r} is ready. Its admin key{where} is shown this once.")
    fields = [("tenant", made.tenant_id), ("default project", made.default_project_id)]
    answer(as_json(made), json, details(fields), made.admin_key)


@app.command("limits")
def set_limits(
    tenant_id: Annotated[str, typer.Argument(metavar="TENANT", help="Tenant id (ten_…).")],
    messages: Annotated[int | None, typer.Option("--messages", metavar="N", min=0, help="The most messages.")] = None,
    sessions: Annotated[int | None, typer.Option("--sessions", metavar="N", min=0, help="The most sessions.")] = None,
    projects: Annotated[int | None, typer.Option("--projects", metavar="N", min=0, help="The most projects.")] = None,
    files: Annotated[
        int | None, typer.Option("--files", metavar="N", min=0, help="The most files of memory tools.")
    ] = None,
    entries: Annotated[int | None, typer.Option("--entries", metavar="N", min=0, help="The most entries.")] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Set how much a tenant may store.

    These replace its limits. A limit that is not given is that of the environment (CLOISTER_MAX_…). Nothing is deleted that is
    over a limit.
    """
    reach = Reach(tenant=parse_tenant_id(tenant_id))
    with _services(data) as services:
        limits = Limits(messages=messages, sessions=sessions, projects=projects, files=files, entries=entries)
        services.projects.set_limits(reach, limits)
        found = usage_shape(services.projects.usage(reach))
    answer(as_json(found), json, usage_table(found))


@app.command("list")
def list_tenants(
    limit: Limit = 50, after: After = None, everything: All = False, data: Data = None, json: Json = False
) -> None:
    """List tenants, oldest first, with how much they store."""
    with _services(data) as services:
        found = listed(partial(_page, services), limit, everything, after)
    headings = ("tenant", "name", "projects", "sessions", "messages", "created")
    rows = [
        (
            tenant.tenant_id,
            tenant.name,
            f"{tenant.projects:,}",
            f"{tenant.sessions:,}",
            f"{tenant.messages:,}",
            minute(tenant.created_at),
        )
        for tenant in found
    ]
    shown = table(headings, rows, numbers=("projects", "sessions", "messages"))
    answer_list(found, json, shown, empty="No tenants here yet. Create one: cloister tenants create NAME")


@app.command("key")
def create_tenant_key(tenant: TenantArgument, data: Data = None, json: Json = False) -> None:
    """Create an admin key for a tenant that has lost its own, and show it this once.

    If the output is not a terminal, it may be a log: then the key is printed only with --json.
    """
    _refuse_logs(data, json)
    with _services(data) as services:
        made = admin_key_shape(services.tenants.create_key(services.tenants.find(tenant)))
    remark(f"{made.key_id} is an admin key of {tenant!r}. The key itself is shown this once.")
    answer(as_json(made), json, made.key)


@app.command("erase")
def erase_tenant(
    tenant: TenantArgument, dry_run: DryRun = False, yes: Yes = False, data: Data = None, json: Json = False
) -> None:
    """Erase a tenant with everything in it. Its keys are refused from then on."""
    with _services(data) as services:
        found = services.tenants.find(tenant)
        preview = erased_tenant_shape(services.tenants.preview_erasing(found))
        if dry_run:
            answer(as_json(preview), json, f"{tenant!r} has {_counts(preview)}. Nothing was changed.")
            return
        confirm(f"Erase the tenant {tenant!r}, with {_counts(preview)}, for good?", yes)
        erased = services.tenants.erase(found)
        certificate = services.certification.certify(Reach(tenant=found), erased.removal)
        gone = erased_tenant_shape(erased, certificate_shape(certificate))
    answer(as_json(gone), json, f"Erased the tenant {tenant!r}: {_counts(gone)}.", *checks_made(gone.certificate))


def _page(services: Services, limit: int, cursor: str | None) -> Page[TenantSummary]:
    cursors, tenants = ListCursors("tenants", _ALL_TENANTS), services.tenants
    size, after = page_size(limit), cursors.pair(cursor)
    rows = tenants.page(limit=size + 1) if after is None else tenants.page(limit=size + 1, after=after)
    return cursors.page(rows, size, shape=tenant_summary_shape, key=lambda tenant: (tenant.created_at, tenant.tenant))


def _refuse_logs(data: str | None, json: bool) -> None:
    read_settings(data)
    if not (json or is_watched()):
        raise InvalidRequest("--json", "is needed here: the admin key is shown on a terminal, and this may be a log.")


def _counts(erased: ErasedTenant) -> str:
    return erased_counts(erased, "projects", "sessions")


def _services(data: str | None) -> closing[Services]:
    return closing(build_services(read_settings(data)))
