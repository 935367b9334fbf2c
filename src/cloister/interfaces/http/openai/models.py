"""`GET /v1/models` and `POST /v1/embeddings`: the names of the models, and the embedder that recall uses."""

import base64
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.errors import NotFound
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.openai.bodies import EmbeddingsRequest
from cloister.interfaces.http.openai.errors import EMBEDDINGS, MODELS, OpenAiRoute, in_openai_shape
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.problems import of_error
from cloister.interfaces.http.resources.answers import answer
from cloister.services.chat.converse import Chat, ChatModel

router = APIRouter(route_class=OpenAiRoute, tags=["OpenAI-compatible"])
ModelId = Annotated[str, Path(description="The name of a model that is listed.", json_schema_extra=schemas.NAME)]


Kind = Literal["chat", "embedding"]


class Model(BaseModel):
    """`kind` says what a model is for, `takes_images` whether messages of the chat to it may have images; OpenAI's clients ignore
    both."""

    id: str
    object: str
    created: int
    owned_by: str
    kind: Kind
    takes_images: bool


class ModelList(BaseModel):
    object: str
    data: list[Model]


class TextEmbedding(BaseModel):
    """`embedding` is a list of numbers, or a base64 string."""

    object: str
    index: int
    embedding: list[float] | str


class EmbeddingsUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class EmbeddingList(BaseModel):
    object: str
    model: str
    data: list[TextEmbedding]
    usage: EmbeddingsUsage


class ModelNames(Response):
    """An answer about the models of the server. Their names are asked for on the event loop, because they may come from another
    server; `found` makes the answer of them, each with its kind."""

    def __init__(self, model: ChatModel, embedder: str, found: Callable[[dict[str, Kind]], Response]) -> None:
        super().__init__()
        self._model = model
        self._embedder = embedder
        self._found = found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names: dict[str, Kind] = dict.fromkeys(await self._model.names(), "chat")
        names.setdefault(self._embedder, "embedding")
        await self._found(names)(scope, receive, send)


@router.get(MODELS, response_model=ModelList)
@needs("read")
def list_models(caller: Caller) -> Response:
    """List the models that a request may name, and the embedder. For any other name the default model answers."""

    def found(names: dict[str, Kind]) -> Response:
        data = [_model(name, kind, caller.services.chat) for name, kind in names.items()]
        return answer(ModelList.model_construct(object="list", data=data))

    return ModelNames(caller.services.chat.model, caller.services.embed.name, found)


@router.get(f"{MODELS}/{{model_id}}", response_model=Model)
@needs("read")
def get_model(model_id: ModelId, caller: Caller) -> Response:
    """Get one of the listed models."""

    def found(names: dict[str, Kind]) -> Response:
        kind = names.get(model_id)
        if kind is None:
            return in_openai_shape(of_error(NotFound("model", model_id)))
        return answer(_model(model_id, kind, caller.services.chat))

    return ModelNames(caller.services.chat.model, caller.services.embed.name, found)


@router.post(EMBEDDINGS, response_model=EmbeddingList)
@needs("read")
def create_embeddings(body: EmbeddingsRequest, caller: Caller) -> Response:
    """Embed texts with the embedder that recall uses. Nothing is stored."""
    body.refuse_others({"user"})
    embed = caller.services.embed
    embedded = embed.embed(body.texts, dimensions=body.dimensions)
    encoded = body.encoding_format == "base64"
    data = [
        TextEmbedding.model_construct(
            object="embedding",
            index=index,
            embedding=base64.b64encode(row.astype("<f4").tobytes()).decode() if encoded else row.tolist(),
        )
        for index, row in enumerate(embedded.vectors)
    ]
    usage = EmbeddingsUsage(prompt_tokens=embedded.tokens, total_tokens=embedded.tokens)
    return answer(EmbeddingList.model_construct(object="list", model=embed.name, data=data, usage=usage))


def _model(name: str, kind: Kind, chat: Chat) -> Model:
    takes_images = kind == "chat" and chat.takes_images(name)
    return Model.model_construct(
        id=name, object="model", created=0, owned_by="cloister", kind=kind, takes_images=takes_images
    )
