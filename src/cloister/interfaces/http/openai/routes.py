"""`POST /v1/chat/completions`: memory for applications of OpenAI's interface, by a change of their base URL."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from cloister.domain.context import Context
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import NO_PROJECT
from cloister.domain.prompts.prompt import given
from cloister.domain.reply import ChatRequest
from cloister.domain.text import checked_name
from cloister.interfaces.http import sse
from cloister.interfaces.http.chat.routes import ModelKeyHeader, last_change_of, model_key, turn_guard
from cloister.interfaces.http.chat.running_turns import RunningTurns
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs, single_header
from cloister.interfaces.http.openai.bodies import ChatCompletionRequest
from cloister.interfaces.http.openai.completion_format import CompletionFormat
from cloister.interfaces.http.openai.errors import CHAT, OpenAiRoute
from cloister.interfaces.http.openai.messages import read_conversation, with_memory
from cloister.interfaces.http.openai.reply import Answering, ReplyFormat, TurnReply
from cloister.interfaces.http.openapi import schemas
from cloister.services.chat.converse import BuildRequest, ChatModel
from cloister.services.chat.turns import NamedSession, TurnRequest
from cloister.services.chat.unrecorded import UnrecordedQuestion
from cloister.services.lease import new_lease_number

router = APIRouter(route_class=OpenAiRoute, tags=["OpenAI-compatible"])

_CHUNK = (
    '{"id": "chatcmpl-2c19f0a87b3e54d6", "object": "chat.completion.chunk", "created": 1777714274, "model": "llama-3", \
"choices": [{"index": 0, "delta": {"content": "Noted."}, "logprobs": null, "finish_reason": null}]}'
)
_STREAM: dict[str, Any] = {
    "content": {
        sse.MEDIA_TYPE: {
            "schema": {"description": "Chunks, each in an event."},
            "example": f"data: {_CHUNK}\n\ndata: [DONE]\n\n",
        }
    }
}
SessionHeader = Annotated[
    str | None,
    Header(
        alias="X-Session-ID",
        description="The session's `external_id`, in UTF-8. A session that does not exist is created; without this header the "
        "server makes an id. Every answer has it in the same header.",
        json_schema_extra=schemas.NAME,
    ),
]


class ToolCallFunction(BaseModel):
    name: str
    arguments: str


class CustomToolInput(BaseModel):
    name: str
    input: str


class ToolCall(BaseModel):
    """A call of a tool of the type `function` or `custom`, in the field of that name."""

    id: str
    type: str
    function: ToolCallFunction | None = None
    custom: CustomToolInput | None = None


class CompletionMessage(BaseModel):
    """The reply. `tool_calls` is present if the model calls tools; then `content` may be null."""

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
    """A chat completion in OpenAI's format. `usage` is null if the model's server reports none."""

    id: str
    object: str
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage | None


@router.post(CHAT, response_model=ChatCompletion, responses={200: _STREAM}, summary="Complete a chat")
@needs("write")
def complete_chat(
    body: ChatCompletionRequest,
    caller: Caller,
    request: Request,
    session_id: SessionHeader = None,
    caller_key: ModelKeyHeader = None,
) -> Response:
    """Complete a chat as OpenAI's interface does: your messages go to the model in your order, with your system prompt and tools.
    To the system message is added what the session's pool remembers and your messages do not contain. New messages and the reply
    are recorded, unless `store` is false; a history that is sent again is not recorded again. With `stream` the answer is a stream
    of chunks; to disconnect stops the reply, which is then stored as `partial`. Needs the permission `read` too."""
    caller.key.require("read")
    body.check()
    caller = in_named_project(caller, body.metadata)
    answer = _unrecorded if body.store is False else _recorded
    return TurnReply(cast(RunningTurns, request.app.state.turns), answer(body, caller, request))


def _recorded(body: ChatCompletionRequest, caller: CallerInfo, request: Request) -> Answering:
    conversation = read_conversation(body.messages)
    named, key = _named(body, caller, request), model_key(request, caller)
    services, last_change = caller.services, last_change_of(request)
    turn = services.turns.begin(
        caller.reach,
        TurnRequest(
            **asdict(named),
            drafts=conversation.last_said if named.session is None else conversation.drafts,
            has_whole_history=named.session is not None,
            continues=conversation.continues,
            known=conversation.known,
        ),
    )
    model = NamedModel(body.model, turn.model, services.chat.model)

    def build(context: Context) -> ChatRequest:
        messages = with_memory(conversation, context, turn.system_prompt)
        shown = given(turn.system_prompt, context)
        return model.asked(ChatRequest(messages=messages, options=body.options, context=shown, key=key))

    return Answering(
        start=lambda turns: turns.start(turn, build),
        session=turn.session.external_id,
        format=CompletionFormat(turn.number, lambda: model.name, usage=body.wants_usage),
        stream=bool(body.stream),
        guard=turn_guard(turn, caller, request, asked_after=last_change),
        is_unnamed=turn.is_unnamed,
    )


def _unrecorded(body: ChatCompletionRequest, caller: CallerInfo, request: Request) -> Answering:
    conversation, key = read_conversation(body.messages), model_key(request, caller)
    last_change = last_change_of(request)
    question = caller.services.unrecorded.ask(
        caller.reach,
        _named(body, caller, request),
        conversation.last_said[-1].content,
        known=conversation.known,
    )
    model, number = NamedModel(body.model, question.model, caller.services.chat.model), new_lease_number()

    def build(context: Context) -> ChatRequest:
        messages = with_memory(conversation, context, question.system_prompt)
        shown = given(question.system_prompt, context)
        return model.asked(ChatRequest(messages=messages, options=body.options, context=shown, key=key))

    return unrecorded_answer(
        question,
        build,
        caller,
        request,
        number=number,
        format=CompletionFormat(number, lambda: model.name, usage=body.wants_usage),
        stream=bool(body.stream),
        asked_after=last_change,
    )


def _named(body: ChatCompletionRequest, caller: CallerInfo, request: Request) -> NamedSession:
    return NamedSession(
        session=named_session(request, body.metadata),
        project=caller.session_project(),
        must_be_in=caller.project_header is not None,
        user_id=body.user_id,
        key=caller.key.id,
    )


def unrecorded_answer(
    question: UnrecordedQuestion,
    build: BuildRequest,
    caller: CallerInfo,
    request: Request,
    *,
    number: int,
    format: ReplyFormat,
    stream: bool,
    asked_after: object,
) -> Answering:
    """The answer to a request that is not recorded. A session that it names and that does not exist is not created. `asked_after`:
    the last change before the question was checked."""

    def may_read(now: CallerInfo) -> bool:
        now.check_project()
        return now.services.unrecorded.admits(now.reach, question)

    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    return Answering(
        start=lambda turns: turns.start_unrecorded(question, build),
        session=None if question.session is None else question.session.external_id,
        format=format,
        stream=stream,
        guard=recheck.guard(caller, ("unrecorded", number), may_read, checked_after=asked_after),
    )


def in_named_project(caller: CallerInfo, metadata: Mapping[str, Any] | None) -> CallerInfo:
    """The caller of a request whose metadata may name its project. It means what the header X-Project-ID means; null is `none`, as
    it is no project in Cloister's own bodies."""
    if metadata is None or "project_id" not in metadata:
        return caller
    given: object = metadata["project_id"]
    named = NO_PROJECT if given is None else given
    if not isinstance(named, str):
        raise InvalidRequest("metadata.project_id", "must be text.")
    if caller.project_header not in (None, named):
        raise InvalidRequest("metadata.project_id", "names another project than X-Project-ID.")
    return replace(caller, project_header=named)


def named_session(request: Request, metadata: Mapping[str, Any] | None) -> str | None:
    """The external id in the header or in the metadata, else none; both must be the same."""
    given = single_header(request, "X-Session-ID")
    named: object = (metadata or {}).get("session_id")
    if named is not None and not isinstance(named, str):
        raise InvalidRequest("metadata.session_id", "must be text.")
    if named is not None:
        checked_name(named, "metadata.session_id")
    if given is None:
        return named
    in_header = checked_name(_utf8(given), "X-Session-ID")
    if named not in (None, in_header):
        raise InvalidRequest("metadata.session_id", "names another session than X-Session-ID.")
    return in_header


class NamedModel:
    """The models that a request and its project name, and the name of the one that answers, as far as it is known."""

    def __init__(self, asked: str | None, of_project: str | None, model: ChatModel) -> None:
        self._names = tuple(name for name in (asked, of_project) if name)
        self._model = model
        self._chosen: str | None = None

    @property
    def name(self) -> str:
        return self._chosen or self._model.name

    def asked(self, request: ChatRequest) -> ChatRequest:
        return replace(request, models=self._names, chosen=self._choose)

    def _choose(self, name: str) -> None:
        self._chosen = name


def _utf8(header: str) -> str:
    """A header that the framework has decoded as Latin-1, decoded as UTF-8 if it is valid UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        return header
