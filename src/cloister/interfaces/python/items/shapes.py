"""The shape of an item of a session."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # few programs store items
    from cloister.services.conversations.stored.items import StoredItem


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """An item in OpenAI's format, as it was added, and its id in the session."""

    id: str
    item: dict[str, Any]


def item_shape(stored: "StoredItem") -> Item:
    return Item(id=stored.id, item=stored.item)
