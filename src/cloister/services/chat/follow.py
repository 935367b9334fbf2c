"""Follow a running turn: who may see it, and what of its context still exists (ISO-12)."""

from dataclasses import replace

from cloister.domain.context import Context, Derived, Item
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.domain.scope import Reach, Scope
from cloister.services.chat.turns import Turn
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

_MOST_OBSERVATIONS = 200


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
            return replace(
                context,
                current_conversation=(),
                relevant_history=self._messages(transaction, turn.scope, context),
                derived=self._derived(transaction, turn, context),
            )

    def _messages(self, transaction: Transaction, scope: Scope, context: Context) -> tuple[Item, ...]:
        rows = PoolStore(transaction, self._generation).rows(scope)
        if rows is None:
            return ()
        there = rows.messages([item.message.id for item in context.relevant_history])
        return tuple(
            item._replace(message=message)
            for item in context.relevant_history
            if item.message.id in there
            and (message := shown_outside_session(there[item.message.id].message)) is not None
        )

    def _derived(self, transaction: Transaction, turn: Turn, context: Context) -> Derived:
        derived, scope = context.derived, turn.scope
        pool = PoolStore(transaction, self._generation).find(scope.pool)
        if pool is None:
            return Derived()
        memories = StoredMemories(transaction, pool, self._generation).found(
            [stored.memory.id for stored in derived.memories]
        )
        entities = (
            {}
            if scope.entities is None or ProjectStore(transaction).find(scope.entities) is None
            else StoredEntities(transaction, scope.entities, scope.pool.user, self._generation).found(
                [entity.id for entity in derived.entities]
            )
        )
        notes = ObservationStore(transaction)
        observations = notes.recent(turn.session.id, pool, limit=_MOST_OBSERVATIONS)
        if scope.user is not None and derived.observations:
            observations += notes.recent_of_user(scope.user, pool, limit=_MOST_OBSERVATIONS)
        noted = {stored.observation.id: stored for stored in observations}
        return Derived(
            memories=tuple(memories[stored.memory.id] for stored in derived.memories if stored.memory.id in memories),
            entities=tuple(entities[entity.id] for entity in derived.entities if entity.id in entities),
            observations=tuple(
                noted[stored.observation.id] for stored in derived.observations if stored.observation.id in noted
            ),
        )
