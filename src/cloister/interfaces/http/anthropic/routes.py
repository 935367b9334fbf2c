"""`POST /anthropic/v1/messages`: memory for applications of Anthropic's interface, by a change of their base URL."""

from functools import partial
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.context import Context
from cloister.domain.errors import InvalidRequest
from cloister.domain.patterns import anchored
from cloister.domain.prompts.prompt import given
from cloister.domain.reply import ChatRequest
from cloister.domain.text import checked_name
from cloister.interfaces.http import sse
from cloister.interfaces.http.anthropic.bodies import MessagesRequest
from cloister.interfaces.http.anthropic.errors import MESSAGES, REQUEST_ID, in_anthropic_shape
from cloister.interfaces.http.anthropic.message_format import MessageFormat
from cloister.interfaces.http.anthropic.messages import (
    check_system,
    read_conversation,
    system_with_memory,
    without_control_tokens,
)
from cloister.interfaces.http.chat.routes import ModelKeyHeader, last_change_of, model_key, turn_guard
from cloister.interfaces.http.chat.running_turns import RunningTurns
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs, with_bearer
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.openai.reply import Answering, TurnReply
from cloister.interfaces.http.openai.routes import NamedModel, SessionHeader, named_session
from cloister.services.chat.turns import TurnRequest

_EXAMPLE = (
    'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, "delta": '
    '{"type": "text_delta", "text": "Noted."}}\n\n'
)
_STREAM: dict[str, Any] = {
    "content": {sse.MEDIA_TYPE: {"schema": {"description": "Events of a message, each named."}, "example": _EXAMPLE}}
}
_WORKSPACE = "anthropic-workspace-id"
_VERSION = anchored(r"\d{4}-\d{2}-\d{2}")
_BETAS = anchored(r"[A-Za-z0-9._, -]{0,1000}")
VersionHeader = Annotated[
    str | None,
    Header(
        alias="anthropic-version",
        description="The version of Anthropic's interface, which is passed to the model's server.",
        json_schema_extra={"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
    ),
]
BetaHeader = Annotated[
    str | None,
    Header(
        alias="anthropic-beta",
        description="Names of features in test, which are passed to the model's server.",
        json_schema_extra={"pattern": "^[A-Za-z0-9._, -]{0,1000}$"},
    ),
]


Beta = Annotated[
    Literal["true"] | None,
    Query(description="Sent by clients that use features in test; it has no other meaning."),
]


class AnthropicRoute(GuardedRoute):
    """A route that accepts a key in `x-api-key` too, and answers errors in Anthropic's format."""

    allows_no_project = True

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["headers"] = with_bearer(scope["headers"])
        await super()._serve(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        return in_anthropic_shape(await super()._respond(request), request.scope.get(REQUEST_ID))


router = APIRouter(route_class=AnthropicRoute, tags=["Anthropic-compatible"])


class MessageUsage(BaseModel):
    model_config = ConfigDict(extra="allow")

    input_tokens: int
    output_tokens: int


class AnthropicMessage(BaseModel):
    """A message in Anthropic's format, as the model's server made it."""

    model_config = ConfigDict(extra="allow")

    id: str
    type: str
    role: str
    model: str
    content: list[dict[str, Any]]
    stop_reason: str | None
    stop_sequence: str | None
    usage: MessageUsage


@router.post(MESSAGES, response_model=AnthropicMessage, responses={200: _STREAM}, summary="Create a message")
@needs("write")
def create_message(
    body: MessagesRequest,
    caller: Caller,
    request: Request,
    session_id: SessionHeader = None,
    caller_key: ModelKeyHeader = None,
    version: VersionHeader = None,
    betas: BetaHeader = None,
    beta: Beta = None,
) -> Response:
    """Create a message as Anthropic's interface does: your messages go to the model in your order, with your system prompt and
    tools, if the model's server has `/v1/messages`. What the session's pool remembers and your messages do not contain is added as
    the last block of the system prompt. New messages and the reply are recorded; a history that is sent again is not recorded
    again. With `stream` the answer is a stream of events, as they come from the model's server; to disconnect stops the reply,
    which is then stored as `partial`. Needs the permission `read` too."""
    caller.key.require("read")
    body.refuse_thread()
    check_system(body.system)
    conversation, headers = read_conversation(body.messages), passed_headers(request)
    session, key = named_session(request, None), model_key(request, caller)
    services, last_change = caller.services, last_change_of(request)
    turn = services.turns.begin(
        caller.reach,
        TurnRequest(
            session=session,
            drafts=conversation.last_said if session is None else conversation.drafts,
            project=caller.session_project(),
            must_be_in=caller.project_header is not None,
            user_id=_user_of(body, caller),
            has_whole_history=session is not None,
            continues=conversation.continues,
            known=conversation.known,
            key=caller.key.id,
        ),
    )
    named = NamedModel(body.model, turn.model, services.chat.model)
    messages = without_control_tokens(body.messages)

    def build(context: Context) -> ChatRequest:
        system = system_with_memory(body.system, conversation.known, context, turn.system_prompt)
        options = {**body.options, **({} if system is None else {"system": system})}
        return named.asked(
            ChatRequest(
                messages=messages,
                options=options,
                context=given(turn.system_prompt, context),
                key=key,
                interface="messages",
                headers=headers,
                begun=conversation.begun,
            )
        )

    request_id: str | None = request.scope.get(REQUEST_ID)
    answering = Answering(
        start=lambda turns: turns.start(turn, build),
        session=turn.session.external_id,
        format=MessageFormat(turn, lambda: named.name, request_id),
        stream=bool(body.stream),
        guard=turn_guard(turn, caller, request, asked_after=last_change),
        in_shape=partial(in_anthropic_shape, request_id=request_id),
        is_unnamed=turn.is_unnamed,
    )
    return TurnReply(cast(RunningTurns, request.app.state.turns), answering)


def _user_of(body: MessagesRequest, caller: CallerInfo) -> str | None:
    """The user of the session. Clients fill `metadata.user_id` with a text of their own making, so with a key that is bound to a
    user it is not read; otherwise it divides memory, and can only narrow what is recalled."""
    named = None if body.metadata is None else body.metadata.user_id
    if named is None or caller.reach.user is not None:
        return None
    return checked_name(named, "metadata.user_id")


def passed_headers(request: Request) -> dict[str, str]:
    """The headers for the model's server: the version of the interface, and features in test."""
    if _WORKSPACE in request.headers:
        raise InvalidRequest(
            _WORKSPACE,
            "names a workspace in the account of this server's key, which all its users share: leave the header out.",
        )
    headers: dict[str, str] = {}
    version = request.headers.getlist("anthropic-version")
    if version:
        if len(version) > 1 or not _VERSION.fullmatch(version[0]):
            raise InvalidRequest("anthropic-version", "must be one date, such as 2026-10-21.")
        headers["anthropic-version"] = version[0]
    betas = ",".join(request.headers.getlist("anthropic-beta"))
    if betas:
        if not _BETAS.fullmatch(betas):
            raise InvalidRequest(
                "anthropic-beta", "must be names with commas between them, of at most 1,000 characters."
            )
        headers["anthropic-beta"] = betas
    return headers
