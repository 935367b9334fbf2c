"""Conversations with a real llama.cpp server: streamed, cancelled, killed in the middle, and slow to start."""

import asyncio
from contextlib import aclosing

import pytest

from cloister.domain.errors import ModelUnavailable
from cloister.domain.reply import ChatRequest, End, Piece, TextDelta
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint, TooLongForTheModel
from support.clients.chat_model import whole_reply
from support.servers.model_server import CONTEXT, ModelServer


def asking(words: str, **options: object) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": words}], options={"max_tokens": 24, **options})


def at(server: ModelServer, **given: object) -> OpenAiChatModel:
    fields = {"url": server.url, "model": server.model, **given}
    return OpenAiChatModel(Endpoint(**fields))  # pyright: ignore[reportArgumentType]


def test_a_reply_comes_word_by_word_with_its_usage(model_server: ModelServer) -> None:
    *words, end = whole_reply(at(model_server), asking("Say hello."))
    assert len(words) > 1 and all(isinstance(piece, TextDelta) and piece.text for piece in words)
    assert isinstance(end, End) and end.finish_reason in ("stop", "length")
    assert end.usage is not None and 0 < end.usage.completion_tokens <= 24 and end.usage.prompt_tokens > 0


def test_the_only_model_is_found(model_server: ModelServer) -> None:
    assert isinstance(whole_reply(at(model_server, model=None), asking("Say hello."))[-1], End)


def test_who_stops_reading_stops_the_model(model_server: ModelServer) -> None:
    async def read_a_little() -> None:
        model = at(model_server)
        async with aclosing(model.stream(asking("Tell a very long story.", max_tokens=1_500))) as pieces:
            assert isinstance(await anext(pieces), TextDelta)
            assert await asyncio.to_thread(lambda: model_server.busy)
        await asyncio.to_thread(lambda: model_server.wait_until(busy=False))
        await model.close()

    asyncio.run(read_a_little())


def test_a_model_killed_in_the_middle_broke_off(model_server: ModelServer) -> None:
    heard: list[Piece] = []

    async def read() -> None:
        model = at(model_server)
        try:
            async for piece in model.stream(asking("Tell a very long story.", max_tokens=1_500)):
                heard.append(piece)
                if len(heard) == 3:
                    await asyncio.to_thread(model_server.kill)
        finally:
            await model.close()

    with pytest.raises(ModelUnavailable, match="broke off in the middle of its answer"):
        asyncio.run(read())
    assert len(heard) >= 3


def test_a_model_that_starts_is_not_there_and_then_is(model_server: ModelServer) -> None:
    """Until it answers, each try says clearly why it does not: nobody listens yet, or the weights are being loaded."""
    model_server.kill()
    model = at(model_server)
    with pytest.raises(ModelUnavailable, match="cannot be reached: start it"):
        whole_reply(model, asking("Say hello."))
    model_server.start()
    assert isinstance(whole_reply(model, asking("Say hello."))[-1], End)


def test_more_than_the_model_can_read_is_told_apart(model_server: ModelServer) -> None:
    with pytest.raises(TooLongForTheModel):
        whole_reply(at(model_server), asking("word " * 2 * CONTEXT))
