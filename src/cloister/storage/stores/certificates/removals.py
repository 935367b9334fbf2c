"""Reads what a removal is about to take away, in its own transaction, and later what of it is still there (PRF-4)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

from cloister.domain.conversation import Session
from cloister.domain.erasure import MOST_NAMED, EmptiedSession, Removal, RemovedFile
from cloister.domain.identifiers import (
    EntityId,
    KeyId,
    MemoryId,
    MessageId,
    ObservationId,
    PoolId,
    ProjectId,
    ReceiptId,
    SessionId,
    session_of,
)
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import span
from cloister.storage.stores.receipts.asked import receipts_in_words_of

T = TypeVar("T")
_CHUNK = 1_000
_SESSION_TABLES = ("sessions", "messages", "vectors", "memory sources", "mentions", "relations", "idempotent answers")
_ROW_TABLES = (
    *("memories", "memory revisions", "observations", "entities", "entities", "items", "responses", "receipts"),
    "prompts",
)
_MESSAGE_TABLES = (
    *("messages", "vectors", "memory sources", "mentions", "relations", "items", "responses", "receipts"),
    "idempotent answers",
)
_PROJECT_TABLES = ("entries", "sessions", "projects", "prompts")
_USER_TABLES = ("entries", "api keys", "receipts")
_TENANT_TABLES = (
    *("sessions", "projects", "pools", "memories", "memory revisions", "observations", "entities", "mentions"),
    *("relations", "items", "responses", "receipts", "prompts", "files", "entries", "idempotent answers", "api keys"),
)


class ItemRow(NamedTuple):
    """An item of a session that is not a message: `item` is its JSON text."""

    id: int
    pool: PoolId
    item: str


class FileRow(NamedTuple):
    """A file or directory of a session, in the pool it was stored in."""

    path: str
    pool: PoolId
    updated_at: int


class RemovalStore:
    """Reads rows of sessions that the caller found through `SessionStore`, or of ids that a removal returned."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def messages(self, session: SessionId) -> list[tuple[MessageId, MessageId]]:
        """The first messages of a session, each with the opening message of its episode: as many as are named."""
        first, last = span(session)
        rows = self._transaction.rows("session_message_ids", first=first, last=last, limit=MOST_NAMED)
        return cast(list[tuple[MessageId, MessageId]], rows)

    def last_message(self, session: SessionId) -> MessageId:
        """The highest id of a message of the session; below all of them if there is none."""
        first, last = span(session)
        row = self._transaction.row("last_message", first=first, last=last)
        return MessageId(first if row is None or row[0] is None else cast(int, row[0]))

    def sample(self, session: SessionId) -> str | None:
        """The content of one message of the session."""
        first, last = span(session)
        row = self._transaction.row("session_sample", first=first, last=last)
        return None if row is None else cast(str, row[0])

    def observations(self, session: SessionId) -> list[ObservationId]:
        return list(map(ObservationId, _numbers(self._transaction.rows("session_observation_ids", session_id=session))))

    def items(self, session: SessionId) -> list[ItemRow]:
        first, last = span(session)
        rows = self._transaction.rows("session_items", first=first, last=last)
        return [ItemRow(*cast(tuple[int, PoolId, str], row)) for row in rows]

    def items_of(self, session: SessionId, messages: Sequence[MessageId]) -> list[ItemRow]:
        """The items of a session that follow any of these messages."""
        rows = self._transaction.rows("items_of_messages", session_id=session, message_ids=integers(messages))
        return [ItemRow(*cast(tuple[int, PoolId, str], row)) for row in rows]

    def responses_of(self, session: SessionId, messages: Sequence[MessageId]) -> list[int]:
        """The responses of a session that any of these messages asked or is the output of."""
        rows = self._transaction.rows("responses_of_messages", session_id=session, message_ids=integers(messages))
        return _numbers(rows)

    def responses(self, session: SessionId) -> list[int]:
        return _numbers(self._transaction.rows("session_response_ids", session_id=session))

    def receipts(self, session: SessionId) -> list[ReceiptId]:
        """All receipts of a session."""
        return list(map(ReceiptId, _numbers(self._transaction.rows("session_receipt_ids", session_id=session))))

    def receipts_of(self, session: SessionId, messages: Sequence[MessageId]) -> list[ReceiptId]:
        """The receipts of a session that are about any of these messages, or asked in the same words."""
        rows = self._transaction.rows("message_receipt_ids", session_id=session, message_ids=integers(messages))
        same_words = receipts_in_words_of(self._transaction, session, messages)
        return sorted({*map(ReceiptId, _numbers(rows)), *same_words})

    def old_receipts(self, session: SessionId, before: int) -> list[ReceiptId]:
        """The receipts of contexts and searches of a session from before this time."""
        rows = self._transaction.rows("old_receipt_ids", session_id=session, before=before)
        return list(map(ReceiptId, _numbers(rows)))

    def files(self, session: Session) -> list[FileRow]:
        rows = self._transaction.rows("session_files", session_id=session.id)
        return [FileRow(*cast(tuple[str, PoolId, int], row)) for row in rows]

    def visible(self, entities: Sequence[EntityId]) -> list[EntityId]:
        """Those of these entities that the transaction's reach covers."""
        found: list[EntityId] = []
        for ids in _chunks(entities):
            rows = self._transaction.rows("visible_entities", entity_ids=integers(ids))
            found.extend(map(EntityId, _numbers(rows)))
        return found

    def remaining(self, removal: Removal) -> Mapping[str, int]:
        """How many rows are still there of what was removed, by table; only tables that were looked at are in the answer."""
        found: dict[str, int] = {}
        if removal.is_tenant:
            _add(found, _TENANT_TABLES, self._transaction.row("remaining_of_tenant"))
        for session in removal.sessions:
            self._add_session(found, session)
        self._add_rows(found, removal)
        for ids in _chunks(removal.messages):
            sessions = integers(sorted({session_of(message) for message in ids}))
            row = self._transaction.row("remaining_messages", message_ids=integers(ids), session_ids=sessions)
            _add(found, _MESSAGE_TABLES, row)
        for project in removal.projects:
            _add(found, _PROJECT_TABLES, self._transaction.row("remaining_of_project", project_id=project))
        if removal.user is not None:
            _add(found, _USER_TABLES, self._transaction.row("remaining_of_user", user_id=removal.user))
        self._add_files(found, removal.files)
        return found

    def _add_files(self, found: dict[str, int], files: Sequence[RemovedFile]) -> None:
        for session in sorted({file.session for file in files}):
            rows = self._transaction.rows("session_files", session_id=session)
            stored = {RemovedFile(session, cast(str, path), cast(int, changed)) for path, _, changed in rows}
            _add(found, ("files",), (len(stored.intersection(files)),))

    def _add_session(self, found: dict[str, int], session: EmptiedSession) -> None:
        first, _ = span(session.id)
        row = self._transaction.row(
            "remaining_of_session",
            session_id=session.id,
            first=first,
            last=session.last_message,
            is_deleted=int(session.is_deleted),
        )
        tables, numbers = (_SESSION_TABLES, row) if session.is_deleted else (_SESSION_TABLES[1:], (row or ())[1:])
        _add(found, tables, numbers)
        rows = self._transaction.rows("session_files", session_id=session.id)
        stored = {(cast(str, path), cast(int, updated_at)) for path, _, updated_at in rows}
        _add(found, ("files",), (len(stored if session.is_deleted else stored & session.files),))

    def _add_rows(self, found: dict[str, int], removal: Removal) -> None:
        lists: tuple[Sequence[int], ...] = (
            removal.memories,
            removal.observations,
            removal.entities,
            removal.hidden_entities,
            removal.items,
            removal.responses,
            removal.receipts,
            removal.templates,
        )
        for begin in range(0, max(1, *map(len, lists)), _CHUNK):
            memories, observations, entities, hidden, items, responses, receipts, templates = (
                integers(ids[begin : begin + _CHUNK]) for ids in lists
            )
            row = self._transaction.row(
                "remaining_rows",
                memory_ids=memories,
                observation_ids=observations,
                entity_ids=entities,
                hidden_ids=hidden,
                item_ids=items,
                response_ids=responses,
                receipt_ids=receipts,
                template_ids=templates,
            )
            _add(found, _ROW_TABLES, row)


class TenantRemovalStore:
    """Rows of the transaction's tenant, or of one user of it: at most as many as are named."""

    def __init__(self, transaction: Transaction) -> None:
        if not transaction.reach.is_whole_tenant:
            raise ValueError("what is erased lies outside the transaction's reach")
        self._transaction = transaction

    def entries(self, user: str) -> list[str]:
        """The first entries of a user, each as its namespace and its key."""
        rows = self._transaction.rows("user_entries", user_id=user, limit=MOST_NAMED)
        return _addresses(rows)

    def receipts(self, user: str) -> list[ReceiptId]:
        """The receipts of a user that belong to no session."""
        return list(map(ReceiptId, _numbers(self._transaction.rows("user_receipt_ids", user_id=user))))

    def projects(self) -> list[ProjectId]:
        """The first projects of the tenant."""
        return list(map(ProjectId, _numbers(self._transaction.rows("tenant_project_ids", limit=MOST_NAMED))))

    def keys(self) -> list[KeyId]:
        """The first keys of the tenant."""
        return list(map(KeyId, _numbers(self._transaction.rows("tenant_key_ids", limit=MOST_NAMED))))

    def memories(self) -> list[MemoryId]:
        """The first memories of the tenant."""
        return list(map(MemoryId, _numbers(self._transaction.rows("tenant_memory_ids", limit=MOST_NAMED))))

    def observations(self) -> list[ObservationId]:
        """The first observations of the tenant."""
        rows = self._transaction.rows("tenant_observation_ids", limit=MOST_NAMED)
        return list(map(ObservationId, _numbers(rows)))

    def all_receipts(self) -> tuple[list[ReceiptId], int]:
        """The first receipts of the tenant, and how many there are."""
        rows = self._transaction.rows("tenant_receipt_ids", limit=MOST_NAMED)
        ((count,),) = self._transaction.rows("count_receipts")
        return list(map(ReceiptId, _numbers(rows))), cast(int, count)


def _add(found: dict[str, int], tables: Sequence[str], row: Row | None) -> None:
    for table, number in zip(tables, row or (), strict=True):
        found[table] = found.get(table, 0) + cast(int, number)


def _addresses(rows: Sequence[Row]) -> list[str]:
    return [bytes(namespace).decode() + key for namespace, key in cast(list[tuple[bytes, str]], rows)]


def _chunks(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    for begin in range(0, len(ids), _CHUNK):
        yield ids[begin : begin + _CHUNK]


def _numbers(rows: Sequence[Row]) -> list[int]:
    return [cast(int, row[0]) for row in rows]
