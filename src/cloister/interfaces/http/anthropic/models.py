"""`GET /anthropic/v1/models` and `POST /anthropic/v1/messages/count_tokens`: what the model's server says of itself and of a
request. Nothing is recalled, and nothing recorded."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.errors import CloisterError, InvalidRequest, NotFound
from cloister.domain.reply import ChatRequest
from cloister.interfaces.http.anthropic.bodies import CountTokensRequest
from cloister.interfaces.http.anthropic.errors import COUNT_TOKENS, MODELS, REQUEST_ID, in_anthropic_shape
from cloister.interfaces.http.anthropic.messages import check_system, read_conversation, without_control_tokens
from cloister.interfaces.http.anthropic.routes import AnthropicRoute, Beta, BetaHeader, VersionHeader, passed_headers
from cloister.interfaces.http.chat.routes import ModelKeyHeader, model_key
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.openai.models import Kind, ModelNames
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.problems import of_error, problem
from cloister.interfaces.http.resources.answers import answer
from cloister.services.chat.converse import ChatModel

_NO_COUNT = (
    "The model's server has no /v1/messages/count_tokens: set CLOISTER_MODEL_URL to a server that has it, or count in your "
    "application."
)
# Anthropic's interface says when a model was released; of others that is not known.
_UNKNOWN_TIME = "1970-01-01T00:00:00Z"
ModelId = Annotated[str, Path(description="The name of a model that is listed.", json_schema_extra=schemas.NAME)]
Limit = Annotated[int, Query(ge=1, le=1_000, description="The largest number of models on a page.")]
Behind = Annotated[str | None, Query(description="A name: the page begins behind this model.")]
Before = Annotated[str | None, Query(description="A name: the page ends before this model.")]

router = APIRouter(route_class=AnthropicRoute, tags=["Anthropic-compatible"])


class AnthropicModel(BaseModel):
    id: str
    type: str
    display_name: str
    created_at: str


class AnthropicModelList(BaseModel):
    """A page of models, in Anthropic's format."""

    data: list[AnthropicModel]
    has_more: bool
    first_id: str | None
    last_id: str | None


class TokenCount(BaseModel):
    input_tokens: int


class CountedTokens(Response):
    """The answer of the model's server to a count, which is asked for on the event loop."""

    def __init__(self, model: ChatModel, request: ChatRequest, request_id: str | None) -> None:
        super().__init__()
        self._model = model
        self._request = request
        self._request_id = request_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await in_anthropic_shape(await self._counted(), self._request_id)(scope, receive, send)

    async def _counted(self) -> Response:
        try:
            tokens = await self._model.count_tokens(self._request)
        except CloisterError as error:
            return of_error(error)
        return problem("not_found", _NO_COUNT) if tokens is None else answer(TokenCount(input_tokens=tokens))


@router.post(COUNT_TOKENS, response_model=TokenCount, summary="Count tokens")
@needs("read")
def count_tokens(
    body: CountTokensRequest,
    caller: Caller,
    request: Request,
    caller_key: ModelKeyHeader = None,
    version: VersionHeader = None,
    betas: BetaHeader = None,
    beta: Beta = None,
) -> Response:
    """Count the tokens of a request as it is sent, by the model's server, if that has `/v1/messages/count_tokens`; otherwise 404.
    Nothing is recalled or recorded: what a message would be given of the session's memory is not counted."""
    check_system(body.system)
    read_conversation(body.messages)
    options: dict[str, Any] = body.options if body.system is None else {**body.options, "system": body.system}
    asked = ChatRequest(
        messages=without_control_tokens(body.messages),
        options=options,
        key=model_key(request, caller),
        models=(body.model,),
        interface="messages",
        headers=passed_headers(request),
    )
    return CountedTokens(caller.services.chat.model, asked, request.scope.get(REQUEST_ID))


@router.get(MODELS, response_model=AnthropicModelList, summary="List models")
@needs("read")
def list_anthropic_models(
    caller: Caller,
    request: Request,
    limit: Limit = 20,
    after_id: Behind = None,
    before_id: Before = None,
    version: VersionHeader = None,
    betas: BetaHeader = None,
    beta: Beta = None,
) -> Response:
    """List the models that a message may name, as the model's server lists them. For any other name the default model answers."""
    passed_headers(request)
    if after_id is not None and before_id is not None:
        raise InvalidRequest("before_id", "cannot be given together with after_id.")
    request_id: str | None = request.scope.get(REQUEST_ID)

    def found(names: dict[str, Kind]) -> Response:
        chat = [name for name, kind in names.items() if kind == "chat"]
        page, has_more = _page(chat, limit, after_id, before_id)
        ends = (page[0], page[-1]) if page else (None, None)
        models = [_model(name) for name in page]
        listed = AnthropicModelList(data=models, has_more=has_more, first_id=ends[0], last_id=ends[1])
        return in_anthropic_shape(answer(listed), request_id)

    return ModelNames(caller.services.chat.model, caller.services.embed.name, found)


@router.get(f"{MODELS}/{{model_id}}", response_model=AnthropicModel, summary="Get a model")
@needs("read")
def get_anthropic_model(
    model_id: ModelId,
    caller: Caller,
    request: Request,
    version: VersionHeader = None,
    betas: BetaHeader = None,
    beta: Beta = None,
) -> Response:
    """Get one of the listed models."""
    passed_headers(request)
    request_id: str | None = request.scope.get(REQUEST_ID)

    def found(names: dict[str, Kind]) -> Response:
        if names.get(model_id) == "chat":
            return answer(_model(model_id))
        return in_anthropic_shape(of_error(NotFound("model", model_id)), request_id)

    return ModelNames(caller.services.chat.model, caller.services.embed.name, found)


def _page(names: list[str], limit: int, after: str | None, before: str | None) -> tuple[list[str], bool]:
    """A page of names, and whether there are more in its direction. A name that is not listed is the end of the list."""
    if before is not None:
        found = names[: names.index(before) if before in names else 0]
        return found[-limit:], len(found) > limit
    start = 0 if after is None else names.index(after) + 1 if after in names else len(names)
    return names[start : start + limit], len(names) - start > limit


def _model(name: str) -> AnthropicModel:
    return AnthropicModel(id=name, type="model", display_name=name, created_at=_UNKNOWN_TIME)
