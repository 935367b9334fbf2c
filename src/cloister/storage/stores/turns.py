"""The lease of a chat turn on its session."""

from typing import NamedTuple, cast

from cloister.domain.identifiers import SessionId
from cloister.storage.interface import Transaction


class TurnProcess(NamedTuple):
    """The turn of a session, and the number of the process that answers it."""

    session: SessionId
    turn: int
    process: int


class TurnStore:
    """A session has at most one turn: a random number, and the time when its lease expires."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def take(self, session: SessionId, turn: int, *, now: int, until: int, process: int | None = None) -> bool:
        """Take the turn, and lock the session until the transaction ends; false if another turn is running, or there is no
        session. `process` answers it."""
        row = self._transaction.row("take_turn", session_id=session, turn=turn, now=now, until=until, process=process)
        return row is not None

    def process_of(self, external_id: str) -> TurnProcess | None:
        """The turn of a session within the caller's reach, if it is known which process answers it."""
        row = self._transaction.row("process_of_turn", external_id=external_id)
        return None if row is None else TurnProcess(SessionId(cast(int, row[0])), cast(int, row[1]), cast(int, row[2]))

    def renew(self, session: SessionId, turn: int, *, until: int) -> bool:
        """Extend the lease of the turn; false if it was lost."""
        return self._transaction.row("renew_turn", session_id=session, turn=turn, until=until) is not None

    def cap(self, external_id: str, *, until: int) -> None:
        """End the lease of the session's turn at this time at the latest."""
        self._transaction.execute("cap_turn", external_id=external_id, until=until)

    def end(self, session: SessionId, turn: int) -> str | None:
        """End the turn, and lock the session until the transaction ends; returns its outside id, None if the turn was lost."""
        row = self._transaction.row("end_turn", session_id=session, turn=turn)
        return None if row is None else cast(str, row[0])

    def is_running(self, session: SessionId, *, now: int) -> bool:
        """Whether the session has a turn whose lease has not expired."""
        return self._transaction.row("running_turn", session_id=session, now=now) is not None

    def revoke(self, session: SessionId) -> None:
        """Take the turn away, because the question was deleted: no reply to it may be stored."""
        self._transaction.execute("revoke_turn", session_id=session)

    def is_of(self, session: SessionId, turn: int) -> bool:
        """Whether this is the session's current turn."""
        return self._transaction.row("turn_of", session_id=session, turn=turn) is not None
