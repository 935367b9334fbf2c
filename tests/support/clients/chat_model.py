"""A chat model called from synchronous tests."""

import asyncio

from cloister.domain.reply import ChatRequest, Piece
from cloister.models.interface import ChatModel


def whole_reply(model: ChatModel, request: ChatRequest) -> list[Piece]:
    """All pieces of a reply. The model is closed afterwards, and can be used again."""

    async def pieces() -> list[Piece]:
        try:
            return [piece async for piece in model.stream(request)]
        finally:
            await model.close()

    return asyncio.run(pieces())
