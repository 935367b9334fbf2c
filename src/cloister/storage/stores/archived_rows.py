"""What an archive contains, read as its records, in one snapshot."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, cast

from cloister.domain.archive.records import (
    EntityRecord,
    MemoryRecord,
    MentionRecord,
    MessageRecord,
    ObservationRecord,
    ProjectRecord,
    ReplacementRecord,
    RevisionRecord,
    SessionRecord,
    StateRecord,
)
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.identifiers import (
    MAX_SEQUENCE,
    EntityId,
    MemoryId,
    MessageId,
    ObservationId,
    PoolId,
    ProjectId,
    SessionId,
)
from cloister.domain.prompts.recalled_text import NO_POOL, shown_in
from cloister.domain.truth.revision import state_from_json
from cloister.storage.interface import FIRST_PAGE, Transaction
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore

_PAGE = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchivedSession:
    """A session of an archive, with its pool. `is_shared`: other users' sessions may be in the pool."""

    record: SessionRecord
    pool: PoolId
    is_shared: bool


class ArchivedRows:
    """The rows of one target, in the order of their ids, so that the same data gives the same archive."""

    def __init__(self, transaction: Transaction, target: ArchiveTarget) -> None:
        self._transaction = transaction
        self._target = target
        self._filter: dict[str, Any] = {"project_id": target.project, "user_id": target.user}

    def projects(self) -> list[ProjectRecord]:
        return [
            ProjectRecord(
                id=ProjectId(project),
                name=name,
                is_default=bool(is_default),
                member_visibility=visibility,
                settings={} if self._target.user is not None else json.loads(settings),
                created_at=created_at,
            )
            for project, _, name, is_default, visibility, settings, _, created_at in cast(
                list[tuple[Any, ...]], self._transaction.rows("archive_projects", **self._filter)
            )
        ]

    def sessions(self) -> Iterator[ArchivedSession]:
        for row in self._transaction.stream("archive_sessions", **self._filter):
            (
                number,
                external_id,
                project,
                user,
                title,
                tags,
                metadata,
                next_sequence,
                episode,
                observed,
                created_at,
                updated_at,
                pool,
                pool_user,
            ) = cast(tuple[Any, ...], row)
            record = SessionRecord(
                id=SessionId(number),
                external_id=external_id,
                project_id=project,
                user_id=user,
                title=title,
                tags=tuple(json.loads(tags)),
                metadata=json.loads(metadata),
                next_sequence=next_sequence,
                episode_id=episode,
                # Number 0 is before the first message: that one was observed, and deleted.
                observed_message_id=observed if observed & MAX_SEQUENCE else None,
                created_at=created_at,
                updated_at=updated_at,
            )
            yield ArchivedSession(record=record, pool=PoolId(pool), is_shared=user is not None and pool_user != user)

    def messages(self, session: ArchivedSession) -> Iterator[MessageRecord]:
        """The messages as their session shows them: a quotation of a pool that the session has left is not shown anywhere, and is
        left out. In the archive of a user, quotations of a pool with several users are left out too: they may be others' words."""
        without_quotations = self._target.user is not None and session.is_shared
        store, after = MessageStore(self._transaction), None
        while page := store.page(session.record.id, session.pool, limit=_PAGE, after=after):
            for message in page:
                shown = shown_in(message, NO_POOL) if without_quotations else message
                yield MessageRecord(
                    id=shown.id,
                    role=shown.role,
                    author=shown.author,
                    content=shown.content,
                    status=shown.status,
                    episode_id=shown.episode,
                    is_memory_checked=shown.is_memory_checked,
                    has_recalled_text=not without_quotations and message.recalled_pool == session.pool,
                    categories=shown.categories,
                    metadata=shown.metadata,
                    created_at=shown.created_at,
                )
            after = page[-1].id

    def memories(self, session: SessionId) -> Iterator[MemoryRecord | RevisionRecord]:
        """The memories of a session, each followed by its revisions."""
        rows = self._transaction.rows("archive_memory_digests", session_id=session)
        digests = {
            memory: (bytes(digest), revisions) for memory, digest, revisions in cast(list[tuple[Any, ...]], rows)
        }
        store, after = MemoryStore(self._transaction), FIRST_PAGE
        while page := store.of_session(session, limit=_PAGE, now=0, after=after):
            for stored in page:
                memory = stored.memory
                digest, revisions = digests[memory.id]
                yield MemoryRecord(
                    id=memory.id,
                    content=memory.content,
                    importance=memory.importance,
                    source_message_ids=memory.sources,
                    source=memory.source,
                    subject=memory.subject,
                    categories=memory.categories,
                    metadata=memory.metadata,
                    pinned=memory.pinned,
                    digest=digest,
                    valid_from=memory.valid_from,
                    valid_until=memory.valid_until,
                    superseded_by=memory.superseded_by,
                    expires_at=memory.expires_at,
                    retracted_at=memory.retracted_at,
                    created_at=memory.created_at,
                )
                if revisions:
                    yield from self._revisions(memory.id)
            last = page[-1].memory
            after = (last.created_at, last.id)

    def _revisions(self, memory: MemoryId) -> Iterator[RevisionRecord]:
        for row in self._transaction.rows("archive_revisions", memory_id=memory):
            revision, action, changed_by, digest, before, changed_at, undone_at = cast(tuple[Any, ...], row)
            yield RevisionRecord(
                id=revision,
                action=action,
                changed_by=changed_by,
                digest=None if digest is None else bytes(digest),
                before=StateRecord(**asdict(state_from_json(before))),
                changed_at=changed_at,
                undone_at=undone_at,
            )

    def replacements(self) -> Iterator[ReplacementRecord]:
        for row in self._transaction.stream("archive_replacements", **self._filter):
            older, newer = cast(tuple[Any, ...], row)
            yield ReplacementRecord(older_id=older, newer_id=newer)

    def observations(self, session: SessionId) -> Iterator[ObservationRecord]:
        for row in self._transaction.rows("archive_observations", session_id=session):
            observation, content, sources, first, last, said_at, created_at = cast(tuple[Any, ...], row)
            yield ObservationRecord(
                id=ObservationId(observation),
                content=content,
                source_message_ids=tuple(map(MessageId, json.loads(sources))),
                first_message_id=MessageId(first),
                last_message_id=MessageId(last),
                said_at=said_at,
                created_at=created_at,
            )

    def entities(self) -> Iterator[EntityRecord]:
        for row in self._transaction.stream("archive_entities", **self._filter):
            entity, project, user, name, kind, created_at = cast(tuple[Any, ...], row)
            yield EntityRecord(
                id=EntityId(entity),
                project_id=ProjectId(project),
                user_id=user,
                name=name,
                type=kind,
                created_at=created_at,
            )

    def mentions(self, entity: EntityId) -> Iterator[MentionRecord]:
        for row in self._transaction.stream("archive_mentions", entity_id=entity, **self._filter):
            message, notes, created_at = cast(tuple[int, str, int], row)
            yield MentionRecord(message_id=MessageId(message), notes=notes, created_at=created_at)
