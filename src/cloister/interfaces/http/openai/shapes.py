"""The answers of `/v1/responses` and `/v1/conversations`, as the OpenAPI document describes them, and how they are made."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.responses import Response as Answer

from cloister.domain.conversation import Session
from cloister.services.conversations.stored.items import StoredItem


class ResponseUsage(BaseModel):
    model_config = ConfigDict(extra="allow")

    input_tokens: int
    output_tokens: int
    total_tokens: int


class Response(BaseModel):
    """A response in OpenAI's format. It repeats the fields of its request; `usage` is null if the model's server reports none."""

    model_config = ConfigDict(extra="allow")

    id: str
    object: str
    created_at: int
    status: str
    error: dict[str, Any] | None
    incomplete_details: dict[str, Any] | None
    model: str
    output: list[dict[str, Any]]
    instructions: str | None
    conversation: dict[str, Any] | None
    previous_response_id: str | None
    tools: list[dict[str, Any]]
    usage: ResponseUsage | None


class Deleted(BaseModel):
    id: str
    object: str
    deleted: bool


class Conversation(BaseModel):
    """A conversation: a session, by its `external_id`."""

    id: str
    object: str
    created_at: int
    metadata: dict[str, Any]


class ConversationItem(BaseModel):
    """An item as it was added, with its `id`. A message has a `role`, a `status` and its `content` as a list of parts; other items
    have fields of their own."""

    model_config = ConfigDict(extra="allow")

    id: str
    type: str
    role: str | None = None
    status: str | None = None
    content: Any = None


class ConversationItemList(BaseModel):
    object: str
    data: list[ConversationItem]
    first_id: str | None
    last_id: str | None
    has_more: bool


def json_answer(body: Mapping[str, Any]) -> Answer:
    return Answer(json.dumps(body), media_type="application/json")


def deleted(id: str, kind: str) -> dict[str, Any]:
    return {"id": id, "object": f"{kind}.deleted", "deleted": True}


def conversation_shape(session: Session) -> dict[str, Any]:
    return {
        "id": session.external_id,
        "object": "conversation",
        "created_at": session.created_at // 1_000_000,
        "metadata": dict(session.metadata),
    }


def item_shape(stored: StoredItem) -> dict[str, Any]:
    """An item as OpenAI's clients read it: with its id, its type and status, and the content of a message as a list of parts."""
    item = {"type": "message", **stored.item, "id": stored.id}
    if item["type"] != "message":
        return item
    content = item.get("content")
    if isinstance(content, str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        item["content"] = [{"type": kind, "text": content, **({"annotations": []} if kind == "output_text" else {})}]
    return {"status": "completed", **item}


def item_list(items: list[StoredItem], *, has_more: bool) -> dict[str, Any]:
    return {
        "object": "list",
        "data": [item_shape(item) for item in items],
        "first_id": items[0].id if items else None,
        "last_id": items[-1].id if items else None,
        "has_more": has_more,
    }
