"""The HTTP client of one OpenAI-compatible API, for chat, extraction and embeddings: it sends, retries, and parses replies. Where
the same server has Anthropic's interface too, it asks that one for clients of that interface.

Requests go to the configured URL only, with the configured key and no other credentials: redirects are not followed. Proxies of
the environment are used. Replies of chat models are always streamed, because only then does a server notice that the connection
was closed, and stop generating. Nothing is logged, and no error contains the conversation, nor has one that does as its cause or
context.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import httpx2
from anyio.from_thread import start_blocking_portal

from cloister.domain.errors import ModelUnavailable
from cloister.domain.reply import End, Piece, TextDelta, ToolCallDelta
from cloister.domain.tracing.interface import ModelCall, ModelSpan
from cloister.models.anthropic.stream import (
    COUNT_TOKENS,
    CURRENT_VERSION,
    MESSAGES,
    LacksRoute,
    MessageParser,
    lacks_messages,
    message_headers,
    not_messages,
)
from cloister.models.openai.answers import Reply
from cloister.models.openai.endpoint import Endpoint, TooLongForTheModel
from cloister.models.openai.failures import (
    CallFailed,
    Failure,
    OptionalField,
    connection_failure,
    not_an_endpoint,
    parse_json,
    rejection,
)
from cloister.models.openai.stream import ReplyParser

_CONNECT_SECONDS = 5.0
_FIRST_PAUSE = 0.5
_LONGEST_ERROR = 100_000
_LONGEST_ANSWER = 4_000_000
_LONGEST_STREAM = 64_000_000
# Bytes without a word: so many at once, and so many in each second since the last word. A model that thinks sends less.
_LONGEST_SILENCE = 1_000_000
_SILENT_BYTES_A_SECOND = 500_000
# As JSON: 16,000 numbers.
_LONGEST_VECTOR = 400_000
# Anthropic lists its models to requests with a version only; other servers ignore the header.
_LISTING = {"anthropic-version": CURRENT_VERSION}
# Each reply takes a connection for as long as it is generated: with a maximum, some replies would wait for others.
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=20)

BuildBody = Callable[[Sequence[OptionalField]], Mapping[str, object]]
"""Makes the body of a request without the optional fields that the server has rejected so far. A field rejected twice is in the
sequence twice."""
_T = TypeVar("_T")


class ModelClient:
    """Used on one event loop.

    For chat, a person is waiting: failures are reported at once, and a request is sent again only if the connection was lost
    before any answer, as happens to idle connections. With `persistent`, for extraction, it is retried with growing pauses.
    """

    def __init__(self, endpoint: Endpoint, *, persistent: bool = False) -> None:
        self.model = endpoint.model
        self._endpoint = endpoint
        self._persistent = persistent
        self._rejected: tuple[OptionalField, ...] = ()
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "identity",
        }
        if endpoint.key is not None:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        timeout = httpx2.Timeout(endpoint.seconds, connect=min(endpoint.seconds, _CONNECT_SECONDS))
        self._http = httpx2.AsyncClient(headers=headers, timeout=timeout, limits=_LIMITS, follow_redirects=False)

    async def close(self) -> None:
        await self._http.aclose()

    async def stream(
        self,
        build: BuildBody,
        *,
        model: str | None = None,
        key: str | None = None,
        interface: Literal["chat", "messages"] = "chat",
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[Piece]:
        """Yield the reply while it arrives. Closing the generator closes the connection, which stops the model. `model` and `key`
        replace the configured ones for this request. With the interface "messages" the server is asked in Anthropic's format, and
        its events are pieces too."""
        is_chat = interface == "chat"
        own = {} if is_chat else message_headers(headers or {}, key or self._endpoint.key)
        call = partial(self._open, "POST", "/chat/completions" if is_chat else MESSAGES, key=key, shows_message=True)
        parser = ReplyParser(_LONGEST_STREAM) if is_chat else MessageParser(_LONGEST_STREAM)
        name = model or self.model or await self._only_model()
        with self._span(name, interface) as span:
            call = partial(call, headers={**own, **span.headers})
            try:
                response = await self._send(build, call, model=name, key=key)
                limit = self._endpoint.silent_seconds
                async with aclosing(response), aclosing(_pieces(response, parser, limit)) as pieces:
                    async for piece in pieces:
                        _note_end(span, piece)
                        yield piece
            except CallFailed as failed:
                raise self.explained(failed, model=name, key=key) from failed.failure.cause

    def _span(
        self, model: str, interface: Literal["chat", "messages", "embeddings"]
    ) -> AbstractContextManager[ModelSpan]:
        return self._endpoint.tracer.model(ModelCall(model=model, interface=interface, url=self._endpoint.url))

    async def model_names(self, seconds: float) -> list[str]:
        """The names of the models that the endpoint lists within so many seconds; none if it does not."""
        try:
            async with asyncio.timeout(seconds):
                return await self._model_names()
        except (CallFailed, ModelUnavailable, TimeoutError):
            return []

    async def count_tokens(
        self, fields: Mapping[str, object], *, model: str | None, key: str | None, headers: Mapping[str, str]
    ) -> int | None:
        """The tokens of a request in Anthropic's format; None if the server does not count them. Raises `ModelUnavailable`."""
        model = model or self.model or await self._only_model()
        body = json.dumps({"model": model, **fields}, ensure_ascii=False).encode("utf-8", "replace")
        own = message_headers(headers, key or self._endpoint.key)
        try:
            return await self._retried(partial(self._counted, body, key, own))
        except CallFailed as failed:
            raise self.explained(failed, model=model, key=key) from failed.failure.cause

    async def _counted(self, body: bytes, key: str | None, headers: Mapping[str, str]) -> int | None:
        try:
            response = await self._open("POST", COUNT_TOKENS, body, key=key, headers=headers)
        except LacksRoute:
            return None
        async with aclosing(response):
            try:
                counted = parse_json(await _body(response, _LONGEST_ANSWER))
            except httpx2.RequestError as error:
                raise CallFailed(connection_failure(error, answering=True)) from None
        tokens: Any = counted.get("input_tokens") if isinstance(counted, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return tokens if isinstance(tokens, int) else None

    async def ask(self, build: BuildBody) -> Reply:
        """Return the whole reply. Raises `ModelUnavailable`, or `TooLongForTheModel`."""
        name = self.model or await self._only_model()
        with self._span(name, "chat") as span:
            return await self._send(build, partial(self._reply, span), model=name)

    async def embed(self, texts: Sequence[str]) -> Any:
        """Return the JSON answer of `/embeddings`, None if it is not JSON. Raises `CallFailed`, or `ModelUnavailable`."""
        model = self.model or await self._only_model()
        body = json.dumps({"model": model, "input": texts}, ensure_ascii=False).encode("utf-8", "replace")
        limit = _LONGEST_ERROR + len(texts) * _LONGEST_VECTOR
        with self._span(model, "embeddings") as span:
            return await self._retried(partial(self._embeddings, body, limit, span.headers))

    async def _embeddings(self, body: bytes, limit: int, headers: Mapping[str, str]) -> Any:
        async with aclosing(await self._open("POST", "/embeddings", body, headers=headers)) as response:
            try:
                return parse_json(await _body(response, limit))
            except httpx2.RequestError as error:
                raise CallFailed(connection_failure(error, answering=True)) from None

    async def _reply(self, span: ModelSpan, body: bytes) -> Reply:
        text: list[str] = []
        end = End()
        async with aclosing(await self._open("POST", "/chat/completions", body, headers=span.headers)) as response:
            async for piece in _pieces(response, ReplyParser(_LONGEST_ANSWER), self._endpoint.silent_seconds):
                _note_end(span, piece)
                if isinstance(piece, TextDelta):
                    text.append(piece.text)
                elif isinstance(piece, End):
                    end = piece
        return Reply(text="".join(text), complete=end.finish_reason != "length")

    async def _send(
        self,
        build: BuildBody,
        call: Callable[[bytes], Awaitable[_T]],
        *,
        model: str | None = None,
        key: str | None = None,
    ) -> _T:
        """Call with the body, and again without the optional field that the server rejects; later requests omit it too."""
        model = model or self.model or await self._only_model()
        while True:
            rejected = self._rejected
            fields = build(rejected)
            body = json.dumps({"model": model, "stream": True, **fields}, ensure_ascii=False)
            try:
                return await self._retried(partial(call, body.encode("utf-8", "replace")))
            except CallFailed as failed:
                failure = failed.failure
                if failure.too_long:
                    raise TooLongForTheModel from None
                if failure.rejected is None or build([*rejected, failure.rejected]) == fields:
                    raise self.explained(failed, model=model, key=key) from failure.cause
                self._rejected = (*rejected, failure.rejected)

    async def _only_model(self) -> str:
        try:
            names = await self._retried(self._model_names)
        except CallFailed as failed:
            raise self.explained(failed) from failed.failure.cause
        if len(names) != 1:
            raise ModelUnavailable(
                f"The model's server has {len(names)} models: set {self._endpoint.settings.model} to one of them."
            )
        self.model = names[0]
        return self.model

    async def _model_names(self) -> list[str]:
        async with aclosing(await self._open("GET", "/models", headers=_LISTING)) as response:
            try:
                listed = parse_json(await _body(response, _LONGEST_ANSWER))
                return [str(model["id"]) for model in listed["data"]]
            except httpx2.RequestError as error:
                raise CallFailed(connection_failure(error, answering=True)) from None
            except (KeyError, TypeError):
                raise not_an_endpoint(self._endpoint.settings) from None

    async def _open(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        shows_message: bool = False,
    ) -> httpx2.Response:
        """Return the response, which the caller closes, once its headers are there. Raises `CallFailed`. `shows_message`: its error
        may have the server's message, because the request is of one reply, and its reader may read all of it."""
        try:
            url = self._endpoint.url.rstrip("/") + path
            own = {**(headers or {}), **({} if key is None else {"Authorization": f"Bearer {key}"})}
            request = self._http.build_request(method, url, content=body, headers=own)
            response = await self._http.send(request, stream=True)
            if response.is_success and response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                raise not_an_endpoint(self._endpoint.settings)  # a few compressed bytes may be any number of them
            if response.is_success:
                return response
            async with aclosing(response):
                refused = await _body(response, _LONGEST_ERROR)
            if path == MESSAGES and lacks_messages(response.status_code, refused):
                raise not_messages()
            if path == COUNT_TOKENS and lacks_messages(response.status_code, refused):
                raise LacksRoute
            sent = body if shows_message else None
            failure = rejection(response.status_code, response.headers, refused, sent, (key, self._endpoint.key))
        except httpx2.RequestError as error:
            failure = connection_failure(error, answering=False)
        raise CallFailed(failure)

    async def _retried(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Await one attempt after the other, each within the endpoint's timeout, until one succeeds or the next cannot help.

        The timeout of the HTTP client does not suffice: it starts anew with every byte that keeps the connection alive.
        """
        attempt = 1
        while True:
            try:
                async with asyncio.timeout(self._endpoint.seconds):
                    return await call()
            except CallFailed as error:
                failure = error.failure
            except TimeoutError:
                failure = Failure(timed_out=True)
            if not self._persistent:
                if attempt > 1 or not failure.connection_failed:
                    raise CallFailed(failure)
            elif attempt >= self._endpoint.tries or not failure.temporary:
                raise CallFailed(failure, attempt)
            else:
                usual = _FIRST_PAUSE * 2 ** (attempt - 1) * (0.5 + self._endpoint.draw())
                await self._endpoint.sleep(max(failure.wait or 0.0, usual))
            attempt += 1

    def explained(
        self, failed: CallFailed, seconds: float | None = None, *, model: str | None = None, key: str | None = None
    ) -> ModelUnavailable:
        """The error for users; `seconds` is the timeout, `model` the model and `key` the key, if they were not the endpoint's."""
        names = self._endpoint.settings
        return failed.failure.explained(
            model or self.model or f"of {names.url}",
            tries=failed.tries,
            seconds=self._endpoint.seconds if seconds is None else seconds,
            has_key=key is not None or self._endpoint.key is not None,
            names=names if key is None else replace(names, key="X-Model-Key"),
        )


class BlockingModelClient:
    """The persistent client for callers without an event loop: it runs on a loop in a thread of its own. Thread-safe."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._thread = ExitStack()
        self._portal = self._thread.enter_context(start_blocking_portal())
        self._client = ModelClient(endpoint, persistent=True)

    def ask(self, build: BuildBody) -> Reply:
        return self._portal.call(self._client.ask, build)

    def close(self) -> None:
        """Requests that other threads are still waiting for fail."""
        self._portal.call(self._client.close)
        self._portal.call(self._portal.stop, True)
        self._thread.close()


def _note_end(span: ModelSpan, piece: Piece) -> None:
    if isinstance(piece, End):
        usage = piece.usage
        tokens = (None, None) if usage is None else (usage.prompt_tokens, usage.completion_tokens)
        span.result(piece.finish_reason, *tokens)


async def _pieces(
    response: httpx2.Response, parser: ReplyParser | MessageParser, silent_seconds: float
) -> AsyncGenerator[Piece]:
    """The pieces of a reply. Empty chunks keep it alive only for so long, and only so many bytes of them are read."""
    clock = asyncio.get_running_loop().time
    silent_since, silent_bytes = clock(), 0
    try:
        async for part in response.aiter_bytes():
            silent_bytes += len(part)
            for piece in parser.feed(part):
                if isinstance(piece, TextDelta | ToolCallDelta):
                    silent_since, silent_bytes = clock(), 0
                yield piece
            silent, parsed = clock() - silent_since, silent_bytes - parser.unparsed
            if silent > silent_seconds or parsed > _LONGEST_SILENCE + silent * _SILENT_BYTES_A_SECOND:
                raise CallFailed(Failure(silent=True))
    except httpx2.RequestError as error:
        raise CallFailed(connection_failure(error, answering=True)) from None
    for piece in parser.end():
        yield piece


async def _body(response: httpx2.Response, limit: int) -> bytes:
    """Read the body, and stop soon after the limit: a longer one is cut, so that it is no valid JSON."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > limit:
            break
    return bytes(body)
