"""The cursors of a list of messages, which can be read in both directions."""

from collections.abc import Generator
from contextlib import contextmanager

from cloister.domain.errors import InvalidRequest, NotFound
from cloister.domain.identifiers import MessageId, TenantId
from cloister.domain.sessions.windows import MessageRange, Window
from cloister.interfaces.python.pages import ListCursors, foreign_cursor


class MessageCursors:
    """The cursors of one session's messages, with one set of filters."""

    def __init__(self, tenant: TenantId | int, external_id: str, *filters: int | str | None) -> None:
        self._later = ListCursors("messages", tenant, external_id, *filters)
        self._earlier = ListCursors("messages before", tenant, external_id, *filters)

    def asked(self, cursor: str | None) -> MessageRange | None:
        """The range that a cursor asks for; None without a cursor."""
        if cursor is None:
            return None
        try:
            after = self._later.number(cursor)
            return MessageRange(message=MessageId(after or 0))
        except InvalidRequest:
            before = self._earlier.number(cursor)
            return MessageRange(direction="before", message=MessageId(before or 0))

    @contextmanager
    def reading(self, cursor: str | None) -> Generator[None]:
        """While messages are read by this cursor: it may be of a deleted session that had the same external id."""
        try:
            yield
        except NotFound as error:
            if cursor is not None and error.kind == "message":
                raise foreign_cursor() from None
            raise

    def of(self, window: Window) -> tuple[str | None, str | None]:
        """The cursors of the next page, towards newer messages, and of the previous one."""
        if not window.messages:
            return None, None
        last, first = window.messages[-1].id, window.messages[0].id
        return (
            self._later.encode(last) if window.has_later else None,
            self._earlier.encode(first) if window.has_earlier else None,
        )
