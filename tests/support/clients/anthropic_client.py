"""The front for Anthropic's interface as an application sees it: through the unmodified `anthropic` client."""

import contextlib
import json
import ssl
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2

from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from support.databases.engines import Engine
from support.servers.fake_endpoint import Answer, FakeEndpoint, stream
from support.servers.http_server import Server, Tenant, serving

MODEL = "the-model"
# Loading the certificates of the whole world for each client takes longer than most tests.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_START: dict[str, Any] = {
    "id": "msg_upstream",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 12, "output_tokens": 1, "cache_read_input_tokens": 8},
}


@dataclass(frozen=True, kw_only=True, slots=True)
class AnthropicFront:
    server: Server
    model: FakeEndpoint
    clients: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def tenant(self) -> Tenant:
        return self.server.new_tenant()

    def client(self, key: str, session: str | None = None, project: str | None = None) -> anthropic.Anthropic:
        """Anthropic's client with another base URL, and headers that it sends with everything."""
        given = {"X-Session-ID": session, "X-Project-ID": project}
        http = self.clients.enter_context(httpx2.Client(verify=_NO_TLS, timeout=30))
        return anthropic.Anthropic(
            base_url=f"{self.server.address}/anthropic",
            api_key=key,
            max_retries=0,
            default_headers={name: value for name, value in given.items() if value is not None},
            http_client=http,
        )

    def say(self, key: str, words: str, session: str | None = None, **fields: Any) -> Any:
        """One message of the user, answered."""
        messages: Any = fields.pop("messages", [{"role": "user", "content": words}])
        client: Any = self.client(key, session, fields.pop("project", None))
        return client.messages.create(model="m", max_tokens=50, messages=messages, **fields)

    @property
    def shown(self) -> Any:
        """The request that the model's server got last."""
        return self.model.asked[-1].body

    @property
    def system(self) -> list[str]:
        """The texts of the system prompt that the model was shown last."""
        given = self.shown.get("system", [])
        return [given] if isinstance(given, str) else [block["text"] for block in given]


def message(text: str) -> Answer:
    """A reply of one block of text, in two parts."""
    return blocks(({"type": "text", "text": ""}, text_deltas(text)))


def text_deltas(text: str) -> list[dict[str, Any]]:
    half = len(text) // 2
    return [{"type": "text_delta", "text": part} for part in (text[:half], text[half:])]


def blocks(*given: tuple[dict[str, Any], list[dict[str, Any]]], stop_reason: str = "end_turn") -> Answer:
    """A reply of these blocks, each with its deltas."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": _START}, {"type": "ping"}]
    for index, (block, deltas) in enumerate(given):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}, {"type": "message_stop"}]
    return named_events(*events)


def named_events(*events: dict[str, Any]) -> Answer:
    return stream(*(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events))


@contextlib.contextmanager
def anthropic_front_over(engine: Engine, model: FakeEndpoint) -> Generator[AnthropicFront]:
    services = engine.services(
        chat_model=OpenAiChatModel(Endpoint(url=model.url, model=MODEL, key="upstream", seconds=30))
    )
    with serving(services) as server:
        front = AnthropicFront(server=server, model=model)
        with front.clients:
            yield front
