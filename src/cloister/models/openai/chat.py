"""The chat model behind any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp, LM Studio."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from cloister.domain.reply import ChatRequest, Piece
from cloister.models.openai.endpoint import Endpoint

if TYPE_CHECKING:
    from cloister.models.openai.client import ModelClient


class OpenAiChatModel:
    """No connection is opened before the first request. After `close` it can be used again, also on another event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: ModelClient | None = None

    @property
    def name(self) -> str:
        """The configured name. Without one, the name that the server gives its only model, once it was asked."""
        known = self._endpoint.model if self._client is None else self._client.model
        return known or "openai-compatible"

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        def body(rejected: Sequence[str]) -> dict[str, object]:
            usage = {} if "stream_options" in rejected else {"stream_options": {"include_usage": True}}
            return {**request.options, **usage, "messages": list(request.messages)}

        if self._client is None:
            client_class = await asyncio.to_thread(_client_class)
            self._client = self._client or client_class(self._endpoint)
        async with aclosing(self._client.stream(body)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _client_class() -> "type[ModelClient]":
    """Import the client, which takes 0.1 s: called in a thread, so as not to block the event loop."""
    from cloister.models.openai.client import ModelClient

    return ModelClient
