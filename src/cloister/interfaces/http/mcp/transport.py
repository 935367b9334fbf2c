"""The HTTP transport of the MCP server. This module imports the SDK, so it is itself imported at the first request of a client."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from cloister.interfaces.http.dispatch.routes import Executors
from cloister.interfaces.mcp.connection import McpConnection
from cloister.interfaces.mcp.server import Context, build_server

T = TypeVar("T")
_CONNECTION = "cloister.mcp.connection"


class McpTransport:
    """One MCP server for all requests of an app; the connection of each comes with its request."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self.server = build_server(self)

    async def connection(self, context: Context) -> McpConnection:
        return cast(Request, context.request).scope[_CONNECTION]

    def run(self, call: Callable[[], T], *, writes: bool) -> Awaitable[T]:
        executors = cast(Executors | None, self._app.state.executors)
        return run_in_threadpool(call) if writes or executors is None else executors.reads.run(call)


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
        body = await Request(scope, receive).body()
        manager = StreamableHTTPSessionManager(self._transport.server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(
                {**scope, "headers": _trimmed(scope["headers"]), _CONNECTION: self._connection},
                _replayed(body, receive),
                send,
            )


def _trimmed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers without blanks around their values (RFC 9110): the HTTP parser leaves those at the end, and the SDK compares values
    with the body."""
    return [(name, value.strip(b" \t")) for name, value in headers]


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receives a body that was read already, and after it what follows."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
