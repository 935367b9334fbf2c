"""Checks what a caller expects a session to be in the transaction that uses the session: one that was moved, or deleted and created
anew for another user, is refused, however shortly before that happened (ISO-10, ISO-12)."""

from cloister.domain.conversation import Session
from cloister.domain.sessions.expected import ExpectedSession
from cloister.storage.interface import Transaction
from cloister.storage.stores.tenants import ProjectStore


def check_expected(transaction: Transaction, session: Session, expected: ExpectedSession) -> None:
    """Raises `Conflict` if the session is another one, and `NotFound` if there is no such project."""
    if expected.project is not None:
        ProjectStore(transaction).get(expected.project)
    expected.check(session)
