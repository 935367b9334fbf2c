"""Conversations with a real llama.cpp server and a real, very small model: shapes, never wisdom."""

from collections.abc import Generator
from pathlib import Path

import pytest

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.chat_client import asking, messages, said, say, streaming
from support.databases.engines import sqlite_engine
from support.servers.http_server import Tenant, serving
from support.servers.model_server import ModelServer
from support.waiting import eventually

SHORT = "Answer with one short sentence."


@pytest.fixture
def tenant(data: Path, model_server: ModelServer) -> Generator[Tenant]:
    engine = sqlite_engine(data)
    model = OpenAiChatModel(Endpoint(url=model_server.url, seconds=60))
    with engine.closing, serving(engine.services(chat_model=model)) as server:
        yield server.new_tenant()


def test_a_reply_is_streamed_word_by_word_and_stored_as_it_was_streamed(
    tenant: Tenant, model_server: ModelServer
) -> None:
    garden = tenant.new_project("Garden")
    tenant.admin.patch(f"/org/projects/{garden}", {"settings": {"system_prompt": SHORT}})
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Say hello.", project_id=garden)) as reader:
        reader.until("text-delta")
        reader.until("text-delta")
        reader.until("text-delta")
        tenant.admin.post("/v1/chat/tab/stop")
        reply = reader.rest()
    assert reply.done and len([event for event in reply.events if event["type"] == "text-delta"]) >= 3
    assert said(tenant, "tab")[1] == ("assistant", reply.metadata["status"], reply.text)
    model_server.wait_until(busy=False)


def test_a_turn_that_is_stopped_stops_the_model_too(tenant: Tenant, model_server: ModelServer) -> None:
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell me a very long story.")) as reader:
        reader.until("text-delta")
        assert model_server.busy
        assert tenant.admin.post("/v1/chat/tab/stop").json() == {"stopped": True}
        model_server.wait_until(busy=False)
        reply = reader.rest()
    assert said(tenant, "tab")[1] == ("assistant", "partial", reply.text)


def test_a_client_that_leaves_does_not_stop_the_model(tenant: Tenant, model_server: ModelServer) -> None:
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell me a long story.")) as reader:
        reader.until("text-delta")
    with streaming(tenant, "GET", "/v1/chat/tab/stream") as again:
        again.until("text-delta")
        again.until("text-delta")
        assert model_server.busy
        tenant.admin.post("/v1/chat/tab/stop")
        reply = again.rest()
    assert messages(tenant, "tab")[1]["content"] == reply.text


def test_a_model_that_dies_in_the_middle_of_its_reply(tenant: Tenant, model_server: ModelServer) -> None:
    """The client is told plainly, what was said is kept as partial, and the next turn finds the model again."""
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell me a very long story.")) as reader:
        reader.until("text-delta")
        model_server.kill()
        reply = reader.rest()
    assert reply.kinds[-1] == "error" and reply.done
    assert "model" in reply.error and "127.0.0.1" not in reply.error
    assert said(tenant, "tab")[1] == ("assistant", "partial", reply.text)
    refused = say(tenant.admin, "tab", "Are you there?")
    assert refused.kinds[-1] == "error" and "cannot be reached" in refused.error
    assert said(tenant, "tab")[3][1] == "failed"
    model_server.start()
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "And now?")) as reader:
        reader.until("text-delta")
        tenant.admin.post("/v1/chat/tab/stop")
        assert reader.rest().metadata["status"] in ("partial", "completed")


def test_a_model_that_is_slow_to_start_is_waited_for(tenant: Tenant, model_server: ModelServer) -> None:
    """While it reads its prompt the client has the context already; the turn stands, and can be stopped before the first word."""
    long = "Remember this list: " + ", ".join(f"item {number} of the shelf" for number in range(220))
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", long)) as reader:
        reader.until("data-context")
        eventually(lambda: model_server.busy)
        second = tenant.admin.post("/v1/chat/stream", asking("tab", "Hurry."))
        assert second.json()["code"] == "turn_in_progress"
        assert tenant.admin.post("/v1/chat/tab/stop").json() == {"stopped": True}
        reply = reader.rest()
    assert reply.done and reply.metadata["status"] in ("failed", "partial")
    # It notices only between two parts of the prompt that nobody waits any longer, and on a busy machine those take long.
    model_server.kill()
