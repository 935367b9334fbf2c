"""Whose turn it is to answer in a session, inside one transaction's reach."""

from typing import cast

from cloister.domain.identifiers import SessionId
from cloister.storage.interface import Transaction


class TurnStore:
    """A turn is a number on the session and the moment until which it stands."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def take(self, session: SessionId, turn: int, *, now: int, until: int) -> bool:
        """False while another turn stands, or when there is no such session here. Taken, it is held until the transaction ends."""
        return self._transaction.row("take_turn", session_id=session, turn=turn, now=now, until=until) is not None

    def renew(self, session: SessionId, turn: int, *, until: int) -> bool:
        """False when the turn was lost."""
        return self._transaction.row("renew_turn", session_id=session, turn=turn, until=until) is not None

    def end(self, session: SessionId, turn: int) -> str | None:
        """Give the turn back; the name of the session, which is held until the transaction ends, or none when the turn was lost."""
        row = self._transaction.row("end_turn", session_id=session, turn=turn)
        return None if row is None else cast(str, row[0])

    def revoke(self, session: SessionId) -> None:
        """What is being answered was forgotten: whoever has the turn may keep nothing of it."""
        self._transaction.execute("revoke_turn", session_id=session)

    def is_of(self, session: SessionId, turn: int) -> bool:
        """Whether the turn of the session is this one."""
        return self._transaction.row("turn_of", session_id=session, turn=turn) is not None
