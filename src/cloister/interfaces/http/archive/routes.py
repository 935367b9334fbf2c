"""Export and import (ORG-11, ORG-12)."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.errors import CloisterError, InvalidRequest
from cloister.domain.identifiers import NO_PROJECT, parse_project_id
from cloister.domain.text import checked_name
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.formats.names import FORMATS
from cloister.interfaces.http.archive.streams import (
    MEDIA_TYPE,
    ArchiveStream,
    checked_lines,
    received_chunks,
    received_lines,
)
from cloister.interfaces.http.archive.uploads import stored_upload
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs
from cloister.interfaces.http.dispatch.parameters import DryRun
from cloister.interfaces.http.dispatch.routes import GuardedRoute, UnqueuedRoute
from cloister.interfaces.http.dispatch.tenant_limit import TenantConcurrencyLimit
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.problems import of_error
from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.python.archives import imports, shapes

_FILE: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}

exporting = TenantConcurrencyLimit(of_all=8, of_one=2)
importing = TenantConcurrencyLimit(of_all=8, of_one=2)
_BUSY = "too many exports or imports of this tenant, or of all, are running"
_LINES: dict[str, Any] = {"schema": {"type": "string", "description": "One JSON object on each line."}}

ExportScope = Annotated[
    Literal["tenant", "project", "user"], Query(description="What to export. A project or a user needs an `id`.")
]
ExportId = Annotated[
    str | None,
    Query(description="The id of the project, or of the user.", json_schema_extra=schemas.NAME),
]


ImportProject = Annotated[
    str,
    Query(
        description="The project that the conversations go into, or `none` for no project.",
        json_schema_extra=schemas.PROJECT_OR_NONE,
    ),
]
FileName = Annotated[
    str | None,
    Query(
        description="The name of the file. A log of one conversation is known by it.", json_schema_extra=schemas.NAME
    ),
]
FileFormat = Annotated[str | None, Query(description=f"One of {', '.join(FORMATS)}; without it, it is found out.")]
ImportUser = Annotated[
    str | None, Query(description="The user that the conversations belong to.", json_schema_extra=schemas.NAME)
]
ModifiedAt = Annotated[
    str | None,
    Query(
        description="When the file was changed last: the time of messages that have none.",
        json_schema_extra=schemas.TIME,
    ),
]


class StreamedBodyRoute(UnqueuedRoute):
    """A route whose body is read by its handler while it arrives, after the caller was admitted. It may be of any length."""

    async def _respond(self, request: Request) -> Response:
        refused = await self._admit_early(request)
        return refused if refused is not None else await self._run(request, b"")


router = APIRouter(route_class=GuardedRoute, tags=["Organisation"])
import_router = APIRouter(route_class=StreamedBodyRoute, tags=["Organisation"])


@router.get(
    "/v1/export",
    response_class=Response,
    responses={200: {"content": {MEDIA_TYPE: _LINES}, "description": "The archive, as JSON lines."}},
)
@needs("read")
def export_archive(request: Request, caller: Caller, scope: ExportScope = "tenant", id: ExportId = None) -> Response:
    """Export everything of the tenant, of a project or of a user as an archive: JSON lines, read from one snapshot of the database,
    with counts and hashes in the last line. It has no keys. Only admin keys export, except that a key that is bound to a user
    exports that user; if it is confined too, what that user has in its project. An admin key that is confined to a project exports
    that project. For an unknown user the archive is empty."""
    _require_export(caller)
    target = _target(caller, scope, id)
    stack = ExitStack()
    stack.enter_context(exporting.taken(caller.reach.tenant, _BUSY))
    try:
        lines = caller.services.export.lines(caller.reach, target)
    except CloisterError:
        stack.close()
        raise
    reach = caller.reach
    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    guard = recheck.guard(caller, ("export", reach), lambda now: _may_export(now, reach == now.reach))
    return ArchiveStream(lines, guard, stack, f"cloister-{scope}.jsonl")


@import_router.post(
    "/v1/import",
    response_model=shapes.Imported,
    openapi_extra={"requestBody": {"required": True, "content": {MEDIA_TYPE: _LINES}}},
)
@needs("admin")
def import_archive(request: Request, caller: Caller) -> Response:
    """Import an archive, or a stream of conversations, sent as `application/x-ndjson`. It may be of any length; a line has at most
    2 MiB. What is there already stays as it is, so that importing twice changes nothing. Everything goes into the caller's tenant,
    and within the reach of its key. An archive that is damaged or does not fit is refused where that is noticed; what was imported
    before stays, and a repeated import adds the rest."""
    if caller.project_header is not None:
        raise InvalidRequest(
            "X-Project-ID", "is not used by an import, whose first line says where it goes: leave it out."
        )
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != MEDIA_TYPE:
        raise InvalidRequest("body", f"must be JSON lines, sent as {MEDIA_TYPE}.")
    reach = caller.reach
    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    guard = recheck.guard(caller, ("import", reach), lambda now: _may_import(now, reach == now.reach))
    with importing.taken(reach.tenant, _BUSY):
        try:
            imported = caller.services.import_lines.run(reach, received_lines(request, guard))
        except CloisterError as error:
            request.state.error = error
            return of_error(error, notes=True)
    return answer(shapes.imported_shape(imported))


@import_router.post(
    "/v1/import/file",
    response_model=shapes.Imported | shapes.ImportPreview,
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": _FILE}}},
)
@needs("admin")
def import_file(
    request: Request,
    caller: Caller,
    project_id: ImportProject,
    filename: FileName = None,
    format: FileFormat = None,
    user_id: ImportUser = None,
    modified_at: ModifiedAt = None,
    dry_run: DryRun = False,
) -> Response:
    """Import a file that another assistant exported, sent as it is: the conversations of ChatGPT or Claude (JSON, or the zip file),
    memories of mem0, or a log of messages; of at most 512 MiB. With `dry_run=true` nothing is stored, and the answer is what is in
    it. Everything goes into one project, within the reach of the key. What is there already stays as it is, so that a newer export
    adds the new messages only. An archive of a Cloister is imported with `POST /v1/import`."""
    if caller.project_header is not None:
        raise InvalidRequest("X-Project-ID", "is not used by an import: name the project as project_id.")
    project = None if project_id == NO_PROJECT else parse_project_id(project_id)
    user = None if user_id is None else checked_name(user_id, "user_id")
    modified = None if modified_at is None else parse_iso(modified_at, "modified_at")

    reach = caller.reach
    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    guard = recheck.guard(caller, ("import", reach), lambda now: _may_import(now, reach == now.reach))

    def run(lines: Iterator[bytes]) -> shapes.Imported:
        return shapes.imported_shape(caller.services.import_lines.run(reach, checked_lines(lines, guard)))

    caller.services.import_lines.check_target(reach, project)
    with importing.taken(reach.tenant, _BUSY):
        try:
            with stored_upload(received_chunks(request, guard), filename, modified) as file:
                done = (
                    imports.preview_file(file, format)
                    if dry_run
                    else imports.import_file(run, file, project, format, user, None)
                )
        except CloisterError as error:
            request.state.error = error
            return of_error(error, notes=True)
    return answer(done)


def _target(caller: CallerInfo, scope: Literal["tenant", "project", "user"], given: str | None) -> ArchiveTarget:
    if scope == "project":
        if given == NO_PROJECT:
            raise InvalidRequest("id", "must be the id of a project.")
        project = caller.project(required=True) if given is None else parse_project_id(given)
        return ArchiveTarget(project=project)
    if caller.project_header is not None:
        raise InvalidRequest("X-Project-ID", f"names one project, and scope={scope} means all of them: leave it out.")
    if scope == "user":
        if given is None:
            raise InvalidRequest("id", "must name the user.")
        checked_name(given, "id")
        return ArchiveTarget(user=given)
    if given is not None:
        raise InvalidRequest("id", "is not used with scope=tenant: leave it out.")
    return ArchiveTarget()


def _require_export(caller: CallerInfo) -> None:
    """Raise unless the key may export at all. A user may take along what is theirs: a key that is bound to a user reads all of it
    anyway, and can be no admin key (ORG-10)."""
    if caller.reach.user is None:
        caller.key.require("admin")


def _may_import(caller: CallerInfo, reaches_the_same: bool) -> bool:
    caller.key.require("admin")
    return reaches_the_same


def _may_export(caller: CallerInfo, reaches_the_same: bool) -> bool:
    _require_export(caller)
    return reaches_the_same
