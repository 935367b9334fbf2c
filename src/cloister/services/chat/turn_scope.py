"""The project of a turn, and the scope that it recalls from, which must not change until its reply is stored."""

from cloister.domain.conversation import Message, Project, Session
from cloister.domain.errors import TurnMoved
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.project_settings import chat_model, system_prompt
from cloister.domain.scope import Scope
from cloister.storage.interface import Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore


def project_of(transaction: Transaction, session: Session) -> Project | None:
    return None if session.project is None else ProjectStore(transaction).get(session.project)


def scope_of(session: Session, project: Project | None) -> Scope:
    return session.scope(None if project is None else project.member_visibility)


def prompt_of(session: Session | None, project: Project | None) -> str | None:
    """The template of the system prompt: the session's own, else the project's; None for the default one."""
    if session is not None and session.system_prompt is not None:
        return session.system_prompt
    return None if project is None else system_prompt(project.settings)


def model_of(session: Session | None, project: Project | None) -> str | None:
    """The model that answers, if the endpoint lists it: the session's own, else the project's; None for the server's default."""
    if session is not None and session.model is not None:
        return session.model
    return None if project is None else chat_model(project.settings)


def refuse_moved(transaction: Transaction, began_in: Scope, name: str) -> None:
    """Raise `TurnMoved` if the session recalls from another scope now. It is locked, so it cannot move between this check and the
    storing of the reply."""
    session = SessionStore(transaction).get(name)
    if scope_of(session, project_of(transaction, session)) != began_in:
        raise TurnMoved(name)


def note_project(transaction: Transaction, session: Session, reply: Message, *, said_in: ProjectId | None) -> None:
    """If the session moved meanwhile, assign the reply to the project of its question, where its entities belong (ISO-6). The
    messages said in the new project stay assigned to that."""
    if session.project != said_in:
        extraction = ExtractionStore(transaction)
        extraction.note_past(session.id, MessageId(reply.id - 1), session.project)
        extraction.note_past(session.id, reply.id, said_in)
