"""`cloister mcp`: MCP on standard input and output, for clients that start a program."""

from typing import Annotated

import typer

from cloister.bootstrap import build_services, open_tenant
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import NO_PROJECT, parse_project_id
from cloister.interfaces.cli.options import Data, Json, Key, KeyProject, Tenant, User
from cloister.interfaces.cli.organisation.project_names import project_id_of
from cloister.interfaces.mcp.extra import HOW_TO_INSTALL, is_installed
from cloister.interfaces.python.library import Cloister
from cloister.settings import Remote, read_remote, read_settings
from cloister.worker import Worker


def mcp(
    project: KeyProject = None,
    user: User = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="SESSION", help="Session that is written to (one for each project and user)."
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer no tools that write.", show_default=False)
    ] = False,
    data: Data = None,
    key: Key = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Serve MCP on standard input and output.

    For clients that start a program, such as Claude Desktop. The scope is fixed for as long as it runs: --project, --user and
    --session, else the default project at the start and no user. With the address of a server as --data, requests are passed on to
    that server, and --key says what they may do and, without --project, which project they are for.
    """
    if not is_installed():
        raise InvalidRequest("mcp", HOW_TO_INSTALL)
    if project == NO_PROJECT:
        raise InvalidRequest("project", "must be a project: an MCP connection belongs to one.")
    remote = read_remote(data, key, tenant=tenant)
    if remote is None:
        _serve_embedded(data, tenant, project=project, user=user, session=session, may_write=not read_only)
    elif read_only:
        raise InvalidRequest(
            "read_only", "is for a directory or a database: at a server, use a key that may only read."
        )
    else:
        _serve_relay(remote, project=project, user=user, session=session)


def _serve_embedded(
    data: str | None, tenant: str | None, *, project: str | None, user: str | None, session: str | None, may_write: bool
) -> None:
    from cloister.interfaces.mcp.stdio import EmbeddedSession, serve_embedded

    settings = read_settings(data, tenant=tenant)
    services = build_services(settings)
    worker = Worker(services, threads=settings.worker_threads)
    try:
        reach = open_tenant(services, settings.tenant)
        named = None if project is None else project_id_of(Cloister(services=services, tenant=settings.tenant), project)
        chosen = services.projects.default_project(reach) if named is None else parse_project_id(named)
        if settings.worker and may_write:
            worker.start()
        serve_embedded(
            EmbeddedSession(
                services=services, reach=reach, project=chosen, user=user, session=session, may_write=may_write
            )
        )
    finally:
        worker.stop()
        services.close()


def _serve_relay(remote: Remote, *, project: str | None, user: str | None, session: str | None) -> None:
    from cloister.interfaces.mcp.stdio import serve_relay

    headers: dict[str, str | None] = {"X-User-ID": user, "X-Session-ID": session}
    if project is not None:
        with Cloister(remote.address, key=remote.key) as memory:
            headers["X-Project-ID"] = project_id_of(memory, project)
    serve_relay(remote, {name: value.encode() for name, value in headers.items() if value is not None})
