"""`POST /v1/sessions/{external_id}/title`: have the chat model name a conversation."""

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from cloister.domain.errors import AccessEnded
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs
from cloister.interfaces.http.dispatch.parameters import SessionId
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.http.resources.bodies import Body, Name
from cloister.interfaces.python import shapes

router = APIRouter(route_class=GuardedRoute, tags=["Sessions and messages"])


class TitleRequest(Body):
    """Which title may be replaced."""

    replaces: Name | None = Field(
        default=None,
        description="A title that the caller has given until there is a better one: it is replaced. Any other title stays.",
    )


@router.post("/v1/sessions/{external_id}/title", response_model=shapes.Session)
@needs("write")
def title_session(external_id: SessionId, body: TitleRequest, caller: Caller) -> Response:
    """Give a session a title that the chat model makes of its first exchange, of at most eight words. A session that has a title
    keeps it, unless that is `replaces`; then, and if the title or the first messages change while the model answers, the answer is
    the session as it is. A title is no activity: `updated_at` stays. Needs the permission `read` too. Without a finished reply it
    is refused with `conflict`, and without a model with `model_unavailable`."""
    caller.key.require("read")
    titles = caller.services.first_use.titles
    session = titles.give(caller.reach, external_id, replaces=body.replaces, check_caller=lambda: _check_again(caller))
    return answer(shapes.session_shape(session))


def _check_again(caller: CallerInfo) -> None:
    """The key may have been revoked or narrowed while the model answered."""
    key = caller.check()
    key.require("write")
    key.require("read")
    if key.reach != caller.reach:
        raise AccessEnded()
    caller.check_project()
