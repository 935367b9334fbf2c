"""Erasing users, and the operator's routes for existing tenants: list, erase, create a key."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import TenantId, parse_tenant_id
from cloister.domain.scope import Reach
from cloister.interfaces.http.certificates.answers import removed_answer
from cloister.interfaces.http.dispatch.callers import AllServices, Caller, NoBody, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import Cursor, DryRun, IdempotencyKey, Limit, TenantName, UserId
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources.answers import TenantPage, answer
from cloister.interfaces.python import tenant_shapes as shapes
from cloister.interfaces.python.certificates.shapes import certificate_shape

router = APIRouter(route_class=GuardedRoute, tags=["Organisation"])
# Of the list of all tenants, which belongs to none of them: no tenant has this id.
_ALL_TENANTS = TenantId(0)


@router.delete("/v1/users/{user_id}", response_model=shapes.ErasedUser)
@needs("admin")
def erase_user(user_id: UserId, caller: Caller, dry_run: DryRun = False) -> Response:
    """Erase everything of a user, in all projects and in no project: sessions, their messages, everything derived from these,
    and the keys that are bound to the user. For an unknown user all counts are 0. With `dry_run=true` nothing is changed, and the
    answer is what would be erased."""
    if caller.project_header is not None:
        raise InvalidRequest("X-Project-ID", "names one project, and a user is erased in all of them: leave it out.")
    gone = caller.services.erase_user.erase(caller.reach, user_id, dry_run=dry_run)
    return answer(shapes.erased_user_shape(gone, removed_answer(caller, gone.removal, dry_run=dry_run)))


@router.get("/operator/tenants", response_model=TenantPage)
@needs("operator")
def list_tenants(services: AllServices, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List tenants, oldest first, with counts of what they store."""
    listing = Listing("tenants", _ALL_TENANTS)
    after = listing.pair(cursor)
    tenants = services.tenants
    found = tenants.page(limit=limit + 1) if after is None else tenants.page(limit=limit + 1, after=after)
    return listing.answer(
        TenantPage,
        found,
        limit,
        shape=shapes.tenant_summary_shape,
        key=lambda tenant: (tenant.created_at, tenant.tenant),
    )


@router.delete("/operator/tenants/{tenant_id}", response_model=shapes.ErasedTenant)
@needs("operator")
def erase_tenant(tenant_id: TenantName, services: AllServices, dry_run: DryRun = False) -> Response:
    """Erase a tenant with everything in it. Its keys are no longer valid. With `dry_run=true` nothing is changed, and the answer is
    what would be erased. The tenant `local`, which belongs to the installation, cannot be erased."""
    tenant = parse_tenant_id(tenant_id)
    if dry_run:
        return answer(shapes.erased_tenant_shape(services.tenants.preview_erasing(tenant)))
    gone = services.tenants.erase(tenant)
    certificate = services.certification.certify(Reach(tenant=tenant), gone.removal)
    return answer(shapes.erased_tenant_shape(gone, certificate_shape(certificate)))


@router.post("/operator/tenants/{tenant_id}/keys", status_code=201, response_model=shapes.AdminKey)
@needs("operator")
def create_tenant_key(
    tenant_id: TenantName, body: NoBody, services: AllServices, request: Request, idempotency_key: IdempotencyKey = None
) -> Response:
    """Create an admin key for a tenant that has lost its own. `key` is shown only in this answer."""
    root = request.app.state.gate.operator_key
    created = services.tenants.create_key(parse_tenant_id(tenant_id), idempotency_key=idempotency_key, root=root)
    return answer(shapes.admin_key_shape(created), 201)
