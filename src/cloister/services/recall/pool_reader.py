"""Read single items of one pool by id: a memory, an entity, an episode, a session. For interfaces whose connection is one pool."""

from cloister.domain.conversation import Session
from cloister.domain.entity import Entity
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import (
    MAX_SEQUENCE,
    EntityId,
    MemoryId,
    MessageId,
    format_entity_id,
    format_episode_id,
    format_memory_id,
)
from cloister.domain.memory import StoredMemory
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.storage.interface import FIRST_PAGE, Database, Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.pools import PoolMessage, PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

# An exchange is rarely more than two messages, and its messages have consecutive ids.
_MOST_MESSAGES = 16


class PoolReader:
    """Every method reads the one pool of a reach that is confined to a project: of its user, or without a user, of the sessions
    that have none (ISO-10). An id of another pool is not found, also where the reach alone would cover it."""

    def __init__(self, database: Database, generation: int, clock: Clock) -> None:
        self._database = database
        self._generation = generation
        self._clock = clock

    def memory(self, reach: Reach, memory: MemoryId) -> StoredMemory:
        with self._database.read(reach) as transaction:
            stored = self._memories(transaction)
            found = None if stored is None else stored.found([memory], self._clock()).get(memory)
            if found is None:
                raise NotFound("memory", format_memory_id(memory))
            return found

    def memories(
        self, reach: Reach, *, limit: int, after: tuple[int, int] | None = None, with_past: bool = False
    ) -> list[StoredMemory]:
        """A page of the pool's memories that are true now, or `with_past` of all, oldest first, after the cursor
        (created_at, id)."""
        with self._database.read(reach) as transaction:
            stored = self._memories(transaction)
            if stored is None:
                return []
            return stored.page(now=self._clock(), limit=limit, after=after or FIRST_PAGE, with_past=with_past)

    def entity(self, reach: Reach, entity: EntityId) -> Entity:
        with self._database.read(reach) as transaction:
            scope = _scope(transaction)
            assert scope.entities is not None
            rows = StoredEntities(transaction, scope.entities, scope.pool.user, self._generation)
            found = rows.found([entity], self._clock()).get(entity)
            if found is None:
                raise NotFound("entity", format_entity_id(entity))
            return found

    def episode(self, reach: Reach, opening: MessageId) -> list[PoolMessage]:
        """The messages of an episode, in order, in their own words; at most the first 16."""
        with self._database.read(reach) as transaction:
            pool = PoolStore(transaction, self._generation).rows(_scope(transaction))
            last = min(opening + _MOST_MESSAGES - 1, opening | MAX_SEQUENCE)
            ids = [MessageId(number) for number in range(opening, last + 1)]
            found = {} if pool is None else pool.messages(ids)
        shown = [
            each._replace(message=message)
            for _, each in sorted(found.items())
            if each.message.episode == opening and (message := shown_outside_session(each.message)) is not None
        ]
        if not shown:
            raise NotFound("episode", format_episode_id(opening))
        return shown

    def session(self, reach: Reach, external_id: str) -> Session:
        """A session of the pool that is also within the reach: in a shared project, a caller with a user opens only their own."""
        with self._database.read(reach) as transaction:
            scope = _scope(transaction)
            session = SessionStore(transaction).get(external_id)
            if session.scope(scope.visibility).pool != scope.pool:
                raise NotFound("session", external_id)
            return session

    def _memories(self, transaction: Transaction) -> StoredMemories | None:
        pool = PoolStore(transaction, self._generation).rows(_scope(transaction))
        return None if pool is None else StoredMemories(transaction, pool.pool, self._generation)


def _scope(transaction: Transaction) -> Scope:
    reach = transaction.reach
    if reach.confined_to is None:
        raise ValueError("a reach that is not confined to a project has no single pool")
    project = ProjectStore(transaction).get(reach.confined_to)
    return Scope(tenant=reach.tenant, project=project.id, user=reach.user, visibility=project.member_visibility)
