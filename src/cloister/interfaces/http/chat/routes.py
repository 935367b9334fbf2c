"""Chat: a reply with memory, streamed; followed by any number of readers, and stopped."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.conversation import Draft
from cloister.domain.errors import InvalidRequest
from cloister.domain.text import checked_content
from cloister.interfaces.http.chat.running_turns import RunningTurn, RunningTurns
from cloister.interfaces.http.chat.ui_stream import MEDIA_TYPE, ui_stream
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck, StreamGuard
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, NoBody, needs
from cloister.interfaces.http.dispatch.parameters import SessionId
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources.answers import answer, nothing
from cloister.interfaces.http.resources.bodies import Body, Name, ProjectId
from cloister.interfaces.http.resources.sessions import project_of
from cloister.services.chat.turns import Ask, NamedSession, Turn

STREAM: dict[str, Any] = {
    "description": "The turn as it runs, as server-sent events.",
    "content": {MEDIA_TYPE: {"schema": {"description": "Events, each a JSON object."}}},
}

router = APIRouter(route_class=GuardedRoute, tags=["Chat"])
_LONGEST_STOP_SECONDS = 30


class UiPart(BaseModel):
    """One part of a message: words where its type is `text`; files are refused, all others are the client's own."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None


class UiMessage(BaseModel):
    """A message as the AI SDK sends it."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "user", "assistant"]
    parts: list[UiPart]


class ChatRequest(Body):
    """What the AI SDK's transport sends. Only the last message of the user is read: the history is the server's."""

    id: Name = Field(description="The session's `external_id`. A session that is not there is made, with this message.")
    messages: list[UiMessage] = Field(json_schema_extra={"minItems": 1})
    project_id: ProjectId | None = Field(
        default=None,
        description="Of a new session. Left out: the project of the request. `null`: none, which is the shared pool. A session "
        "that is there must be in it.",
    )
    user_id: Name | None = Field(
        default=None, description="Of a new session. A session that is there must be this user's."
    )
    trigger: Literal["submit-message", "regenerate-message"] = Field(
        default="submit-message",
        description="`regenerate-message`: answer the user's last message again; the new reply takes the place of the old one.",
    )
    message_id: str | None = Field(default=None, alias="messageId", description="The client's own; not used.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """Whether a turn ran here; what it had said is stored."""

    stopped: bool


class StartedTurn(Response):
    """Starts the turn on the event loop, and streams it."""

    def __init__(self, turns: RunningTurns, turn: Turn, guard: StreamGuard) -> None:
        super().__init__()
        self._turns = turns
        self._turn = turn
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await ui_stream(self._turns.start(self._turn), self._guard)(scope, receive, send)


@router.post("/v1/chat/stream", response_class=Response, responses={200: STREAM})
@needs("write")
def chat(body: ChatRequest, caller: Caller, request: Request) -> Response:
    """Say something, and stream the reply as the AI SDK's UI message stream: `start`, `data-context` with what was recalled and
    from where, `text-start`, `text-delta`, `text-end`, `finish`, and `[DONE]`. When it answers, what was said is durable. The reply
    is written to its end, and stored, whether or not anybody listens. A failure after the first byte is an `error` event; the reply
    is then stored as `partial` or `failed`. One turn at a time: a second one is refused with `turn_in_progress`. Needs the
    permission `read` too."""
    caller.key.require("read")
    keeper, named, last_change = caller.services.turns, _named(body, caller), last_change_of(request)
    if body.trigger == "regenerate-message":
        turn = keeper.begin_again(caller.reach, named)
    else:
        turn = keeper.begin(caller.reach, Ask(drafts=[_said(body)], **asdict(named)))
    return StartedTurn(_running(request), turn, turn_guard(turn, caller, request, asked_after=last_change))


@router.get(
    "/v1/chat/{external_id}/stream",
    response_class=Response,
    responses={200: STREAM, 204: {"description": "No turn is running."}},
)
@needs("read")
def follow_chat(external_id: SessionId, caller: Caller, request: Request) -> Response:
    """Follow the turn that is running in a session, from its start; 204 when there is none that this caller could have asked for.
    What was recalled is shown as far as it is still there."""
    running = _find(external_id, caller, request)
    return nothing() if running is None else ui_stream(running, turn_guard(running.turn, caller, request))


@router.post("/v1/chat/{external_id}/stop", response_model=Stopped)
@needs("write")
def stop_chat(external_id: SessionId, caller: Caller, request: Request, _: NoBody) -> Response:
    """Stop the turn that is running in a session, as whoever could have asked for it may. What it has said so far is stored as
    `partial` when this answers. Needs the permission `read` too."""
    caller.key.require("read")
    running = _find(external_id, caller, request)
    if running is not None:
        _running(request).stop(running).result(_LONGEST_STOP_SECONDS)
    return answer(Stopped(stopped=running is not None))


def last_change_of(request: Request) -> object:
    """For `asked_after`; read before the turn begins."""
    return cast(AccessRecheck, request.app.state.access_recheck).last_change


def turn_guard(turn: Turn, caller: CallerInfo, request: Request, *, asked_after: object | None = None) -> StreamGuard:
    """Lets a turn be shown to a caller as long as its key, its project and the session allow it. `asked_after`: this request began
    the turn, after that change."""

    def may_read(now: CallerInfo) -> bool:
        now.chosen_project()
        return now.services.turn_readers.admits(now.reach, turn)

    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    return recheck.guard(caller, ("turn", turn.session.id, turn.number), may_read, checked_after=asked_after)


def _named(body: ChatRequest, caller: CallerInfo) -> NamedSession:
    return NamedSession(
        session=body.id,
        project=project_of(body, caller),
        must_be_in="project_id" in body.model_fields_set,
        user_id=body.user_id,
    )


def _said(body: ChatRequest) -> Draft:
    """The words of the user's last message."""
    spoken = [(place, message) for place, message in enumerate(body.messages) if message.role == "user"]
    if not spoken:
        raise InvalidRequest("messages", "must hold a message of the user.")
    place, message = spoken[-1]
    for number, part in enumerate(message.parts):
        if part.type == "file":
            raise InvalidRequest(f"messages[{place}].parts[{number}]", "is a file, and only text is understood here.")
    words = "\n".join(part.text for part in message.parts if part.type == "text" and part.text)
    return Draft(role="user", content=checked_content(words, f"messages[{place}].parts"))


def _find(external_id: str, caller: CallerInfo, request: Request) -> RunningTurn | None:
    services = caller.services
    session = services.turns.find(caller.reach, NamedSession(session=external_id))
    running = _running(request).find(session.tenant, session.id)
    return running if running is not None and services.turn_readers.admits(caller.reach, running.turn) else None


def _running(request: Request) -> RunningTurns:
    return cast(RunningTurns, request.app.state.turns)
