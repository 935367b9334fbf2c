"""MCP on standard input and output, for one client that starts this process: over a database, or as a relay to a server."""

import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server import Server
from mcp.server.stdio import stdio_server

from cloister.bootstrap import Services
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.interfaces.mcp.connection import McpConnection, open_connection
from cloister.interfaces.mcp.relay import relaying
from cloister.interfaces.mcp.server import Context, build_server
from cloister.settings import Remote

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedSession:
    """The one connection of this process. It is opened again for each request, since its project may have changed meanwhile."""

    services: Services
    reach: Reach
    project: ProjectId
    user: str | None
    session: str | None
    may_write: bool

    def open(self) -> McpConnection:
        return open_connection(
            self.services,
            self.reach,
            project=self.project,
            user=self.user,
            session=self.session,
            may_write=self.may_write,
        )

    def connection(self, context: Context) -> Awaitable[McpConnection]:
        return anyio.to_thread.run_sync(self.open)

    def run(self, call: Callable[[], T], *, writes: bool) -> Awaitable[T]:
        return anyio.to_thread.run_sync(call)


def serve_embedded(session: EmbeddedSession) -> None:
    """Serve until the client closes standard input."""
    session.open()
    anyio.run(partial(_serve, build_server(session)))


def serve_relay(remote: Remote, headers: Mapping[str, bytes]) -> None:
    """Pass the requests of the client to the server at an address, with its key and with headers that narrow the scope."""
    anyio.run(partial(_relay, remote, headers))


async def _serve(server: Server[Any]) -> None:
    # A thread waits for input, which no other signal handler could interrupt. Every write is durable already.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


async def _relay(remote: Remote, headers: Mapping[str, bytes]) -> None:
    async with relaying(remote, headers) as server:
        await _serve(server)
