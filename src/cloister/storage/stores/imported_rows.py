"""Adds the records of an archive to the tenant's rows. What is there already stays as it is.

An id of the archive is kept where it is free. Ids are unique in the whole database, and one may be taken by another tenant:
then another is computed from it, the same at every repetition, and nothing says so.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

from cloister.domain.archive.ids import memory_ids, other_ids
from cloister.domain.archive.matching import StoredWords, words_digest
from cloister.domain.archive.records import ObservationRecord, RevisionRecord, SessionRecord
from cloister.domain.conversation import Message
from cloister.domain.identifiers import EntityId, MemoryId, MessageId, PoolId, ProjectId, SessionId
from cloister.domain.memory import Memory
from cloister.domain.text import checked_metadata
from cloister.domain.truth.revision import MemoryState
from cloister.storage.interface import Transaction, integers
from cloister.storage.stores.items import ItemRow, ResponseRow
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed, columns_of, span
from cloister.storage.stores.usage import UsageStore


class ImportedRows:
    """The tenant's rows, as an import adds to them. Sessions have to be locked, or added by the same transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._tenant = transaction.reach.tenant
        self._usage = UsageStore(transaction)

    def restore_project(self, project: ProjectId) -> bool:
        """Undo the deletion of a project of the tenant; false if no such project was deleted."""
        return self._transaction.execute("restore_project", project_id=project) > 0

    def remove_unused_default_project(self, name: str) -> None:
        """Remove the project of this name that a new tenant begins with, if it is its only one and nothing was ever in it."""
        self._transaction.execute("delete_unused_default_project", name=name)

    def has_default_project(self) -> bool:
        return self._transaction.row("default_project") is not None

    def add_session(self, record: SessionRecord, number: SessionId, pool: PoolId, version: int) -> bool:
        """Add a session under this number; false if the number or its external id is taken."""
        first, last = span(number)
        observed, settled = record.observed_message_id, record.settled_message_id
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
            "settled_message_id": 0 if settled is None else first + (settled & (last - first)),
            "version": version,
            "created_at": record.created_at,
            "updated_at": record.updated_at,
            "pinned": int(record.pinned),
            "archived": int(record.archived),
            "system_prompt": record.system_prompt,
            "model": record.model,
        }
        if (
            self._transaction.row("restore_session", **values) is None
            and self._transaction.row("import_session", **values) is None
        ):
            return False
        self._usage.add_session(number)
        return True

    def imported_words(self, session: SessionId, name: str, after: int) -> StoredWords:
        """The imported messages of the session behind one; their ids in the source are the entry `name` of their metadata."""
        first, last = span(session)
        words = StoredWords(seen=max(first, after))
        for row in self._transaction.stream("messages_with_metadata", after=words.seen, last=last):
            message, metadata, role, content = cast(tuple[int, str, str, str], row)
            words.seen = max(words.seen, message)
            if isinstance(source := cast(dict[str, object], json.loads(metadata)).get(name), str):
                words.add(source, words_digest(role, content))
        return words

    def set_updated_at(self, session: SessionId, updated_at: int) -> None:
        """Set the time of a session's last activity to what it was in the source."""
        self._transaction.execute("set_updated_at", session_id=session, updated_at=updated_at)

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
            first=first,
            last=last,
            added=added,
            unchecked=unchecked,
            version=version,
            episode_id=None if record.episode_id is None else first + (record.episode_id & (last - first)),
            next_sequence=record.next_sequence,
            updated_at=record.updated_at,
        )
        return 0 if row is None else cast(int, row[0])

    def has_later_message(self, session: SessionId, message: MessageId) -> bool:
        """Whether the session has a message behind this one."""
        _, last = span(session)
        return self._transaction.row("later_message", message_id=message, last=last) is not None

    def forget_vectors(self, session: SessionId) -> None:
        """Have a session embedded again by the additional embedder, after messages were added before its last one."""
        first, last = span(session)
        self._transaction.execute("delete_vectors", after=first, last=last, model_id=0)

    def add_memory(self, memory: Memory, digest: bytes, indexed: Indexed) -> tuple[MemoryId, bool]:
        """Add a memory, under its id or one computed from it. Returns the id under which it is stored, and whether it is new."""
        memories = MemoryStore(self._transaction)
        for number in memory_ids(self._tenant, memory.id):
            row = self._transaction.row("session_of_memory", memory_id=number)
            if row is not None and row[0] == memory.session:
                return number, False
            if row is None and memories.add(replace(memory, id=number), digest, indexed):
                self._set_memory_state(number, memory)
                return number, True
            same = self._transaction.row("memory_of_digest", session_id=memory.session, digest=digest)
            if same is not None:
                return MemoryId(cast(int, same[0])), False
        raise RuntimeError("no id is free for a memory")

    def _set_memory_state(self, number: MemoryId, memory: Memory) -> None:
        """Write what people decided of a memory that was added."""
        if memory.pinned or memory.expires_at is not None or memory.retracted_at is not None:
            self._transaction.execute(
                "set_memory_state",
                memory_id=number,
                pinned=int(memory.pinned),
                expires_at=memory.expires_at,
                retracted_at=memory.retracted_at,
            )

    def add_revision(self, memory: MemoryId, record: RevisionRecord) -> bool:
        """Add a revision of a memory, under its id or one computed from it; false if it is there already."""
        for number in other_ids(self._tenant, "revision", record.id):
            row = self._transaction.row("memory_of_revision", revision_id=number)
            if row is not None and row[0] == memory:
                return False
            values: Mapping[str, Any] = {
                "revision_id": number,
                "memory_id": memory,
                "action": record.action,
                "changed_at": record.changed_at,
                "changed_by": record.changed_by,
                "undone_at": record.undone_at,
                "digest": record.digest,
                "before": MemoryState(**asdict(record.before)).as_json(),
            }
            if row is None and self._transaction.row("import_revision", **values) is not None:
                return True
        raise RuntimeError("no id is free for a revision")

    def add_replacement(self, older: MemoryId, newer: MemoryId) -> tuple[SessionId, SessionId] | None:
        """Note that a newer memory makes an older one of the same user untrue; returns the sessions of both. None if that is known
        already, or they are not both there."""
        row = self._transaction.row("sessions_of_two_memories", memory_id=older, other_id=newer)
        if row is None or older == newer:
            return None
        if not self._transaction.execute("import_replacement", older_id=older, newer_id=newer):
            return None
        return cast(tuple[SessionId, SessionId], row)

    def add_observation(self, session: SessionId, record: ObservationRecord) -> bool:
        """Add an observation, under its id or one computed from it; false if it is there already."""
        for number in other_ids(self._tenant, "observation", record.id):
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

    def add_items(self, session: SessionId, rows: Sequence[ItemRow]) -> None:
        """Add items of a session that are missing. What is at the same position, or has the same id, stays."""
        self._transaction.execute_each(
            "import_item",
            [
                {
                    "session_id": session,
                    "message_id": row.message,
                    "position": row.position,
                    "item_id": row.id,
                    "response_id": row.response,
                    "recalled_pool_id": row.pool,
                    "item": row.item,
                }
                for row in rows
            ],
        )

    def add_response(self, session: SessionId, response: int, row: ResponseRow) -> None:
        """Add a response of a session, if its id is free."""
        self._transaction.execute(
            "import_response",
            session_id=session,
            response_id=response,
            question_id=row.question,
            reply_id=row.reply,
            owns_messages=int(row.owns_messages),
            body=row.body,
        )

    def names_to_relate(self, names: Sequence[EntityId]) -> dict[EntityId, tuple[ProjectId, str | None]]:
        """Those of these names of entities that exist within the caller's reach, with the project and the user of their part."""
        rows = self._transaction.rows("names_to_relate", entity_ids=integers(names))
        return {
            EntityId(entity): (ProjectId(project), user)
            for entity, project, user in cast(list[tuple[int, int, str | None]], rows)
        }

    def has_relation(
        self, subject: EntityId, relation: str, other: EntityId, message: MessageId, created_at: int
    ) -> bool:
        row = self._transaction.row(
            "has_relation",
            subject_id=subject,
            object_id=other,
            relation=relation,
            message_id=message,
            created_at=created_at,
        )
        return row is not None

    def messages_to_mention(self, messages: Sequence[MessageId]) -> dict[MessageId, tuple[SessionId, str | None]]:
        """Those of these messages that exist within the caller's reach, with their sessions and the users of these."""
        rows = self._transaction.rows("messages_to_mention", message_ids=integers(messages))
        return {
            MessageId(message): (SessionId(session), user)
            for message, session, user in cast(list[tuple[int, int, str | None]], rows)
        }

    def mentioned(self, entity: int, messages: Sequence[MessageId]) -> set[MessageId]:
        """Those of these messages that are known to mention the entity."""
        rows = self._transaction.rows("mentions_of_entity", entity_id=entity, message_ids=integers(messages))
        return {MessageId(cast(int, row[0])) for row in rows}
