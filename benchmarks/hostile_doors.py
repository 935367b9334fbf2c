"""The requests with which `hostile.py` sends one text through every interface of a server."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

LARGEST_BODY = 1 << 20
_MODEL = {"model": "any"}


class Asked(NamedTuple):
    """One request. `door` is the interface that it goes through; a body of bytes is sent as it is."""

    door: str
    method: str
    path: str
    body: Any
    headers: Mapping[str, str] = {}

    def encoded(self) -> bytes:
        if self.body is None or isinstance(self.body, bytes):
            return self.body or b""
        return json.dumps(self.body, ensure_ascii=False).encode()


def doors(session: str, text: str) -> Iterator[Asked]:
    """Each text goes to every place that reads one: what is stored, what is asked, what is filtered by."""
    path = f"/v1/sessions/{session.replace(' ', '%20')}"
    yield from _messages(path, session, text)
    yield from _chats(session, text)
    yield from _items(path, text)
    yield from _files(path, text)
    yield from _entries(text)
    yield from _mem0(text)
    yield from _mcp(session, text)


def _messages(path: str, session: str, text: str) -> Iterator[Asked]:
    message = {"role": "user", "content": text}
    size = len(json.dumps(message, ensure_ascii=False).encode()) + 2
    batch = {"messages": [message] * max(1, (LARGEST_BODY - 100) // size)}
    pair = {"messages": [message, {"role": "assistant", "content": text}]}
    for body in [message] * 4:
        yield Asked("messages", "POST", f"{path}/messages", body)
    for body in (batch, batch, pair):
        yield Asked("messages", "POST", f"{path}/messages/batch", body)
    asking = {"session_id": session, "query": text}
    for body in (asking, asking, {"session_id": session}, {"session_id": session}):
        yield Asked("context", "POST", "/v1/context", body)
    wide = {"session_id": session, "query": "What was said?", "limit": 200}
    for body in (asking, asking, wide, {**wide, "filter": {"author": text[:255]}}):
        yield Asked("search", "POST", "/v1/search", body)
    yield Asked("extraction", "POST", f"{path}/extract", None)
    yield Asked("extraction", "POST", "/v1/extract/preview", {"messages": [message]})
    yield Asked("memories", "POST", "/v1/memories", {"session_id": session, "contents": [text[:2_000]] * 20})
    yield Asked("explain", "POST", "/v1/explain", {**asking, "message_id": "msg_0000000000000001"})
    yield Asked("embeddings", "POST", "/v1/embeddings", {**_MODEL, "input": text})


def _chats(session: str, text: str) -> Iterator[Asked]:
    message = {"role": "user", "content": text}
    asked = {"id": "1", "role": "user", "parts": [{"type": "text", "text": text}]}
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": json.dumps({"text": text})}}
    answered = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": text},
    ]
    yield Asked("chat", "POST", "/v1/chat/stream", {"id": session, "messages": [asked]})
    for messages in ([message], answered):
        body = {**_MODEL, "messages": messages, "metadata": {"session_id": session}}
        yield Asked("openai", "POST", "/v1/chat/completions", body)
    yield Asked("responses", "POST", "/v1/responses", {**_MODEL, "input": text})
    yield Asked("responses", "POST", "/v1/responses", {**_MODEL, "input": [message], "instructions": text})
    used = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {"text": text}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": text}]},
    ]
    for messages in ([message], used):
        body = {**_MODEL, "max_tokens": 100, "messages": messages}
        yield Asked("anthropic", "POST", "/anthropic/v1/messages", body, {"X-Session-ID": session})


def _items(path: str, text: str) -> Iterator[Asked]:
    items = [
        {"role": "user", "content": text},
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": json.dumps({"text": text})},
        {"type": "function_call_output", "call_id": "1", "output": text},
    ]
    for item in items:
        yield Asked("items", "POST", f"{path}/items", {"items": [item]})
    yield Asked("items", "GET", f"{path}/items?limit=20", None)


def _files(path: str, text: str) -> Iterator[Asked]:
    file = {"path": "/memories/hostile.txt"}
    commands = [
        {"command": "create", **file, "file_text": text},
        {"command": "str_replace", **file, "old_str": text[: len(text) // 2], "new_str": "a"},
        {"command": "insert", **file, "insert_line": 0, "insert_text": text},
    ]
    for command in commands:
        yield Asked("files", "POST", f"{path}/files", command)
    yield Asked("files", "POST", f"{path}/files/view", file)


def _entries(text: str) -> Iterator[Asked]:
    store = "/langgraph/store"
    for number in range(2):
        value = {"namespace": ["hostile"], "key": f"{number}", "value": {"text": text}}
        yield Asked("langgraph", "PUT", f"{store}/items", value)
    search = {"namespace_prefix": ["hostile"], "query": text}
    for body in [search] * 4:
        yield Asked("langgraph", "POST", f"{store}/items/search", body)
    filtered = {"namespace_prefix": ["hostile"], "filter": {"text": {"$ne": text}}}
    yield Asked("langgraph", "POST", f"{store}/items/search", filtered)
    many = max(1, min(100, (LARGEST_BODY - 1_000) // (len(json.dumps(text, ensure_ascii=False).encode()) + 80)))
    operation: dict[str, Any] = {"op": "search", "namespace_prefix": [], "query": text}
    yield Asked("entries", "POST", "/v1/entries/read", {"operations": [operation] * many})


def _mem0(text: str) -> Iterator[Asked]:
    of_user = {"user_id": "hostile"}
    messages = [{"role": "user", "content": text}]
    for infer in (True, False):
        yield Asked("mem0", "POST", "/mem0/v3/memories/add/", {"messages": messages, "infer": infer, **of_user})
    for query in (text, text):
        yield Asked("mem0", "POST", "/mem0/v3/memories/search/", {"query": query, "filters": of_user})
    yield Asked("mem0", "POST", "/mem0/v3/memories/", {"filters": {"AND": [of_user, {"keywords": {"contains": text}}]}})


def _mcp(session: str, text: str) -> Iterator[Asked]:
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
        "X-Session-ID": session,
    }
    query = text[:8_192]
    tools: Mapping[str, Mapping[str, Any]] = {
        "get_context": {"query": query},
        "search_memory": {"query": query},
        "remember": {"contents": [text[:2_000]]},
        "record_exchange": {"user_message": text, "ai_response": text},
        "search": {"query": query},
        "fetch": {"id": text[:255]},
    }
    for number, (tool, arguments) in enumerate(tools.items()):
        call = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        yield Asked("mcp", "POST", "/mcp", call, headers)
