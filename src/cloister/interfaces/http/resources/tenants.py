"""Routes of tenants, projects, API keys and usage: /operator and /org."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_key_id, parse_project_id
from cloister.domain.sessions.fields import SessionFilter
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.http.certificates.answers import removed_answer
from cloister.interfaces.http.dispatch.callers import AllServices, Caller, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import (
    Contents,
    Cursor,
    DryRun,
    IdempotencyKey,
    IsArchived,
    IsPinned,
    KeyName,
    Limit,
    OfName,
    ProjectId,
)
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import ApiKeyPage, ProjectPage, SessionPage, answer, nothing
from cloister.interfaces.http.resources.sessions import session_page
from cloister.interfaces.python import preview_shapes, shapes, tenant_shapes
from cloister.services.tenancy.api_keys import KeyFields
from cloister.services.tenancy.projects import check_project_change

router = APIRouter(route_class=GuardedRoute, tags=["Organisation"])


@router.post("/operator/tenants", status_code=201, response_model=tenant_shapes.Tenant)
@needs("operator")
def create_tenant(
    body: bodies.NewTenant, services: AllServices, request: Request, idempotency_key: IdempotencyKey = None
) -> Response:
    """Create a tenant, with its default project and its first admin key."""
    root = request.app.state.gate.operator_key
    created = services.api_keys.create_tenant(body.name, idempotency_key=idempotency_key, root=root)
    return answer(tenant_shapes.tenant_shape(created), 201)


@router.get("/org/projects", response_model=ProjectPage)
@needs("read")
def list_projects(caller: Caller, limit: Limit = 50, cursor: Cursor = None, name: OfName = None) -> Response:
    """List projects, oldest first."""
    listing = Listing("projects", caller.reach.tenant, caller.reach.confined_to, *([] if name is None else [name]))
    found = caller.services.projects.projects(caller.reach, limit=limit + 1, after=listing.pair(cursor), name=name)
    return listing.answer(
        ProjectPage, found, limit, shape=shapes.project_shape, key=lambda project: (project.created_at, project.id)
    )


@router.post("/org/projects", status_code=201, response_model=shapes.Project)
@needs("admin")
def create_project(body: bodies.NewProject, caller: Caller, idempotency_key: IdempotencyKey = None) -> Response:
    """Create a project. A name that another project has, ignoring case, is refused with 409, unless `allow_duplicate_name` is
    true."""
    created = caller.services.projects.create_project(
        caller.reach,
        body.name,
        body.member_visibility,
        allow_duplicate_name=body.allow_duplicate_name,
        idempotency_key=idempotency_key,
    )
    return answer(shapes.project_shape(created), 201)


@router.get("/org/projects/{project_id}", response_model=shapes.Project)
@needs("read")
def get_project(project_id: ProjectId, caller: Caller) -> Response:
    """Get one project."""
    return answer(shapes.project_shape(caller.services.projects.project(caller.reach, parse_project_id(project_id))))


@router.patch(
    "/org/projects/{project_id}",
    response_model=shapes.Project | preview_shapes.VisibilityPreview | tenant_shapes.Retention,
)
@needs("admin")
def change_project(
    project_id: ProjectId, body: bodies.ProjectChange, caller: Caller, dry_run: DryRun = False
) -> Response:
    """Rename a project, make it the default, change whether its members recall each other's messages, or change its settings.
    Fields that are not given stay as they are. With `dry_run=true` nothing is changed: the answer is how many sessions, of how many
    users, would newly recall each other, and who these users are; of a change of `settings.retention_days`, what would be
    forgotten."""
    projects, project = caller.services.projects, parse_project_id(project_id)
    settings = None if body.settings is None else body.settings.model_dump(exclude_unset=True)
    if dry_run:
        projects.check_settings(caller.reach, project, settings or {})
        check_project_change(
            caller.reach, name=body.name, is_default=body.is_default, member_visibility=body.member_visibility
        )
        if body.name is not None:
            projects.check_name(caller.reach, project, body.name, allow_duplicate=body.allow_duplicate_name)
        if settings is not None and "retention_days" in settings:
            if body.member_visibility is not None:
                raise InvalidRequest(
                    "settings.retention_days", "and member_visibility cannot be tried at once: send two requests."
                )
            days = settings["retention_days"] or 0
            counts = caller.services.retention.preview(caller.reach, project, days=days)
            return answer(tenant_shapes.retention_preview_shape(counts))
        visibility = body.member_visibility or projects.project(caller.reach, project).member_visibility
        preview = projects.preview_visibility(caller.reach, project, visibility, names_users=True)
        return answer(preview_shapes.visibility_preview_shape(preview))
    changed = projects.change_project(
        caller.reach,
        project,
        name=body.name,
        is_default=body.is_default,
        member_visibility=body.member_visibility,
        settings=settings,
        allow_duplicate_name=body.allow_duplicate_name,
    )
    return answer(shapes.project_shape(changed))


@router.delete("/org/projects/{project_id}", response_model=shapes.DeletedProject)
@needs("admin")
def delete_project(
    project_id: ProjectId, caller: Caller, contents: Contents = "keep", dry_run: DryRun = False
) -> Response:
    """Delete a project. Its sessions are in no project then, with all their messages; with `contents=delete` they are deleted too,
    with everything else in the project, and `deleted` says how much. With `dry_run=true` nothing is changed: the answer is how much
    would move, and who would recall it there, or how much would be deleted."""
    project = parse_project_id(project_id)
    if contents == "delete":
        gone = caller.services.erase_project.erase(caller.reach, project, dry_run=dry_run)
        return answer(shapes.erased_project_shape(gone, removed_answer(caller, gone.removal, dry_run=dry_run)))
    moved = caller.services.projects.delete_project(caller.reach, project, dry_run=dry_run)
    return answer(shapes.deleted_project_shape(moved, removed_answer(caller, moved.removal, dry_run=dry_run)))


@router.get("/org/projects/{project_id}/sessions", response_model=SessionPage)
@needs("read")
def list_project_sessions(
    project_id: ProjectId,
    caller: Caller,
    pinned: IsPinned = None,
    archived: IsArchived = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the sessions of a project, most recent activity first."""
    wanted = SessionFilter(pinned=pinned, archived=archived)
    return session_page(caller, limit, cursor, project=parse_project_id(project_id), any_project=False, wanted=wanted)


@router.get("/org/api-keys", response_model=ApiKeyPage)
@needs("admin")
def list_api_keys(caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List the keys that are not revoked, oldest first, without the keys themselves."""
    listing = Listing("keys", caller.reach.tenant)
    found = caller.services.api_keys.page(caller.reach, limit=limit + 1, after=listing.pair(cursor))
    return listing.answer(
        ApiKeyPage, found, limit, shape=tenant_shapes.key_shape, key=lambda each: (each.created_at, each.id)
    )


@router.post("/org/api-keys", status_code=201, response_model=tenant_shapes.CreatedKey)
@needs("admin")
def create_api_key(body: bodies.NewApiKey, caller: Caller, idempotency_key: IdempotencyKey = None) -> Response:
    """Create a key. `key` is shown only in this answer. With `project_id` the key is pinned: its requests need no `X-Project-ID`;
    with `confined` too it has no access to other projects. With `user_id` it has access to that user's sessions only."""
    fields = KeyFields(
        name=body.name,
        project=None if body.project_id is None else parse_project_id(body.project_id),
        confined=body.confined,
        permissions=body.permissions,
        expires_at=None if body.expires_at is None else parse_iso(body.expires_at, "expires_at"),
        user_id=body.user_id,
    )
    created = caller.services.api_keys.create(
        caller.reach, fields, idempotency_key=idempotency_key, root=caller.text, asked_by=caller.key.id
    )
    return answer(tenant_shapes.created_key_shape(created), 201)


@router.delete("/org/api-keys/{key_id}", status_code=204, response_model=None)
@needs("admin")
def revoke_api_key(key_id: KeyName, caller: Caller) -> Response:
    """Revoke a key, with immediate effect. The last admin key without an expiry cannot be revoked (409): create another first."""
    caller.services.api_keys.revoke(caller.reach, parse_key_id(key_id))
    return nothing()


@router.get("/org/usage", response_model=tenant_shapes.Usage)
@needs("read")
def get_usage(caller: Caller) -> Response:
    """Get the tenant's counts and limits."""
    return answer(tenant_shapes.usage_shape(caller.services.projects.usage(caller.reach)))
