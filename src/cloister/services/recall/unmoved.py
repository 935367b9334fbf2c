"""Whether a session still recalls from the pool of an earlier context: its token, and the check before a recording (ISO-12)."""

from contextlib import suppress

from cloister.domain.conversation import Session
from cloister.domain.errors import StorageError, TurnMoved
from cloister.domain.scope import Reach
from cloister.domain.sessions.unmoved import is_unmoved, token_of
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.tenants import ProjectStore, TenantStore


def first_token(database: Database, reach: Reach, session: Session, *, shared: bool) -> str | None:
    """The token of a context in a tenant that has no secret yet, and gets one; None if nothing can be written now, when nothing
    could be recorded either."""
    whole = Reach(tenant=reach.tenant)
    with suppress(StorageError):
        database.write(whole, lambda transaction: TenantStore(transaction).ensure_secret())
    with database.read(whole) as transaction:
        secret = TenantStore(transaction).secret()
    return None if secret is None else token_of(secret, session, shared=shared)


def refuse_if_moved(transaction: Transaction, session: Session, token: str) -> None:
    """Raise `TurnMoved` unless the session recalls from the pool of the context with this token. The transaction has locked the
    session, so it cannot move before what follows is stored; nor can its project be shared or divided, which locks all sessions."""
    project = None if session.project is None else ProjectStore(transaction).get(session.project)
    shared = session.scope(None if project is None else project.member_visibility).shared
    if not is_unmoved(TenantStore(transaction).secret(), token, session, shared=shared):
        raise TurnMoved(session.external_id)
