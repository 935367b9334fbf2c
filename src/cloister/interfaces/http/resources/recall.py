"""Routes of recall: contexts and search."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.context import Source, parse_sources
from cloister.domain.identifiers import parse_project_id
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.timestamps import checked_time, parse_iso
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import HitList, answer
from cloister.interfaces.python.recall import shapes as recall_shapes
from cloister.interfaces.python.receipts.inline import receipt_fields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget

router = APIRouter(route_class=GuardedRoute, tags=["Recall"])


@router.post("/v1/context", response_model=recall_shapes.Context)
@needs("read")
def build_context(body: bodies.ContextRequest, caller: Caller) -> Response:
    """Build the context of a reply: the recent messages of a session, messages of its pool that match the query, memories, entities
    of the project, and observations. Without `query`, the user's last message is the query. `memory_context` is the memories as
    text for a prompt: quoted, and marked as data and not as instructions."""
    request = ContextRequest(
        question=body.query,
        asked_at=_time(body.asked_at, "asked_at"),
        as_of=_time(body.as_of, "as_of"),
        min_relevance=body.min_relevance,
        sources=None if body.sources is None else _sources(body.sources),
        recent_limit=body.recent_limit,
        semantic_limit=body.semantic_limit,
        budget=body.budget_tokens,
        filter=None if body.filter is None else parse_filter(body.filter),
    )
    context = caller.services.context.build(caller.reach, body.session_id, request)
    receipts = caller.services.recall_receipts
    return answer(recall_shapes.context_shape(context, receipts.of_context(caller.reach, context, caller.key.id)))


@router.post("/v1/search", response_model=HitList)
@needs("read")
def search(body: bodies.SearchRequest, caller: Caller) -> Response:
    """Find episodes, memories and entities: in the project of the request, with `session_id` in the scope of that session, with
    `project_id` in that project, or with `null` in no project. Hits below `min_relevance` are left out."""
    found = caller.services.search.find(
        caller.reach,
        body.query,
        _target(body, caller),
        body.limit,
        body.kinds,
        min_relevance=body.min_relevance,
        asked_at=_time(body.asked_at, "asked_at"),
        as_of=_time(body.as_of, "as_of"),
        filter=None if body.filter is None else parse_filter(body.filter),
    )
    made = caller.services.recall_receipts.of_search(caller.reach, found, body.session_id, caller.key.id)
    hits = recall_shapes.hit_shapes(found)
    return answer(HitList.model_construct(data=hits, stale=found.stale or None, **receipt_fields(made)))


def _target(body: bodies.SearchRequest, caller: CallerInfo) -> SearchTarget:
    if body.session_id is None and "project_id" not in body.model_fields_set:
        return SearchTarget(project=caller.project(required=True), user_id=body.user_id)
    project = None if body.project_id is None else parse_project_id(body.project_id)
    return SearchTarget(session=body.session_id, project=project, user_id=body.user_id)


def _time(given: str | None, field: str) -> int | None:
    return None if given is None else checked_time(parse_iso(given, field), field)


def _sources(given: list[bodies.ContextSource]) -> tuple[Source, ...]:
    return parse_sources([source.model_dump(exclude_unset=True) for source in given], "sources")
