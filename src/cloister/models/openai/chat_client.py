"""Conversations with one OpenAI-compatible endpoint, each reply read as it is written.

Whoever stops reading stops the model: the connection is closed at once, and with it the writing. No error holds what was said. A
person waits for this: what fails is said, and asked again only where a connection was gone before anything came over it.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

import httpx2

from cloister.domain.errors import ModelUnavailable
from cloister.domain.reply import ChatRequest, Piece
from cloister.models.openai import requests
from cloister.models.openai.completions import BrokenAnswer, model_names, not_an_endpoint
from cloister.models.openai.endpoint import Endpoint, TooLongForTheModel
from cloister.models.openai.failures import Failure, failure_of
from cloister.models.openai.stream import Reading

_LONGEST_LIST = 4_000_000
_TRIES = 2
# A connection a reply, and replies take long: with a limit some would wait for others.
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=20)


class ChatConnection:
    """Used on one event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.model = endpoint.model
        self._endpoint = endpoint
        self._counts_tokens = True
        self._client = httpx2.AsyncClient(
            headers=requests.headers(endpoint),
            timeout=requests.patience(endpoint),
            limits=_LIMITS,
            follow_redirects=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        """Errors are raised outside of their handlers: what the server said must not travel along with them."""
        async with AsyncExitStack() as closing:
            response = await self._answering(request, closing)
            reading = Reading()
            try:
                async for part in response.aiter_bytes():
                    for piece in reading.feed(part):
                        yield piece
                for piece in reading.end():
                    yield piece
                return
            except (httpx2.RequestError, BrokenAnswer) as error:
                failure = failure_of(error)
        raise self._explained(failure if failure.slow else Failure(broken=True))

    async def _answering(self, request: ChatRequest, closing: AsyncExitStack) -> httpx2.Response:
        """The answer, once its head is there."""
        model = self.model or await self._only_model()
        attempt = 1
        while True:
            counted = self._counts_tokens
            usage = {"stream_options": {"include_usage": True}} if counted else {}
            body = {"model": model, "stream": True, **request.options, **usage, "messages": list(request.messages)}
            response = await self._opened("POST", "/chat/completions", closing, requests.encoded(body))
            if not isinstance(response, Failure):
                return response
            if response.too_long:
                raise TooLongForTheModel
            if response.refused == "stream_options" and counted:
                self._counts_tokens = False
            elif attempt < _TRIES and response.status is None and not response.slow:
                attempt += 1
            else:
                raise self._explained(response)

    async def _only_model(self) -> str:
        async with AsyncExitStack() as closing:
            response = await self._opened("GET", "/models", closing)
            if isinstance(response, Failure):
                raise self._explained(response)
            names = model_names(await self._received(response))
        if len(names) != 1:
            raise ModelUnavailable(
                f"The model's server has {len(names)} models: set CLOISTER_MODEL_NAME to one of them."
            )
        self.model = names[0]
        return self.model

    async def _received(self, response: httpx2.Response) -> bytes:
        try:
            body = await _read(response, _LONGEST_LIST)
        except httpx2.RequestError as error:
            failure = failure_of(error)
        else:
            if len(body) > _LONGEST_LIST:
                raise not_an_endpoint()
            return body
        raise self._explained(failure)

    async def _opened(
        self, method: str, path: str, closing: AsyncExitStack, content: bytes | None = None
    ) -> httpx2.Response | Failure:
        try:
            response = await closing.enter_async_context(
                self._client.stream(method, requests.address(self._endpoint, path), content=content)
            )
            if requests.is_answer(response):
                return response
            return requests.refused(response, await _read(response, requests.LONGEST_ERROR)).failure
        except httpx2.RequestError as error:
            return failure_of(error)

    def _explained(self, failure: Failure) -> ModelUnavailable:
        return failure.explained(
            self.model or "of CLOISTER_MODEL_URL",
            tries=1,
            seconds=self._endpoint.seconds,
            keyed=self._endpoint.key is not None,
        )


async def _read(response: httpx2.Response, longest: int) -> bytes:
    """All of the body, or a little more than the longest that is wanted."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > longest:
            break
    return bytes(body)
