"""Follow a turn: who may be shown a turn that somebody asked for, and what of it is still there to be shown (ISO-12)."""

from cloister.domain.context import Context
from cloister.domain.scope import Reach
from cloister.services.chat.recalled import RecalledText
from cloister.services.chat.turns import Turn
from cloister.storage.interface import Database
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore


class TurnReaders:
    """Answers as things are now, whatever they were when the turn began."""

    def __init__(self, database: Database, generation: int) -> None:
        self._database = database
        self._generation = generation

    def admits(self, reach: Reach, turn: Turn) -> bool:
        """Whether a caller of this reach could have asked the question, and still reaches the session in which it was asked. A
        caller that does not reach all that the turn may have recalled is admitted only while the session has the scope of then:
        what others shared with it is not its own once they are divided. Nobody follows a turn whose question was forgotten."""
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
        """What was recalled for a turn, as far as it is still in the pool from which it came. Read again, not remembered: what was
        forgotten, or has left the pool, is not shown to who comes later."""
        with self._database.read(reach) as transaction:
            return RecalledText(transaction, self._generation, turn.scope, turn.session.id).still_there(context)
