"""Follow a running turn: who may see it, and what of its context still exists (ISO-12)."""

from cloister.domain.context import Context
from cloister.domain.scope import Reach
from cloister.services.chat.recalled import RecalledText
from cloister.services.chat.turns import Turn
from cloister.storage.interface import Database
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore


class TurnReaders:
    """Checks access to turns by the present state of storage, not that at the beginning of the turn."""

    def __init__(self, database: Database, generation: int) -> None:
        self._database = database
        self._generation = generation

    def admits(self, reach: Reach, turn: Turn) -> bool:
        """Whether a caller with this reach could have asked the question, and still reaches its session. A caller that does not
        reach the whole pool of the turn is admitted only while the session has the same scope, because a shared project may have
        become private since. Nobody may follow a turn whose question was forgotten."""
        if not reach.covers(turn.scope):
            return False
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).find(turn.session.external_id)
            if session is None or session.id != turn.session.id:
                return False
            if not ExtractionStore(transaction).present(session.id, [turn.question.id]):
                return False
            if reach.covers_pool(turn.scope):
                return True
            project = None if session.project is None else ProjectStore(transaction).get(session.project)
            return session.scope(None if project is None else project.member_visibility) == turn.scope

    def still_recalled(self, reach: Reach, turn: Turn, context: Context) -> Context:
        """The context of a turn, without what was forgotten or has left the pool since. Everything is read again from storage for
        each follower."""
        with self._database.read(reach) as transaction:
            return RecalledText(transaction, self._generation, turn.scope, turn.session.id).still_there(context)
