"""Routes of operation: liveness, readiness, metrics, and the documentation."""

from typing import Any, Literal, cast

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from cloister.bootstrap import Services
from cloister.domain.errors import CloisterError, StorageError
from cloister.interfaces.http.chat.relay import PeerRelay
from cloister.interfaces.http.dispatch.callers import AllServices, needs
from cloister.interfaces.http.dispatch.routes import UnqueuedRoute
from cloister.interfaces.http.metrics import Metrics
from cloister.interfaces.http.openapi.document import DescribedApp
from cloister.interfaces.http.openapi.page import POLICY
from cloister.interfaces.http.problems import problem, sentence_of
from cloister.interfaces.http.resources.answers import OnlyIfStale, answer
from cloister.services.processes import CHALLENGE

router = APIRouter(route_class=UnqueuedRoute, tags=["Operation"])


class Alive(BaseModel):
    status: Literal["alive"]


class Ready(BaseModel):
    """`waiting` is how many messages are not indexed yet; `stale` how many messages, memories and entities another version of
    Cloister indexed, which this one is rebuilding. It is left out where there are none. Where the rows of all tenants cannot be
    counted, because a part of the database is away, `waiting` is "unknown", and `stale` is left out."""

    status: Literal["ready"]
    schema_version: int
    waiting: int | Literal["unknown"]
    stale: OnlyIfStale = None


@router.get("/livez", response_model=Alive, summary="Alive")
@needs("nothing")
async def livez(request: Request) -> Response:
    """Liveness: the process answers requests."""
    response = answer(Alive(status="alive"))
    relay = cast(PeerRelay | None, request.app.state.relay)
    if relay is not None:
        response.headers.update(relay.proof(request.headers.get(CHALLENGE)))
    return response


@router.get("/readyz", response_model=Ready, summary="Ready")
@needs("nothing")
def readyz(services: AllServices) -> Response:
    """Readiness: the database can be read, its schema is the one of this version, and the last write of this process succeeded.
    After a failed write it answers why until a write succeeds; the server tries one by itself. Counts over all tenants that
    cannot be made do not make it fail."""
    try:
        waiting, stale = _counts(services)
        version = services.health.schema_version()
    except CloisterError:
        return problem("storage_unavailable", "Not ready: the database or the index cannot be used now.")
    if (failing := services.health.write_problem()) is not None:
        return problem(failing.code, f"Not ready, because the last write failed. {sentence_of(failing)}")
    return answer(Ready(status="ready", schema_version=version, waiting=waiting, stale=stale or None))


def _counts(services: Services) -> tuple[int | Literal["unknown"], int]:
    try:
        return services.queue.waiting(), services.health.stale()
    except StorageError:
        return "unknown", 0


@router.get("/metrics", response_class=PlainTextResponse)
@needs("nothing")
def metrics(request: Request) -> Response:
    """Prometheus metrics, without a label for any tenant or user."""
    found: Metrics = request.app.state.metrics
    return Response(found.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/openapi.json", response_model=dict[str, Any], summary="OpenAPI document")
@needs("nothing")
def openapi(request: Request) -> Response:
    """This interface as an OpenAPI document, for programs."""
    return Response(cast(DescribedApp, request.app).document, media_type="application/json")


@router.get("/docs", response_class=HTMLResponse, summary="Documentation")
@needs("nothing")
def docs(request: Request) -> Response:
    """This interface as one HTML page, for people. The page loads nothing from other servers."""
    return HTMLResponse(cast(DescribedApp, request.app).page, headers={"Content-Security-Policy": POLICY})
