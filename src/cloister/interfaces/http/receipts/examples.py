"""Examples of receipts and explanations, from the same household as the others."""

from collections.abc import Mapping
from typing import Any

from cloister.interfaces.http.openapi.examples import (
    ANSWERED,
    INLINE_RECEIPT,
    MESSAGE,
    NEW_MESSAGE,
    PROJECT,
    RECEIPT,
    SAID,
    SESSION,
    USER,
    Example,
)

_REPLY, _QUESTION = "msg_04e2a8c19f400002", "msg_04e2a8c19f400001"
_ITEM: dict[str, Any] = {
    **INLINE_RECEIPT["items"][0],
    "content": NEW_MESSAGE["content"],
    "session_id": SESSION,
    "user_id": USER,
    "role": "user",
    "author": None,
    "status": None,
    "notes": None,
    "created_at": SAID,
    "same_session": False,
    "pinned": None,
    "source_message_ids": [],
    "is_changed": False,
}
_EXCLUDED: dict[str, Any] = {
    "kind": "message",
    "id": MESSAGE,
    "content": NEW_MESSAGE["content"],
    "session_id": SESSION,
    "user_id": "ada",
    "created_at": ANSWERED,
}

RECEIPT_EXAMPLES: Mapping[str, Example] = {
    "get_receipt": Example(
        answer={
            "id": RECEIPT,
            "kind": "reply",
            "session_id": "lisbon-tickets",
            "message_id": _REPLY,
            "question_id": _QUESTION,
            "query": None,
            "created_at": ANSWERED,
            "pool": {"project_id": PROJECT, "version": 41, "version_now": 44},
            "key_id": INLINE_RECEIPT["key_id"],
            "min_relevance": 0.2,
            "given": 2,
            "items": [_ITEM],
            "hidden": {"another_project": 0, "other_branch": 0, "forgotten": 1},
            "summary": ["1 item forgotten"],
            "left_out": INLINE_RECEIPT["left_out"],
            "tokens": 52,
            "sent": {
                "prompt": "default",
                "template_sha256": None,
                "placeholders": ["{MEMORY.CONTEXT}", "{OBSERVATIONS}", "{ENTITIES}", "{RELEVANT.HISTORY}"],
                "parts": [
                    {"role": "system", "kind": "system_prompt", "characters": 861},
                    {"role": "user", "kind": "question", "characters": 26},
                ],
                "more_parts": 0,
                "conversation_ids": [_QUESTION],
                "tools": 0,
                "images": [{"name": "ferry.png", "media_type": "image/png", "size": 48213}],
            },
            "reply": {
                "model": "llama-3",
                "status": "completed",
                "prompt_tokens": 231,
                "completion_tokens": 12,
                "recall_ms": 3.1,
                "first_token_ms": 180.4,
                "total_ms": 420.9,
            },
        }
    ),
    "get_receipt_prompt": Example(
        answer={
            "messages": [
                {"role": "system", "content": "You are a helpful assistant with a memory. …"},
                {"role": "user", "content": "When does the ferry leave?"},
            ],
            "is_exact": False,
            "missing": ["1 item forgotten"],
        }
    ),
    "list_exclusions": Example(answer={"data": [_EXCLUDED], "next_cursor": None}),
    "exclude": Example(request={"kind": "message", "id": MESSAGE}, answer=_EXCLUDED),
    "include": Example(),
    "explain": Example(
        request={"session_id": "lisbon-tickets", "query": "When does the ferry leave?", "message_id": MESSAGE},
        answer={
            "message_id": MESSAGE,
            "recalled": True,
            "rank": 1,
            "relevance": 0.93,
            "parts": {"score": 0.71, "lexical": 3.2, "semantic": 0.61, "coverage": 0.8},
            "reason": "recalled",
            "detail": "It was recalled.",
            "changed": None,
        },
    ),
}
