"""Note what a transaction is about to remove, for the answer and for the checks after it (PRF-4). Call it before the removal."""

from collections.abc import Sequence
from typing import NamedTuple

from cloister.domain.conversation import Session
from cloister.domain.erasure import MOST_TEXTS, EmptiedSession, Removal, RemovedFile, RemovedText
from cloister.domain.identifiers import (
    EntityId,
    MemoryId,
    MessageId,
    ObservationId,
    ReceiptId,
    format_entity_id,
    format_episode_id,
    format_memory_id,
    format_message_id,
    format_observation_id,
    format_receipt_id,
)
from cloister.domain.prompts.recalled_text import own_words
from cloister.services.conversations.item_format import decoded, format_item_id, item_type
from cloister.storage.interface import Transaction
from cloister.storage.stores.certificates.removals import ItemRow, RemovalStore
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.files.trees import remove_old_files
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.receipts.templates import TemplateStore
from cloister.storage.stores.tenants import ProjectStore

_LONGEST_TEXT = 400


class NotedEntities:
    """The entities that may lose their last mention: those of them that the caller may see are named if they go."""

    def __init__(self, transaction: Transaction, entities: Sequence[EntityId]) -> None:
        self._visible = set(RemovalStore(transaction).visible(entities))

    def gone(self, removal: Removal, entities: Sequence[EntityId]) -> None:
        removal.entities.extend(entities)
        removal.name("entities", [format_entity_id(entity) for entity in entities if entity in self._visible])


def note_session(transaction: Transaction, session: Session, removal: Removal, *, is_deleted: bool) -> NotedEntities:
    """Note the contents of a session, and with `is_deleted` the session."""
    rows = RemovalStore(transaction)
    if is_deleted:
        removal.name("sessions", [session.external_id])
    messages, last = rows.messages(session.id), rows.last_message(session.id)
    removal.name("messages", [format_message_id(message) for message, _ in messages], session.message_count)
    episodes = list(dict.fromkeys(opening for _, opening in messages))
    count = MessageStore(transaction).count_episodes(session.id) if len(messages) < session.message_count else None
    removal.name("episodes", list(map(format_episode_id, episodes)), count)
    note_memories(removal, MemoryStore(transaction).ids(session.id))
    note_observations(removal, rows.observations(session.id))
    _note_items(session, removal, rows.items(session.id), rows.responses(session.id))
    note_receipts(removal, rows.receipts(session.id))
    removal.templates.extend(TemplateStore(transaction).of_session(session.id))
    files = rows.files(session)
    removal.name("files", [f"/memories/{file.path}" for file in files if file.pool == session.pool])
    removal.sessions.append(
        EmptiedSession(
            id=session.id,
            last_message=last,
            is_deleted=is_deleted,
            files=frozenset((file.path, file.updated_at) for file in files),
        )
    )
    note_text(transaction, session, removal, rows.sample(session.id))
    return NotedEntities(transaction, EntityStore(transaction).of_session(session.id))


def note_memories(removal: Removal, memories: Sequence[MemoryId]) -> None:
    removal.memories.extend(memories)
    removal.name("memories", list(map(format_memory_id, sorted(memories))))


def note_observations(removal: Removal, observations: Sequence[ObservationId]) -> None:
    removal.observations.extend(observations)
    removal.name("observations", list(map(format_observation_id, observations)))


def note_receipts(removal: Removal, receipts: Sequence[ReceiptId]) -> None:
    removal.receipts.extend(receipts)
    removal.name("receipts", list(map(format_receipt_id, receipts)))


def note_messages(
    transaction: Transaction, session: Session, messages: Sequence[MessageId], removal: Removal
) -> NotedEntities:
    """Note messages with the memories, items, responses and receipts that are removed with them. The caller notes observations."""
    rows = RemovalStore(transaction)
    removal.messages.extend(messages)
    removal.name("messages", list(map(format_message_id, messages)))
    memories = MemoryStore(transaction)
    note_memories(removal, sorted({memory for message in messages for memory in memories.derived_from(message)}))
    _note_items(session, removal, rows.items_of(session.id, messages), rows.responses_of(session.id, messages))
    note_receipts(removal, rows.receipts_of(session.id, messages))
    removal.templates.extend(TemplateStore(transaction).of_messages(session.id, messages))
    said = next(iter(MessageStore(transaction).contents(session.id, messages[-1])), None)
    note_text(transaction, session, removal, said)
    entities = EntityStore(transaction)
    mentioned = sorted({entity for message in messages for entity in entities.of_message(message)})
    return NotedEntities(transaction, mentioned)


class RemovedOldRows(NamedTuple):
    files: int
    receipts: int


def remove_old_rows(transaction: Transaction, session: Session, before: int, removal: Removal) -> RemovedOldRows:
    """Remove and note the files that were not changed since a time, and the receipts of contexts and searches from before it;
    returns how many. Files of another pool, from before the session moved, go too, and are not named."""
    rows = RemovalStore(transaction)
    note_receipts(removal, rows.old_receipts(session.id, before))
    receipts = ReceiptStore(transaction).remove_old(session.id, before)
    stored = rows.files(session)
    removed = remove_old_files(transaction, session.id, before)
    if removed:
        gone = sorted({*stored} - {*rows.files(session)})
        removal.files.extend(RemovedFile(session.id, file.path, file.updated_at) for file in gone)
        removal.name("files", [f"/memories/{file.path}" for file in gone if file.pool == session.pool])
    return RemovedOldRows(files=removed, receipts=receipts)


def _note_items(session: Session, removal: Removal, items: Sequence[ItemRow], responses: Sequence[int]) -> None:
    """Items and files of another pool, from before the session moved, go too, and are not named: nobody sees them here."""
    removal.items.extend(item.id for item in items)
    shown = [item for item in items if item.pool == session.pool]
    removal.name("items", [format_item_id(item_type(decoded(item.item)), item.id) for item in shown])
    removal.responses.extend(responses)
    removal.name("responses", [f"resp_{response:016x}" for response in responses])


def note_text(transaction: Transaction, session: Session, removal: Removal, said: str | None) -> None:
    """Note words that a search must no longer find under the removed ids."""
    text = own_words(said or "").strip()[:_LONGEST_TEXT].strip()
    if not text or len(removal.texts) >= MOST_TEXTS:
        return
    project = None if session.project is None else ProjectStore(transaction).find(session.project)
    if session.project is not None and project is None:
        return
    scope = session.scope(None if project is None else project.member_visibility)
    removal.texts.append(RemovedText(text=text, scope=scope))
