"""`GET /v1/models` and `POST /v1/embeddings`: the names of the models, and the embedder that recall uses."""

import base64

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.openai.bodies import EmbeddingsRequest
from cloister.interfaces.http.openai.errors import EMBEDDINGS, MODELS, OpenAiRoute
from cloister.interfaces.http.resources.answers import answer

router = APIRouter(route_class=OpenAiRoute, tags=["OpenAI-compatible"])


class Model(BaseModel):
    id: str
    object: str
    created: int
    owned_by: str


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


@router.get(MODELS, response_model=ModelList)
@needs("read")
def list_models(caller: Caller) -> Response:
    """List the chat model and the embedder. Requests may name any model: these two answer."""
    services = caller.services
    names = (services.chat.model.name, services.embed.name)
    models = [Model.model_construct(id=name, object="model", created=0, owned_by="cloister") for name in names]
    return answer(ModelList.model_construct(object="list", data=models))


@router.post(EMBEDDINGS, response_model=EmbeddingList)
@needs("read")
def create_embeddings(body: EmbeddingsRequest, caller: Caller) -> Response:
    """Embed texts with the embedder that recall uses. Nothing is stored."""
    body.refuse_ours()
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
