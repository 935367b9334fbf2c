"""Reads by id through Cloister's own routes: sessions and what is in them, memories, entities, files, entries and receipts."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from cloister.domain.identifiers import (
    format_entity_id,
    format_memory_id,
    format_message_id,
    format_project_id,
    format_receipt_id,
)
from cloister.interfaces.audit.reads.read import ANTHROPIC, HTTP, Read, View
from cloister.interfaces.audit.targets import FILE, NAMESPACE, QUESTION


def session_reads(view: View) -> Iterator[Read]:
    """A session, its lists, with and without a filter, and its running reply, of which there is none."""
    session = f"/v1/sessions/{view.target.session}"
    anything = quote(json.dumps({"created_after": "2000-01-01T00:00:00Z"}))
    yield view.by_id(HTTP, "session", "GET", session)
    for part in ("messages", "items", "memories", "observations"):
        yield view.by_id(HTTP, part, "GET", f"{session}/{part}")
    for part in ("messages", "memories") if view.reaches else ():
        yield view.by_id(HTTP, f"{part} with a filter", "GET", f"{session}/{part}?filter={anything}")
    yield view.by_id(HTTP, "exclusions", "GET", f"{session}/exclusions", expected=())
    yield view.by_id(HTTP, "running reply", "GET", f"/v1/chat/{view.target.session}/stream", expected=())
    yield view.by_id(ANTHROPIC, "memory tool", "POST", f"{session}/files/view", {"path": FILE})


def memory_reads(view: View) -> Iterator[Read]:
    memory = f"/v1/memories/{format_memory_id(view.target.memory)}"
    yield view.by_id(HTTP, "memory", "GET", memory)
    yield view.by_id(HTTP, "memory history", "GET", f"{memory}/history")


def entity_reads(view: View) -> Iterator[Read]:
    if view.target.entity is None:
        return
    entity = f"/v1/entities/{format_entity_id(view.target.entity)}"
    for name, path in (("entity", entity), ("mentions", f"{entity}/mentions")):
        sees = view.entity
        yield view.by_id(HTTP, name, "GET", path, allowed=sees, expected=sees, is_answered=bool(sees))


def receipt_reads(view: View) -> Iterator[Read]:
    """The receipt of the target names items of all pools. An explanation shows ids only, which the request sent."""
    target = view.target
    assert target.receipt is not None
    receipt, message = format_receipt_id(target.receipt), format_message_id(target.messages[0])
    yield view.by_id(HTTP, "receipt", "GET", f"/v1/receipts/{receipt}", allowed=view.pool)
    yield view.by_id(HTTP, "prompt of a reply", "GET", f"/v1/receipts/{receipt}/prompt", allowed=view.pool)
    for named in ({"session_id": target.session, "query": QUESTION}, {"receipt_id": receipt}):
        body = {**named, "message_id": message}
        yield view.recalled(HTTP, "explanation", "/v1/explain", body, expected=())


def entry_reads(view: View) -> Iterator[Read]:
    """Entries of the key-value store, of a project and of none. A user who is not the key's is refused."""
    target = view.target
    project = target.scope.project
    operations: list[dict[str, Any]] = [
        {"op": "get", "namespace": [NAMESPACE], "key": "marker"},
        {"op": "search", "namespace_prefix": [NAMESPACE]},
        {"op": "list_namespaces"},
    ]
    for operation in operations:
        body = {
            "project_id": None if project is None else format_project_id(project),
            "user_id": target.user,
            "operations": [operation],
        }
        yield view.in_project(HTTP, f"entries, {operation['op']}", "POST", "/v1/entries/read", body)
