"""`/v1/responses`: replies with memory for applications of OpenAI's newer interface. The model is asked for a chat completion; what
its server does not keep, the conversation and the responses, is kept here."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from fastapi import APIRouter, Request
from starlette.responses import Response as Answer

from cloister.domain.context import Context
from cloister.domain.conversation import Draft
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId
from cloister.domain.prompts.prompt import given
from cloister.domain.reply import ChatRequest
from cloister.interfaces.http import sse
from cloister.interfaces.http.chat.routes import ModelKeyHeader, last_change_of, model_key, turn_guard
from cloister.interfaces.http.chat.running_turns import RunningTurns
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs
from cloister.interfaces.http.dispatch.parameters import ResponseName
from cloister.interfaces.http.openai.errors import RESPONSES, ItemsRoute
from cloister.interfaces.http.openai.messages import Conversation, with_memory
from cloister.interfaces.http.openai.reply import Answering, TurnReply
from cloister.interfaces.http.openai.response_bodies import ResponseRequest
from cloister.interfaces.http.openai.response_format import ResponseFormat, response_body
from cloister.interfaces.http.openai.response_input import chat_messages, chat_options, check_input
from cloister.interfaces.http.openai.routes import (
    NamedModel,
    SessionHeader,
    in_named_project,
    named_session,
    unrecorded_answer,
)
from cloister.interfaces.http.openai.shapes import Deleted, Response, deleted, item_shape, json_answer
from cloister.interfaces.python.arguments import of_each
from cloister.services.chat.responses import ResponseRecord, format_response_id, output_item_id
from cloister.services.chat.turns import NamedSession, TurnRequest
from cloister.services.conversations.item_format import NewItem, is_instruction, read_item
from cloister.services.conversations.stored.items import StoredItem
from cloister.services.lease import new_lease_number

router = APIRouter(route_class=ItemsRoute, tags=["OpenAI-compatible"])

_ONE = f"{RESPONSES}/{{response_id}}"
_EVENT = 'event: response.output_text.delta\ndata: {"type": "response.output_text.delta", "delta": "Noted."}\n\n'
_STREAM: dict[str, Any] = {
    "content": {
        sse.MEDIA_TYPE: {"schema": {"description": "Named events, from `response.created`."}, "example": _EVENT}
    }
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What a request asks, and where: `session` is the external id, None for a new session. With `is_continued` the input is new
    and the history is the server's; otherwise the input is the client's whole history. `owns_messages`: the request names
    no conversation and no session, at most a response before it; `owns_session`: those before it named none either."""

    items: tuple[NewItem, ...]
    session: str | None
    is_continued: bool
    owns_messages: bool = False
    owns_session: bool = False

    @property
    def drafts(self) -> tuple[Draft, ...]:
        return tuple(item.draft for item in self.items if item.draft is not None)

    @property
    def continues(self) -> bool:
        """Whether the last item, but for instructions, is not a message of the user, as after a tool call."""
        last = next((item for item in reversed(self.items) if not is_instruction(item.item)), self.items[-1])
        return last.draft is None or last.draft.role != "user"

    @property
    def conversation(self) -> Conversation:
        return Conversation(messages=(), drafts=self.drafts, continues=self.continues)

    @property
    def turn_drafts(self) -> tuple[Draft, ...]:
        return self.conversation.last_said if self.session is None else self.drafts


@router.post(RESPONSES, response_model=Response, responses={200: _STREAM})
@needs("write")
def create_response(
    body: ResponseRequest,
    caller: Caller,
    request: Request,
    session_id: SessionHeader = None,
    caller_key: ModelKeyHeader = None,
) -> Answer:
    """Create a response as OpenAI's interface does, with memory. With `conversation` or `previous_response_id` the input is added
    to that session, and the model is shown its history; with the header `X-Session-ID` the input may repeat the history; otherwise
    a session is created. What the session's pool remembers is added to the instructions. Input and reply are recorded, and tool
    calls are stored as they came. With `stream` the answer is a stream of named events; to disconnect stops the reply. Needs the
    permission `read` too."""
    caller.key.require("read")
    body.check()
    caller = in_named_project(caller, body.metadata)
    asked = _read(body, caller, request)
    key = model_key(request, caller)
    answering = (
        _unrecorded(body, asked, caller, request, key)
        if body.store is False
        else _recorded(body, asked, caller, request, key)
    )
    return TurnReply(cast(RunningTurns, request.app.state.turns), answering)


def _recorded(body: ResponseRequest, asked: _Asked, caller: CallerInfo, request: Request, key: str | None) -> Answering:
    options, echo = chat_options(body), _echo(body)
    services, last_change = caller.services, last_change_of(request)
    record = ResponseRecord(
        asked.items,
        echo,
        is_all_new=asked.is_continued,
        owns_messages=asked.owns_messages,
        owns_session=asked.owns_session,
        previous=body.previous_response_id,
    )
    turn = services.turns.begin(caller.reach, _turn_request(body, asked, caller, record))
    named = NamedModel(body.model, turn.model, services.chat.model)
    record.model = lambda: named.name

    def build(context: Context) -> ChatRequest:
        messages = _prompt(body, asked, record.history, turn.system_prompt, context, question=turn.question.id)
        shown = given(turn.system_prompt, context)
        return named.asked(ChatRequest(messages=messages, options=options, context=shown, key=key))

    return Answering(
        start=lambda turns: turns.start(turn, build),
        session=turn.session.external_id,
        format=_format(turn.number, echo, named),
        stream=bool(body.stream),
        guard=turn_guard(turn, caller, request, asked_after=last_change),
        is_unnamed=turn.is_unnamed,
    )


def _unrecorded(
    body: ResponseRequest, asked: _Asked, caller: CallerInfo, request: Request, key: str | None
) -> Answering:
    options, services = chat_options(body), caller.services
    previous, last_change = body.previous_response_id, last_change_of(request)
    said = [draft.content for draft in asked.drafts if draft.role == "user"]
    question = services.unrecorded.ask(
        caller.reach,
        _named(body, asked, caller),
        said[-1] if said else None,
        known=asked.conversation.known,
        until=None if previous is None else services.responses.end_of(caller.reach, previous),
    )
    named, number = NamedModel(body.model, question.model, services.chat.model), new_lease_number()

    def build(context: Context) -> ChatRequest:
        messages = _prompt(body, asked, question.history, question.system_prompt, context)
        shown = given(question.system_prompt, context)
        return named.asked(ChatRequest(messages=messages, options=options, context=shown, key=key))

    return unrecorded_answer(
        question,
        build,
        caller,
        request,
        number=number,
        format=_format(number, _echo(body), named),
        stream=bool(body.stream),
        asked_after=last_change,
    )


def _format(number: int, echo: Mapping[str, Any], named: NamedModel) -> ResponseFormat:
    return ResponseFormat(
        format_response_id(number), echo, lambda: named.name, lambda index, kind: output_item_id(number, index, kind)
    )


@router.get(_ONE, response_model=Response)
@needs("read")
def get_response(response_id: ResponseName, caller: Caller) -> Answer:
    """Get a response that was stored, with the output that was not deleted since. If its session has moved, it shows nothing of its
    request."""
    stored = caller.services.responses.get(caller.reach, response_id)
    body = stored.body
    usage: list[int] | None = body["usage"]
    shape = response_body(
        body["echo"],
        id=response_id,
        created_at=body["created_at"],
        model=body["model"],
        status=body["status"],
        finish_reason=body["finish_reason"],
        usage=None if usage is None else (usage[0], usage[1]),
        output=[item_shape(item) for item in stored.output],
    )
    return json_answer(shape)


@router.delete(_ONE, response_model=Deleted)
@needs("write")
def delete_response(response_id: ResponseName, caller: Caller) -> Answer:
    """Delete a response. If its request named no conversation and no session, what was said is forgotten with it."""
    caller.services.responses.remove(caller.reach, response_id)
    return json_answer(deleted(response_id, "response"))


def _read(body: ResponseRequest, caller: CallerInfo, request: Request) -> _Asked:
    items = tuple(of_each(body.items, read_item, "input"))
    check_input([item.item for item in items])
    named = named_session(request, body.metadata)
    continued, owns_session = body.conversation_id, named is None and body.conversation_id is None
    owns_messages = owns_session
    if body.previous_response_id is not None:
        continued, of_chain = caller.services.responses.session_of(caller.reach, body.previous_response_id)
        owns_session = owns_session and of_chain
    elif continued is not None:
        caller.services.sessions.get(caller.reach, continued)
    if continued is not None and named is not None and continued != named:
        raise InvalidRequest("X-Session-ID", "names another session than the request.")
    asked = _Asked(
        items=items,
        session=continued or named,
        is_continued=continued is not None,
        owns_messages=owns_messages,
        owns_session=owns_session,
    )
    if continued is None and not any(draft.role == "user" for draft in asked.drafts):
        raise InvalidRequest("input", "must hold a message of the user.")
    return asked


def _named(body: ResponseRequest, asked: _Asked, caller: CallerInfo) -> NamedSession:
    return NamedSession(
        session=asked.session,
        project=caller.session_project(),
        must_be_in=caller.project_header is not None,
        user_id=body.user_id,
        must_exist=asked.is_continued,
        key=caller.key.id,
    )


def _turn_request(body: ResponseRequest, asked: _Asked, caller: CallerInfo, record: ResponseRecord) -> TurnRequest:
    return TurnRequest(
        **asdict(_named(body, asked, caller)),
        drafts=asked.turn_drafts,
        # One message of a continued session may be a request that is sent again after a failure.
        has_whole_history=asked.session is not None and (not asked.is_continued or len(asked.drafts) <= 1),
        continues=asked.continues,
        known=asked.conversation.known,
        record=record,
    )


def _prompt(
    body: ResponseRequest,
    asked: _Asked,
    history: Sequence[StoredItem],
    template: str | None,
    context: Context,
    question: MessageId | None = None,
) -> list[Mapping[str, Any]]:
    """The messages for the model. The history of a continued session is what the context has of it, with the tool calls between;
    `question` is always shown."""
    items = [item.item for item in asked.items]
    if asked.is_continued:
        shown = {question, *(item.message.id for item in context.current_conversation)}
        known = [each.item for each in history if each.position[0] in shown or is_instruction(each.item)]
        items = known + items
        context = replace(context, current_conversation=())
    messages = chat_messages(body.instructions, items)
    if not any(message["role"] == "user" for message in messages):
        raise InvalidRequest("input", "must hold a message of the user: the conversation has none that can be shown.")
    return list(with_memory(replace(asked.conversation, messages=messages), context, template))


def _echo(body: ResponseRequest) -> dict[str, Any]:
    """The fields of a request that its response repeats."""
    extra = body.model_extra or {}
    conversation = body.conversation_id
    return {
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "metadata": body.metadata or {},
        "parallel_tool_calls": extra.get("parallel_tool_calls") is not False,
        "previous_response_id": body.previous_response_id,
        "conversation": None if conversation is None else {"id": conversation},
        "reasoning": body.reasoning,
        "store": body.store is not False,
        "temperature": extra.get("temperature"),
        "text": body.text or {"format": {"type": "text"}},
        "tool_choice": body.tool_choice or "auto",
        "tools": body.tools or [],
        "top_p": extra.get("top_p"),
        "truncation": "disabled",
        "user": body.user,
    }
