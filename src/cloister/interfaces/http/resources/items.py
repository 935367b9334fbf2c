"""Routes of the items of sessions: messages, tool calls and others in OpenAI's format, exactly as they were added."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from cloister.domain.identifiers import MessageId
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import (
    Cursor,
    ExpectedProject,
    ExpectedUser,
    IdempotencyKey,
    ItemName,
    Limit,
    SessionId,
)
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources.answers import ItemList, ItemPage, answer, nothing
from cloister.interfaces.http.resources.bodies import Body
from cloister.interfaces.http.resources.write_only import expected_by, may_read
from cloister.interfaces.python.arguments import of_each
from cloister.interfaces.python.items.shapes import item_shape
from cloister.services.conversations.item_format import read_item
from cloister.services.conversations.record import LARGEST_BATCH

router = APIRouter(route_class=GuardedRoute, tags=["Sessions and messages"])

_ITEMS = "/v1/sessions/{external_id}/items"
Order = Annotated[Literal["asc", "desc"], Query(description="`asc`: oldest first; `desc`: newest first.")]


class NewItems(Body):
    """Items in OpenAI's format, each with a `type`, or a message with a `role`."""

    items: list[dict[str, Any]] = Field(max_length=LARGEST_BATCH, json_schema_extra={"minItems": 1})


@router.get(_ITEMS, response_model=ItemPage)
@needs("read")
def list_items(
    external_id: SessionId,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    order: Order = "asc",
    project_id: ExpectedProject = None,
    user_id: ExpectedUser = None,
) -> Response:
    """List the items of a session: its messages, whichever way they were recorded, and tool calls, their outputs and other items
    between them. An item is as it was added."""
    listing = Listing("items", caller.reach.tenant, external_id, order)
    pair = listing.pair(cursor)
    found = caller.services.items.page(
        caller.reach,
        external_id,
        limit=limit + 1,
        after=None if pair is None else (MessageId(pair[0]), pair[1]),
        newest_first=order == "desc",
        expected=expected_by(caller, project_id, user_id),
    )
    return listing.answer(ItemPage, found, limit, shape=item_shape, key=lambda item: item.position)


@router.post(_ITEMS, response_model=ItemList)
@needs("write")
def add_items(
    external_id: SessionId,
    body: NewItems,
    caller: Caller,
    idempotency_key: IdempotencyKey = None,
    project_id: ExpectedProject = None,
    user_id: ExpectedUser = None,
) -> Response:
    """Append items to a session, all or none. Messages of the user and of the assistant are recorded, and can be recalled; other
    items are stored as they are. `project_id` and `user_id` need the permission `read` too."""
    expected = expected_by(caller, project_id, user_id)
    items = of_each(body.items, read_item, "items")
    added = caller.services.items.add(
        caller.reach,
        external_id,
        items,
        compares=may_read(caller),
        expected=expected,
        idempotency_key=idempotency_key,
    )
    return answer(ItemList.model_construct(data=[item_shape(item) for item in added]))


@router.delete(_ITEMS + "/{item_id}", status_code=204, response_model=None)
@needs("write")
def forget_item(
    external_id: SessionId,
    item_id: ItemName,
    caller: Caller,
    project_id: ExpectedProject = None,
    user_id: ExpectedUser = None,
) -> Response:
    """Forget one item; with a message go all that derives from it, and the items directly after it. `project_id` and `user_id`
    need the permission `read` too."""
    caller.services.items.remove(caller.reach, external_id, item_id, expected_by(caller, project_id, user_id))
    return nothing()
