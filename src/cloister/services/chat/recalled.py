"""Read again from storage what was recalled for a turn, and find what is no longer in the pool it came from (ISO-12)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from cloister.domain.context import Context, Derived, Item
from cloister.domain.entity import Entity
from cloister.domain.identifiers import PoolId, SessionId
from cloister.domain.memory import MemoryStatus, StoredMemory, same_as
from cloister.domain.observation import StoredObservation
from cloister.domain.prompts.forgotten_text import ForgottenTexts, without_forgotten
from cloister.domain.prompts.profile import ProfileFact
from cloister.domain.prompts.recalled_text import own_words, shown_outside_session
from cloister.domain.prompts.speaker import without_user
from cloister.domain.recall.excerpt import ELLIPSIS
from cloister.domain.scope import Scope
from cloister.domain.timestamps import now
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.tenants import ProjectStore

_MOST_OBSERVATIONS = 200


class RecalledText:
    """Works in one transaction, for a turn of a session that had this scope when it began."""

    def __init__(self, transaction: Transaction, generation: int, scope: Scope, session: SessionId) -> None:
        self._transaction = transaction
        self._generation = generation
        self._scope = scope
        self._session = session

    def still_there(self, context: Context) -> Context:
        """The context without its conversation, and without what was forgotten or has left the pool."""
        return replace(
            context,
            current_conversation=(),
            relevant_history=self._messages(context),
            derived=self._derived(context.derived),
        )

    def gone(self, context: Context) -> Iterator[str]:
        """The texts of what was forgotten or has left the pool."""
        still = self.still_there(context)
        said = [item.message for item in context.current_conversation]
        present = {item.message.id for item in still.relevant_history}
        present |= ExtractionStore(self._transaction).present(self._session, [message.id for message in said])
        for message in (*said, *(item.message for item in context.relevant_history)):
            if message.id not in present:
                yield own_words(message.content)
        memories = {stored.memory.id: stored.memory.content for stored in still.derived.memories}
        yield from (
            without_user(each.memory.content)
            for each in context.derived.memories
            if memories.get(each.memory.id) != each.memory.content
        )
        facts = {fact.memories for fact in still.derived.profile}
        yield from (without_user(fact.content) for fact in context.derived.profile if fact.memories not in facts)
        notes = {stored.observation.id for stored in still.derived.observations}
        yield from (
            without_user(each.observation.content)
            for each in context.derived.observations
            if each.observation.id not in notes
        )
        entities = {entity.id: entity.notes for entity in still.derived.entities}
        for entity in context.derived.entities:
            # What is added to the notes of an entity comes last.
            if not entities.get(entity.id, "").startswith(entity.notes) or entity.id not in entities:
                yield f"{entity.name} ({entity.type})"

    def without_gone(self, text: str, contexts: Iterable[Context]) -> str:
        """A text without its quotations of what these contexts had and is gone."""
        return without_forgotten(text, ForgottenTexts(gone for context in contexts for gone in self.gone(context)))

    def _messages(self, context: Context) -> tuple[Item, ...]:
        rows = PoolStore(self._transaction, self._generation).rows(self._scope)
        if rows is None:
            return ()
        there = rows.messages([item.message.id for item in context.relevant_history])
        return tuple(
            item if item.excerpt else item._replace(message=message)
            for item in context.relevant_history
            if item.message.id in there
            and (message := shown_outside_session(there[item.message.id].message)) is not None
            and (not item.excerpt or item.message.content.strip(ELLIPSIS) in message.content)
        )

    def _derived(self, derived: Derived) -> Derived:
        pool = PoolStore(self._transaction, self._generation).find(self._scope.pool)
        if pool is None:
            return Derived()
        memories = self._memories(derived, pool)
        facts = self._facts(derived, pool)
        entities = self._entities(derived)
        noted = {stored.observation.id: stored for stored in self._observations(derived, pool)}
        return replace(
            derived,
            memories=tuple(memories[stored.memory.id] for stored in derived.memories if stored.memory.id in memories),
            entities=tuple(entities[entity.id] for entity in derived.entities if entity.id in entities),
            profile=tuple(fact for fact in derived.profile if _stands(fact, facts)),
            observations=tuple(
                noted[stored.observation.id] for stored in derived.observations if stored.observation.id in noted
            ),
        )

    def _memories(self, derived: Derived, pool: PoolId) -> dict[int, StoredMemory]:
        """The memories that are still in the pool and not retracted, each with the status that it had when it was recalled."""
        recalled: dict[int, MemoryStatus] = {stored.memory.id: stored.status for stored in derived.memories}
        found = StoredMemories(self._transaction, pool, self._generation).found(list(recalled), now=0)
        return {
            memory: replace(stored, status=recalled[memory])
            for memory, stored in found.items()
            if stored.memory.retracted_at is None
        }

    def _facts(self, derived: Derived, pool: PoolId) -> dict[int, StoredMemory]:
        """The memories of the profile that are still in the pool."""
        ids = [memory for fact in derived.profile for memory in fact.memories]
        return StoredMemories(self._transaction, pool, self._generation).found(ids, now=0) if ids else {}

    def _entities(self, derived: Derived) -> dict[int, Entity]:
        project = self._scope.entities
        if project is None or ProjectStore(self._transaction).find(project) is None:
            return {}
        entities = StoredEntities(self._transaction, project, self._scope.pool.user, self._generation)
        return entities.found([entity.id for entity in derived.entities], now())

    def _observations(self, derived: Derived, pool: PoolId) -> list[StoredObservation]:
        notes = ObservationStore(self._transaction)
        observations = notes.recent(self._session, pool, limit=_MOST_OBSERVATIONS)
        if self._scope.user is not None and derived.observations:
            observations += notes.recent_of_user(self._scope.user, pool, limit=_MOST_OBSERVATIONS)
        return observations


def _stands(fact: ProfileFact, found: Mapping[int, StoredMemory]) -> bool:
    """Whether a memory that says the fact is still in the pool, with the same words, and was not retracted."""
    return any(
        memory in found
        and found[memory].memory.retracted_at is None
        and same_as(found[memory].memory.content) == same_as(fact.content)
        for memory in fact.memories
    )
