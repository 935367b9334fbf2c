"""The part of the embedded backend for items of sessions."""

from collections.abc import Sequence

from cloister.bootstrap import Services
from cloister.domain.identifiers import MessageId
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ExpectedSession
from cloister.interfaces.python.items.shapes import Item, item_shape
from cloister.interfaces.python.pages import ListCursors, Page, PageRequest
from cloister.services.conversations.item_format import NewItem


class EmbeddedItems:
    """Calls the services in this process."""

    services: Services
    reach: Reach

    def items(
        self, session_id: str, page: PageRequest[int], newest_first: bool, expected: ExpectedSession
    ) -> Page[Item]:
        cursors = ListCursors("items", self.reach.tenant, session_id, newest_first)
        pair = cursors.pair(page.cursor)
        rows = self.services.items.page(
            self.reach,
            session_id,
            limit=page.limit + 1,
            after=None if pair is None else (MessageId(pair[0]), pair[1]),
            newest_first=newest_first,
            expected=expected,
        )
        return cursors.page(rows, page.limit, shape=item_shape, key=lambda item: item.position)

    def add_items(self, session_id: str, items: Sequence[NewItem], expected: ExpectedSession) -> list[Item]:
        added = self.services.items.add(self.reach, session_id, items, expected=expected)
        return [item_shape(item) for item in added]

    def forget_item(self, session_id: str, item_id: str, expected: ExpectedSession) -> None:
        self.services.items.remove(self.reach, session_id, item_id, expected)
