"""A turn as a chat completion of OpenAI's interface: one JSON object, or a stream of chunks.

These clients can stop a reply only by disconnecting, so a disconnect stops it. Before the first text an error is an ordinary error
answer; after that it is an event in the stream.
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
from cloister.interfaces.http import sse
from cloister.interfaces.http.arrival import until_disconnected
from cloister.interfaces.http.chat.running_turns import RunningTurn, RunningTurns
from cloister.interfaces.http.dispatch.access_recheck import StreamGuard
from cloister.interfaces.http.openai.errors import error_body, in_openai_shape
from cloister.interfaces.http.problems import CRASH, of_error, problem
from cloister.services.chat.converse import BuildRequest, TurnEnd, TurnEvent
from cloister.services.chat.turns import Turn

SESSION_HEADER = b"x-session-id"

_Events = AsyncGenerator[list[TurnEvent]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answering:
    """A turn that has begun, and how its client wants the reply. `model` returns the name of the model that answers,
    as far as it is known."""

    turn: Turn
    build: BuildRequest
    model: Callable[[], str]
    stream: bool
    usage: bool
    guard: StreamGuard


class TurnReply(Response):
    """A response that starts a turn on the event loop and sends its reply."""

    def __init__(self, turns: RunningTurns, answering: Answering) -> None:
        super().__init__()
        self._turns = turns
        self._answering = answering
        self._created = int(time.time())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        running = self._turns.start(self._answering.turn, self._answering.build)
        leaving = asyncio.create_task(_stop_when_left(receive, running))
        try:
            async with aclosing(running.follow(self._answering.guard)) as following:
                answer = self._stream if self._answering.stream else self._whole
                await answer(following, scope, send)
        finally:
            leaving.cancel()

    async def _whole(self, following: _Events, scope: Scope, send: Send) -> None:
        events = [event async for fresh in following for event in fresh]
        if (failed := _failure(events)) is not None:
            await self._fail(failed, events, scope, send)
            return
        body = json.dumps(self._completion(events)).encode()
        await send(self._head(200, "application/json"))
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, following: _Events, scope: Scope, send: Send) -> None:
        first = await _first_words(following)
        if (failed := _failure(first)) is not None:
            await self._fail(failed, first, scope, send)
            return
        await send(self._head(200, sse.MEDIA_TYPE, sse.HEADERS))
        opening = self._chunk({"role": "assistant", "content": ""})
        await _send_part(send, opening + b"".join(self._events(first)))
        async for fresh in following:
            await _send_part(send, b"".join(self._events(fresh)) or sse.keep_alive())
        await send({"type": "http.response.body", "body": b""})

    async def _fail(self, failed: Response, events: list[TurnEvent], scope: Scope, send: Send) -> None:
        """Answer an error, and store its cause in the state of the request for the log."""
        error = in_openai_shape(failed)
        scope.setdefault("state", {})["error"] = next(
            (event.error for event in events if isinstance(event, TurnEnd)), None
        )
        await send(self._head(error.status_code, "application/json", error.headers))
        await send({"type": "http.response.body", "body": bytes(error.body)})

    def _head(self, status: int, media_type: str, more: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The start of a response, with the session's external id in a header, in UTF-8 as in requests."""
        kept = {name: value for name, value in (more or {}).items() if not name.startswith("content-")}
        named = Response(status_code=status, headers=kept, media_type=media_type).raw_headers
        headers = [(name, value) for name, value in named if name != b"content-length"]
        headers.append((SESSION_HEADER, self._answering.turn.session.external_id.encode()))
        return {"type": "http.response.start", "status": status, "headers": headers}

    def _completion(self, events: Iterable[TurnEvent]) -> dict[str, Any]:
        calls: dict[int, dict[str, Any]] = {}
        words: list[str] = []
        finished = None
        for event in events:
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

    def _events(self, events: Iterable[TurnEvent]) -> Iterator[bytes]:
        for event in events:
            if isinstance(event, TextDelta):
                yield self._chunk({"content": event.text})
            elif isinstance(event, ToolCallDelta):
                yield self._chunk({"tool_calls": [_call(event)]})
            elif isinstance(event, TurnEnd):
                yield from self._last(event)

    def _last(self, finished: TurnEnd) -> Iterator[bytes]:
        failed = _failure([finished])
        if failed is not None:
            yield sse.event(error_body(json.loads(bytes(failed.body))))
            return
        yield self._chunk({}, finished.finish_reason)
        if self._answering.usage:
            named = self._named("chat.completion.chunk")
            yield sse.event({**named, "choices": [], "usage": _usage(finished.usage)})
        yield sse.DONE

    def _chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        usage = {"usage": None} if self._answering.usage else {}
        return sse.event({**self._named("chat.completion.chunk"), "choices": [choice], **usage})

    def _named(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._answering.turn.name.removeprefix('turn_')}",
            "object": kind,
            "created": self._created,
            "model": self._answering.model(),
        }


async def _stop_when_left(receive: Receive, running: RunningTurn) -> None:
    await until_disconnected(receive)
    running.stop.set()


async def _first_words(following: _Events) -> list[TurnEvent]:
    """The events up to the first text or the end. After a while without events they end too, so that keep-alives can be sent."""
    first: list[TurnEvent] = []
    async for fresh in following:
        first += fresh
        if not fresh or any(isinstance(event, TextDelta | ToolCallDelta) for event in fresh):
            break
    return first


async def _send_part(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


def _failure(events: list[TurnEvent]) -> Response | None:
    """The error answer of a turn that has failed, else none. A reply that was cut off at its token limit has not failed."""
    finished = events[-1] if events else None
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
    """A part of a tool call as a delta: the first has id and name, the others only arguments."""
    if part.id is None and part.name is None:
        return {"index": part.index, "function": {"arguments": part.arguments}}
    function = {"name": part.name, "arguments": part.arguments}
    return {"index": part.index, "id": part.id, "type": "function", "function": function}


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    counts = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    return {**counts, "total_tokens": usage.prompt_tokens + usage.completion_tokens}
