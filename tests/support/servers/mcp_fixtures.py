"""The server that the conformance suite of MCP talks to: our own, through our own route, with the tools, resources and prompts
that the suite calls by name added to it. The suite cannot send a key, so that one is added to each of its requests."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import mcp_types as types
from fastapi import FastAPI
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from starlette.types import Receive, Scope, Send

from cloister.bootstrap import Services
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.mcp.transport import McpTransport
from cloister.interfaces.mcp.server import Context
from support.servers.http_server import running

# The smallest image there is, and a sound without samples.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


class WithKey:
    """An app that answers every request as if it had come with this key."""

    def __init__(self, app: FastAPI, key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {key}".encode())
        self.state = app.state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def resource(uri: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text="This is an embedded resource content.")
    return types.EmbeddedResource(type="resource", resource=contents)


TOOLS: Mapping[str, Callable[[], types.CallToolResult]] = {
    "test_simple_text": lambda: types.CallToolResult(content=[text("This is a simple text response for testing.")]),
    "test_image_content": lambda: types.CallToolResult(content=[image()]),
    "test_audio_content": lambda: types.CallToolResult(
        content=[types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")]
    ),
    "test_embedded_resource": lambda: types.CallToolResult(content=[resource("test://embedded-resource")]),
    "test_multiple_content_types": lambda: types.CallToolResult(
        content=[text("Multiple content types test:"), image(), resource("test://mixed-content-resource")]
    ),
    "test_error_handling": lambda: types.CallToolResult(
        content=[text("This tool intentionally returns an error for testing")], is_error=True
    ),
}
RESOURCES: Mapping[str, types.TextResourceContents | types.BlobResourceContents] = {
    "test://static-text": types.TextResourceContents(
        uri="test://static-text", mime_type="text/plain", text="This is the content of the static text resource."
    ),
    "test://static-binary": types.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG),
    "test://template/123/data": types.TextResourceContents(
        uri="test://template/123/data", mime_type="application/json", text='{"id":"123"}'
    ),
}
PROMPTS: Mapping[str, tuple[list[str], Callable[[Mapping[str, str]], list[types.ContentBlock]]]] = {
    "test_simple_prompt": ([], lambda _: [text("This is a simple prompt for testing.")]),
    "test_prompt_with_arguments": (
        ["arg1", "arg2"],
        lambda given: [text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")],
    ),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"],
        lambda given: [resource(given["resourceUri"]), text("Please process the embedded resource above.")],
    ),
    "test_prompt_with_image": ([], lambda _: [image(), text("Please analyze the image above.")]),
}


class FixtureTransport:
    """Our server, and the fixtures where a request names one."""

    def __init__(self, app: FastAPI) -> None:
        self._ours = McpTransport(app).server
        self.server: Server[Any] = Server(
            self._ours.name,
            version=self._ours.version,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._own("resources/templates/list"),
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def _own(self, method: str) -> Callable[[Context, Any], Any]:
        entry = self._ours.get_request_handler(method)
        assert entry is not None
        return entry.handler

    async def _list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        own = cast(types.ListToolsResult, await self._own("tools/list")(context, params))
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        added = [types.Tool(name=name, description="A fixture.", input_schema=schema) for name in TOOLS]
        return own.model_copy(update={"tools": [*own.tools, *added]})

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name in TOOLS:
            return TOOLS[params.name]()
        return await self._own("tools/call")(context, params)

    async def _list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        own = cast(types.ListResourcesResult, await self._own("resources/list")(context, params))
        added = [types.Resource(uri=uri, name=uri, description="A fixture.") for uri in RESOURCES]
        return own.model_copy(update={"resources": [*own.resources, *added]})

    async def _read_resource(self, context: Context, params: Any) -> types.ReadResourceResult:
        if str(params.uri) in RESOURCES:
            return types.ReadResourceResult(contents=[RESOURCES[str(params.uri)]])
        return await self._own("resources/read")(context, params)

    async def _list_prompts(self, context: Context, params: Any) -> types.ListPromptsResult:
        own = cast(types.ListPromptsResult, await self._own("prompts/list")(context, params))
        added = [
            types.Prompt(
                name=name,
                description="A fixture.",
                arguments=[types.PromptArgument(name=each, description="Text.", required=True) for each in arguments],
            )
            for name, (arguments, _) in PROMPTS.items()
        ]
        return own.model_copy(update={"prompts": [*own.prompts, *added]})

    async def _get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in PROMPTS:
            return await self._own("prompts/get")(context, params)
        arguments, fill = PROMPTS[params.name]
        given = params.arguments or {}
        if not given.keys() >= set(arguments):
            raise MCPError(code=types.INVALID_PARAMS, message="An argument is missing.")
        return types.GetPromptResult(
            messages=[types.PromptMessage(role="user", content=content) for content in fill(given)]
        )


@contextmanager
def serving_fixtures(services: Services, key: str) -> Generator[str]:
    """The address of a server of these services, with the fixtures."""
    app = create_app(services)
    app.state.mcp = FixtureTransport(app)
    with running(cast(FastAPI, WithKey(app, key))) as address:
        yield address
