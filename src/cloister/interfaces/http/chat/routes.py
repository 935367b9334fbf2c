"""Chat: ask for a streamed reply with memory, follow a running reply, and stop it."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, ConfigDict, FailFast, Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.conversation import Draft, Session
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MESSAGE_PREFIX, MessageId, parse_message_id
from cloister.domain.prompts.images import MOST_IMAGES, Image, checked_image, checked_image_name, placeholder
from cloister.domain.recall.relevance import checked_min_relevance
from cloister.domain.scope import refuse_scope
from cloister.domain.text import checked_content
from cloister.interfaces.http import sse
from cloister.interfaces.http.chat.relay import NO_TURN, RELAYED, PeerRelay, RelayedTurn
from cloister.interfaces.http.chat.running_turns import RunningTurn, RunningTurns
from cloister.interfaces.http.chat.ui_stream import ui_stream
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck, StreamGuard
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, NoBody, needs
from cloister.interfaces.http.dispatch.parameters import SessionId
from cloister.interfaces.http.dispatch.routes import TurnRoute
from cloister.interfaces.http.resources.answers import answer, nothing
from cloister.interfaces.http.resources.bodies import MOST_SENT, Body, Name, ProjectId, Relevance
from cloister.interfaces.http.resources.sessions import project_of
from cloister.services.chat.converse import own_request
from cloister.services.chat.turns import NamedSession, Turn, TurnRequest

STREAM: dict[str, Any] = {
    "description": "The running turn, as server-sent events.",
    "content": {sse.MEDIA_TYPE: {"schema": {"description": "Events, each a JSON object."}}},
}

router = APIRouter(route_class=TurnRoute, tags=["Chat"])
_LONGEST_STOP_SECONDS = 30
ModelKeyHeader = Annotated[
    str | None,
    Header(
        alias="X-Model-Key",
        description="Your own key of the model's endpoint, for this request, if the operator allows it. It is not stored.",
        json_schema_extra={"maxLength": 1_000},
    ),
]


class UiPart(BaseModel):
    """One part of a message: `text` is read, `file` is an image or refused, and other types are ignored."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None
    url: str | None = Field(
        default=None,
        description="Of a file: a data: URL with the contents of a PNG, JPEG, WebP or GIF image, at most four in a message. It is "
        "sent to the model with this message, and not stored: the message keeps its name.",
    )
    media_type: str | None = Field(default=None, alias="mediaType", description="Of a file.")
    filename: str | None = Field(default=None, description="Of a file.")


class UiMessage(BaseModel):
    """A message in the format of the AI SDK."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "user", "assistant"]
    parts: Annotated[list[UiPart], Field(max_length=MOST_SENT), FailFast()]


class ChatRequest(Body):
    """The request of the AI SDK's chat transport. Only the last message of the user is read; the history is the server's."""

    id: Name = Field(
        description="The session's `external_id`. If there is no such session, it is created with this message."
    )
    messages: list[UiMessage] = Field(max_length=MOST_SENT, json_schema_extra={"minItems": 1})
    project_id: ProjectId | None = Field(
        default=None,
        description="The project of a new session. Without it: the project of the request. `null`: no project. A session "
        "that exists must be in this project.",
    )
    user_id: Name | None = Field(
        default=None, description="The user of a new session. A session that exists must be this user's."
    )
    trigger: Literal["submit-message", "regenerate-message"] = Field(
        default="submit-message",
        description="`regenerate-message`: make a reply again; the new one becomes current, and the old one stays on a branch of "
        "its own.",
    )
    message_id: str | None = Field(
        default=None,
        alias="messageId",
        description="With `submit-message`: the id of the user's message that this one is another version of. It becomes its "
        "sibling, and what followed the old one stays on a branch of its own. With `regenerate-message`: the id of the reply to be "
        "made again, or of the user's message to be answered; without it, or with an id that does not begin with `msg_`, the "
        "user's last message is answered again.",
    )
    min_relevance: Relevance | None = Field(
        default=None,
        description="What is less relevant to the message is not recalled for this reply; 0 recalls everything. Without it: the "
        "project's setting.",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """Whether a turn was running. What it had said is stored."""

    stopped: bool


class StartedTurn(Response):
    """A response that starts a turn on the event loop and streams it."""

    def __init__(self, turns: RunningTurns, turn: Turn, guard: StreamGuard, key: str | None) -> None:
        super().__init__()
        self._turns = turns
        self._turn = turn
        self._guard = guard
        self._build = None if key is None else partial(own_request, turn, key=key)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await ui_stream(self._turns.start(self._turn, self._build), self._guard)(scope, receive, send)


@router.post("/v1/chat/stream", response_class=Response, responses={200: STREAM})
@needs("write")
def chat(body: ChatRequest, caller: Caller, request: Request, caller_key: ModelKeyHeader = None) -> Response:
    """Record a message of the user, and stream the reply as a UI message stream of the AI SDK: `start`, `data-context` with what
    was recalled and from where, `text-start`, `text-delta`, `text-end`, `finish`, and `[DONE]`. The user's message is durable
    before the first event. The reply is completed and stored even if the client disconnects. A failure after the first byte is an
    `error` event; the reply is then stored as `partial` or `failed`. A session has one turn at a time: a second one is refused with
    `turn_in_progress`. Needs the permission `read` too."""
    caller.key.require("read")
    turns, named, last_change = caller.services.turns, _named(body, caller), last_change_of(request)
    key, floor = model_key(request, caller), body.min_relevance
    if floor is not None:
        checked_min_relevance(floor)
    if body.trigger == "regenerate-message":
        turn = turns.begin_again(caller.reach, named, _made_again(body))
    else:
        edits = None if body.message_id is None else parse_message_id(body.message_id)
        draft, images = _said(body)
        asked = TurnRequest(drafts=[draft], edits=edits, images=images, **asdict(named))
        if images:
            asked = replace(asked, check_images=caller.services.chat.check_images)
        turn = turns.begin(caller.reach, asked)
    turn = replace(turn, min_relevance=floor)
    return StartedTurn(_running(request), turn, turn_guard(turn, caller, request, asked_after=last_change), key)


@router.get(
    "/v1/chat/{external_id}/stream",
    response_class=Response,
    responses={200: STREAM, 204: {"description": "No turn is running."}},
)
@needs("read")
def follow_chat(external_id: SessionId, caller: Caller, request: Request) -> Response:
    """Follow the turn that is running in a session, from its start; 204 if there is none that this caller may read. What was
    recalled is shown as far as it has not been forgotten since."""
    session, running = _find(external_id, caller, request)
    if running is None:
        return _relayed(session, caller, request, nothing())
    return ui_stream(running, turn_guard(running.turn, caller, request))


@router.post("/v1/chat/{external_id}/stop", response_model=Stopped)
@needs("write")
def stop_chat(external_id: SessionId, caller: Caller, request: Request, _: NoBody) -> Response:
    """Stop the turn that is running in a session. When this answers, what the reply has said so far is stored as `partial`. Needs
    the permission `read` too."""
    caller.key.require("read")
    session, running = _find(external_id, caller, request)
    if running is None:
        return _relayed(session, caller, request, answer(Stopped(stopped=False)))
    _running(request).stop(running).result(_LONGEST_STOP_SECONDS)
    return answer(Stopped(stopped=True))


def model_key(request: Request, caller: CallerInfo) -> str | None:
    """The caller's own key of the model's endpoint, if the operator allows such keys. It is passed on, and never stored."""
    given = request.headers.getlist("x-model-key")
    if len(given) > 1:
        raise InvalidRequest("X-Model-Key", "must come once.")
    return caller.services.chat.caller_key(given[0] if given else None)


def last_change_of(request: Request) -> object:
    """For `asked_after`; read before the turn begins."""
    return cast(AccessRecheck, request.app.state.access_recheck).last_change


def turn_guard(turn: Turn, caller: CallerInfo, request: Request, *, asked_after: object | None = None) -> StreamGuard:
    """The guard of a stream of a turn: its caller may read while key, project and session allow it. `asked_after`: this request
    has started the turn, after that change."""

    def may_read(now: CallerInfo) -> bool:
        now.check_project()
        return now.services.turn_readers.admits(now.reach, turn)

    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    return recheck.guard(caller, ("turn", turn.session.id, turn.number), may_read, checked_after=asked_after)


def _named(body: ChatRequest, caller: CallerInfo) -> NamedSession:
    return NamedSession(
        session=body.id,
        project=project_of(body, caller),
        must_be_in="project_id" in body.model_fields_set,
        user_id=body.user_id,
        names_user="user_id" in body.model_fields_set and caller.reach.user is None,
        key=caller.key.id,
    )


def _said(body: ChatRequest) -> tuple[Draft, tuple[Image, ...]]:
    """The text of the user's last message, which names its images, and these."""
    for index, message in enumerate(body.messages):
        refuse_scope(message.model_extra or {}, f"messages[{index}].")
    spoken = [(index, message) for index, message in enumerate(body.messages) if message.role == "user"]
    if not spoken:
        raise InvalidRequest("messages", "must hold a message of the user.")
    index, message = spoken[-1]
    files = [(number, part) for number, part in enumerate(message.parts) if part.type == "file"]
    for number, part in files:
        if not (part.media_type or "").startswith("image/"):
            raise InvalidRequest(
                f"messages[{index}].parts[{number}]", "is a file, and only text and images are understood."
            )
    if len(files) > MOST_IMAGES:
        raise InvalidRequest(f"messages[{index}].parts", f"must have at most {MOST_IMAGES} images.")
    images = tuple(_image(part, f"messages[{index}].parts[{number}]") for number, part in files)
    words = [part.text for part in message.parts if part.type == "text" and part.text]
    content = "\n".join([*words, *map(placeholder, images)])
    return Draft(role="user", content=checked_content(content, f"messages[{index}].parts")), images


def _image(part: UiPart, field: str) -> Image:
    image = checked_image(part.url, f"{field}.url", checked_image_name(part.filename, f"{field}.filename"))
    if image.media_type != (part.media_type or "").lower():
        raise InvalidRequest(f"{field}.mediaType", f"is not that of the url, {image.media_type}.")
    return image


def _made_again(body: ChatRequest) -> MessageId | None:
    """The message that the request names. An id of another form is one that the client gave, which is not known here."""
    given = body.message_id
    return parse_message_id(given) if given is not None and given.startswith(MESSAGE_PREFIX) else None


def _find(external_id: str, caller: CallerInfo, request: Request) -> tuple[Session, RunningTurn | None]:
    """The session, and the turn that runs in this process and may be read by the caller."""
    services = caller.services
    session = services.turns.find(caller.reach, NamedSession(session=external_id))
    running = _running(request).find(session.tenant, session.id)
    is_admitted = running is not None and services.turn_readers.admits(caller.reach, running.turn)
    return session, running if is_admitted else None


def _relayed(session: Session, caller: CallerInfo, request: Request, otherwise: Response) -> Response:
    """What another process answers that has the turn of this session; `otherwise` if there is none (OPS-4)."""
    if RELAYED in request.headers:
        otherwise.headers[NO_TURN] = "1"
        return otherwise
    relay = cast(PeerRelay | None, request.app.state.relay)
    is_here = _running(request).find(session.tenant, session.id) is not None
    if relay is None or is_here or not caller.services.turns.is_running(session):
        return otherwise
    return RelayedTurn(relay, otherwise)


def _running(request: Request) -> RunningTurns:
    return cast(RunningTurns, request.app.state.turns)
