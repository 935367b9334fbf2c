"""The audit of a running server (PRF-3): by a tenant's admin within the tenant, by the operator with two tenants of its own."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import anyio.from_thread
from fastapi import APIRouter, Request
from starlette.responses import Response

from cloister.bootstrap import Services
from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import TenantId
from cloister.domain.scope import Reach
from cloister.interfaces.audit.app_client import AppClient, AsgiApp
from cloister.interfaces.audit.audit import AuditRun
from cloister.interfaces.audit.report import Audit
from cloister.interfaces.http.dispatch.callers import AllServices, Caller, NoBody, needs
from cloister.interfaces.http.dispatch.routes import UnqueuedRoute
from cloister.interfaces.http.dispatch.tenant_limit import TenantConcurrencyLimit
from cloister.interfaces.http.resources.answers import answer

auditing = TenantConcurrencyLimit(of_all=2, of_one=1)
_BUSY = "Another audit is running"
# Of the operator's audits, which belong to no tenant.
_ALL_TENANTS = TenantId(0)

router = APIRouter(route_class=UnqueuedRoute, tags=["Organisation"])


@router.post("/v1/audit", response_model=Audit)
@needs("admin")
def audit_tenant(request: Request, caller: Caller, _: NoBody) -> Response:
    """Check the isolation of this server from inside the caller's tenant: make projects, users, sessions and keys with markers, ask
    for them through every interface, and remove them again. `crossings` counts the answers that showed what they must not.
    Nothing that was there before is changed; events of the audit's sessions are published, and its messages count towards the
    quota while it runs. Not for a key that is confined to a project."""
    if not caller.reach.is_whole_tenant:
        raise Forbidden("This key is confined to its project: an audit makes projects and keys of its own.")
    if caller.project_header is not None:
        raise InvalidRequest("X-Project-ID", "names one project, and an audit makes its own: leave it out.")
    return _audited(request, caller.services, caller.reach, caller.reach.tenant)


@router.post("/operator/audit", response_model=Audit)
@needs("operator")
def audit_server(request: Request, services: AllServices, _: NoBody) -> Response:
    """Check the isolation of this server with two tenants of the audit's own, which are erased at its end."""
    return _audited(request, services, None, _ALL_TENANTS)


def _audited(request: Request, services: Services, reach: Reach | None, tenant: TenantId) -> Response:
    def run(call: Callable[[], Awaitable[Any]]) -> Any:
        async def called() -> Any:
            return await call()

        return anyio.from_thread.run(called)

    client = AppClient(cast(AsgiApp, request.app), run, host=request.headers["host"])
    with auditing.taken(tenant, _BUSY):
        return answer(AuditRun(services, client, reach).run())
