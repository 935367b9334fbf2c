"""The client of the MCP SDK, unmodified, on both transports, called from tests that are not asynchronous."""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast

import httpx2
import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

Era = Literal["auto", "legacy"]
ERAS: tuple[Era, ...] = ("auto", "legacy")
READING = {"get_context", "search_memory", "list_memories", "search", "fetch"}
WRITING = {"remember", "record_exchange", "forget"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Connected:
    """An open connection of a client."""

    portal: BlockingPortal
    client: Client

    @property
    def tools(self) -> list[types.Tool]:
        return self.portal.call(self.client.list_tools).tools

    def result(self, tool: str, **arguments: Any) -> types.CallToolResult:
        return self.portal.call(partial(self.client.call_tool, tool, arguments))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool; the client has checked it against the tool's schema."""
        result = self.result(tool, **arguments)
        assert not result.is_error, said_by(result)
        return cast(dict[str, Any], result.structured_content)

    def refusal(self, tool: str, **arguments: Any) -> str:
        result = self.result(tool, **arguments)
        assert result.is_error, said_by(result)
        return said_by(result)

    def resource(self, uri: str) -> str:
        (contents,) = self.portal.call(self.client.read_resource, uri).contents
        assert isinstance(contents, types.TextResourceContents)
        return contents.text

    def prompt(self, topic: str) -> str:
        (message,) = self.portal.call(self.client.get_prompt, "recall", {"topic": topic}).messages
        assert isinstance(message.content, types.TextContent)
        return message.content.text

    def error(self, uri: str) -> MCPError:
        try:
            self.resource(uri)
        except MCPError as error:
            return error
        raise AssertionError(f"{uri} was read")


def said_by(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@contextmanager
def over_http(
    address: str, key: str, headers: Mapping[str, str] | None = None, era: Era = "auto"
) -> Generator[Connected]:
    """A connection over Streamable HTTP."""
    sent = {b"Authorization": f"Bearer {key}".encode()}
    sent |= {name.encode(): value.encode() for name, value in (headers or {}).items()}
    with start_blocking_portal() as portal:
        http = httpx2.AsyncClient(headers=sent, timeout=30)
        with (
            portal.wrap_async_context_manager(http),
            portal.wrap_async_context_manager(
                Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=era)
            ) as client,
        ):
            yield Connected(portal=portal, client=client)


@contextmanager
def over_stdio(*options: str, era: Era = "auto", environment: Mapping[str, str] | None = None) -> Generator[Connected]:
    """A connection to `cloister mcp` in a process that the client starts, with the sources that these tests use."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cloister", "mcp", *options],
        env={"PYTHONPATH": os.environ.get("PYTHONPATH", ""), **(environment or {})},
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(started, mode=era)) as client,
    ):
        yield Connected(portal=portal, client=client)
