"""The settings of a tenant, and retention: forgetting what is older than a project or its tenant keeps (MEM-18)."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import ProjectId as ProjectNumber
from cloister.domain.identifiers import parse_project_id
from cloister.domain.project_settings import checked_receipt_days
from cloister.interfaces.http.certificates.answers import removed_answer
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, NoBody, needs
from cloister.interfaces.http.dispatch.parameters import DryRun, ProjectId, RetentionDays
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.python import tenant_shapes as shapes

router = APIRouter(route_class=GuardedRoute, tags=["Organisation"])


@router.get("/org/settings", response_model=shapes.TenantSettings)
@needs("admin")
def get_tenant_settings(caller: Caller) -> Response:
    """Get the settings that apply to all projects of the tenant, and outside them."""
    return answer(_settings(caller))


@router.patch("/org/settings", response_model=shapes.TenantSettings)
@needs("admin")
def change_tenant_settings(body: bodies.TenantSettings, caller: Caller) -> Response:
    """Change the tenant's settings. Fields that are not given stay as they are. What a setting of a project is stricter in still
    applies there."""
    services = caller.services
    checked_receipt_days(body.receipt_days, "receipt_days")
    if "retention_days" in body.model_fields_set:
        services.retention.set_of_tenant(caller.reach, body.retention_days)
    if "receipt_days" in body.model_fields_set:
        services.receipt_expiry.set_days_of_tenant(caller.reach, body.receipt_days)
    return answer(_settings(caller))


@router.post("/org/retention", response_model=shapes.Retention)
@needs("admin")
def apply_tenant_retention(
    caller: Caller, _: NoBody, dry_run: DryRun = False, retention_days: RetentionDays = None
) -> Response:
    """Forget now what is older than the tenant and its projects keep, in all projects and outside them, as the server's worker does
    every few minutes. `certificate` says what went, by kind and id, and the checks made afterwards. With `dry_run=true` it is
    counted, and nothing is changed."""
    if caller.project_header is not None:
        raise InvalidRequest(
            "X-Project-ID", "names one project, and this is for all of them: use /org/projects/{project_id}/retention."
        )
    return _applied(caller, None, dry_run, retention_days)


@router.post("/org/projects/{project_id}/retention", response_model=shapes.Retention)
@needs("admin")
def apply_project_retention(
    project_id: ProjectId, caller: Caller, _: NoBody, dry_run: DryRun = False, retention_days: RetentionDays = None
) -> Response:
    """Forget now what is older than the project or its tenant keeps, as the server's worker does every few minutes. `certificate`
    says what went, by kind and id, and the checks made afterwards. With `dry_run=true` it is counted, and nothing is changed."""
    return _applied(caller, parse_project_id(project_id), dry_run, retention_days)


def _settings(caller: CallerInfo) -> shapes.TenantSettings:
    return shapes.TenantSettings(
        retention_days=caller.services.retention.of_tenant(caller.reach),
        receipt_days=caller.services.receipt_expiry.days_of_tenant(caller.reach),
    )


def _applied(caller: CallerInfo, project: ProjectNumber | None, dry_run: bool, days: int | None) -> Response:
    retention = caller.services.retention
    if dry_run:
        return answer(shapes.retention_preview_shape(retention.preview(caller.reach, project, days=days)))
    if days is not None:
        raise InvalidRequest("retention_days", "can only be tried, with dry_run=true: change the setting instead.")
    done = retention.apply(caller.reach, project)
    removed = removed_answer(caller, done.removal, dry_run=False) if done.removal.named else None
    return answer(shapes.retention_shape(done, None if removed is None else removed.certificate))
