"""Middleware around every request: a request id, checks of host and size, metrics, a log line, and a plain 500 after a crash."""

import logging
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cloister.domain.patterns import anchored
from cloister.domain.tracing.interface import Tracer
from cloister.interfaces.http.anthropic.errors import REQUEST_ID, is_anthropic
from cloister.interfaces.http.dispatch.callers import API_KEY
from cloister.interfaces.http.dispatch.paths import as_routed
from cloister.interfaces.http.fronts.routes import Load
from cloister.interfaces.http.hosts import WRONG_HOST, AllowedHosts
from cloister.interfaces.http.logs import log
from cloister.interfaces.http.metrics import Metrics
from cloister.interfaces.http.openai.errors import shaped
from cloister.interfaces.http.problems import CRASH, METHODS, problem

LARGEST_BODY = 1 << 20
# The status in logs and metrics of a client that disconnected before the end of its request. It is never sent.
_GONE = 499
_BROKEN = 500
# The answer to a request for what Cloister does not have: no failure of the server.
_NOT_SUPPORTED = 501
_REQUEST_ID = anchored(r"[A-Za-z0-9._-]{1,64}")
# Routes that read a body of any length while it arrives, after the caller was admitted.
STREAMED_BODIES = {("POST", "/v1/import"), ("POST", "/v1/import/file")}
_TOO_LARGE = f"The body is larger than {LARGEST_BODY:,} bytes."


class _BodyTooLarge(Exception):
    """Raised by `receive` and caught by `RequestMiddleware` alone."""


class RequestMiddleware:
    """The outermost layer of the app: every HTTP request and every answer goes through it."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        find: Callable[[Scope], ASGIApp | None],
        unloaded: Callable[[Scope], Load | None],
        load: Callable[[Load], None],
        hosts: AllowedHosts,
        tracer: Tracer,
    ) -> None:
        """`unloaded` says what `load` must import before the route of a request can be found."""
        self._tracer = tracer
        self._app = app
        self._metrics = metrics
        self._find = find
        self._unloaded = unloaded
        self._load = load
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A copy: the server logs its own scope, and cannot encode the stand-in for an encoded slash.
        scope = {**scope, "path": as_routed(scope["raw_path"])}
        with self._tracer.request(_known(scope["method"]), Headers(scope=scope)) as span:
            status = await self._answer(scope, _Exchange(scope, receive, send))
            span.result(_route(scope), status)

    async def _answer(self, scope: Scope, exchange: "_Exchange") -> int:
        """Answer the request, and return the status."""
        began = time.perf_counter()
        self._metrics.began()
        error: Exception | None = None
        try:
            if not exchange.names(self._hosts):
                await exchange.refuse_host()
            elif exchange.announced_size > exchange.largest_body:
                await exchange.refuse_size()
            else:
                if (front := self._unloaded(scope)) is not None:
                    await run_in_threadpool(self._load, front)
                await (self._find(scope) or self._app)(scope, exchange.receive, exchange.send)
        except _BodyTooLarge:
            await exchange.refuse_size()
        except ClientDisconnect:
            exchange.status = _GONE
        except Exception as caught:  # noqa: BLE001 - the outermost handler: logged below, and answered as a 500
            error = caught
            await exchange.crash()
        seconds = time.perf_counter() - began
        if exchange.status >= _BROKEN and exchange.status != _NOT_SUPPORTED:
            error = error or _state(scope).get("error")
        method, route = cast(str, scope["method"]), _route(scope)
        self._metrics.ended(_known(method), route, exchange.status, seconds)
        log(
            logging.INFO if error is None else logging.ERROR,
            "request",
            error,
            request_id=exchange.request_id,
            method=_known(method),
            route=route,
            status=exchange.status,
            milliseconds=round(seconds * 1_000, 3),
            key_id=_state(scope).get("key_id"),
        )
        return exchange.status


class _Exchange:
    """One request and its answer: counts received bytes, remembers the status, and adds headers to the answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        self.request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        length = headers.get("content-length", "")
        self.announced_size = int(length) if length.isdecimal() and len(length) < 20 else 0
        self.largest_body = sys.maxsize if (scope["method"], scope["path"]) in STREAMED_BODIES else LARGEST_BODY
        self.status = 0
        self._received = 0
        self._scope = scope
        scope[REQUEST_ID] = self.request_id
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if self._received > self.largest_body:
            raise _BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self.request_id
            if is_anthropic(self._scope["path"]):
                headers["request-id"] = self.request_id
            headers["X-Content-Type-Options"] = "nosniff"
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)

    def names(self, hosts: AllowedHosts) -> bool:
        """Whether the request has exactly one `Host`, and this server answers under it."""
        named = authorized = None
        for name, value in self._scope["headers"]:
            if name == b"host":
                if named is not None:
                    return False
                named = value
            elif name == b"authorization" or (name == API_KEY and is_anthropic(self._scope["path"])):
                authorized = value
        return named is not None and (hosts.allows(named) or (hosts.trusts_keys and authorized is not None))

    async def refuse_host(self) -> None:
        await self._answer("wrong_host", WRONG_HOST)

    async def refuse_size(self) -> None:
        await self._answer("too_large", _TOO_LARGE)

    async def crash(self) -> None:
        await self._answer("internal_error", CRASH)

    async def _answer(self, code: str, detail: str) -> None:
        """Send a problem, unless the answer has begun: that one can only be cut off."""
        if not self.status:
            response = shaped(self._scope["path"], problem(code, detail), self.request_id)
            await response(self._scope, self._receive, self.send)


def _route(scope: Scope) -> str:
    """The pattern of the route, never the path, which contains ids and arbitrary text of callers."""
    return str(getattr(scope.get("route"), "path", "unknown"))


def _known(method: str) -> str:
    return method if method in METHODS else "other"


def _state(scope: Scope) -> dict[str, Any]:
    """The state of a request, in which its route stores the caller's key id and an error."""
    return scope.get("state", {})
