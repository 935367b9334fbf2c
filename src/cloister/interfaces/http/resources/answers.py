"""Answers as JSON, and the models of lists. FastAPI would validate each answer before it serialises it; these are built here."""

from functools import cache
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field, TypeAdapter, create_model
from starlette.responses import Response

from cloister.interfaces.python import derived_shapes, shapes, tenant_shapes
from cloister.interfaces.python.items.shapes import Item
from cloister.interfaces.python.pages import ONLY_IF_STALE
from cloister.interfaces.python.recall import shapes as recall_shapes
from cloister.interfaces.python.receipts.exclusion_shapes import Exclusion
from cloister.interfaces.python.receipts.inline import InlineReceipt
from cloister.interfaces.python.receipts.shapes import ReceiptSummary

OnlyIfStale = Annotated[int | None, Field(**ONLY_IF_STALE)]


def page_model(name: str, items: type[list[Any]]) -> type[BaseModel]:
    return create_model(name, data=(items, ...), next_cursor=(str | None, ...))


ProjectPage = page_model("ProjectPage", list[shapes.Project])
TenantPage = page_model("TenantPage", list[tenant_shapes.TenantSummary])
ApiKeyPage = page_model("ApiKeyPage", list[tenant_shapes.ApiKey])
SessionPage = page_model("SessionPage", list[shapes.Session])
MemoryPage = page_model("MemoryPage", list[derived_shapes.Memory])
RevisionPage = page_model("RevisionPage", list[derived_shapes.MemoryRevision])
EntityPage = page_model("EntityPage", list[derived_shapes.Entity])
MentionPage = page_model("MentionPage", list[derived_shapes.EntityMention])
ObservationPage = page_model("ObservationPage", list[derived_shapes.Observation])
ItemPage = page_model("ItemPage", list[Item])
ExclusionPage = page_model("ExclusionPage", list[Exclusion])


class ItemList(BaseModel):
    data: list[Item]


class MessagePage(BaseModel):
    """Messages in chronological order. `next_cursor` goes on towards newer messages, `previous_cursor` towards older ones.
    `receipts` are those of the replies on the page, if they were asked for."""

    data: list[shapes.Message]
    next_cursor: str | None
    previous_cursor: str | None
    receipts: list[ReceiptSummary]


class MessageList(BaseModel):
    data: list[shapes.Message]


class HitList(BaseModel):
    data: list[recall_shapes.Hit]
    stale: OnlyIfStale = None
    receipt: InlineReceipt
    receipt_id: str | None


@cache
def _serialiser(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def answer(shape: Any, status: int = 200) -> Response:
    """A shape as JSON. The serialiser of each type is built once."""
    kind = cast(type[Any], type(shape))
    return Response(_serialiser(kind).dump_json(shape), status, media_type="application/json")


def nothing() -> Response:
    return Response(status_code=204)
