"""What one session does not recall."""

from typing import Any

from cloister.domain.identifiers import SessionId, new_exclusion_id
from cloister.domain.sessions.exclusions import ExcludedKind, Exclusion
from cloister.storage.interface import Row, Transaction


class ExclusionStore:
    """The exclusions of one session, which the caller found through `SessionStore`. Whether what they name is in the session's pool
    now is for the caller to find out."""

    def __init__(self, transaction: Transaction, session: SessionId) -> None:
        self._transaction = transaction
        self._session = session

    def all(self) -> list[Exclusion]:
        """All of them, oldest first; there are at most `MOST_EXCLUSIONS`."""
        return list(map(_exclusion, self._transaction.rows("exclusions_of_session", session_id=self._session)))

    def add(self, kind: ExcludedKind, item: int, now: int) -> Exclusion:
        """Exclude something that the caller found within the session's scope."""
        made = Exclusion(new_exclusion_id(), now, kind, item)
        self._transaction.execute(
            "insert_exclusion",
            exclusion_id=made.id,
            session_id=self._session,
            created_at=now,
            message_id=item if kind == "message" else None,
            memory_id=item if kind == "memory" else None,
            entity_id=item if kind == "entity" else None,
        )
        return made

    def remove(self, exclusion: int) -> int:
        return self._transaction.execute("delete_exclusion", session_id=self._session, exclusion_id=exclusion)


def _exclusion(row: Row) -> Exclusion:
    columns: tuple[Any, ...] = row
    number, created_at, message, memory, entity = columns
    if message is not None:
        return Exclusion(number, created_at, "message", message)
    if memory is not None:
        return Exclusion(number, created_at, "memory", memory)
    return Exclusion(number, created_at, "entity", entity)
