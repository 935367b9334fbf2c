"""Recall: contexts and search."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.context import parse_sources
from cloister.interfaces import shapes
from cloister.interfaces.http import bodies
from cloister.interfaces.http.answers import HitList, answer
from cloister.interfaces.http.callers import Caller, needs
from cloister.interfaces.http.routes import GuardedRoute
from cloister.services.search import Place

router = APIRouter(route_class=GuardedRoute, tags=["Recall"])


@router.post("/v1/context", response_model=shapes.Context)
@needs("read")
def build_context(body: bodies.ContextRequest, caller: Caller) -> Response:
    """What was just said in a session, and what its pool knows of the query. Without `query`, the user's last message is the
    query."""
    context = caller.services.context.build(
        caller.reach,
        body.session_id,
        question=body.query,
        sources=None if body.sources is None else parse_sources(body.sources, "sources"),
        recent_limit=body.recent_limit,
        semantic_limit=body.semantic_limit,
        budget=body.budget_tokens,
    )
    return answer(shapes.context_shape(context))


@router.post("/v1/search", response_model=HitList)
@needs("read")
def search(body: bodies.SearchRequest, caller: Caller) -> Response:
    """The best episodes of the project of the request, or with `session_id` of that session's scope."""
    place = (
        Place(session=body.session_id)
        if body.session_id is not None
        else Place(project=caller.project(required=True), user_id=body.user_id)
    )
    if body.kinds is not None and "episodes" not in body.kinds:
        return answer(HitList.model_construct(data=[]))
    hits = caller.services.search.search(caller.reach, body.query, place, body.limit)
    return answer(HitList.model_construct(data=[shapes.hit_shape(hit) for hit in hits]))
