"""The methods of `Cloister` for the items of sessions."""

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.interfaces.python.arguments import of_each, page_request
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.items.shapes import Item
from cloister.interfaces.python.pages import Page
from cloister.services.conversations.item_format import read_item


class ItemMethods:
    """The part of `Cloister` for agents that store more than messages: tool calls, their outputs, reasoning."""

    _backend: Backend

    def items(
        self, session_id: str, *, limit: int = 50, cursor: str | None = None, newest_first: bool = False
    ) -> Page[Item]:
        """List the items of a session, oldest first unless `newest_first`: its messages, however they were recorded, and the other
        items between them. Each is as it was added."""
        return self._backend.items(session_id, page_request(limit, cursor), newest_first)

    def add_items(self, session_id: str, items: Sequence[Mapping[str, Any]]) -> list[Item]:
        """Append items in OpenAI's format to a session, all or none.

        Messages of the user and of the assistant are recorded as messages and can be recalled; tool calls, their outputs and other
        items are stored as they are.
        """
        return self._backend.add_items(session_id, of_each(items, read_item, "items"))

    def forget_item(self, session_id: str, item_id: str) -> None:
        """Forget one item. With a message goes all that derives from it, and the items directly after it."""
        self._backend.forget_item(session_id, item_id)
