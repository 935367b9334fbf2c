"""Look up what a receipt names, in the pool it was recalled from: only what is there now is found (ISO-12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cloister.domain.conversation import Message
from cloister.domain.entity import Entity
from cloister.domain.identifiers import MessageId, ObservationId, PoolId
from cloister.domain.memory import StoredMemory
from cloister.domain.observation import StoredObservation
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.domain.receipts.receipt import ItemKind, ReceiptItem
from cloister.domain.scope import Scope
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.receipts.receipts import ReceiptStore


class ItemWords(NamedTuple):
    """The words of an item as they are now, and of whom they are. `session` is an external id, if the item has a session; `notes`
    are those of an entity, `role` and `author` those of a message; `status`, whether it is `pinned`, and the messages it came from
    (`sources`) those of a memory. `is_changed`: the words are not those of the receipt, because somebody corrected the memory or
    the entity, or the entity was mentioned again."""

    content: str
    created_at: int
    session: str | None = None
    user: str | None = None
    role: str | None = None
    author: str | None = None
    status: str | None = None
    notes: str | None = None
    pinned: bool | None = None
    sources: tuple[MessageId, ...] = ()
    is_changed: bool = False


class FoundMessage(NamedTuple):
    """A message's own words, with the outside id and the user of its session."""

    message: Message
    session: str
    user: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundItems:
    """What is in the pool now of what a receipt names, by id. `changed` are the items with other words than at that time."""

    messages: Mapping[int, FoundMessage]
    memories: Mapping[int, StoredMemory]
    entities: Mapping[int, Entity]
    observations: Mapping[ObservationId, StoredObservation]
    changed: frozenset[tuple[ItemKind, int]]

    def words(self) -> dict[tuple[ItemKind, int], ItemWords]:
        found: dict[tuple[ItemKind, int], ItemWords] = {
            ("message", number): ItemWords(
                said.message.content,
                said.message.created_at,
                said.session,
                said.user,
                said.message.role,
                said.message.author,
            )
            for number, said in self.messages.items()
        }
        found |= {
            ("memory", number): ItemWords(
                stored.memory.content,
                stored.memory.created_at,
                stored.session,
                stored.user,
                status=stored.status,
                pinned=stored.memory.pinned,
                sources=stored.memory.sources,
            )
            for number, stored in self.memories.items()
        }
        found |= {
            ("entity", number): ItemWords(entity.name, entity.created_at, user=entity.user, notes=entity.notes)
            for number, entity in self.entities.items()
        }
        found |= {
            ("observation", number): ItemWords(
                noted.observation.content, noted.observation.said_at, noted.session, noted.user
            )
            for number, noted in self.observations.items()
        }
        return {key: words._replace(is_changed=key in self.changed) for key, words in found.items()}


class PoolItems:
    """Finds the items of receipts in the pool of one scope; what is not there now is left out."""

    def __init__(self, transaction: Transaction, generation: int, scope: Scope, pool: PoolId, now: int) -> None:
        self._transaction = transaction
        self._generation = generation
        self._scope = scope
        self._pool = pool
        self._now = now

    def of(self, items: Sequence[ReceiptItem], *, since: int) -> FoundItems:
        """Those of these items that are in the pool; `changed` are those whose words were changed since this time."""
        ids: dict[ItemKind, list[int]] = {"message": [], "memory": [], "entity": [], "observation": []}
        for item in items:
            ids[item.kind].append(item.id)
        memories, entities = self._memories(ids["memory"]), self._entities(ids["entity"])
        return FoundItems(
            messages=self._messages(ids["message"]),
            memories=memories,
            entities=entities,
            observations=ReceiptStore(self._transaction).observations(self._pool, ids["observation"]),
            changed=frozenset(self._changed(memories, entities, since)),
        )

    def _messages(self, ids: Sequence[int]) -> dict[int, FoundMessage]:
        rows = PoolStore(self._transaction, self._generation).rows(self._scope)
        there = {} if rows is None or not ids else rows.messages([MessageId(number) for number in ids])
        return {
            number: FoundMessage(message, found.session, found.user)
            for number, found in there.items()
            if (message := shown_outside_session(found.message)) is not None
        }

    def _memories(self, ids: Sequence[int]) -> dict[int, StoredMemory]:
        if not ids:
            return {}
        found = StoredMemories(self._transaction, self._pool, self._generation).found(ids, self._now)
        return {number: stored for number, stored in found.items() if stored.memory.retracted_at is None}

    def _entities(self, ids: Sequence[int]) -> dict[int, Entity]:
        project = self._scope.entities
        if not ids or project is None:
            return {}
        rows = StoredEntities(self._transaction, project, self._scope.pool.user, self._generation)
        return rows.found(ids, self._now)

    def _changed(
        self, memories: Mapping[int, StoredMemory], entities: Mapping[int, Entity], since: int
    ) -> set[tuple[ItemKind, int]]:
        receipts = ReceiptStore(self._transaction)
        before = receipts.replaced_texts(self._pool, list(memories), since)
        changed: set[tuple[ItemKind, int]] = {
            ("memory", number) for number, text in before.items() if memories[number].memory.content != text
        }
        if self._scope.entities is not None:
            changed |= {
                ("entity", number) for number in receipts.changed_entities(self._scope.entities, list(entities), since)
            }
        return changed
