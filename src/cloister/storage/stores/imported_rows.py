"""Adds the records of an archive to the tenant's rows. What is there already stays as it is.

An id of the archive is kept where it is free. Ids are unique in the whole database, and one may be taken by another tenant:
then another is computed from it, the same at every repetition, and nothing says so.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from cloister.domain.archive.records import ObservationRecord, SessionRecord
from cloister.domain.conversation import Message
from cloister.domain.identifiers import SEQUENCE_BITS, MemoryId, MessageId, PoolId, ProjectId, SessionId
from cloister.domain.memory import Memory
from cloister.domain.text import checked_metadata
from cloister.storage.interface import Transaction, integers
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed, columns_of, span
from cloister.storage.stores.usage import UsageStore

_ATTEMPTS = 8
_NUMBER_BITS = 42
_BITS = 63


class ImportedRows:
    """The tenant's rows, as an import adds to them. Sessions have to be locked, or added by the same transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._usage = UsageStore(transaction)

    def restore_project(self, project: ProjectId) -> bool:
        """Undo the deletion of a project of the tenant; false if no such project was deleted."""
        return self._transaction.execute("restore_project", project_id=project) > 0

    def remove_unused_default_project(self, name: str) -> None:
        """Remove the project of this name that a new tenant begins with, if it is its only one and nothing was ever in it."""
        self._transaction.execute("delete_unused_default_project", name=name)

    def session_numbers(self, number: SessionId) -> list[SessionId]:
        """The numbers under which a session of an archive may be stored, the first that is free first."""
        return [SessionId(each) for each in self._numbers("session", number, _NUMBER_BITS)]

    def add_session(self, record: SessionRecord, number: SessionId, pool: PoolId, version: int) -> bool:
        """Add a session under this number; false if the number or its external id is taken."""
        first, last = span(number)
        observed = record.observed_message_id
        values: dict[str, Any] = {
            "session_id": number,
            "external_id": record.external_id,
            "project_id": record.project_id,
            "pool_id": pool,
            "user_id": record.user_id,
            "title": record.title,
            "tags": json.dumps(record.tags),
            "metadata": checked_metadata(record.metadata),
            "next_sequence": record.next_sequence,
            "episode_id": None if record.episode_id is None else first + (record.episode_id & (last - first)),
            "observed_message_id": 0 if observed is None else first + (observed & (last - first)),
            "version": version,
            "created_at": record.created_at,
            "updated_at": record.updated_at,
        }
        if (
            self._transaction.row("restore_session", **values) is None
            and self._transaction.row("import_session", **values) is None
        ):
            return False
        self._usage.add_session(number)
        return True

    def missing_messages(self, session: SessionId, messages: Sequence[MessageId]) -> set[MessageId]:
        rows = self._transaction.rows("present_messages", session_id=session, message_ids=integers(messages))
        return {*messages} - {MessageId(cast(int, row[0])) for row in rows}

    def add_messages(self, session: SessionId, messages: Sequence[tuple[Message, Indexed]]) -> None:
        """Add messages that are missing, and count them for the quota."""
        self._transaction.execute_each(
            "import_message",
            [
                {**columns_of(message, indexed), "is_memory_checked": int(message.is_memory_checked)}
                for message, indexed in messages
            ],
        )
        self._usage.add_messages([(session, len(messages))])

    def note_messages(
        self, session: SessionId, record: SessionRecord, *, added: int, unchecked: int, version: int
    ) -> int:
        """Write the counts of a session to which messages were added; returns how many of its messages are not checked."""
        first, last = span(session)
        row = self._transaction.row(
            "note_import",
            session_id=session,
            added=added,
            unchecked=unchecked,
            version=version,
            episode_id=None if record.episode_id is None else first + (record.episode_id & (last - first)),
            next_sequence=record.next_sequence,
            updated_at=record.updated_at,
        )
        return 0 if row is None else cast(int, row[0])

    def forget_vectors(self, session: SessionId) -> None:
        """Have a session embedded again by the additional embedder, after messages were added before its last one."""
        first, last = span(session)
        self._transaction.execute("delete_vectors", after=first, last=last, model_id=0)

    def add_memory(self, memory: Memory, digest: bytes, indexed: Indexed) -> tuple[MemoryId, bool]:
        """Add a memory, under its id or one computed from it. Returns the id under which it is stored, and whether it is new."""
        memories = MemoryStore(self._transaction)
        for number in self._numbers("memory", memory.id, _NUMBER_BITS, form=_derived_form):
            row = self._transaction.row("session_of_memory", memory_id=number)
            if row is not None and row[0] == memory.session:
                return MemoryId(number), False
            if row is None and memories.add(replace(memory, id=MemoryId(number)), digest, indexed):
                return MemoryId(number), True
            same = self._transaction.row("memory_of_digest", session_id=memory.session, digest=digest)
            if same is not None:
                return MemoryId(cast(int, same[0])), False
        raise RuntimeError("no id is free for a memory")

    def add_observation(self, session: SessionId, record: ObservationRecord) -> bool:
        """Add an observation, under its id or one computed from it; false if it is there already."""
        for number in self._numbers("observation", record.id, _BITS):
            row = self._transaction.row("session_of_observation", observation_id=number)
            if row is not None and row[0] == session:
                return False
            values: Mapping[str, Any] = {
                "observation_id": number,
                "session_id": session,
                "first_message_id": record.first_message_id,
                "last_message_id": record.last_message_id,
                "created_at": record.created_at,
                "said_at": record.said_at,
                "sources": json.dumps(record.source_message_ids),
                "content": record.content,
            }
            if row is None and self._transaction.row("import_observation", **values) is not None:
                return True
        raise RuntimeError("no id is free for an observation")

    def entity_ids(self, entity: int) -> Iterator[int]:
        """The ids under which an entity of an archive may be stored, the first that is free first."""
        return self._numbers("entity", entity, _NUMBER_BITS, form=_derived_form)

    def messages_to_mention(self, messages: Sequence[MessageId]) -> dict[MessageId, SessionId]:
        """Those of these messages that exist within the caller's reach, with their sessions."""
        rows = self._transaction.rows("messages_to_mention", message_ids=integers(messages))
        return {MessageId(message): SessionId(session) for message, session in cast(list[tuple[int, int]], rows)}

    def mentioned(self, entity: int, messages: Sequence[MessageId]) -> set[MessageId]:
        """Those of these messages that are known to mention the entity."""
        rows = self._transaction.rows("mentions_of_entity", entity_id=entity, message_ids=integers(messages))
        return {MessageId(cast(int, row[0])) for row in rows}

    def _numbers(self, kind: str, given: int, bits: int, form: Callable[[int], int] = int) -> Iterator[int]:
        yield given
        for attempt in range(1, _ATTEMPTS):
            text = f"{self._transaction.reach.tenant}:{kind}:{given}:{attempt}"
            drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % ((1 << bits) - 1) + 1
            yield form(drawn)


def _derived_form(number: int) -> int:
    """The form that ids of memories and entities have, see `new_memory_id`."""
    return number << SEQUENCE_BITS | 1
