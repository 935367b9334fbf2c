"""Counts, locks and removes everything of one user, of one project, of the transaction's tenant, or of a certain age (MEM-18)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from cloister.domain.conversation import Session
from cloister.domain.erasure import MOST_NAMED, RemovedFile, TenantCounts
from cloister.domain.identifiers import (
    SEQUENCE_BITS,
    EntityId,
    KeyId,
    MemoryId,
    MessageId,
    ObservationId,
    PoolId,
    ProjectId,
    ReceiptId,
    SessionId,
)
from cloister.storage.interface import Row, Transaction, Value, integers
from cloister.storage.stores.messages import span
from cloister.storage.stores.sessions import LockedSession, session_of_row


class UserErasureStore:
    """All rows of one user of the tenant, in all projects and in the shared pool."""

    def __init__(self, transaction: Transaction, user: str) -> None:
        _refuse_narrow(transaction)
        self._transaction = transaction
        self._user = user

    def lock_sessions(self) -> list[SessionId]:
        """Lock all sessions of the user against other writers, in id order to avoid deadlock."""
        return [
            SessionId(number) for number in _numbers(self._transaction.rows("lock_user_sessions", user_id=self._user))
        ]

    def sessions(self, ids: Sequence[SessionId]) -> list[Session]:
        """The sessions with these ids that are the user's."""
        rows = self._transaction.rows("sessions_by_id", session_ids=integers(ids), user_id=self._user)
        return [session_of_row(row) for row in rows]

    def entities(self) -> list[EntityId]:
        """The entities of the user's parts of projects, including those that other users' sessions mention."""
        return [EntityId(number) for number in _numbers(self._transaction.rows("entities_of_user", user_id=self._user))]

    def remove_entities(self, entities: Sequence[EntityId]) -> list[ProjectId]:
        """Delete locked entities with all their mentions; returns their projects."""
        ids = integers(entities)
        projects = _numbers(self._transaction.rows("projects_of_entities", entity_ids=ids))
        self._transaction.execute("delete_mentions_of", entity_ids=ids)
        self._transaction.execute("delete_entities", entity_ids=ids)
        return [ProjectId(number) for number in sorted(projects)]

    def lock_pools(self) -> list[PoolId]:
        """Lock the pools of the user's sessions, and the user's parts of projects and of the shared pool, in id order. No session
        can enter them until the transaction ends. Lock order: sessions before pools."""
        return [PoolId(number) for number in _numbers(self._transaction.rows("lock_user_pools", user_id=self._user))]

    def remove_pools(self, pools: Sequence[PoolId]) -> None:
        """Delete those of the locked pools that are the user's own and have no sessions."""
        self._transaction.execute("delete_empty_pools", pool_ids=integers(pools), user_id=self._user)

    def remove_keys(self) -> list[KeyId]:
        """Delete the API keys that are bound to the user, including revoked ones; returns their ids."""
        keys = [KeyId(number) for number in _numbers(self._transaction.rows("keys_of_user", user_id=self._user))]
        self._transaction.execute("delete_user_keys", user_id=self._user)
        return keys


class ProjectErasureStore:
    """What is stored in one project besides the contents of its sessions. The project has to be locked."""

    def __init__(self, transaction: Transaction, project: ProjectId) -> None:
        _refuse_narrow(transaction)
        self._transaction = transaction
        self._project = project

    def lock_pools(self) -> None:
        """Lock all pools of the project, in id order. Lock order: sessions before pools."""
        self._transaction.rows("lock_project_pools", project_id=self._project)

    def entities(self) -> list[EntityId]:
        """The entities of the project, including those that sessions in other projects mention."""
        rows = self._transaction.rows("entity_ids_of_project", project_id=self._project)
        return [EntityId(number) for number in _numbers(rows)]

    def remove_entities(self, entities: Sequence[EntityId]) -> None:
        """Delete locked entities with all their mentions."""
        ids = integers(entities)
        self._transaction.execute("delete_mentions_of", entity_ids=ids)
        self._transaction.execute("delete_entities", entity_ids=ids)

    def remove_files(self) -> tuple[list[RemovedFile], int]:
        """Delete the files that sessions left in the project; returns files and directories, and the number of files."""
        rows = self._transaction.rows("project_files", project_id=self._project)
        stored = cast(list[tuple[int, str, int, int]], rows)
        self._transaction.execute("delete_project_files", project_id=self._project)
        removed = [RemovedFile(SessionId(session), path, updated_at) for session, path, updated_at, _ in stored]
        return removed, sum(is_file for *_, is_file in stored)

    def remove_entries(self) -> tuple[list[str], int]:
        """Delete the entries; returns the first of them, each as its namespace and its key, and their number."""
        rows = self._transaction.rows("project_entries", project_id=self._project, limit=MOST_NAMED)
        named = [bytes(namespace).decode() + key for namespace, key in cast(list[tuple[bytes, str]], rows)]
        return named, self._transaction.execute("delete_project_entries", project_id=self._project)

    def remove_receipts(self) -> list[ReceiptId]:
        """Delete the receipts that belong to no session; returns their ids."""
        rows = self._transaction.rows("project_receipt_ids", project_id=self._project)
        self._transaction.execute("delete_project_receipts", project_id=self._project)
        return [ReceiptId(number) for number in _numbers(rows)]

    def remove(self, now: int) -> None:
        """Delete the pools that have no sessions and the texts of prompts, and mark the project as deleted, without its name and
        settings."""
        self._transaction.execute("delete_templates_of_project", project_id=self._project)
        self._transaction.execute("delete_project_pools", project_id=self._project)
        self._transaction.execute("blank_project", project_id=self._project, deleted_at=now)


class TenantErasureStore:
    """All rows of the transaction's tenant."""

    def __init__(self, transaction: Transaction) -> None:
        _refuse_narrow(transaction)
        self._transaction = transaction

    def counts(self) -> TenantCounts:
        numbers = cast(tuple[int, ...], self._transaction.rows("count_tenant")[0])
        projects, sessions, messages, memories, observations, entities, api_keys, entries, files = numbers
        return TenantCounts(
            projects=projects,
            sessions=sessions,
            messages=messages,
            episodes=cast(int, self._transaction.rows("count_tenant_episodes")[0][0]),
            memories=memories,
            observations=observations,
            entities=entities,
            api_keys=api_keys,
            entries=entries,
            files=files,
        )

    def lock_sessions(self) -> list[SessionId]:
        """Lock all sessions against other writers, in id order to avoid deadlock."""
        return [SessionId(number) for number in _numbers(self._transaction.rows("lock_sessions"))]

    def entities(self) -> list[EntityId]:
        return [EntityId(number) for number in _numbers(self._transaction.rows("tenant_entities"))]

    def remove_all(self, now: int) -> None:
        """Delete everything except messages, which are deleted before, session by session, and the queue of removals from an
        external index. The rows of sessions and of the tenant are blanked but keep their ids, which no API returns."""
        self._transaction.execute("erase_exclusions")
        self._transaction.execute("erase_mentions")
        self._transaction.execute("erase_entity_relations")
        self._transaction.execute("erase_entity_changes")
        self._transaction.execute("erase_entities")
        self._transaction.execute("erase_memory_sources")
        self._transaction.execute("erase_memory_revisions")
        self._transaction.execute("erase_replacements")
        self._transaction.execute("erase_memories")
        self._transaction.execute("erase_observations")
        self._transaction.execute("erase_session_pasts")
        self._transaction.execute("erase_idempotent_answers")
        self._transaction.execute("erase_items")
        self._transaction.execute("erase_responses")
        self._transaction.execute("erase_receipts")
        self._transaction.execute("erase_templates")
        self._transaction.execute("erase_files")
        self._transaction.execute("erase_entries")
        self._transaction.execute("erase_usage")
        self._transaction.execute("erase_sign_ins")
        self._transaction.execute("erase_api_keys")
        self._transaction.execute("blank_sessions")
        self._transaction.execute("erase_pools")
        self._transaction.execute("erase_projects")
        self._transaction.execute("erase_tenant", now=now)


@dataclass(frozen=True, kw_only=True, slots=True)
class OldCounts:
    """How much is too old, and in how many sessions there are such messages. `entities` are those that lose their last mention,
    `receipts` those of contexts and searches."""

    sessions: int
    messages: int
    memories: int
    observations: int
    files: int = 0
    entities: int = 0
    receipts: int = 0

    def __add__(self, other: "OldCounts") -> "OldCounts":
        return OldCounts(
            **{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionAge:
    """How old the messages of a session are. The age of those from the number `known_sequence` on is not stored yet, unless that is
    `next_sequence`. `has_old_contents`: a memory, a file or a receipt is too old."""

    id: SessionId
    name: str
    known_sequence: int
    next_sequence: int
    oldest_at: int | None
    has_old_contents: bool

    def has_older_than(self, before: int) -> bool:
        return self.has_old_contents or (self.oldest_at is not None and self.oldest_at < before)


class RetentionStore:
    """Reads and removes nothing outside the transaction's reach. `before` is the time before which something is too old."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def of_tenant(self) -> int | None:
        """The days that the tenant keeps; None if it keeps everything."""
        row = self._transaction.row("tenant_retention")
        return None if row is None else cast(int | None, row[0])

    def set_of_tenant(self, days: int | None) -> bool:
        """False if there is no such tenant."""
        return self._transaction.execute("set_tenant_retention", retention_days=days) > 0

    def of_projects(self) -> list[tuple[ProjectId, int | None]]:
        """The projects within reach, each with its own number of days."""
        rows = cast(list[tuple[int, int | None]], self._transaction.rows("project_retentions"))
        return [(ProjectId(project), days) for project, days in rows]

    def sessions(self, project: ProjectId | None, before: int, *, after: SessionId, limit: int) -> list[SessionAge]:
        """The sessions that may have something too old, in id order, with the age of messages that nobody has noted yet."""
        rows = self._transaction.rows("sessions_to_age", project_id=project, before=before, after=after, limit=limit)
        return [self._age(cast(tuple[Any, ...], row)) for row in rows]

    def note_ages(self, ages: Sequence[SessionAge]) -> None:
        """Note how old the messages of sessions are. Updates them in id order to avoid deadlock."""
        self._transaction.execute_each(
            "set_session_age",
            [
                {
                    "session_id": age.id,
                    "aged_sequence": age.next_sequence,
                    "known_sequence": age.known_sequence,
                    "oldest_at": age.oldest_at,
                }
                for age in sorted(ages, key=lambda age: age.id)
            ],
        )

    def messages(self, session: SessionId, before: int, limit: int) -> list[MessageId]:
        first, last = span(session)
        rows = self._transaction.rows("old_messages", first=first, last=last, before=before, limit=limit)
        return [MessageId(number) for number in _numbers(rows)]

    def memories(self, session: SessionId, before: int, limit: int) -> list[MemoryId]:
        rows = self._transaction.rows("old_memories", session_id=session, before=before, limit=limit)
        return [MemoryId(number) for number in _numbers(rows)]

    def note_oldest(self, locked: LockedSession) -> None:
        """Note the age of what is left of a locked session, after messages were removed."""
        session = locked.session.id
        self._transaction.execute("note_oldest", session_id=session, oldest_at=self._oldest(session, 0))

    def observations(self, session: SessionId, messages: Sequence[MessageId]) -> dict[ObservationId, str]:
        """The observations that cover any of these messages, with their contents. They summarise no other messages than those they
        cover, so that later ones can stay."""
        if not messages:
            return {}
        rows = self._transaction.rows(
            "observations_of_messages",
            session_id=session,
            first=min(messages),
            last=max(messages),
            message_ids=integers(messages),
        )
        return {ObservationId(number): content for number, content in cast(list[tuple[int, str]], rows)}

    def remove_observations(self, session: SessionId, observations: Collection[ObservationId]) -> int:
        if not observations:
            return 0
        ids = integers(sorted(observations))
        return self._transaction.execute("delete_observations", session_id=session, observation_ids=ids)

    def counts(self, project: ProjectId | None, before: int) -> OldCounts:
        """What is too old in a project, or in the shared pool, without the entities that go with it."""
        asked: dict[str, Value] = {"project_id": project, "before": before}
        ((sessions, messages),) = self._transaction.rows("count_old_messages", **asked)
        return OldCounts(
            sessions=cast(int, sessions),
            messages=cast(int, messages),
            memories=_only(self._transaction.rows("count_old_memories", **asked)),
            observations=_only(self._transaction.rows("count_old_observations", **asked)),
            files=_only(self._transaction.rows("count_old_files", **asked)),
            receipts=_only(self._transaction.rows("count_old_receipts", **asked)),
        )

    def entities(self, project: ProjectId | None, before: int | None, now: int) -> int:
        """How many entities within the transaction's reach go with messages that are too old: in one project, or in all and outside
        them, where `before` is that of the tenant, if it has one, and stricter projects follow their own days."""
        return _only(self._transaction.rows("count_old_entities", project_id=project, before=before, now=now))

    def searches(self, project: ProjectId | None, before: int, limit: int) -> list[ReceiptId]:
        """The receipts of searches in a project, or outside all projects, that belong to no session and are too old."""
        rows = self._transaction.rows("old_search_receipts", project_id=project, before=before, limit=limit)
        return [ReceiptId(number) for number in _numbers(rows)]

    def remove_searches(self, receipts: Sequence[ReceiptId]) -> int:
        return self._transaction.execute("delete_search_receipts", receipt_ids=integers(receipts))

    def _oldest(self, session: SessionId, sequence: int) -> int | None:
        """The time of the oldest message with this number or a higher one."""
        _, last = span(session)
        first = (session << SEQUENCE_BITS) + max(0, sequence - 1)
        row = self._transaction.row("oldest_message", first=first, last=last)
        return None if row is None else cast(int | None, row[0])

    def _age(self, columns: tuple[Any, ...]) -> SessionAge:
        session, name, aged, following, oldest, has_old_contents = columns
        if aged < following:
            times = (oldest, self._oldest(SessionId(session), aged))
            oldest = min((time for time in times if time is not None), default=None)
        return SessionAge(
            id=SessionId(session),
            name=name,
            known_sequence=aged,
            next_sequence=following,
            oldest_at=oldest,
            has_old_contents=bool(has_old_contents),
        )


def _refuse_narrow(transaction: Transaction) -> None:
    if not transaction.reach.is_whole_tenant:
        raise ValueError("what is erased lies outside the transaction's reach")


def _only(rows: Sequence[Row]) -> int:
    ((number,),) = rows
    return cast(int, number)


def _numbers(rows: Sequence[Row]) -> list[int]:
    return [cast(int, row[0]) for row in rows]
