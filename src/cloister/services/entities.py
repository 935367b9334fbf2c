"""Entities of a project: what an exchange mentions, what is merged over mentions, and the one explicit way to another project."""

from collections.abc import Sequence

from cloister.domain.entity import Entity, same_name
from cloister.domain.extraction import ExtractedEntity
from cloister.domain.identifiers import EntityId, ProjectId, SessionId, new_entity_id
from cloister.domain.memory import normalised
from cloister.domain.moments import Clock
from cloister.domain.scope import Reach
from cloister.services.indexing import Indexer
from cloister.storage.entities import Entities
from cloister.storage.interface import Database, Transaction
from cloister.storage.messages import Indexed
from cloister.storage.organisation import Projects

_LONGEST_NAME = 120
_LONGEST_NOTES = 400


class EntityKeeper:
    """Only `retag` ever changes an entity's project (ISO-6)."""

    def __init__(self, database: Database, indexer: Indexer, clock: Clock) -> None:
        self._database = database
        self._indexer = indexer
        self._clock = clock

    def mention(
        self, transaction: Transaction, project: ProjectId, session: SessionId, found: Sequence[ExtractedEntity]
    ) -> None:
        """What one session says of things, in the project it had then (ISO-9)."""
        entities = Entities(transaction)
        now = self._clock()
        for extracted in found:
            name, notes = normalised(extracted.name)[:_LONGEST_NAME], normalised(extracted.notes)[:_LONGEST_NOTES]
            if not name or not extracted.sources:
                continue
            digest = same_name(name)
            known = entities.find(project, digest)
            if known is None:
                entity = Entity(
                    id=new_entity_id(), project=project, name=name, type=extracted.type, notes=notes, created_at=now
                )
                if not entities.add(entity, digest, self._indexed(entity)):
                    known = entities.find(project, digest)
                known = known or entity
            entities.mention(known.id, session, extracted.sources, notes, now)
            self.index_again(transaction, known.id)
        if found:
            entities.note_change(project)

    def index_again(self, transaction: Transaction, entity: EntityId) -> None:
        """Its notes changed; what is found by them changes with them."""
        entities = Entities(transaction)
        entities.set_index(entity, self._indexed(entities.get(entity)))

    def page(
        self, reach: Reach, project: ProjectId, *, limit: int, after: tuple[int, int] | None = None
    ) -> list[Entity]:
        with self._database.read(reach) as transaction:
            Projects(transaction).get(project)
            entities = Entities(transaction)
            return (
                entities.page(project, limit=limit)
                if after is None
                else entities.page(project, limit=limit, after=after)
            )

    def retag(self, reach: Reach, entity: EntityId, project: ProjectId) -> Entity:
        """Explicitly into another project of the tenant."""

        def work(transaction: Transaction) -> Entity:
            entities = Entities(transaction)
            held = entities.get(entity)
            Projects(transaction).hold(project)
            there = entities.retag(held, project, same_name(held.name))
            self.index_again(transaction, there)
            return entities.get(there)

        return self._database.write(reach, work)

    def _indexed(self, entity: Entity) -> Indexed:
        now = self._clock()
        return self._indexer.prepare([(f"{entity.name}: {entity.notes}", None, now)], now)[0]
