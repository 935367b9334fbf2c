"""Operation: alive, ready, and how it is doing."""

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from cloister.domain.errors import CloisterError
from cloister.interfaces.http.answers import answer
from cloister.interfaces.http.callers import AllServices, needs
from cloister.interfaces.http.metrics import Metrics
from cloister.interfaces.http.problems import problem
from cloister.interfaces.http.routes import GuardedRoute

router = APIRouter(route_class=GuardedRoute, tags=["Operation"])


class Alive(BaseModel):
    status: str


class Ready(BaseModel):
    status: str
    schema_version: int
    waiting: int


@router.get("/livez", response_model=Alive)
@needs("nothing")
async def livez() -> Response:
    """The process answers."""
    return answer(Alive(status="alive"))


@router.get("/readyz", response_model=Ready)
@needs("nothing")
def readyz(services: AllServices) -> Response:
    """The database can be read, its schema is the one this version knows, and the index can be asked."""
    try:
        version, waiting = services.diagnose.schema_version(), services.queue.waiting()
    except CloisterError as error:
        return problem("storage_unavailable", f"Not ready: {error}")
    return answer(Ready(status="ready", schema_version=version, waiting=waiting))


@router.get("/metrics", response_model=None)
@needs("nothing")
def metrics(request: Request) -> Response:
    """Prometheus metrics, without a label for any tenant or user."""
    found: Metrics = request.app.state.metrics
    return Response(found.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/", include_in_schema=False)
@needs("nothing")
async def home() -> Response:
    return RedirectResponse("/docs")
