"""Any OpenAI-compatible endpoint as the one who answers in conversations: OpenAI, vLLM, Ollama, llama.cpp, LM Studio."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from cloister.domain.reply import ChatRequest, Piece
from cloister.models.openai.endpoint import Endpoint

if TYPE_CHECKING:
    from cloister.models.openai.chat_client import ChatConnection


class OpenAiChatModel:
    """Nothing is opened before the first question. After `close` it can be used again, also on another event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._opened: ChatConnection | None = None

    @property
    def name(self) -> str:
        """The only model that a server has goes by its own name once it is known."""
        known = self._endpoint.model if self._opened is None else self._opened.model
        return known or "openai-compatible"

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        if self._opened is None:
            connect = await asyncio.to_thread(_connection_class)
            self._opened = self._opened or connect(self._endpoint)
        async with aclosing(self._opened.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()


def _connection_class() -> "type[ChatConnection]":
    """On a thread: importing the client takes a tenth of a second, and others are being answered."""
    from cloister.models.openai.chat_client import ChatConnection

    return ChatConnection
