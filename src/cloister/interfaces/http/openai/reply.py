"""A turn as an answer of another interface, such as OpenAI's: one JSON object, or a stream of events, in the format of a chat
completion, a response or a message.

These clients can stop a reply only by disconnecting, so a disconnect stops it. Before the first text an error is an ordinary error
answer; after that it is an event in the stream.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.errors import ModelUnavailable, Unauthenticated
from cloister.domain.reply import ProviderEvent, TextDelta, ToolCallDelta
from cloister.interfaces.http import sse
from cloister.interfaces.http.arrival import until_disconnected
from cloister.interfaces.http.chat.running_turns import RunningReply, RunningTurns
from cloister.interfaces.http.dispatch.access_recheck import StreamGuard
from cloister.interfaces.http.openai.errors import in_openai_shape
from cloister.interfaces.http.problems import CRASH, of_error, problem
from cloister.services.chat.converse import TurnEnd, TurnEvent

SESSION_HEADER = b"x-session-id"

_Events = AsyncGenerator[list[TurnEvent]]


class ReplyFormat(Protocol):
    """The format of one answer. It gets all events of the turn, in order: at once for `whole`, or a few at a time for `events`."""

    def whole(self, events: Iterable[TurnEvent]) -> dict[str, Any]:
        """The answer to a turn that has not failed."""
        ...

    def opening(self) -> bytes:
        """The first events of a stream."""
        ...

    def events(self, events: Iterable[TurnEvent]) -> bytes:
        """The events of a stream for these events of the turn; a failure is an event too."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Answering:
    """A turn that has begun, and how its client wants the reply. `start` starts it on the event loop; `session` is the external id
    of its session, if it has one. With `is_unnamed` a failure leaves no session, and its answer names none. `in_shape` makes a
    problem an error in the format of the client."""

    start: Callable[[RunningTurns], RunningReply]
    session: str | None
    format: ReplyFormat
    stream: bool
    guard: StreamGuard
    in_shape: Callable[[Response], Response] = in_openai_shape
    is_unnamed: bool = False


class TurnReply(Response):
    """A response that starts a turn on the event loop and sends its reply."""

    def __init__(self, turns: RunningTurns, answering: Answering) -> None:
        super().__init__()
        self._turns = turns
        self._answering = answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        running = self._answering.start(self._turns)
        leaving = asyncio.create_task(_stop_when_left(receive, running))
        try:
            async with aclosing(running.follow(self._answering.guard)) as following:
                answer = self._stream if self._answering.stream else self._whole
                await answer(following, scope, send)
        finally:
            leaving.cancel()

    async def _whole(self, following: _Events, scope: Scope, send: Send) -> None:
        events = [event async for fresh in following for event in fresh]
        if (failed := failure(events)) is not None:
            await self._fail(failed, events, scope, send)
            return
        body = json.dumps(self._answering.format.whole(events)).encode()
        await send(self._head(200, "application/json"))
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, following: _Events, scope: Scope, send: Send) -> None:
        first = await _first_words(following)
        if (failed := failure(first)) is not None:
            await self._fail(failed, first, scope, send)
            return
        await send(self._head(200, sse.MEDIA_TYPE, sse.HEADERS))
        form = self._answering.format
        await _send_part(send, form.opening() + form.events(first))
        async for fresh in following:
            await _send_part(send, form.events(fresh) or sse.keep_alive())
        await send({"type": "http.response.body", "body": b""})

    async def _fail(self, failed: Response, events: list[TurnEvent], scope: Scope, send: Send) -> None:
        """Answer an error, and store its cause in the state of the request for the log. Of a key that is not valid any more the
        status is that of any request with such a key."""
        refusal = self._answering.guard.refusal
        error = self._answering.in_shape(of_error(refusal) if isinstance(refusal, Unauthenticated) else failed)
        scope.setdefault("state", {})["error"] = next(
            (event.error for event in events if isinstance(event, TurnEnd)), None
        )
        named = not self._answering.is_unnamed
        await send(self._head(error.status_code, "application/json", error.headers, named=named))
        await send({"type": "http.response.body", "body": bytes(error.body)})

    def _head(
        self, status: int, media_type: str, more: Mapping[str, str] | None = None, *, named: bool = True
    ) -> dict[str, Any]:
        """The start of a response, with the session's external id in a header, in UTF-8 as in requests."""
        session = self._answering.session if named else None
        kept = {name: value for name, value in (more or {}).items() if not name.startswith("content-")}
        given = Response(status_code=status, headers=kept, media_type=media_type).raw_headers
        headers = [(name, value) for name, value in given if name != b"content-length"]
        if session is not None:
            headers.append((SESSION_HEADER, session.encode()))
        return {"type": "http.response.start", "status": status, "headers": headers}


async def _stop_when_left(receive: Receive, running: RunningReply) -> None:
    await until_disconnected(receive)
    running.stop.set()


async def _first_words(following: _Events) -> list[TurnEvent]:
    """The events up to the first text or the end. After a while without events they end too, so that keep-alives can be sent."""
    first: list[TurnEvent] = []
    async for fresh in following:
        first += fresh
        if not fresh or any(isinstance(event, TextDelta | ToolCallDelta | ProviderEvent) for event in fresh):
            break
    return first


async def _send_part(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


def failure(events: list[TurnEvent]) -> Response | None:
    """The error answer of a turn that has failed, else none. A reply that was cut off at its token limit has not failed."""
    finished = events[-1] if events else None
    if not isinstance(finished, TurnEnd):
        return None
    if finished.error is not None:
        return of_error(finished.error)
    if finished.finish_reason == "stopped":
        return of_error(ModelUnavailable("The reply was stopped before its end. What came of it is kept."))
    return problem("internal_error", CRASH) if finished.finish_reason == "error" else None
