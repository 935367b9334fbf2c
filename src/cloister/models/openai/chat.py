"""The chat model behind any OpenAI-compatible endpoint: OpenAI, vLLM, Ollama, llama.cpp, LM Studio; and behind the same URL, where
the server has it, Anthropic's interface."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from cloister.domain.reply import ChatRequest, Piece
from cloister.models.openai.endpoint import Endpoint

if TYPE_CHECKING:
    from cloister.models.openai.client import ModelClient

_LISTED_SECONDS = 60.0
_LIST_SECONDS = 5.0
_MOST_UNLISTED = 1_000


class OpenAiChatModel:
    """No connection is opened before the first request. After `close` it can be used again, also on another event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: ModelClient | None = None
        self._names: frozenset[str] | None = None
        self._listed_at = 0.0
        self._unlisted: dict[str, float] = {}

    @property
    def name(self) -> str:
        """The configured name. Without one, the name that the server gives its only model, once it was asked."""
        known = self._endpoint.model if self._client is None else self._client.model
        return known or "openai-compatible"

    async def names(self) -> list[str]:
        """The default model, and the others that the endpoint lists, cached for a minute."""
        listed = await self._listed()
        if not self._endpoint.model and listed:
            return sorted(listed)
        return [self.name, *sorted(listed - {self.name})]

    def separate(self) -> "OpenAiChatModel":
        return OpenAiChatModel(self._endpoint)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        body = {**request.options, "messages": list(request.messages)}
        model = await self._chosen(request)
        client = await self._opened()
        return await client.count_tokens(body, model=model, key=request.key, headers=request.headers)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        def body(rejected: Sequence[str]) -> dict[str, object]:
            asks_usage = request.interface == "chat" and "stream_options" not in rejected
            usage = {"stream_options": {"include_usage": True}} if asks_usage else {}
            return {**request.options, **usage, "messages": list(request.messages)}

        model = await self._chosen(request)
        request.chosen(model or self.name)
        client = await self._opened()
        stream = client.stream(body, model=model, key=request.key, interface=request.interface, headers=request.headers)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                yield piece
        if model is None:
            request.chosen(self.name)

    async def _chosen(self, request: ChatRequest) -> str | None:
        """The first of the names that the request asks for that the endpoint lists; None for the default model."""
        for name in request.models:
            if name == self._endpoint.model:
                return None
            if await self._lists(name):
                return name
        return None

    async def _lists(self, name: str) -> bool:
        """Whether the endpoint lists the model. For a name that the cached list lacks, the endpoint is asked again, once a minute:
        the model may be new there, and may have been chosen for a session a moment ago."""
        asked_at = self._listed_at
        if name in await self._listed():
            return True
        now = asyncio.get_running_loop().time()
        if now - self._unlisted.get(name, -_LISTED_SECONDS) < _LISTED_SECONDS:
            return False
        if asked_at == self._listed_at and name in await self._listed(again=True):
            return True
        if len(self._unlisted) >= _MOST_UNLISTED:
            self._unlisted.clear()
        self._unlisted[name] = now
        return False

    async def _listed(self, *, again: bool = False) -> frozenset[str]:
        """The names of all models of the endpoint; none if it does not list them soon."""
        now = asyncio.get_running_loop().time()
        if again or self._names is None or now - self._listed_at > _LISTED_SECONDS:
            client = await self._opened()
            self._names, self._listed_at = frozenset(await client.model_names(_LIST_SECONDS)), now
        return self._names

    async def _opened(self) -> "ModelClient":
        if self._client is None:
            client_class = await asyncio.to_thread(_client_class)
            self._client = self._client or client_class(self._endpoint)
        return self._client

    async def close(self) -> None:
        client, self._client, self._names = self._client, None, None
        self._unlisted.clear()
        if client is not None:
            await client.close()


def _client_class() -> "type[ModelClient]":
    """Import the client, which takes 0.1 s: called in a thread, so as not to block the event loop."""
    from cloister.models.openai.client import ModelClient

    return ModelClient
