"""The methods of `Cloister` for the items of sessions."""

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.domain.sessions.expected import ExpectedSession
from cloister.interfaces.python.arguments import NOT_GIVEN, checked_user, of_each, page_request, project_choice
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.backends.requests import expected_session
from cloister.interfaces.python.items.shapes import Item
from cloister.interfaces.python.pages import Page
from cloister.services.conversations.item_format import read_item


class ItemMethods:
    """The part of `Cloister` for agents that store more than messages: tool calls, their outputs, reasoning."""

    _backend: Backend

    def items(
        self,
        session_id: str,
        *,
        limit: int = 50,
        cursor: str | None = None,
        newest_first: bool = False,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> Page[Item]:
        """List the items of a session, oldest first unless `newest_first`: its messages, however they were recorded, and the other
        items between them. Each is as it was added.

        With `project_id` (None is no project) or `user_id`, the session must be in this project and of this user, or `Conflict` is
        raised: also if it was moved, or created anew, a moment ago.
        """
        expected = _expected(project_id, user_id)
        return self._backend.items(session_id, page_request(limit, cursor), newest_first, expected)

    def add_items(
        self,
        session_id: str,
        items: Sequence[Mapping[str, Any]],
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> list[Item]:
        """Append items in OpenAI's format to a session, all or none.

        Messages of the user and of the assistant are recorded as messages and can be recalled; tool calls, their outputs and other
        items are stored as they are. `project_id` and `user_id` are as for `items`.
        """
        expected = _expected(project_id, user_id)
        return self._backend.add_items(session_id, of_each(items, read_item, "items"), expected)

    def forget_item(
        self, session_id: str, item_id: str, *, project_id: str | None = NOT_GIVEN, user_id: str | None = None
    ) -> None:
        """Forget one item. With a message goes all that derives from it, and the items directly after it. `project_id` and
        `user_id` are as for `items`."""
        self._backend.forget_item(session_id, item_id, _expected(project_id, user_id))


def _expected(project_id: str | None, user_id: str | None) -> ExpectedSession:
    return expected_session(project_choice(project_id), checked_user(user_id))
