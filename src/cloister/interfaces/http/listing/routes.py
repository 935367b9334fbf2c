"""Routes for people who look through what is remembered: memories, timeline and activity of a project or a user."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_project_id
from cloister.domain.recall.filter_language import filter_identity, parse_filter_text
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import (
    Cursor,
    FilterText,
    IsPinned,
    Limit,
    OfStatus,
    ProfileOf,
    ProjectId,
    UserId,
)
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.answers import MemoryPage, answer, page_model
from cloister.interfaces.python.arguments import project_of
from cloister.interfaces.python.derived_shapes import memory_shape
from cloister.interfaces.python.listing.backends import memory_key
from cloister.interfaces.python.listing.shapes import Activity, TimelineEntry, activity_shape, timeline_shape
from cloister.services.listing.activity import DEFAULT_DAYS, MOST_DAYS
from cloister.services.listing.project_memories import MemoryQuery, PartOfProject

router = APIRouter(route_class=GuardedRoute, tags=["Memories"])

TimelinePage = page_model("TimelinePage", list[TimelineEntry])
OfPart = Annotated[
    str | None,
    Query(
        description="Whose memories. Without it: where memory is divided by user, those of sessions without a user; in a shared "
        "project everybody's.",
        json_schema_extra=schemas.NAME,
    ),
]
Users = Annotated[
    Literal["all"] | None,
    Query(description="`all`: the memories of everybody. Needs the permission `admin`, and no `user_id`."),
]
Days = Annotated[int, Query(ge=1, le=MOST_DAYS, description="How many days of UTC, of which the last is today.")]
Words = Annotated[
    str | None,
    Query(description="Only memories that contain all words of this text.", json_schema_extra=schemas.NAME),
]


@router.get("/v1/memories", response_model=MemoryPage)
@needs("read")
def list_project_memories(
    caller: Caller,
    project_id: ProfileOf = None,
    user_id: OfPart = None,
    users: Users = None,
    status: OfStatus = None,
    pinned: IsPinned = None,
    query: Words = None,
    filter: FilterText = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the memories of the project of the request, or of the project `project_id`, newest first, whatever their status. Equal
    memories of several sessions are listed once."""
    if project_id is not None and caller.project_header not in (None, project_id):
        raise InvalidRequest("project_id", "names another project than X-Project-ID.")
    project = caller.project(required=False) if project_id is None else project_of(project_id)
    part = PartOfProject(project=project, user_id=user_id, everybody=_everybody(caller, users))
    wanted = None if filter is None else parse_filter_text(filter)
    asked = MemoryQuery(status=status, pinned=pinned, words=query, filter=wanted)
    identity = (*part.identity, *asked.identity, *filter_identity(wanted))
    listing = Listing("memories of a project", caller.reach.tenant, *identity)
    found = caller.services.listings.memories.page(
        caller.reach, part, asked, limit=limit + 1, before=listing.pair(cursor)
    )
    return listing.answer(MemoryPage, found, limit, shape=memory_shape, key=memory_key)


@router.get("/org/projects/{project_id}/timeline", response_model=TimelinePage)
@needs("read")
def list_project_timeline(
    project_id: ProjectId,
    caller: Caller,
    user_id: OfPart = None,
    users: Users = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what was learnt and what changed in a project, newest first. What was forgotten is not listed."""
    part = PartOfProject(project=parse_project_id(project_id), user_id=user_id, everybody=_everybody(caller, users))
    listing = Listing("timeline of a project", caller.reach.tenant, *part.identity)
    found = caller.services.listings.timelines.of_project(
        caller.reach, part, limit=limit + 1, before=listing.pair(cursor)
    )
    return listing.answer(TimelinePage, found, limit, shape=timeline_shape, key=lambda entry: entry.cursor)


@router.get("/v1/users/{user_id}/timeline", response_model=TimelinePage)
@needs("admin")
def list_user_timeline(user_id: UserId, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List what was learnt of a user and what changed, newest first, for display and audit: in the project that the header or the
    key names, else in all."""
    reach = caller.narrowed_reach()
    listing = Listing("timeline of a user", reach.tenant, reach.confined_to, user_id)
    found = caller.services.listings.timelines.of_user(reach, user_id, limit=limit + 1, before=listing.pair(cursor))
    return listing.answer(TimelinePage, found, limit, shape=timeline_shape, key=lambda entry: entry.cursor)


@router.get("/org/projects/{project_id}/activity", response_model=Activity)
@needs("read")
def get_project_activity(
    project_id: ProjectId, caller: Caller, user_id: OfPart = None, users: Users = None, days: Days = DEFAULT_DAYS
) -> Response:
    """Count the messages and memories of a project that were stored on each of the last days, the oldest first."""
    part = PartOfProject(project=parse_project_id(project_id), user_id=user_id, everybody=_everybody(caller, users))
    return answer(activity_shape(caller.services.listings.activities.of_project(caller.reach, part, days=days)))


@router.get("/v1/users/{user_id}/activity", response_model=Activity)
@needs("admin")
def get_user_activity(user_id: UserId, caller: Caller, days: Days = DEFAULT_DAYS) -> Response:
    """Count the messages and memories of a user that were stored on each of the last days, the oldest first: in the project that
    the header or the key names, else in all."""
    reach = caller.narrowed_reach()
    return answer(activity_shape(caller.services.listings.activities.of_user(reach, user_id, days=days)))


def _everybody(caller: CallerInfo, users: str | None) -> bool:
    if users is not None:
        caller.key.require("admin")
    return users is not None
