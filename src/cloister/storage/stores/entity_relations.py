"""Relations between the entities of one part of a project, with the messages that state them (MEM-17)."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.entity import EntityRelation, inverse_relation
from cloister.domain.identifiers import EntityId, MessageId, PoolId, SessionId, new_relation_id, session_of
from cloister.storage.interface import Transaction, integers

MOST_RELATIONS = 100
_MOST_ROWS = 1_000
_MOST_MESSAGES = 20


class RelationStore:
    """The tenant's relations. They are stored between names, and shown between the entities that have these names now."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def add(
        self,
        subject: EntityId,
        relation: str,
        object_: EntityId,
        *,
        session: SessionId,
        messages: Sequence[MessageId],
        created_at: int,
    ) -> None:
        self._transaction.execute_each(
            "insert_relation",
            [
                {
                    "relation_id": new_relation_id(),
                    "subject_id": subject,
                    "object_id": object_,
                    "message_id": message,
                    "session_id": session,
                    "created_at": created_at,
                    "relation": relation,
                }
                for message in messages
            ],
        )

    def of_entity(self, entity: EntityId, names: Sequence[EntityId], pool: PoolId | None) -> list[EntityRelation]:
        """The relations of an entity with these names, latest first, at most `MOST_RELATIONS`. Messages that are in another pool
        now are not named; relations between two names of one entity are left out."""
        found: dict[tuple[str, int], list[MessageId]] = {}
        ids = integers(names)
        own = self._transaction.rows("relations_of_subjects", entity_ids=ids, limit=_MOST_ROWS)
        of_others = self._transaction.rows("relations_of_objects", entity_ids=ids, limit=_MOST_ROWS)
        inverse = [(inverse_relation(cast(str, relation)), *rest) for relation, *rest in of_others]
        for relation, other, message, its_pool in cast(list[tuple[str, int, int, int | None]], [*own, *inverse]):
            if other == entity:
                continue
            messages = found.setdefault((relation, other), [])
            if its_pool == pool and len(messages) < _MOST_MESSAGES and message not in messages:
                messages.append(MessageId(message))
        return [
            EntityRelation(relation=relation, entity=EntityId(other), messages=tuple(sorted(messages)))
            for (relation, other), messages in list(found.items())[:MOST_RELATIONS]
        ]

    def move(self, entity: EntityId, to: EntityId) -> None:
        """Give the relations of one name to another."""
        self._transaction.execute("move_relations_of_subject", entity_id=entity, to_entity_id=to)
        self._transaction.execute("move_relations_of_object", entity_id=entity, to_entity_id=to)

    def give(self, entity: EntityId, to: EntityId, user: str | None) -> None:
        """Move the relations that one user's sessions state from one name to another."""
        self._transaction.execute("give_relations_of_subject", entity_id=entity, to_entity_id=to, user_id=user)
        self._transaction.execute("give_relations_of_object", entity_id=entity, to_entity_id=to, user_id=user)

    def forget_session(self, session: SessionId) -> None:
        self._transaction.execute("delete_session_relations", session_id=session)

    def forget_message(self, message: MessageId) -> None:
        """Delete what a message states. A relation that one extraction found in several messages goes whole."""
        self._transaction.execute("delete_relations_of_message", session_id=session_of(message), message_id=message)
