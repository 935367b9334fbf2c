"""The real llama.cpp server as an additional embedder, from the message to the answer (CTX-10)."""

import numpy as np
import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import ModelUnavailable
from cloister.domain.scope import Reach
from cloister.models.openai import embeddings
from cloister.models.openai.embeddings import OpenAiEmbedder
from cloister.models.openai.endpoint import Endpoint
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.search import EpisodeHit, SearchTarget
from support.databases.engines import Engine
from support.servers.model_server import ModelServer

LONG = "The gate of the garden is painted green. " * 60


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question may take as long as it takes: the machine may be busy."""
    monkeypatch.setattr(embeddings, "QUERY_SECONDS", 60.0)


def test_llama_cpp_embeds_short_and_long_texts(embedding_server: ModelServer) -> None:
    """It refuses what is longer than its batch, with status 500."""
    embedder = OpenAiEmbedder(Endpoint(url=embedding_server.url, model="smollm2"))
    try:
        vectors = embedder.embed(["The gate is green.", LONG, "Bees."])
        assert [None if vector is None else vector.shape for vector in vectors] == [(576,)] * 3
        assert np.allclose([vector @ vector for vector in vectors if vector is not None], 1, atol=1e-3)
        assert embedder.embed_query("Which colour is the gate?").shape == (576,)
        embedding_server.kill()
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            embedder.embed(["Bees."])
    finally:
        embedder.close()


def test_messages_are_recalled_with_llama_cpp_and_without_it(engine: Engine, embedding_server: ModelServer) -> None:
    embedder = OpenAiEmbedder(Endpoint(url=embedding_server.url, model="smollm2"))
    services = engine.services(additional_embedder=embedder)
    engine.closing.callback(embedder.close)
    reach = Reach(tenant=services.projects.create_tenant("One")[0])
    services.sessions.create(reach, SessionFields(external_id="s"))
    said = ["The gate is green.", "Bees need water.", LONG.strip()]
    services.record.messages(reach, "s", [Draft(role="user", content=content) for content in said])

    def found() -> list[str]:
        hits = services.search.search(reach, "What do bees need?", SearchTarget(), 3, ["episodes"])
        return [hit.item.message.content for hit in hits if isinstance(hit, EpisodeHit)]

    assert services.vectors is not None and services.recall.additional is not None
    assert services.vectors.drain() == 3
    assert found()[0] == said[1]
    assert engine.rows("SELECT dimension FROM embedding_model") == [(576,)]
    assert services.recall.additional.outcomes == {"embedded": 1}
    embedding_server.kill()
    services.search.search(reach, "Something else?", SearchTarget(), 3, ["episodes"])
    assert found()[0] == said[1]
    assert services.recall.additional.outcomes == {"embedded": 1, "failed": 1, "cached": 1}
