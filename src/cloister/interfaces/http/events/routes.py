"""Events as they happen, as server-sent events."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.events import Event
from cloister.domain.identifiers import format_message_id, format_project_id
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import iso
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck, StreamGuard
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.parameters import OfUser
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.events.subscribers import Subscribers
from cloister.services.events.bus import Delivery, Subscription

HEARTBEAT_SECONDS = 15.0
# How long a reader may take for what it is sent before it is cut.
SLOW_SECONDS = 30.0
_MEDIA_TYPE = "text/event-stream"
# How long a browser waits before it comes again, in milliseconds.
_RETRY = b"retry: 2000\n\n"
_BEHIND = "Go on behind the event of this `id`. Where it is not known any more, the stream begins with `reset`."

router = APIRouter(route_class=GuardedRoute, tags=["Chat"])
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", description=_BEHIND)]
LastEventIdInQuery = Annotated[str | None, Query(description=f"{_BEHIND} The header wins.")]


@router.get(
    "/v1/events",
    response_class=Response,
    responses={
        200: {"content": {_MEDIA_TYPE: {"schema": {"type": "string"}}}, "description": "Events, until it is ended."}
    },
)
@needs("read")
def follow_events(
    request: Request,
    caller: Caller,
    user_id: OfUser = None,
    last_event_id: LastEventIdInQuery = None,
    last_event_id_header: LastEventId = None,
) -> Response:
    """Follow what happens: `session.created`, `session.changed`, `session.deleted`, `message.added`, `turn.started` and
    `turn.finished`, in ids and never in words, of the project that the header or the key names, else of all. A session that moves
    out of sight is told as deleted. A stream begins with `ready`; `reset` says that some was missed: read again what you show."""
    if user_id is not None:
        checked_name(user_id, "user_id")
    reach = caller.narrowed_reach()
    behind = last_event_id_header or last_event_id or None
    subscription = caller.services.events.subscribe(reach, user=user_id, after=behind)
    greeting = _RETRY if behind else _RETRY + _block("ready", subscription.id, {"type": "ready"})
    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    guard = recheck.guard(caller, ("events", reach), lambda now: now.narrowed_reach() == reach)
    return EventStream(cast(Subscribers, request.app.state.subscribers), guard, reach, subscription, greeting)


class EventStream(Response):
    """Goes on until the reader goes away, takes too long, or may not read any more, or the server stops."""

    media_type = _MEDIA_TYPE

    def __init__(
        self, subscribers: Subscribers, guard: StreamGuard, reach: Reach, subscription: Subscription, greeting: bytes
    ) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._subscribers = subscribers
        self._guard = guard
        self._reach = reach
        self._subscription = subscription
        self._greeting = greeting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        news = self._subscribers.join(self._reach.tenant)
        gone = asyncio.create_task(_until_gone(receive))
        gone.add_done_callback(lambda _: news.set())
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with aclosing(self._pieces(news, gone)) as pieces:
                async for piece in pieces:
                    async with asyncio.timeout(SLOW_SECONDS):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            if not gone.done():
                await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            return  # an answer without its end: the server closes the connection
        finally:
            gone.cancel()
            self._subscribers.leave(self._reach.tenant, news)
            self._subscription.close()

    async def _pieces(self, news: asyncio.Event, gone: "asyncio.Task[None]") -> AsyncGenerator[bytes]:
        now = asyncio.get_running_loop().time
        yield self._greeting
        sent = now()
        while True:
            news.clear()
            told = self._subscription.read()
            if not await self._guard.admits():
                return
            if gone.done() or self._subscribers.closing:
                return
            if told:
                yield _blocks(told)
                sent = now()
            elif now() - sent >= HEARTBEAT_SECONDS:
                yield f": still here\nid: {self._subscription.id}\n\n".encode()
                sent = now()
            if not self._subscription.has_events:
                await _wait(news, min(self._guard.seconds_left, sent + HEARTBEAT_SECONDS - now()))


def _blocks(told: Sequence[Delivery]) -> bytes:
    return b"".join(
        _block("reset", each.id, {"type": "reset"})
        if each.event is None or each.event.kind == "reset"
        else _block(each.event.kind, each.id, _shape(each.event))
        for each in told
    )


def _block(kind: str, place: str, data: object) -> bytes:
    """JSON in ASCII has no line break of any kind: a name cannot end its line, nor begin another."""
    return f"id: {place}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode("ascii")


def _shape(event: Event) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "type": event.kind,
        "session_id": event.session,
        "project_id": None if event.project is None else format_project_id(event.project),
        "user_id": event.user,
        "created_at": iso(event.at),
    }
    if event.messages:
        shape["message_ids"] = [format_message_id(message) for message in event.message_ids]
    if event.status is not None:
        shape["status"] = event.status
    return shape


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        """Whatever else comes is not for us."""


async def _wait(news: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(max(0.0, seconds)):
            await news.wait()
    except TimeoutError:
        return
