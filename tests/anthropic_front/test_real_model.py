"""The unmodified client in front of a real llama.cpp server, which has `/v1/messages`: shapes, never wisdom (DOOR-3)."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.clients.openai_client import said_in, statuses_in
from support.databases.engines import sqlite_engine
from support.servers.http_server import Tenant, serving
from support.servers.model_server import ModelServer

FACT = "My boat is called Wilhelmina."
ASK: Any = [{"role": "user", "content": "What is my boat called?"}]


@pytest.fixture
def tenant(data: Path, model_server: ModelServer) -> Generator[Tenant]:
    engine = sqlite_engine(data)
    model = OpenAiChatModel(Endpoint(url=model_server.url, seconds=60))
    with engine.closing, serving(engine.services(chat_model=model)) as server:
        yield server.new_tenant()


def client_of(tenant: Tenant, session: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        base_url=f"{tenant.address}/anthropic",
        api_key=tenant.key,
        max_retries=0,
        default_headers={"X-Session-ID": session},
    )


def test_a_message_whole_and_streamed_with_memory_and_recorded(tenant: Tenant, model_server: ModelServer) -> None:
    """Events and usage are llama.cpp's own. What another session of the pool said is part of the prompt."""
    tenant.admin.made("/v1/sessions", {"external_id": "before"})
    tenant.admin.made("/v1/sessions/before/messages", {"role": "user", "content": FACT})
    with (
        client_of(tenant, "streamed") as client,
        client.messages.stream(model="smollm2", max_tokens=5, system="Answer shortly.", messages=ASK) as stream,
    ):
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop" and "content_block_delta" in kinds
    (block,) = final.content
    assert block.type == "text" and block.text
    assert final.usage.input_tokens > len(model_server.tokens(FACT))
    assert said_in(tenant, "streamed") == [("user", ASK[0]["content"]), ("assistant", block.text)]

    with client_of(tenant, "whole") as client:
        whole = client.messages.create(model="smollm2", max_tokens=3, messages=ASK)
    assert whole.type == "message" and whole.stop_reason in ("max_tokens", "end_turn")
    assert whole.usage.output_tokens > 0
    assert statuses_in(tenant, "whole")[1][1] == ("partial" if whole.stop_reason == "max_tokens" else "completed")
    model_server.wait_until(busy=False)


def test_what_a_tool_answered_reaches_the_model(tenant: Tenant, model_server: ModelServer) -> None:
    """The template of this small model knows no tools, so that llama.cpp cannot make it call one: see `test_tools.py` for calls."""
    tool: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {"town": {"type": "string"}}}}
    call = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"town": "Piran"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Sunny."}
    history: Any = [
        {"role": "user", "content": "Weather in Piran?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    with client_of(tenant, "tools") as client:
        answer = client.messages.create(model="smollm2", max_tokens=4, tools=[tool], messages=history)
    assert answer.content
    assert [role for role, _ in said_in(tenant, "tools")] == ["user", "assistant"]
    model_server.wait_until(busy=False)
