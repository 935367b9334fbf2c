"""Examples of the OpenAI-compatible routes, from the same household as the others."""

from collections.abc import Mapping
from typing import Any

from cloister.interfaces.http.openapi.examples import (
    ITEM,
    MESSAGE,
    NEW_MESSAGE,
    NEW_REPLY,
    REPLY,
    RESPONSE,
    SESSION,
    Example,
)

_CREATED = 1_777_714_274
_RESPONSE: dict[str, Any] = {
    "id": RESPONSE,
    "object": "response",
    "created_at": _CREATED,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "llama-3",
    "output": [
        {
            "id": REPLY,
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": NEW_REPLY["content"], "annotations": []}],
        }
    ],
    "instructions": "Be brief.",
    "conversation": {"id": SESSION},
    "previous_response_id": None,
    "tools": [],
    "usage": {"input_tokens": 148, "output_tokens": 12, "total_tokens": 160},
}
_CONVERSATION = {"id": SESSION, "object": "conversation", "created_at": _CREATED, "metadata": {"channel": "web"}}
_CALL = {"type": "function_call", "call_id": "call_1", "name": "timetable", "arguments": "{}", "status": "completed"}
_NEW_ITEMS = [{"type": "message", **NEW_MESSAGE}, _CALL]
_ITEM = {
    "id": MESSAGE,
    "type": "message",
    "role": "user",
    "status": "completed",
    "content": [{"type": "input_text", "text": NEW_MESSAGE["content"]}],
}
_ITEM_LIST = {
    "object": "list",
    "data": [_ITEM, {"id": ITEM, **_CALL}],
    "first_id": MESSAGE,
    "last_id": ITEM,
    "has_more": False,
}
_ITEMS = [{"id": MESSAGE, "item": NEW_MESSAGE}, {"id": ITEM, "item": _CALL}]

OPENAI_EXAMPLES: Mapping[str, Example] = {
    "complete_chat": Example(
        request={
            "model": "any",
            "messages": [{"role": "system", "content": "Be brief."}, NEW_MESSAGE],
            "temperature": 0.2,
            "metadata": {"session_id": SESSION},
        },
        answer={
            "id": "chatcmpl-2c19f0a87b3e54d6",
            "object": "chat.completion",
            "created": 1_777_714_274,
            "model": "llama-3",
            "choices": [
                {"index": 0, "message": {**NEW_REPLY, "refusal": None}, "logprobs": None, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": 148, "completion_tokens": 12, "total_tokens": 160},
        },
    ),
    "list_models": Example(
        answer={
            "object": "list",
            "data": [
                {
                    "id": "llama-3",
                    "object": "model",
                    "created": 0,
                    "owned_by": "cloister",
                    "kind": "chat",
                    "takes_images": False,
                }
            ],
        }
    ),
    "get_model": Example(
        answer={
            "id": "llama-3",
            "object": "model",
            "created": 0,
            "owned_by": "cloister",
            "kind": "chat",
            "takes_images": False,
        }
    ),
    "create_response": Example(
        request={
            "model": "llama-3",
            "input": NEW_MESSAGE["content"],
            "instructions": "Be brief.",
            "conversation": SESSION,
        },
        answer=_RESPONSE,
    ),
    "get_response": Example(answer=_RESPONSE),
    "delete_response": Example(answer={"id": RESPONSE, "object": "response.deleted", "deleted": True}),
    "create_conversation": Example(request={"items": _NEW_ITEMS, "metadata": {"channel": "web"}}, answer=_CONVERSATION),
    "get_conversation": Example(answer=_CONVERSATION),
    "change_conversation": Example(request={"metadata": {"channel": "web"}}, answer=_CONVERSATION),
    "delete_conversation": Example(answer={"id": SESSION, "object": "conversation.deleted", "deleted": True}),
    "list_conversation_items": Example(answer=_ITEM_LIST),
    "add_conversation_items": Example(request={"items": _NEW_ITEMS}, answer=_ITEM_LIST),
    "get_conversation_item": Example(answer=_ITEM),
    "delete_conversation_item": Example(answer=_CONVERSATION),
    "list_items": Example(answer={"data": _ITEMS, "next_cursor": None}),
    "add_items": Example(request={"items": [NEW_MESSAGE, _CALL]}, answer={"data": _ITEMS}),
    "forget_item": Example(),
    "create_embeddings": Example(
        request={"model": "any", "input": ["The ferry leaves at ten past."], "encoding_format": "float"},
        answer={
            "object": "list",
            "model": "wordllama-l2-supercat-256/1",
            "data": [{"object": "embedding", "index": 0, "embedding": [0.0234, -0.0817]}],
            "usage": {"prompt_tokens": 7, "total_tokens": 7},
        },
    ),
}
