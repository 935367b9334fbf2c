"""Plants what an audit looks for and no caller can store directly: a note, an entity, a response, and a receipt (PRF-3). No model
is asked for them, since it costs money and may make none."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cloister.domain.conversation import Message, Session
from cloister.domain.errors import Conflict
from cloister.domain.extraction import ExtractedEntity
from cloister.domain.identifiers import (
    EntityId,
    MessageId,
    ObservationId,
    ReceiptId,
    format_message_id,
    new_observation_id,
    new_receipt_id,
)
from cloister.domain.observation import Observation
from cloister.domain.prompts.prompt import placeholders
from cloister.domain.receipts.receipt import ReceiptItem, Sent, receipt_of_context
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.chat.responses import format_response_id
from cloister.services.lease import new_lease_number
from cloister.services.memories.claims import Claims
from cloister.services.memories.entities import Entities
from cloister.services.recall.build_context import ContextBuilder, ContextRequest
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.items import ResponseRow, ResponseStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.tenants import ProjectStore

_MORE_THAN_SAID = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedNotes:
    """What was derived from the messages of a session. There is no entity outside a project."""

    observation: ObservationId
    entity: EntityId | None


class AuditPlants:
    """Each call is one transaction, after those that read what it needs."""

    def __init__(
        self, database: Database, contexts: ContextBuilder, entities: Entities, claims: Claims, clock: Clock
    ) -> None:
        self._database = database
        self._contexts = contexts
        self._entities = entities
        self._claims = claims
        self._clock = clock

    def derive(self, reach: Reach, session: Session, said: Sequence[Message], marker: str) -> PlantedNotes:
        """Store what an extraction would: a note on these messages, and in a project an entity with the name `marker` that the
        first of them mentions. The messages count as extracted."""
        claim = self._claims.claim(reach, session.id)
        if claim is None:
            raise Conflict("A worker extracts a session of the audit: try again.")
        note = Observation(
            id=new_observation_id(),
            session=session.id,
            content=f"The audit noted the marker {marker}.",
            sources=(said[0].id,),
            said_at=said[0].created_at,
            created_at=self._clock(),
        )
        named = ExtractedEntity(name=marker, type="person", notes="", sources=(said[0].id,))

        def work(transaction: Transaction) -> EntityId | None:
            extraction = ExtractionStore(transaction)
            project = None if session.project is None else ProjectStore(transaction).lock_shared(session.project)
            extraction.lock(session.id, claim.number)
            ObservationStore(transaction).add(note, said[0].id, said[-1].id)
            checked = extraction.mark_checked(session.id, [message.id for message in said])
            if project is not None:
                self._entities.mention(transaction, project, session.user_id, session.id, [named])
            extraction.finish(
                session.id,
                claim.number,
                checked=checked,
                observed=said[-1].id,
                threshold=_MORE_THAN_SAID,
                now=self._clock(),
            )
            return next(iter(EntityStore(transaction).of_session(session.id)), None)

        return PlantedNotes(observation=note.id, entity=self._database.write(reach, work))

    def respond(self, reach: Reach, session: Session, question: Message, reply: Message) -> str:
        """Store a response whose output is a reply that exists; returns its id."""
        number = new_lease_number()
        body: dict[str, object] = {
            "echo": {"instructions": question.content},
            "created_at": self._clock() // 1_000_000,
            "model": "cloister audit",
            "status": "completed",
            "finish_reason": "stop",
            "usage": None,
            "output": [format_message_id(reply.id)],
            "messages": [question.id],
            "pool": session.pool,
        }
        row = ResponseRow(
            session=session.external_id,
            question=question.id,
            reply=reply.id,
            owns_messages=False,
            body=json.dumps(body),
        )
        self._database.write(reach, lambda transaction: ResponseStore(transaction).add(number, session.id, row))
        return format_response_id(number)

    def keep_receipt(
        self, reach: Reach, session: Session, question: str, asked: MessageId, others: Sequence[ReceiptItem]
    ) -> ReceiptId:
        """Store the receipt of a reply to the message `asked` of a session, which was given a context for `question`, and names
        `others` too, as if they had been in its pool then and had moved since."""
        request = ContextRequest(question=question, min_relevance=0)
        made = receipt_of_context(self._contexts.build(reach, session.external_id, request), now=self._clock())
        sent = Sent(prompt="default", template=None, placeholders=placeholders(None), parts=())
        receipt, id = replace(made, kind="reply", items=(*made.items, *others), sent=sent), new_receipt_id()
        self._database.write(
            reach,
            lambda transaction: ReceiptStore(transaction).add(id, receipt, session=session.id, question=asked),
        )
        return id
