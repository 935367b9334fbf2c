"""`POST /v1/chat/completions`: memory for an application that knows only OpenAI's interface, by changing its base URL."""

from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from cloister.domain.context import Context
from cloister.domain.errors import InvalidRequest
from cloister.domain.reply import ChatRequest
from cloister.domain.text import checked_name
from cloister.interfaces.http.chat.routes import last_change_of, turn_guard
from cloister.interfaces.http.chat.running_turns import RunningTurns
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.openai.bodies import ChatCompletionRequest
from cloister.interfaces.http.openai.errors import CHAT, OpenAiRoute
from cloister.interfaces.http.openai.messages import read_conversation, with_memory
from cloister.interfaces.http.openai.reply import EVENTS, Answering, TurnReply
from cloister.interfaces.http.openapi import schemas as forms
from cloister.services.chat.turns import Ask

router = APIRouter(route_class=OpenAiRoute, tags=["OpenAI-compatible"])

_CHUNK = (
    '{"id": "chatcmpl-2c19f0a87b3e54d6", "object": "chat.completion.chunk", "created": 1777714274, "model": "llama-3", \
"choices": [{"index": 0, "delta": {"content": "Noted."}, "logprobs": null, "finish_reason": null}]}'
)
_STREAM: dict[str, Any] = {
    "content": {
        EVENTS: {
            "schema": {"description": "Chunks, each in an event."},
            "example": f"data: {_CHUNK}\n\ndata: [DONE]\n\n",
        }
    }
}
SessionHeader = Annotated[
    str | None,
    Header(
        alias="X-Session-ID",
        description="The session's `external_id`, in UTF-8. A session that is not there is made; without a name it gets one. Every "
        "answer says it.",
        json_schema_extra=forms.NAME,
    ),
]


class ToolCallFunction(BaseModel):
    name: str
    arguments: str


class ToolCall(BaseModel):
    id: str
    type: str
    function: ToolCallFunction


class CompletionMessage(BaseModel):
    """`tool_calls` is there where the model calls tools; then `content` may be null."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | None
    refusal: str | None
    tool_calls: list[ToolCall] | None = None


class CompletionChoice(BaseModel):
    index: int
    message: CompletionMessage
    logprobs: Any
    finish_reason: str


class CompletionUsage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """A completion as OpenAI's clients know it. `usage` is null where the model's server does not count."""

    id: str
    object: str
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage | None


@router.post(CHAT, response_model=ChatCompletion, responses={200: _STREAM}, summary="Complete a chat")
@needs("write")
def complete_chat(
    body: ChatCompletionRequest, caller: Caller, request: Request, session_id: SessionHeader = None
) -> Response:
    """As OpenAI's: your messages go to the model in your order, with your system prompt and your tools. Added is one part of the
    system message: what is remembered in the session's pool and is not in your messages already. What is new in them is recorded,
    and so is the reply; a history that is sent again is not recorded again. With `stream` the answer is a stream of chunks; who
    leaves it stops the reply, which is then stored as `partial`. Needs the permission `read` too."""
    caller.key.require("read")
    body.refuse_ours()
    if body.n not in (None, 1):
        raise InvalidRequest("n", "must be 1: one reply is recorded for one message.")
    conversation = read_conversation(body.messages)
    session = _session(request, body)
    services, last_change = caller.services, last_change_of(request)
    turn = services.turns.begin(
        caller.reach,
        Ask(
            session=session,
            drafts=conversation.last_said if session is None else conversation.drafts,
            project=caller.project(required=False),
            must_be_in=caller.project_header is not None,
            user_id=body.user_id,
            has_whole_history=session is not None,
            continues=conversation.continues,
            known=conversation.known,
        ),
    )

    def build(context: Context) -> ChatRequest:
        messages = with_memory(conversation, context, turn.system_prompt)
        return ChatRequest(messages=messages, options=body.options, context=context)

    answering = Answering(
        turn=turn,
        build=build,
        model=lambda: services.chat.model.name,
        stream=bool(body.stream),
        usage=body.wants_usage,
        guard=turn_guard(turn, caller, request, asked_after=last_change),
    )
    return TurnReply(cast(RunningTurns, request.app.state.turns), answering)


def _session(request: Request, body: ChatCompletionRequest) -> str | None:
    """The header, else the metadata, else none. A header that comes twice would mean one session here and another before us."""
    given = request.headers.getlist("x-session-id")
    if len(given) > 1:
        raise InvalidRequest("X-Session-ID", "must come once.")
    named: object = (body.metadata or {}).get("session_id")
    if named is not None and not isinstance(named, str):
        raise InvalidRequest("metadata.session_id", "must be text.")
    if named is not None:
        checked_name(named, "metadata.session_id")
    return checked_name(_utf8(given[0]), "X-Session-ID") if given else named


def _utf8(header: str) -> str:
    """Frameworks read headers as Latin-1, and some clients write them so."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        return header
