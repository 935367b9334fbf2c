"""Replies of the chat in a setup without a server, by a model that answers every request alike."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

from cloister.domain.conversation import Draft
from cloister.domain.identifiers import ReceiptId
from cloister.domain.reply import ChatRequest, End, Piece, TextDelta, Usage
from cloister.domain.scope import Reach
from cloister.services.chat.turns import TurnRequest
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, SteppingClock

T = TypeVar("T")


class Threads:
    def read(self, call: Callable[[], T], /) -> Awaitable[T]:
        return asyncio.to_thread(call)

    def write(self, call: Callable[[], T], /) -> Awaitable[T]:
        return asyncio.to_thread(call)


class NotingModel:
    """Keeps the requests, and answers each with the same pieces."""

    name = "noting"

    def __init__(self, pieces: Sequence[Piece] = (TextDelta("Noted."),)) -> None:
        self.requests: list[ChatRequest] = []
        self.pieces = pieces

    async def names(self) -> list[str]:
        return [self.name]

    def separate(self) -> "NotingModel":
        return self

    async def count_tokens(self, request: ChatRequest) -> int | None:
        return None

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        self.requests.append(request)
        for piece in self.pieces:
            yield piece
        yield End(usage=Usage(prompt_tokens=12, completion_tokens=3))

    async def close(self) -> None:
        """There is nothing to close."""


def settle_with_model(engine: Engine, model: NotingModel, *, began_at: int) -> MemorySetup:
    clock = SteppingClock(began_at)
    services = engine.services(clock=clock, chat_model=model)
    tenant, _ = services.projects.create_tenant("MemorySetup")
    return MemorySetup(services=services, reach=Reach(tenant=tenant), clock=clock)


def receipt_of_reply(house: MemorySetup, session: str, words: str) -> ReceiptId:
    """Ask through a chat turn; the receipt has the number of the reply."""
    turn = house.services.turns.begin(
        house.reach, TurnRequest(session=session, drafts=[Draft(role="user", content=words)])
    )
    ended = asyncio.run(house.services.chat.reply(turn, lambda event: None, stop=asyncio.Event(), threads=Threads()))
    assert ended.message is not None
    return ReceiptId(ended.message.id)
