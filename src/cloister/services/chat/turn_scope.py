"""What a turn reads of its session: the project, the scope that it recalls from, and failed replies to its question."""

from cloister.domain.conversation import Message, Project, Session
from cloister.domain.errors import TurnMoved
from cloister.domain.identifiers import MessageId
from cloister.domain.scope import Scope
from cloister.storage.interface import Transaction
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

MOST_REPLACED = 100
"""So many messages after a question are looked at."""


def project_of(transaction: Transaction, session: Session) -> Project | None:
    return None if session.project is None else ProjectStore(transaction).get(session.project)


def scope_of(session: Session, project: Project | None) -> Scope:
    return session.scope(None if project is None else project.member_visibility)


def failed_replies(transaction: Transaction, session: Session, question: Message) -> tuple[MessageId, ...]:
    later = MessageStore(transaction).page(session.id, session.pool, limit=MOST_REPLACED, after=question.id)
    return tuple(message.id for message in later if message.status == "failed")


def refuse_moved(transaction: Transaction, began_in: Scope, name: str) -> None:
    """Raise `TurnMoved` if the session recalls from another scope now. It is locked, so it cannot move between this check and the
    storing of the reply."""
    session = SessionStore(transaction).get(name)
    if scope_of(session, project_of(transaction, session)) != began_in:
        raise TurnMoved(name)
