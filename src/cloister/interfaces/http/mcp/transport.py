"""The HTTP transport of the MCP server. This module imports the SDK, so it is itself imported at the first request of a client."""

import json
from collections.abc import Awaitable, Callable, Hashable
from contextvars import ContextVar
from typing import TypeVar, cast

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from cloister.domain.errors import TooLarge
from cloister.interfaces.http.dispatch.routes import Executors
from cloister.interfaces.http.mcp.errors import INVALID_REQUEST, json_rpc_error
from cloister.interfaces.json_elements import refuse_many_elements
from cloister.interfaces.mcp.connection import McpConnection
from cloister.interfaces.mcp.server import Context, build_server
from cloister.interfaces.repeated_fields import repeated_field

T = TypeVar("T")
_CONNECTION = "cloister.mcp.connection"
_JSON = b"application/json"
# It is parsed on the event loop, by the SDK too. No tool takes more than some hundred.
_MOST_ELEMENTS = 16_384
# The tenant whose message is being answered, for its turn in the queue.
_tenant: ContextVar[Hashable] = ContextVar("tenant", default=None)


class McpTransport:
    """One MCP server for all requests of an app; the connection of each comes with its request."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self.server = build_server(self)

    async def connection(self, context: Context) -> McpConnection:
        return cast(Request, context.request).scope[_CONNECTION]

    def run(self, call: Callable[[], T], *, writes: bool) -> Awaitable[T]:
        executors = cast(Executors | None, self._app.state.executors)
        if executors is None:
            return run_in_threadpool(call)
        return (executors.calls if writes else executors.reads).run(call, tenant=_tenant.get())


def transport_of(app: FastAPI) -> McpTransport:
    """The transport of an app, made at the first request."""
    if not hasattr(app.state, "mcp"):
        app.state.mcp = McpTransport(app)
    return app.state.mcp


class McpResponse(Response):
    """The answer of the MCP server to one request of an admitted caller."""

    def __init__(self, transport: McpTransport, connection: McpConnection) -> None:
        super().__init__()
        self._transport = transport
        self._connection = connection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request with a transport of its own, since nothing is shared between requests. The body is read first: the SDK
        would take the middleware's refusal of a large one for a crash. Answers are JSON, never streams: no tool takes long."""
        request = Request(scope, receive)
        body = await request.body()
        refusal = (
            _refusal_of_type(request)
            or _refusal_of_many_elements(body)
            or _refusal_of_repetition(body)
            or _refusal_of_id(body)
        )
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        manager = StreamableHTTPSessionManager(self._transport.server, json_response=True, stateless=True)
        _tenant.set(self._connection.reach.tenant)
        async with manager.run():
            await manager.handle_request(
                {**scope, "headers": _read_by_the_sdk(scope["headers"]), _CONNECTION: self._connection},
                _replayed(body, receive),
                send,
            )


def _refusal_of_type(request: Request) -> Response | None:
    """The refusal of a body that is not said to be JSON, which the SDK would answer in plain text."""
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip(" \t").lower() == _JSON.decode():
        return None
    return json_rpc_error(415, "unsupported_media_type", "Content-Type: must be application/json.")


def _refusal_of_many_elements(body: bytes) -> Response | None:
    """The refusal of a message that would take long to parse."""
    try:
        refuse_many_elements(body, _MOST_ELEMENTS)
    except TooLarge as error:
        return json_rpc_error(413, error.code, str(error), number=INVALID_REQUEST)
    return None


def _refusal_of_repetition(body: bytes) -> Response | None:
    """The refusal of a message in which an object gives a field twice: the SDK would ignore all values but the last."""
    repeated = repeated_field(body)
    if repeated is None:
        return None
    reason = f"{'.'.join(map(str, repeated.path))}: must be given once, and is given {repeated.times} times."
    return json_rpc_error(400, "invalid_request", reason, number=INVALID_REQUEST)


def _refusal_of_id(body: bytes) -> Response | None:
    """The refusal of a request whose id is neither a string nor an integer: the SDK would take it for a notification, and answer
    nothing. Any other fault is left to the SDK."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not {"id", "method"} <= message.keys():
        return None
    given = cast(dict[str, object], message)["id"]
    if isinstance(given, str | int) and not isinstance(given, bool):
        return None
    reason = "id: must be a string or an integer. A notification has no id."
    return json_rpc_error(400, "invalid_request", reason, number=INVALID_REQUEST)


def _read_by_the_sdk(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers without blanks around their values (RFC 9110): the HTTP parser leaves those at the end, and the SDK compares values
    with the body. The type of the body, which was checked, is spelled as the SDK compares it."""
    return [(name, _JSON if name == b"content-type" else value.strip(b" \t")) for name, value in headers]


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receives a body that was read already, and after it what follows."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
