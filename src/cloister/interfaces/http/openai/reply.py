"""A turn as OpenAI's clients read it: one completion, or a stream of chunks.

These clients have no other way to stop a reply than to leave, so leaving stops it. Until the first words are there, an error is an
answer of its own; after that it is an event in the stream.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.errors import ModelUnavailable
from cloister.domain.reply import TextDelta, ToolCallDelta, Usage
from cloister.interfaces.http.chat.running_turns import RunningTurn, RunningTurns
from cloister.interfaces.http.dispatch.access_recheck import StreamGuard
from cloister.interfaces.http.openai.errors import error_body, in_openai_shape
from cloister.interfaces.http.problems import CRASH, of_error, problem
from cloister.services.chat.converse import BuildRequest, TurnEnd, TurnEvent
from cloister.services.chat.turns import Turn

SESSION_HEADER = b"x-session-id"
EVENTS = "text/event-stream"
_STILL_THERE = b": still there\n\n"
_DONE = b"data: [DONE]\n\n"

_News = AsyncGenerator[list[TurnEvent]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answering:
    """A turn that was taken, and how its client wants the reply. `model` says who answers, as far as that is known."""

    turn: Turn
    build: BuildRequest
    model: Callable[[], str]
    stream: bool
    usage: bool
    guard: StreamGuard


class TurnReply(Response):
    """Starts the turn on the event loop, and answers with what becomes of it."""

    def __init__(self, turns: RunningTurns, answering: Answering) -> None:
        super().__init__()
        self._turns = turns
        self._answering = answering
        self._created = int(time.time())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        running = self._turns.start(self._answering.turn, self._answering.build)
        leaving = asyncio.create_task(_stop_when_left(receive, running))
        try:
            async with aclosing(running.follow(self._answering.guard)) as news:
                answer = self._stream if self._answering.stream else self._whole
                await answer(news, scope, send)
        finally:
            leaving.cancel()

    async def _whole(self, news: _News, scope: Scope, send: Send) -> None:
        happened = [event async for fresh in news for event in fresh]
        if (failed := _failure(happened)) is not None:
            await self._fail(failed, happened, scope, send)
            return
        body = json.dumps(self._completion(happened)).encode()
        await send(self._head(200, "application/json"))
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, news: _News, scope: Scope, send: Send) -> None:
        first = await _first_words(news)
        if (failed := _failure(first)) is not None:
            await self._fail(failed, first, scope, send)
            return
        await send(self._head(200, EVENTS))
        opening = self._chunk({"role": "assistant", "content": ""})
        await _send_part(send, opening + b"".join(self._events(first)))
        async for fresh in news:
            await _send_part(send, b"".join(self._events(fresh)) or _STILL_THERE)
        await send({"type": "http.response.body", "body": b""})

    async def _fail(self, failed: Response, happened: list[TurnEvent], scope: Scope, send: Send) -> None:
        """The log is told why, as for any other request."""
        error = in_openai_shape(failed)
        scope.setdefault("state", {})["error"] = next(
            (event.error for event in happened if isinstance(event, TurnEnd)), None
        )
        await send(self._head(error.status_code, "application/json", error.headers))
        await send({"type": "http.response.body", "body": bytes(error.body)})

    def _head(self, status: int, media_type: str, more: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A session's name is UTF-8, here as in requests."""
        kept = {name: value for name, value in (more or {}).items() if not name.startswith("content-")}
        if media_type == EVENTS:
            kept["x-accel-buffering"] = "no"
        named = Response(status_code=status, headers=kept, media_type=media_type).raw_headers
        headers = [(name, value) for name, value in named if name != b"content-length"]
        headers.append((SESSION_HEADER, self._answering.turn.session.external_id.encode()))
        return {"type": "http.response.start", "status": status, "headers": headers}

    def _completion(self, happened: Iterable[TurnEvent]) -> dict[str, Any]:
        calls: dict[int, dict[str, Any]] = {}
        words: list[str] = []
        finished = None
        for event in happened:
            if isinstance(event, TextDelta):
                words.append(event.text)
            elif isinstance(event, ToolCallDelta):
                _gather(calls, event)
            elif isinstance(event, TurnEnd):
                finished = event
        assert finished is not None
        message: dict[str, Any] = {"role": "assistant", "content": "".join(words) or None, "refusal": None}
        if calls:
            message["tool_calls"] = [calls[index] for index in sorted(calls)]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finished.finish_reason}
        return {**self._named("chat.completion"), "choices": [choice], "usage": _usage(finished.usage)}

    def _events(self, happened: Iterable[TurnEvent]) -> Iterator[bytes]:
        for event in happened:
            if isinstance(event, TextDelta):
                yield self._chunk({"content": event.text})
            elif isinstance(event, ToolCallDelta):
                yield self._chunk({"tool_calls": [_call(event)]})
            elif isinstance(event, TurnEnd):
                yield from self._last(event)

    def _last(self, finished: TurnEnd) -> Iterator[bytes]:
        failed = _failure([finished])
        if failed is not None:
            yield _event(error_body(json.loads(bytes(failed.body))))
            return
        yield self._chunk({}, finished.finish_reason)
        if self._answering.usage:
            named = self._named("chat.completion.chunk")
            yield _event({**named, "choices": [], "usage": _usage(finished.usage)})
        yield _DONE

    def _chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._answering.usage else {}
        return _event({**self._named("chat.completion.chunk"), "choices": [choice], **usage})

    def _named(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._answering.turn.name.removeprefix('turn_')}",
            "object": kind,
            "created": self._created,
            "model": self._answering.model(),
        }


async def _stop_when_left(receive: Receive, running: RunningTurn) -> None:
    while (await receive())["type"] != "http.disconnect":
        """Nothing else is expected."""
    running.stop.set()


async def _first_words(news: _News) -> list[TurnEvent]:
    """All until the first words, the end, or a long silence: then whoever waits shall see that somebody is there."""
    first: list[TurnEvent] = []
    async for fresh in news:
        first += fresh
        if not fresh or any(isinstance(event, TextDelta | ToolCallDelta) for event in fresh):
            break
    return first


async def _send_part(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


def _failure(happened: list[TurnEvent]) -> Response | None:
    """Why a turn that has ended did not end well. One that is cut at its limit of tokens has ended well."""
    finished = happened[-1] if happened else None
    if not isinstance(finished, TurnEnd):
        return None
    if finished.error is not None:
        return of_error(finished.error)
    if finished.finish_reason == "stopped":
        return of_error(ModelUnavailable("The reply was stopped before its end. What came of it is kept."))
    return problem("internal_error", CRASH) if finished.finish_reason == "error" else None


def _gather(calls: dict[int, dict[str, Any]], part: ToolCallDelta) -> None:
    call = calls.setdefault(part.index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
    call["id"] = part.id or call["id"]
    call["function"]["name"] = part.name or call["function"]["name"]
    call["function"]["arguments"] += part.arguments


def _call(part: ToolCallDelta) -> dict[str, Any]:
    """As the first part of a call, or one of those that follow it."""
    if part.id is None and part.name is None:
        return {"index": part.index, "function": {"arguments": part.arguments}}
    function = {"name": part.name, "arguments": part.arguments}
    return {"index": part.index, "id": part.id, "type": "function", "function": function}


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    return {**counts, "total_tokens": usage.prompt_tokens + usage.completion_tokens}


def _event(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
