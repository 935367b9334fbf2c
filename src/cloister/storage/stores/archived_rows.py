"""What an archive contains, read as its records, in one snapshot."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, cast

from cloister.domain.archive.codecs import is_json
from cloister.domain.archive.records import (
    EntityRecord,
    ItemRecord,
    MemoryRecord,
    MentionRecord,
    MessageRecord,
    ObservationRecord,
    ProjectRecord,
    RelationRecord,
    ReplacementRecord,
    ResponseRecord,
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
from cloister.domain.sessions.request_echo import shown_body
from cloister.domain.truth.revision import state_from_json
from cloister.storage.interface import FIRST_PAGE, Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.entity_groups import name_of_row
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore, span

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
                pinned,
                archived,
                system_prompt,
                model,
                settled,
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
                pinned=bool(pinned),
                archived=bool(archived),
                system_prompt=system_prompt,
                model=model,
                settled_message_id=settled if settled & MAX_SEQUENCE else None,
            )
            yield ArchivedSession(record=record, pool=PoolId(pool), is_shared=user is not None and pool_user != user)

    def messages(self, session: ArchivedSession) -> Iterator[MessageRecord | ItemRecord]:
        """The messages of a session, each followed by its items. Those that are no messages may have recalled text in them: they
        are left out like quotations."""
        items = self._items(session)
        item = next(items, None)
        while item is not None and item.message_id is None:
            yield item
            item = next(items, None)
        for message in self._messages(session):
            yield message
            while item is not None and (item.message_id or 0) <= message.id:
                if item.message_id == message.id:
                    yield item
                item = next(items, None)

    def _items(self, session: ArchivedSession) -> Iterator[ItemRecord]:
        first, last = span(session.record.id)
        with_others = self._target.user is None or not session.is_shared
        for row in self._transaction.stream("archive_items", first=first, last=last, pool_id=session.pool):
            message, position, item, response, _, text = cast(tuple[Any, ...], row)
            if position and not with_others:
                continue
            stored = cast(dict[str, Any], json.loads(text)) if text else None
            lengths, own = None, stored
            if position == 0 and stored is not None:
                lengths, own = tuple(stored["lengths"]), stored["item"]
            yield ItemRecord(
                id=item,
                message_id=None if message == first else MessageId(message),
                position=position,
                response_id=response,
                lengths=lengths,
                item=own,
            )

    def responses(self, session: ArchivedSession) -> Iterator[ResponseRecord]:
        """The responses of a session. What one repeats of its request is left out like quotations; one whose request repeats what
        JSON cannot have is left out."""
        pool = None if self._target.user is not None and session.is_shared else session.pool
        for row in self._transaction.rows("archive_responses", session_id=session.record.id):
            response, question, reply, owns, text = cast(tuple[Any, ...], row)
            body = shown_body(json.loads(text), pool)
            messages = body.pop("messages", ())
            if not is_json(body):
                continue
            yield ResponseRecord(
                id=response,
                question_id=MessageId(question),
                reply_id=reply,
                owns_messages=bool(owns),
                message_ids=tuple(map(MessageId, messages)),
                body=body,
            )

    def _messages(self, session: ArchivedSession) -> Iterator[MessageRecord]:
        """The messages as their session shows them: a quotation of a pool that the session has left is not shown anywhere, and is
        left out. In the archive of a user, quotations of a pool with several users are left out too: they may be others' words."""
        without_quotations = self._target.user is not None and session.is_shared
        store, after = MessageStore(self._transaction), None
        while page := store.page(session.record.id, session.pool, limit=_PAGE, after=after, all_branches=True):
            parents = BranchStore(self._transaction).parents(session.record.id, [message.id for message in page])
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
                    parent_id=parents.get(shown.id) or None,
                    is_current=shown.is_current,
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
        """The names of entities, those of one entity together. If the name with the entity's id is not in the archive, the first
        one that is has the entity's id there."""
        for row in self._transaction.stream("archive_entities", **self._filter):
            *columns, is_whole, first = cast(tuple[Any, ...], row)
            name = name_of_row((*columns, None))
            yield EntityRecord(
                id=name.id,
                project_id=name.project,
                user_id=name.user,
                name=name.name,
                type=name.type,
                created_at=name.created_at,
                part_of=None if first == name.id else EntityId(first),
                grouped_by_hand=name.grouped_by_hand and (first != name.id or name.part_of is None),
                name_by_hand=name.name_by_hand,
                corrected_name=name.corrected_name if is_whole else None,
                corrected_type=name.corrected_type if is_whole else None,
                corrected_notes=name.corrected_notes if is_whole else None,
                corrected_at=name.corrected_at if is_whole else None,
            )

    def relations(self) -> Iterator[RelationRecord]:
        for row in self._transaction.stream("archive_relations", **self._filter):
            subject, relation, other, message, created_at = cast(tuple[Any, ...], row)
            yield RelationRecord(
                subject_id=subject, relation=relation, object_id=other, message_id=message, created_at=created_at
            )

    def mentions(self, entity: EntityId) -> Iterator[MentionRecord]:
        for row in self._transaction.stream("archive_mentions", entity_id=entity, **self._filter):
            message, notes, created_at = cast(tuple[int, str, int], row)
            yield MentionRecord(message_id=MessageId(message), notes=notes, created_at=created_at)
