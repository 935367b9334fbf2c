"""Conversations with one OpenAI-compatible endpoint, each reply read as it is written.

Whoever stops reading stops the model: the connection is closed at once, and with it the writing. As in `chat_endpoint.py`, what is
sent goes to the address that was set and to no other, with the credentials that were set and no other, and no error holds what was
said. A person waits for this: what fails is said, and asked again only where a connection was gone before anything came over it.
"""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import httpx2
from openai import APIError, AsyncAPIResponse, AsyncOpenAI, DefaultAsyncHttpxClient

from cloister.domain.errors import ModelUnavailable
from cloister.domain.reply import ChatRequest, Piece
from cloister.models.chat_endpoint import own_headers
from cloister.models.chat_pieces import Reading
from cloister.models.completions import BrokenAnswer, model_names, not_an_endpoint
from cloister.models.endpoint import Endpoint, TooLongForTheModel
from cloister.models.failures import Failure, failure_of

_LONGEST_CONNECTING = 5.0
_LONGEST_LIST = 4_000_000
_TRIES = 2
# A connection a reply, and replies take long: with a limit some would wait for others.
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=20)


class ChatConnection:
    """Used on one event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.model = endpoint.model
        self._endpoint = endpoint
        self._headers = own_headers(endpoint.key)
        self._counts_tokens = True
        timeout = httpx2.Timeout(endpoint.seconds, connect=min(endpoint.seconds, _LONGEST_CONNECTING))
        self._client = AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.key or "none",
            max_retries=0,
            timeout=timeout,
            http_client=DefaultAsyncHttpxClient(follow_redirects=False, limits=_LIMITS, timeout=timeout),
        )

    async def close(self) -> None:
        await self._client.close()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        """Errors are raised outside of their handlers: what the server said must not travel along with them."""
        async with AsyncExitStack() as closing:
            response = await self._answering(request, closing)
            reading = Reading()
            try:
                async for part in response.iter_bytes():
                    for piece in reading.feed(part):
                        yield piece
                for piece in reading.end():
                    yield piece
                return
            except (APIError, httpx2.RequestError, BrokenAnswer) as error:
                failure = failure_of(error)
        raise self._explained(failure if failure.slow else Failure(broken=True))

    async def _answering(self, request: ChatRequest, closing: AsyncExitStack) -> AsyncAPIResponse[Any]:
        """The answer, once its head is there."""
        model = self.model or await self._only_model()
        attempt = 1
        while True:
            counted = self._counts_tokens
            usage = {"stream_options": {"include_usage": True}} if counted else {}
            # All in `extra_body`, which goes out as it is: servers know fields that the client does not.
            opening = self._client.chat.completions.with_streaming_response.create(
                model=model,
                messages=[],
                stream=True,
                extra_body={**request.options, **usage, "messages": list(request.messages)},
                extra_headers=self._headers,
            )
            response = await _opened(opening, closing)
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
            listing = self._client.models.with_streaming_response.list(extra_headers=self._headers)
            response = await _opened(listing, closing)
            if isinstance(response, Failure):
                raise self._explained(response)
            names = model_names(await self._received(response))
        if len(names) != 1:
            raise ModelUnavailable(
                f"The model's server has {len(names)} models: set CLOISTER_MODEL_NAME to one of them."
            )
        self.model = names[0]
        return self.model

    async def _received(self, response: AsyncAPIResponse[Any]) -> bytes:
        body = bytearray()
        try:
            async for part in response.iter_bytes():
                body += part
                if len(body) > _LONGEST_LIST:
                    raise not_an_endpoint()
            return bytes(body)
        except (APIError, httpx2.RequestError) as error:
            failure = failure_of(error)
        raise self._explained(failure)

    def _explained(self, failure: Failure) -> ModelUnavailable:
        return failure.explained(
            self.model or "of CLOISTER_MODEL_URL",
            tries=1,
            seconds=self._endpoint.seconds,
            keyed=self._endpoint.key is not None,
        )


async def _opened(
    opening: AbstractAsyncContextManager[AsyncAPIResponse[Any]], closing: AsyncExitStack
) -> AsyncAPIResponse[Any] | Failure:
    try:
        return await closing.enter_async_context(opening)
    except (APIError, httpx2.RequestError) as error:
        return failure_of(error)
