"""How many messages and memories were stored on each day, of one part of a tenant."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.identifiers import SessionId
from cloister.storage.interface import Transaction, integers
from cloister.storage.stores.listing.listed_memories import MemoryPart


class ActivityStore:
    """The sessions of one part, as far as the caller reaches them. Days are numbers of days since 1970."""

    def __init__(self, transaction: Transaction, part: MemoryPart) -> None:
        self._transaction = transaction
        self._part = part.parameters

    def sessions(self, *, since: int, limit: int) -> list[SessionId]:
        """The sessions that something was done in since then, the latest first."""
        rows = self._transaction.rows("active_sessions", **self._part, since=since, limit=limit)
        return [SessionId(session) for (session,) in cast(list[tuple[int]], rows)]

    def messages(self, sessions: Sequence[SessionId], *, since: int, until: int) -> dict[int, int]:
        rows = self._transaction.rows("messages_by_day", session_ids=integers(sessions), since=since, until=until)
        return dict(cast(list[tuple[int, int]], rows))

    def memories(self, sessions: Sequence[SessionId], *, since: int, until: int) -> dict[int, int]:
        rows = self._transaction.rows("memories_by_day", session_ids=integers(sessions), since=since, until=until)
        return dict(cast(list[tuple[int, int]], rows))
