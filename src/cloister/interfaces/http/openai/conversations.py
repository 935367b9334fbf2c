"""`/v1/conversations`: OpenAI's conversations are sessions, and their items are messages, tool calls and other items."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest
from cloister.domain.text import checked_metadata
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.parameters import IdempotencyKey, ItemName, SessionId
from cloister.interfaces.http.openai.bodies import user_of
from cloister.interfaces.http.openai.errors import CONVERSATIONS, ItemsRoute
from cloister.interfaces.http.openai.response_bodies import ChangedConversation, NewConversation, NewConversationItems
from cloister.interfaces.http.openai.routes import SessionHeader, in_named_project, named_session
from cloister.interfaces.http.openai.shapes import (
    Conversation,
    ConversationItem,
    ConversationItemList,
    Deleted,
    conversation_shape,
    deleted,
    item_list,
    item_shape,
    json_answer,
)
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.write_only import may_read
from cloister.interfaces.python.arguments import of_each
from cloister.services.conversations.item_format import NewItem, read_item
from cloister.services.conversations.sessions import SessionChange, SessionFields

router = APIRouter(route_class=ItemsRoute, tags=["OpenAI-compatible"])

_ONE = f"{CONVERSATIONS}/{{external_id}}"
_ITEMS = f"{_ONE}/items"
_ITEM = f"{_ITEMS}/{{item_id}}"
_STATUSES = ("in_progress", "completed", "incomplete")
_WITH_STATUS = frozenset({"message", "function_call", "function_call_output"})
Order = Annotated[Literal["asc", "desc"], Query(description="`asc`: oldest first.")]
Limit = Annotated[int, Query(ge=1, le=100, description="The largest number of items on a page.")]
After = Annotated[
    str | None, Query(description="Start after the item with this id.", json_schema_extra=schemas.ITEM_ID)
]


@router.post(CONVERSATIONS, response_model=Conversation)
@needs("write")
def create_conversation(
    body: NewConversation,
    caller: Caller,
    request: Request,
    session_id: SessionHeader = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Create a conversation: a session in the project of the request, with its first items. The header X-Session-ID, or
    `metadata.session_id`, gives it its id."""
    body.refuse_others()
    metadata = body.metadata or {}
    checked_metadata(metadata)
    fields = SessionFields(
        external_id=named_session(request, metadata),
        project=in_named_project(caller, metadata).session_project(),
        user_id=user_of(None, None, metadata),
        metadata=metadata,
    )
    items = read_items(body.items or [])
    created = caller.services.items.create(caller.reach, fields, items, idempotency_key=idempotency_key)
    return json_answer(conversation_shape(created))


@router.get(_ONE, response_model=Conversation)
@needs("read")
def get_conversation(external_id: SessionId, caller: Caller) -> Response:
    """Get a conversation: any session, by its `external_id`."""
    return json_answer(conversation_shape(caller.services.sessions.get(caller.reach, external_id)))


@router.post(_ONE, response_model=Conversation)
@needs("write")
def change_conversation(external_id: SessionId, body: ChangedConversation, caller: Caller) -> Response:
    """Replace the metadata of a conversation."""
    body.refuse_others()
    change = SessionChange(metadata=body.metadata or {})
    return json_answer(conversation_shape(caller.services.sessions.change(caller.reach, external_id, change)))


@router.delete(_ONE, response_model=Deleted)
@needs("write")
def delete_conversation(external_id: SessionId, caller: Caller) -> Response:
    """Delete a conversation with all its items, and with everything that derives from them."""
    caller.services.forgetting.session(caller.reach, external_id)
    return json_answer(deleted(external_id, "conversation"))


@router.get(_ITEMS, response_model=ConversationItemList)
@needs("read")
def list_conversation_items(
    external_id: SessionId,
    caller: Caller,
    limit: Limit = 20,
    order: Order = "desc",
    after: After = None,
) -> Response:
    """List the items of a conversation: its messages, whichever way they were recorded, and its other items."""
    items = caller.services.items.page(
        caller.reach, external_id, limit=limit + 1, after=after, newest_first=order == "desc"
    )
    return json_answer(item_list(items[:limit], has_more=len(items) > limit))


@router.post(_ITEMS, response_model=ConversationItemList)
@needs("write")
def add_conversation_items(
    external_id: SessionId, body: NewConversationItems, caller: Caller, idempotency_key: IdempotencyKey = None
) -> Response:
    """Append items to a conversation, all or none. Messages of the user and of the assistant are recorded and can be recalled. An
    item that a response has added already is not added again."""
    body.refuse_others()
    items = caller.services.items.add(
        caller.reach,
        external_id,
        read_items(body.items),
        compares=may_read(caller),
        idempotency_key=idempotency_key,
    )
    return json_answer(item_list(items, has_more=False))


@router.get(_ITEM, response_model=ConversationItem)
@needs("read")
def get_conversation_item(external_id: SessionId, item_id: ItemName, caller: Caller) -> Response:
    """Get one item of a conversation."""
    return json_answer(item_shape(caller.services.items.get(caller.reach, external_id, item_id)))


@router.delete(_ITEM, response_model=Conversation)
@needs("write")
def delete_conversation_item(external_id: SessionId, item_id: ItemName, caller: Caller) -> Response:
    """Forget one item; with a message go all that derives from it, and the tool calls and other items directly after it."""
    session = caller.services.items.remove(caller.reach, external_id, item_id)
    return json_answer(conversation_shape(session if may_read(caller) else session._replace(metadata={})))


def read_items(given: Sequence[Any]) -> list[NewItem]:
    """Check items; an error names the position of the item."""
    return list(of_each(given, _read, "items"))


def _read(given: Any) -> NewItem:
    item = read_item(given)
    if item.type in _WITH_STATUS and item.item.get("status") not in (None, *_STATUSES):
        raise InvalidRequest("status", f"must be one of {', '.join(_STATUSES)}.")
    return item
