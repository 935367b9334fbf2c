"""`GET /v1/events`: the events of a tenant as a stream of server-sent events."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, cast

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.interfaces.http import sse
from cloister.interfaces.http.arrival import until_disconnected
from cloister.interfaces.http.dispatch.access_recheck import AccessRecheck, StreamGuard
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.parameters import OfUser
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.events.subscribers import Subscribers
from cloister.services.events.bus import Subscription

HEARTBEAT_SECONDS = 15.0
# A client that takes longer to read what it was sent is disconnected.
SLOW_SECONDS = 30.0
_RETRY_MILLISECONDS = 2_000
_RESUME = "Resume after the event with this `id`. If it is no longer known, the stream begins with `reset`."

router = APIRouter(route_class=GuardedRoute, tags=["Chat"])
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", description=_RESUME)]
LastEventIdInQuery = Annotated[str | None, Query(description=f"{_RESUME} The header takes precedence.")]


@router.get(
    "/v1/events",
    response_class=Response,
    responses={
        200: {
            "content": {sse.MEDIA_TYPE: {"schema": {"type": "string"}}},
            "description": "Events, until the client disconnects or the server stops.",
        }
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
    """Subscribe to `session.created`, `session.changed`, `session.deleted`, `message.added`, `turn.started` and `turn.finished`, of
    the project that the header or the key names, else of all. Events carry ids and never contents. A session that moves out of the
    caller's reach is reported as deleted. A stream begins with `ready`; `reset` means that events were missed: read again what you
    show."""
    if user_id is not None:
        checked_name(user_id, "user_id")
    reach = caller.narrowed_reach()
    behind = last_event_id_header or last_event_id or None
    subscription = caller.services.events.subscribe(reach, user=user_id, after=behind)
    greeting = sse.retry(_RETRY_MILLISECONDS)
    if behind is None:
        greeting += sse.event({"type": "ready"}, kind="ready", event_id=subscription.id)
    recheck = cast(AccessRecheck, request.app.state.access_recheck)
    guard = recheck.guard(caller, ("events", reach), lambda now: now.narrowed_reach() == reach)
    return EventStream(cast(Subscribers, request.app.state.subscribers), guard, reach, subscription, greeting)


class EventStream(Response):
    """A stream that ends when the client disconnects, is too slow or may no longer read, or when the server stops."""

    media_type = sse.MEDIA_TYPE

    def __init__(
        self, subscribers: Subscribers, guard: StreamGuard, reach: Reach, subscription: Subscription, greeting: bytes
    ) -> None:
        super().__init__(headers=sse.HEADERS)
        del self.headers["content-length"]
        self._subscribers = subscribers
        self._guard = guard
        self._reach = reach
        self._subscription = subscription
        self._greeting = greeting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        news = self._subscribers.join(self._reach.tenant)
        gone = asyncio.create_task(until_disconnected(receive))
        gone.add_done_callback(lambda _: news.set())
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with aclosing(self._chunks(news, gone)) as chunks:
                async for chunk in chunks:
                    async with asyncio.timeout(SLOW_SECONDS):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if not gone.done():
                await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            return  # the response is left incomplete, so the server closes the connection
        finally:
            gone.cancel()
            self._subscribers.leave(self._reach.tenant, news)
            self._subscription.close()

    async def _chunks(self, news: asyncio.Event, gone: "asyncio.Task[None]") -> AsyncGenerator[bytes]:
        now = asyncio.get_running_loop().time
        yield self._greeting
        sent = now()
        while True:
            news.clear()
            chunk = self._subscribers.frames.read(self._subscription)
            if not await self._guard.admits():
                return
            if gone.done() or self._subscribers.closing:
                return
            if chunk:
                yield chunk
                sent = now()
            elif now() - sent >= HEARTBEAT_SECONDS:
                yield sse.keep_alive(self._subscription.id)
                sent = now()
            if not self._subscription.has_events:
                await self._guard.wait(news, sent + HEARTBEAT_SECONDS - now())
