"""Reads of the MCP server: every tool that reads, the resources and the prompt."""

from collections.abc import Iterator, Mapping
from typing import Any

from cloister.domain.identifiers import format_entity_id, format_episode_id, format_memory_id
from cloister.interfaces.audit.reads.read import MCP, Read, View
from cloister.interfaces.audit.targets import QUESTION, Target

_PATH = "/mcp"


def mcp_reads(view: View) -> Iterator[Read]:
    """By a connection to the session of the target. What is recalled comes from its pool, and ids are those of the target."""
    target = view.target
    if target.scope.project is None:
        return
    for name, body in _recalling(target):
        yield _asked(view, target, name, body, allowed=view.pool, expected=view.own)
    for name, body in _fetching(target):
        sees = view.own
        yield _asked(view, target, name, body, allowed=view.pool, expected=sees)


def crossed_fetches(view: View, base: View) -> Iterator[Read]:
    """By a connection to another pool that the reader reaches, with the ids of this target: as if there were none."""
    if base.target.scope.project is None:
        return
    for name, body in _fetching(view.target):
        yield _asked(view, base.target, f"{name} in another pool", body, allowed=(), expected=())


def _recalling(target: Target) -> Iterator[tuple[str, dict[str, Any]]]:
    yield _tool("get_context", query=QUESTION)
    yield _tool("search_memory", query=QUESTION, limit=50)
    yield _tool("list_memories", limit=50)
    yield _tool("search", query=QUESTION)
    yield "resource context", _message("resources/read", {"uri": "cloister://context"})
    yield "prompt", _message("prompts/get", {"name": "recall", "arguments": {"topic": QUESTION}})


def _fetching(target: Target) -> Iterator[tuple[str, dict[str, Any]]]:
    yield _tool("fetch", id=format_memory_id(target.memory))
    yield _tool("fetch", id=format_episode_id(target.messages[0]))
    if target.entity is not None:
        yield _tool("fetch", id=format_entity_id(target.entity))
    yield "resource session", _message("resources/read", {"uri": f"cloister://sessions/{target.session}"})


def _tool(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return name, _message("tools/call", {"name": name, "arguments": arguments})


def _message(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _asked(view: View, connection: Target, name: str, body: Any, **shown: Any) -> Read:
    headers = {**connection.project_header, "X-Session-ID": connection.session, "X-User-ID": connection.user}
    sent = [connection.session, *view.target.traces[1:]]
    return Read(door=MCP, name=name, method="POST", path=_PATH, body=body, headers=headers, sent=sent, **shown)
