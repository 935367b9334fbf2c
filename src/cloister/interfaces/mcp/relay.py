"""An MCP server without a database: passes each request to `/mcp` of a Cloister server, which has all the rules.

Requests are sent one by one, without the client of the SDK: that one ends for good when a server is restarted under it.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from itertools import count
from typing import Any, TypeVar, cast

import httpx2
import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from cloister.bootstrap import open_trace_headers
from cloister.domain.errors import ServerError
from cloister.interfaces.mcp.server import INSTRUCTIONS, NAME, Context, quieten, within_trace
from cloister.settings import Remote

Result = TypeVar("Result", bound=BaseModel)
_SECONDS = 60
_PROJECT = "X-Project-ID"
# The last version whose messages say nothing about the client: the client's own version is between it and this process.
_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@asynccontextmanager
async def relaying(remote: Remote, headers: Mapping[str, bytes]) -> AsyncGenerator[Server[Any]]:
    """A server that relays. Raises `ServerError` with the reason if the address does not answer, or refuses the key. Its project is
    that of the first request: later ones name it, and are refused if it was deleted."""
    quieten()
    sent = {"Authorization": f"Bearer {remote.key}".encode(), **headers}
    async with httpx2.AsyncClient(
        headers=[(name.encode(), value) for name, value in sent.items()], timeout=_SECONDS
    ) as http:
        relay = _Relay(http, remote.address, open_trace_headers(on=remote.tracing))
        try:
            project = await relay.project()
        except MCPError as error:
            raise ServerError(error.message) from None
        http.headers[_PROJECT] = project
        yield relay.server()


class _Relay:
    """Each method sends what it was given, and returns or raises what came back."""

    def __init__(self, http: httpx2.AsyncClient, address: str, trace_headers: Callable[[], Mapping[str, str]]) -> None:
        self._trace_headers = trace_headers
        self._http = http
        self._address = address
        self._numbers = count(1)

    def server(self) -> Server[Any]:
        server: Server[Any] = Server(
            NAME,
            version=version("cloister"),
            title="Cloister",
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_resource_templates,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )
        server.middleware = [within_trace]
        return server

    async def list_tools(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return await self.ask("tools/list", params, types.ListToolsResult)

    async def call_tool(self, _: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await self.ask("tools/call", params, types.CallToolResult)

    async def list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await self.ask("resources/list", params, types.ListResourcesResult)

    async def list_resource_templates(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return await self.ask("resources/templates/list", params, types.ListResourceTemplatesResult)

    async def read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await self.ask("resources/read", params, types.ReadResourceResult)

    async def list_prompts(self, _: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return await self.ask("prompts/list", params, types.ListPromptsResult)

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await self.ask("prompts/get", params, types.GetPromptResult)

    async def project(self) -> str:
        """The project that the server gives this key and these headers, as the scope of an answer says it."""
        listed = types.CallToolRequestParams(name="list_memories", arguments={"limit": 1})
        answer = await self.ask("tools/call", listed, types.CallToolResult)
        scope = cast(dict[str, Any], answer.structured_content or {}).get("scope")
        if answer.is_error or not isinstance(scope, dict):
            raise MCPError(
                code=types.INTERNAL_ERROR, message=f"{self._address} does not say which project this key is for."
            )
        return cast(dict[str, str], scope)["project"]

    async def ask(self, method: str, params: BaseModel | None, kind: type[Result]) -> Result:
        """Send one request. A server that does not answer, or not as a Cloister does, is an error that says so; the next request
        is sent all the same."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method}
        if params is not None:
            message["params"] = params.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta"})
        try:
            headers = {**self._trace_headers(), **_HEADERS}
            answer = await self._http.post(f"{self._address}/mcp", json=message, headers=headers)
        except httpx2.RequestError:
            reason = f"No Cloister answers at {self._address}: is it running there (cloister serve)?"
            raise MCPError(code=types.INTERNAL_ERROR, message=reason) from None
        try:
            body = answer.json()
            if "error" not in body:
                return kind.model_validate(body["result"])
            error = types.ErrorData.model_validate(body["error"])
        except (ValueError, KeyError, TypeError, ValidationError):
            reason = f"{self._address} answered {answer.status_code}, and not as a Cloister with MCP does."
            raise MCPError(code=types.INTERNAL_ERROR, message=reason) from None
        raise MCPError(code=error.code, message=error.message, data=error.data)
