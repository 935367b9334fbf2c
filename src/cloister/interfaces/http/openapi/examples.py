"""Examples of every request and answer, from one household that plans a journey. A test checks each against its schema."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cloister.domain.identifiers import parse_project_id, parse_tenant_id
from cloister.domain.memory import quoted
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.openapi import schemas

TENANT, DEFAULT, PROJECT = "ten_3f1b0c7de8a94526", "proj_0a4d7b21c69e83f5", "proj_5c2e90b7d1f4a683"
SESSION, USER = "lisbon-in-may", "ada"
MESSAGE, REPLY, EPISODE = "msg_1d9c3b7a2e600001", "msg_1d9c3b7a2e600002", "ep_1d9c3b7a2e600001"
KEY_ID, KEY = "key_62d8f03ac5b7194e", "clo_4LHo1dPzk9R0a7XcT2mWq5EbYs8GvNfJ3uQ6iZxCwBtKhDrMpAyOlVgSeUnFj"
MEMORY, ENTITY, OBSERVATION = "mem_3a81c05e7be00001", "ent_2c94d7f018a00001", "obs_5d02f1a9c3e7b846"
RESPONSE, ITEM = "resp_2c19f0a87b3e54d6", "fc_4b60e1d2a97f3c58"
CODE = "Wm0Yb3Vp7cQ2hT9xK4sN8aL1rD6fJ5gE0uZiB_oXyPk"
BEGAN, SAID, ANSWERED = "2026-05-02T09:30:00Z", "2026-05-02T09:31:12.250000Z", "2026-05-02T09:31:14.100000Z"

CURSOR = Listing("sessions", parse_tenant_id(TENANT), parse_project_id(PROJECT), False, None).encode(
    1_777_714_200_000_000, 4_096
)
_MESSAGES = Listing("messages", parse_tenant_id(TENANT), SESSION)

_PROJECT: dict[str, Any] = {
    "project_id": PROJECT,
    "tenant_id": TENANT,
    "name": "Journeys",
    "is_default": False,
    "isolated": True,
    "member_visibility": "private",
    "memory_count": 0,
    "settings": {},
    "created_at": BEGAN,
    "warnings": [],
}
_TENANT = {"tenant_id": TENANT, "name": "Household", "created_at": BEGAN, "projects": 2, "sessions": 1, "messages": 2}
_NEW_KEY = {"name": "kitchen display", "project_id": PROJECT, "confined": True, "permissions": ["read"]}
_API_KEY = {**_NEW_KEY, "key_id": KEY_ID, "user_id": None, "expires_at": None, "created_at": BEGAN}
NEW_MESSAGE = {"role": "user", "content": "The ferry to Cacilhas leaves at ten past."}
NEW_REPLY = {"role": "assistant", "content": "Noted: ten past, from Cais do Sodré."}
_STRONG = {"relevance": 0.93, "strength": "strong"}
_SAID: dict[str, Any] = {
    "id": MESSAGE,
    "session_id": SESSION,
    "user_id": USER,
    **NEW_MESSAGE,
    "author": None,
    "created_at": SAID,
    "source": "semantic",
    "score": 0.71,
    **_STRONG,
    "times_said": 1,
    "same_as": [],
    "is_excerpt": False,
}
RECEIPT = "rcpt_04e2a8c19f400002"
INLINE_RECEIPT: dict[str, Any] = {
    "kind": "context",
    "created_at": ANSWERED,
    "pool": {"project_id": PROJECT, "version": 41, "version_now": None},
    "key_id": KEY_ID,
    "min_relevance": 0.2,
    "items": [
        {"kind": "message", "id": MESSAGE, "rule": "match", "score": 0.71, **_STRONG, "is_excerpt": False},
    ],
    "left_out": {"limit": 0, "weak": 3, "duplicate": 1, "budget": 0, "quotation": 0, "excluded": 0},
    "tokens": 52,
}
_ASKED: dict[str, Any] = {
    **_SAID,
    "id": "msg_04e2a8c19f400001",
    "session_id": "lisbon-tickets",
    "content": "When does the ferry leave?",
    "created_at": "2026-05-03T18:04:40Z",
    "source": "session",
    "score": None,
    "relevance": None,
    "strength": None,
}
MEMORY_SHAPE: dict[str, Any] = {
    "id": MEMORY,
    "content": "The user stays at a hotel in Alfama.",
    "session_id": SESSION,
    "user_id": USER,
    "importance": 0.6,
    "source_message_ids": [MESSAGE],
    "status": "active",
    "valid_from": SAID,
    "valid_until": None,
    "superseded_by": None,
    "pinned": False,
    "expires_at": None,
    "categories": ["travel"],
    "metadata": {},
    "source": "extracted",
    "created_at": ANSWERED,
}
_BY_HAND: dict[str, Any] = {
    **MEMORY_SHAPE,
    "content": "Ada is allergic to shellfish.",
    "importance": 0.9,
    "source_message_ids": [],
    "valid_from": ANSWERED,
    "categories": ["health"],
    "metadata": {"form": "guests"},
    "source": "written",
}
ENTITY_SHAPE = {"id": ENTITY, "name": "Cacilhas", "type": "place", "notes": "The ferry to Cacilhas leaves at ten past."}
_OBSERVATION = {
    "id": OBSERVATION,
    "content": "2 May 2026: the user said that the ferry to Cacilhas leaves at ten past.",
    "session_id": SESSION,
    "user_id": USER,
    "source_message_ids": [MESSAGE],
    "created_at": SAID,
}
_ADDED = {"type": "message.added", "session_id": SESSION, "project_id": PROJECT, "user_id": USER, "created_at": SAID}
_USAGE = {
    "messages": 2,
    "sessions": 1,
    "projects": 2,
    "api_keys": 2,
    "limits": {"messages": 100_000, "sessions": None, "projects": None, "files": 1_000, "entries": 100_000},
    "files": 4,
    "entries": 12,
}
EVENT_ID = "5d0b9f2c8e7a41660c1f4be29d83a7f5b2e6c80a914d37fe"
_EVENTS = f"""\
id: {EVENT_ID}
event: message.added
data: {json.dumps({**_ADDED, "message_ids": [MESSAGE]})}
"""
_REPLY_STREAM = f"""\
data: {{"type": "start", "messageId": "turn_2c19f0a87b3e54d6"}}

data: {{"type": "data-context", "id": "context", "data": {{"session_id": "{SESSION}", "relevant_history": [], "memories": []}}}}

data: {{"type": "text-start", "id": "reply"}}

data: {{"type": "text-delta", "id": "reply", "delta": "Noted: ten past."}}

data: {{"type": "text-end", "id": "reply"}}

data: {{"type": "finish", "messageMetadata": {{"session_id": "{SESSION}", "message_id": "{REPLY}", "status": "completed"}}}}

data: [DONE]
"""
_METRICS = """\
# HELP cloister_http_requests_total Requests answered.
# TYPE cloister_http_requests_total counter
cloister_http_requests_total{method="POST",route="/v1/sessions",status="201"} 1.0
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """The request body and the answer of one route, if it has them."""

    request: Any = None
    answer: Any = None


def page_example(*data: Any, next_cursor: str | None = None) -> Example:
    return Example(answer={"data": list(data), "next_cursor": next_cursor})


EXAMPLES: Mapping[str, Example] = {
    "create_tenant": Example(
        request={"name": "Household"},
        answer={"tenant_id": TENANT, "name": "Household", "default_project_id": DEFAULT, "admin_key": KEY},
    ),
    "list_tenants": page_example(_TENANT),
    "create_tenant_key": Example(answer={"key_id": KEY_ID, "key": KEY}),
    "list_projects": page_example(_PROJECT),
    "create_project": Example(request={"name": "Journeys", "member_visibility": "private"}, answer=_PROJECT),
    "get_project": Example(answer=_PROJECT),
    "change_project": Example(
        request={"name": "Journeys by sea", "settings": {"pending_message_count": 8}},
        answer={**_PROJECT, "name": "Journeys by sea", "settings": {"pending_message_count": 8}},
    ),
    "list_api_keys": page_example(_API_KEY),
    "create_api_key": Example(request=_NEW_KEY, answer={**_API_KEY, "key": KEY}),
    "revoke_api_key": Example(),
    "get_usage": Example(answer=_USAGE),
    "test_model": Example(answer={"ok": True, "model": "llama-3", "seconds": 0.42, "detail": "The model answers."}),
    "build_context": Example(
        request={"session_id": "lisbon-tickets", "query": "When does the ferry leave?", "budget_tokens": 2_000},
        answer={
            "session_id": "lisbon-tickets",
            "project_id": PROJECT,
            "current_conversation": [_ASKED],
            "relevant_history": [_SAID],
            "chat_history": [_SAID, _ASKED],
            "memories": [{**MEMORY_SHAPE, **_STRONG}],
            "entities": [{**ENTITY_SHAPE, **_STRONG}],
            "observations": [],
            "memory_context": quoted([str(MEMORY_SHAPE["content"])]),
            "tokens": 60,
            "omitted": dict.fromkeys(schemas.ANSWERS["omitted"]["required"], 0),
            "receipt": INLINE_RECEIPT,
            "receipt_id": None,
            "unmoved_token": "5c0f1ed2a94b7386" * 4,
        },
    ),
    "search": Example(
        request={
            "query": "ferry",
            "session_id": SESSION,
            "limit": 5,
            "filter": {"created_after": "2026-01-01T00:00:00Z", "not": {"role": "tool"}},
        },
        answer={
            "data": [
                {
                    "kind": "episode",
                    "id": EPISODE,
                    "session_id": SESSION,
                    "user_id": USER,
                    **NEW_MESSAGE,
                    "author": None,
                    "score": 0.93,
                    **_STRONG,
                    "times_said": 1,
                    "status": None,
                    "created_at": SAID,
                    "message_id": MESSAGE,
                },
                {
                    "kind": "entity",
                    "id": ENTITY,
                    "session_id": None,
                    "user_id": None,
                    "role": None,
                    "author": None,
                    "content": "Cacilhas: The ferry to Cacilhas leaves at ten past.",
                    "score": 0.93,
                    **_STRONG,
                    "times_said": 1,
                    "status": None,
                    "created_at": ANSWERED,
                    "message_id": None,
                },
            ],
            "receipt": {**INLINE_RECEIPT, "kind": "search", "tokens": 0},
            "receipt_id": None,
        },
    ),
    "list_memories": page_example(MEMORY_SHAPE),
    "list_user_memories": page_example(MEMORY_SHAPE),
    "add_memories": Example(
        request={
            "session_id": SESSION,
            "contents": [_BY_HAND["content"], "ada is allergic to shellfish"],
            "categories": _BY_HAND["categories"],
            "metadata": _BY_HAND["metadata"],
            "importance": _BY_HAND["importance"],
        },
        answer={"appended": [_BY_HAND], "duplicates": 1},
    ),
    "extract": Example(answer={"appended": 1, "checked_messages": 2}),
    "list_observations": page_example(_OBSERVATION),
    "follow_events": Example(answer=_EVENTS),
    "chat": Example(
        request={
            "id": SESSION,
            "messages": [{"role": "user", "parts": [{"type": "text", "text": NEW_MESSAGE["content"]}]}],
            "project_id": PROJECT,
            "user_id": USER,
        },
        answer=_REPLY_STREAM,
    ),
    "follow_chat": Example(answer=_REPLY_STREAM),
    "stop_chat": Example(answer={"stopped": True}),
    "livez": Example(answer={"status": "alive"}),
    "readyz": Example(answer={"status": "ready", "schema_version": 4, "waiting": 0}),
    "metrics": Example(answer=_METRICS),
    "openapi": Example(answer={"openapi": "3.1.0", "info": {"title": "Cloister", "version": "0.1.0"}, "paths": {}}),
    "docs": Example(answer="<!doctype html><title>Cloister</title>"),
    "create_console_link": Example(answer={"path": f"/sign-in#{CODE}", "expires_in": 900}),
    "sign_in": Example(request={"code": CODE, "replace": False}),
    "sign_out": Example(),
    "get_console_session": Example(
        answer={
            "tenant_id": TENANT,
            "key_id": KEY_ID,
            "name": "local admin",
            "permissions": ["read", "write", "admin"],
            "project_id": None,
            "confined": False,
            "user_id": None,
        }
    ),
}

PARAMETERS: Mapping[str, Any] = {
    "scope": "user",
    "id": USER,
    "external_id": SESSION,
    "project_id": PROJECT,
    "message_id": MESSAGE,
    "memory_id": MEMORY,
    "entity_id": ENTITY,
    "after": MESSAGE,
    "before": "end",
    "around": MESSAGE,
    "receipts": True,
    "key_id": KEY_ID,
    "receipt_id": RECEIPT,
    "user_id": USER,
    "tenant_id": TENANT,
    "name": "Journeys",
    "limit": 20,
    "days": 30,
    "cursor": CURSOR,
    "wait": "indexed",
    "branch": "all",
    "contents": "keep",
    "dry_run": True,
    "filename": "conversations.json",
    "format": "chatgpt",
    "modified_at": SAID,
    "retention_days": 365,
    "budget_tokens": 300,
    "users": "all",
    "query": "hotel Alfama",
    "status": "active",
    "pinned": True,
    "archived": False,
    "filter": '{"category": "travel"}',
    "last_event_id": EVENT_ID,
    "Last-Event-ID": EVENT_ID,
    "Idempotency-Key": "0b6f1c1e-3f5e-4a51-9a53-0e9b6f3f7f5c",
    "X-Project-ID": PROJECT,
    "X-Session-ID": SESSION,
    "X-Model-Key": "sk-your-own-key",
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "context-management-2025-06-27",
    "beta": "true",
    "item_id": MESSAGE,
    "response_id": RESPONSE,
    "model_id": "llama-3",
    "after_id": "llama-3",
    "before_id": "qwen-3",
    "order": "desc",
}
OWN_PARAMETERS: Mapping[tuple[str, str], Any] = {
    ("list_messages", "cursor"): _MESSAGES.encode(2_132_505_616_760_537_089),
    ("list_items", "cursor"): Listing("items", parse_tenant_id(TENANT), SESSION, "desc").encode(
        2_132_505_616_760_537_089, 0
    ),
    ("list_memories", "after"): MEMORY,
    ("list_user_memories", "after"): MEMORY,
    ("list_entities", "after"): ENTITY,
    ("list_observations", "after"): OBSERVATION,
}
