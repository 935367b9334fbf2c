"""An MCP server without a database: passes each request to `/mcp` of a Cloister server, which has all the rules."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from cloister.domain.errors import ServerError
from cloister.interfaces.mcp.server import INSTRUCTIONS, NAME, Context, quieten
from cloister.settings import Remote

T = TypeVar("T")
_SECONDS = 60


@asynccontextmanager
async def relaying(remote: Remote, headers: Mapping[str, bytes]) -> AsyncGenerator[Server[Any]]:
    """A server that relays. Raises `ServerError` with the reason if the address does not answer, or refuses the key."""
    quieten()
    sent = {
        b"Authorization": f"Bearer {remote.key}".encode(),
        **{name.encode(): each for name, each in headers.items()},
    }
    async with httpx2.AsyncClient(headers=sent, timeout=_SECONDS) as http:
        await _check(http, remote.address)
        async with Client(streamable_http_client(f"{remote.address}/mcp", http_client=http)) as client:
            yield _server(_Relay(client, remote.address))


async def _check(http: httpx2.AsyncClient, address: str) -> None:
    """Send one request by hand: the error of the client does not say why a server refuses it."""
    ping = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    try:
        answer = await http.post(f"{address}/mcp", json=ping, headers={"Accept": "application/json, text/event-stream"})
    except httpx2.RequestError:
        raise ServerError(f"No Cloister answers at {address}: is it running there (cloister serve)?") from None
    if answer.status_code != 200:
        raise ServerError(f"The Cloister at {address} answered {answer.status_code}: {_reason(answer)}")


def _reason(answer: httpx2.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return "it has no MCP there, or the address is not that of a Cloister."


def _server(relay: "_Relay") -> Server[Any]:
    return Server(
        NAME,
        version=version("cloister"),
        title="Cloister",
        instructions=INSTRUCTIONS,
        on_list_tools=relay.list_tools,
        on_call_tool=relay.call_tool,
        on_list_resources=relay.list_resources,
        on_list_resource_templates=relay.list_resource_templates,
        on_read_resource=relay.read_resource,
        on_list_prompts=relay.list_prompts,
        on_get_prompt=relay.get_prompt,
    )


class _Relay:
    """Each method sends what it was given, and returns or raises what came back."""

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address

    async def list_tools(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return await self._sent(lambda: self._client.list_tools(cursor=_cursor(params)))

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await self._sent(lambda: self._client.call_tool(params.name, params.arguments))

    async def list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await self._sent(lambda: self._client.list_resources(cursor=_cursor(params)))

    async def list_resource_templates(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return await self._sent(lambda: self._client.list_resource_templates(cursor=_cursor(params)))

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await self._sent(lambda: self._client.read_resource(str(params.uri)))

    async def list_prompts(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return await self._sent(lambda: self._client.list_prompts(cursor=_cursor(params)))

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await self._sent(lambda: self._client.get_prompt(params.name, params.arguments))

    async def _sent(self, send: Callable[[], Awaitable[T]]) -> T:
        try:
            return await send()
        except httpx2.RequestError:
            message = f"No Cloister answers at {self._address}: is it running there (cloister serve)?"
            raise MCPError(code=types.INTERNAL_ERROR, message=message) from None


def _cursor(params: types.PaginatedRequestParams | None) -> str | None:
    return None if params is None else params.cursor
