"""One tenant, two projects, every public method of every store: what a key confined to the garden may not touch (ISO-4, ORG-4)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any

import pytest

from cloister.domain.archive.stored_records import EntryRecord
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.entity import same_name
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import EntityId, ProjectId, ReceiptId, SessionId
from cloister.domain.memory import same_as
from cloister.domain.scope import Reach
from cloister.storage.interface import Transaction
from cloister.storage.stores.archived_rows import ArchivedRows
from cloister.storage.stores.certificates.removals import RemovalStore
from cloister.storage.stores.changes import ChangeStore
from cloister.storage.stores.entities import EntityStore, StoredEntities
from cloister.storage.stores.entity_groups import EntityGroupStore
from cloister.storage.stores.entity_relations import RelationStore
from cloister.storage.stores.entries.archived_entries import ArchivedEntries
from cloister.storage.stores.erasure import OldCounts, RetentionStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.files.archived_files import ArchivedFiles
from cloister.storage.stores.filters import FilterStore
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.indexing.derived_index_rows import EntityIndexStore, MemoryIndexStore
from cloister.storage.stores.indexing.vectors import PoolVectors, VectorStore
from cloister.storage.stores.items import ResponseStore
from cloister.storage.stores.memories import MemoryStore, ProfileStore, StoredMemories
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import StoredPool
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.turns import TurnStore
from support.isolation.archive_cases import archived
from support.isolation.derived_index_cases import WAITING
from support.isolation.entry_cases import ENTRY_CASES, TENANT_ENTRY_CASES
from support.isolation.erasure_cases import ERASING_CASES
from support.isolation.file_cases import PROJECT_TREE_CASES
from support.isolation.filter_cases import ANYTHING
from support.isolation.listing_cases import EVER, activity, revisions, whole
from support.isolation.removal_cases import TENANT_REMOVAL_CASES
from support.isolation.session_cases import SESSION_CASES
from support.isolation.supersession_cases import facts
from support.isolation.text_row_cases import TEXT_ROW_CASES
from support.isolation.twin_tenants import (
    GARDEN,
    GENERATION,
    MODEL,
    MOMENT,
    SUBJECT,
    WORDS,
    Case,
    Home,
    Place,
    World,
    first_receipt,
    first_response,
    methods_of_stores,
    pools,
)


def listed_elsewhere(transaction: Transaction, home: Home, name: str) -> Any:
    """What a method of the store of listed memories answers for the cellar, where the caller may not go."""
    store, ids = whole(transaction, home), [place.memory for place in home.places]
    match name:
        case "page":
            return store.page(limit=9, now=MOMENT)
        case "timeline":
            return store.timeline(limit=9)
        case "memories":
            return store.memories(ids, MOMENT)
        case "changes":
            return store.changes(ids, revisions(transaction, home))
        case "first_states":
            return store.first_states(ids)
        case _:
            return store.replaced(ids)


CONFINED: dict[str, Case] = {
    "ArchivedRows.projects": Case(
        act=lambda t, h: [record.id for record in ArchivedRows(t, ArchiveTarget()).projects()], nothing=[GARDEN]
    ),
    "ArchivedRows.sessions": Case(
        act=lambda t, h: (
            [found.record.external_id for found in ArchivedRows(t, ArchiveTarget()).sessions()]
            == [place.name for place in h.places if place.project == GARDEN]
        ),
        nothing=True,
    ),
    "ArchivedRows.entities": Case(
        act=lambda t, h: [record.project_id for record in ArchivedRows(t, ArchiveTarget()).entities()],
        nothing=[GARDEN],
    ),
    "ArchivedRows.relations": Case(
        act=lambda t, h: (
            {record.subject_id for record in ArchivedRows(t, ArchiveTarget()).relations()} == {h.first.entity}
        ),
        nothing=True,
    ),
    "ImportedRows.names_to_relate": Case(
        act=lambda t, h: ImportedRows(t).names_to_relate([h.second.entity]), nothing={}
    ),
    "ArchivedRows.replacements": Case(
        act=lambda t, h: (
            [pair.older_id for pair in ArchivedRows(t, ArchiveTarget()).replacements()] == [h.first.memory]
        ),
        nothing=True,
    ),
    "ProjectStore.find": Case(act=lambda t, h: ProjectStore(t).find(h.cellar), nothing=None),
    "ProjectStore.default": Case(act=lambda t, h: ProjectStore(t).default(), nothing=GARDEN),
    "ProjectStore.get": Case(act=lambda t, h: ProjectStore(t).get(h.cellar), nothing=NotFound),
    "ProjectStore.lock_shared": Case(act=lambda t, h: ProjectStore(t).lock_shared(h.cellar), nothing=NotFound),
    "ProjectStore.page": Case(
        act=lambda t, h: [project.id for project in ProjectStore(t).page(limit=9)], nothing=[GARDEN]
    ),
    "ProjectStore.names": Case(act=lambda t, h: [project for project, _ in ProjectStore(t).names()], nothing=[GARDEN]),
    "SessionStore.find": Case(
        act=lambda t, h: [SessionStore(t).find(name) for name in ("second", "third")], nothing=[None] * 2
    ),
    "SessionStore.had_messages": Case(act=lambda t, h: SessionStore(t).had_messages("second"), nothing=False),
    "SessionStore.get": Case(act=lambda t, h: SessionStore(t).get("second"), nothing=NotFound),
    "SessionStore.lock": Case(act=lambda t, h: SessionStore(t).lock("third"), nothing=NotFound),
    "SessionStore.page": Case(
        act=lambda t, h: [
            session.external_id
            for project, any_project in ((None, True), (h.cellar, False), (None, False))
            for session in SessionStore(t).page(limit=9, project=project, any_project=any_project)
        ],
        nothing=["first"],
    ),
    "SessionStore.users": Case(
        act=lambda t, h: [user.user_id for user in SessionStore(t).users(h.cellar, limit=9)], nothing=[]
    ),
    "MemoryStore.change_times": Case(
        act=lambda t, h: MemoryStore(t).change_times([place.memory for place in h.places]).keys() <= {h.first.memory},
        nothing=True,
    ),
    "MessageStore.session_name": Case(
        act=lambda t, h: MessageStore(t).session_name(h.second.messages[0]), nothing=NotFound
    ),
    "PoolStore.rows": Case(act=lambda t, h: pools(t).rows(h.scope(h.second)), nothing=ValueError),
    "ChangeStore.versions": Case(act=lambda t, h: list(ChangeStore(t).versions()) == [h.first.pool], nothing=True),
    "ChangeStore.sessions": Case(
        act=lambda t, h: [ChangeStore(t).sessions(place.pool, since=-1, limit=9) for place in (h.second, h.places[2])],
        nothing=[[], []],
    ),
    "MemoryStore.get": Case(act=lambda t, h: MemoryStore(t).get(h.second.memory, MOMENT), nothing=NotFound),
    **{
        f"ListedMemoryStore.{name}": Case(
            act=lambda t, h, name=name: listed_elsewhere(t, h, name),
            nothing=[] if name in ("page", "timeline") else {},
        )
        for name in ("page", "timeline", "memories", "changes", "first_states", "replaced")
    },
    "ActivityStore.sessions": Case(act=lambda t, h: activity(t, h).sessions(since=0, limit=9), nothing=[]),
    "ActivityStore.messages": Case(act=lambda t, h: activity(t, h).messages([h.second.session], **EVER), nothing={}),
    "ActivityStore.memories": Case(act=lambda t, h: activity(t, h).memories([h.second.session], **EVER), nothing={}),
    "MemoryStore.of_user": Case(
        act=lambda t, h: [stored.session for stored in MemoryStore(t).of_user("ann", limit=9, now=MOMENT)],
        nothing=["first"],
    ),
    "ResponseStore.find": Case(act=lambda t, h: ResponseStore(t).find(first_response(h.second.session)), nothing=None),
    "RemovalStore.visible": Case(
        act=lambda t, h: RemovalStore(t).visible([h.first.entity, h.second.entity]) == [h.first.entity], nothing=True
    ),
    "ReceiptStore.find": Case(
        act=lambda t, h: (
            ReceiptStore(t).find(first_receipt(h.second.session), MOMENT)
            or ReceiptStore(t).find(ReceiptId(first_receipt(h.second.session) ^ 1), MOMENT)
        ),
        nothing=None,
    ),
    "ReceiptStore.messages_in_reach": Case(
        act=lambda t, h: ReceiptStore(t).messages_in_reach(h.second.messages), nothing={}
    ),
    "EntityStore.get": Case(act=lambda t, h: EntityStore(t).get(h.second.entity), nothing=NotFound),
    "EntityGroupStore.name": Case(act=lambda t, h: EntityGroupStore(t).name(h.second.entity), nothing=NotFound),
    "SessionStore.reached_memories": Case(act=lambda t, h: SessionStore(t).reached_memories(h.cellar), nothing=0),
    "ExtractionStore.claim": Case(
        act=lambda t, h: [
            ExtractionStore(t).claim(place.session, 1, now=MOMENT, until=MOMENT + 1)
            for place in (h.second, h.places[2])
        ],
        nothing=[False, False],
    ),
    "TurnStore.take": Case(
        act=lambda t, h: [
            TurnStore(t).take(place.session, 1, now=MOMENT, until=MOMENT + 1) for place in (h.second, h.places[2])
        ],
        nothing=[False, False],
    ),
    "TurnStore.process_of": Case(
        act=lambda t, h: [TurnStore(t).process_of(place.name) for place in (h.second, h.places[2])],
        nothing=[None, None],
    ),
    "RetentionStore.of_projects": Case(
        act=lambda t, h: [project for project, _ in RetentionStore(t).of_projects()], nothing=[GARDEN]
    ),
    "RetentionStore.sessions": Case(
        act=lambda t, h: [
            RetentionStore(t).sessions(project, MOMENT + 1, after=SessionId(0), limit=9) for project in (h.cellar, None)
        ],
        nothing=[[], []],
    ),
    "RetentionStore.searches": Case(
        act=lambda t, h: [RetentionStore(t).searches(project, MOMENT + 1, 9) for project in (h.cellar, None)],
        nothing=[[], []],
    ),
    "RetentionStore.counts": Case(
        act=lambda t, h: [RetentionStore(t).counts(project, MOMENT + 1) for project in (h.cellar, None)],
        nothing=[OldCounts(sessions=0, messages=0, memories=0, observations=0)] * 2,
    ),
    "RetentionStore.entities": Case(
        act=lambda t, h: [RetentionStore(t).entities(h.cellar, 1 << 60, MOMENT + 1)],
        nothing=[0],
    ),
    "ArchivedEntries.all": Case(
        act=lambda t, h: [
            entry.project_id
            for entry in ArchivedEntries(t, ArchiveTarget(), MOMENT).all()
            if isinstance(entry, EntryRecord)
        ],
        nothing=[GARDEN],
    ),
    "ArchivedFiles.of_session": Case(
        act=lambda t, h: list(
            ArchivedFiles(t, ArchiveTarget(), {GARDEN, h.cellar}).of_session(
                replace(archived(h), record=replace(archived(h).record, id=h.second.session))
            )
        ),
        nothing=[],
    ),
    # What erases a user or a tenant cannot even be made for a narrow reach.
    **{
        name: Case(act=case.act, nothing=ValueError)
        for name, case in (
            ERASING_CASES
            | ENTRY_CASES
            | TENANT_ENTRY_CASES
            | PROJECT_TREE_CASES
            | TENANT_REMOVAL_CASES
            | TEXT_ROW_CASES
        ).items()
    },
}
# A pool's rows are one pool's by construction; what is asked of them here is another pool's.
ONE_POOL: dict[str, Callable[[StoredPool, Home], Any]] = {
    "StoredPool.size": lambda rows, h: rows.size() == len(h.first.messages),
    "StoredPool.members": lambda rows, h: rows.members() == [h.first.session],
    "StoredPool.changes": lambda rows, h: [session for session, _ in rows.changes(-1)] == [h.first.session],
    "StoredPool.all_rows": lambda rows, h: [row[0] for row in rows.all_rows()] == h.first.messages,
    "StoredPool.session_rows": lambda rows, h: rows.session_rows(h.second.session, 0) == [],
    "StoredPool.all_rows_with_words": lambda rows, h: (
        [row[0] for row in rows.all_rows_with_words()] == h.first.messages
    ),
    "StoredPool.session_rows_with_words": lambda rows, h: rows.session_rows_with_words(h.second.session, 0) == [],
    "StoredPool.waiting": lambda rows, h: rows.waiting() == 0,
    "StoredPool.stale": lambda rows, h: rows.stale() == 0,
    "StoredPool.newest_stale": lambda rows, h: rows.newest_stale(100) == set(),
    "StoredPool.vectors": lambda rows, h: (
        list(rows.vectors([*h.first.messages, *h.second.messages])) == h.first.messages
    ),
    "StoredPool.messages": lambda rows, h: (
        list(rows.messages([*h.first.messages, *h.second.messages])) == h.first.messages
    ),
    "StoredPool.speakers": lambda rows, h: (
        rows.speakers([*h.first.messages, *h.second.messages]) == rows.speakers(h.first.messages)
    ),
    "StoredPool.recent": lambda rows, h: [found.message.id for found in rows.recent("user", 9)] == h.first.messages[:1],
}
# The same for what derives: of one pool the memories, of one project, or a user's part of it, the entities.
ONE_PLACE: dict[str, Callable[[Transaction, Home], Any]] = {
    "StoredMemories.all_rows": lambda t, h: [row[0] for row in garden_memories(t, h).all_rows()] == [h.first.memory],
    "StoredMemories.validity_rows": lambda t, h: (
        [row[0] for row in garden_memories(t, h).validity_rows()] == [h.first.memory]
    ),
    "SupersessionStore.all_facts": lambda t, h: [one.id for one in facts(t, h).all_facts()] == [h.first.memory],
    "SupersessionStore.about": lambda t, h: [one.id for one in facts(t, h).about(SUBJECT)] == [h.first.memory],
    "SupersessionStore.by_id": lambda t, h: (
        [one.id for one in facts(t, h).by_id([place.memory for place in h.places])] == [h.first.memory]
    ),
    "SupersessionStore.saying": lambda t, h: (
        [one.id for one in facts(t, h).saying(same_as(WORDS), 9)] == [h.first.memory]
    ),
    "SupersessionStore.withdrawn": lambda t, h: facts(t, h, "bob").withdrawn() == set(),
    "PoolVectors.members": lambda t, h: garden_vectors(t, h).members() == [h.first.session],
    "PoolVectors.rebuilt": lambda t, h: garden_vectors(t, h).rebuilt(-1) == [h.first.session],
    "PoolVectors.extended": lambda t, h: garden_vectors(t, h).extended(0) == [h.first.session],
    "PoolVectors.all_rows": lambda t, h: [row[0] for row in garden_vectors(t, h).all_rows()] == h.first.messages[:1],
    "PoolVectors.session_rows": lambda t, h: garden_vectors(t, h).session_rows(h.second.session, 0) == [],
    "FilterStore.pool_messages": lambda t, h: (
        FilterStore(t).pool_messages(h.first.pool, ANYTHING).ids.tolist() == h.first.messages
    ),
    "FilterStore.pool_memories": lambda t, h: FilterStore(t).pool_memories(h.first.pool, ANYTHING) == [h.first.memory],
    "FilterStore.project_entities": lambda t, h: (
        FilterStore(t).project_entities(GARDEN, None, ANYTHING) == [h.first.entity]
    ),
    "VectorStore.sessions_to_embed": lambda t, h: (
        [session for session, _ in VectorStore(t, MODEL).sessions_to_embed(h.first.pool, -1)] == [h.first.session]
    ),
    "StoredMemories.stale_words": lambda t, h: (
        [row[0] for row in StoredMemories(t, h.first.pool, GENERATION + 1).stale_words(9)] == [h.first.memory]
    ),
    "StoredMemories.stale": lambda t, h: StoredMemories(t, h.first.pool, GENERATION + 1).stale() == 1,
    "StoredEntities.waiting": lambda t, h: StoredEntities(t, GARDEN, None, GENERATION).waiting() == 0,
    "StoredEntities.stale": lambda t, h: (
        [StoredEntities(t, GARDEN, user, GENERATION + 1).stale() for user in (None, "ann")] == [1, 0]
    ),
    "StoredEntities.stale_entities": lambda t, h: (
        [
            [each.id for each in StoredEntities(t, GARDEN, user, GENERATION + 1).stale_entities(9)]
            for user in (None, "ann")
        ]
        == [[h.first.entity], []]
    ),
    "StoredMemories.page": lambda t, h: (
        [stored.memory.id for stored in garden_memories(t, h).page(now=MOMENT, limit=9)] == [h.first.memory]
    ),
    "StoredMemories.found": lambda t, h: (
        list(garden_memories(t, h).found([place.memory for place in h.places], MOMENT)) == [h.first.memory]
    ),
    "StoredEntities.all_rows": lambda t, h: (
        [
            [row[0] for row in StoredEntities(t, project, user, GENERATION).all_rows()]
            for project, user in (
                (GARDEN, None),
                (h.cellar, "ann"),
                (h.cellar, "bob"),
                (h.cellar, None),
                (GARDEN, "ann"),
            )
        ]
        == [[h.first.entity], [h.second.entity], [], [], []]
    ),
    "StoredEntities.size": lambda t, h: (
        [
            StoredEntities(t, project, user, GENERATION).size()
            for project, user in (
                (GARDEN, None),
                (h.cellar, "ann"),
                (h.cellar, "bob"),
                (h.cellar, None),
                (GARDEN, "ann"),
            )
        ]
        == [1, 1, 0, 0, 0]
    ),
    "MemoryIndexStore.waiting": lambda t, h: (
        [words.id for words in MemoryIndexStore(t, GENERATION).waiting(waiting_memory(t, h), limit=9)]
        == [h.first.memory]
    ),
    "MemoryIndexStore.words": lambda t, h: (
        [
            words.id
            for words in MemoryIndexStore(t, GENERATION).words(h.first.session, after=0, limit=9, all_generations=True)
        ]
        == [h.first.memory]
    ),
    "EntityIndexStore.waiting": lambda t, h: (
        [words.entity.id for words in EntityIndexStore(t, GENERATION).waiting(waiting_entity(t, h), limit=9)]
        == [h.first.entity]
    ),
    "EntityIndexStore.words": lambda t, h: (
        [
            words.entity.id
            for words in EntityIndexStore(t, GENERATION).words(GARDEN, after=0, limit=9, all_generations=True)
        ]
        == [h.first.entity]
    ),
    "StoredEntities.found": lambda t, h: (
        [
            list(StoredEntities(t, project, user, GENERATION).found([h.first.entity, h.second.entity], MOMENT))
            for project, user in ((GARDEN, None), (h.cellar, "ann"), (h.cellar, "bob"), (h.cellar, None))
        ]
        == [[h.first.entity], [h.second.entity], [], []]
    ),
    "EntityStore.page": lambda t, h: (
        [
            [entity.id for entity in EntityStore(t).page(project, user, limit=9)]
            for project, user in ((GARDEN, None), (h.cellar, "ann"), (h.cellar, "bob"), (h.cellar, None))
        ]
        == [[h.first.entity], [h.second.entity], [], []]
    ),
    "EntityStore.most_mentioned": lambda t, h: (
        [
            [entity.id for entity in EntityStore(t).most_mentioned(project, user, limit=9)]
            for project, user in ((GARDEN, None), (h.cellar, "ann"), (h.cellar, "bob"), (h.cellar, None))
        ]
        == [[h.first.entity], [h.second.entity], [], []]
    ),
    "ProfileStore.of_user": lambda t, h: (
        [
            [fact.id for fact in ProfileStore(t, place.pool).of_user(user, session, now=MOMENT, limit=9)]
            for place, user, session in (
                (h.first, "ann", None),
                (h.first, "bob", None),
                (h.first, None, h.first.session),
                (h.first, None, h.second.session),
            )
        ]
        == [[h.first.memory], [], [h.first.memory], []]
    ),
    "ProfileStore.equal": lambda t, h: (
        ProfileStore(t, h.first.pool).equal([place.memory for place in h.places], now=MOMENT) == {}
    ),
    "ProfileStore.decisions": lambda t, h: (
        [fact.id for fact in ProfileStore(t, h.first.pool).decisions(now=MOMENT, limit=9)] == [h.first.memory]
    ),
    "EntityStore.find": lambda t, h: (
        [
            None if found is None else found.id
            for found in (
                EntityStore(t).find(project, user, same_name("Rosa"))
                for project, user in ((GARDEN, None), (h.cellar, "ann"), (h.cellar, "bob"), (h.cellar, None))
            )
        ]
        == [h.first.entity, h.second.entity, None, None]
    ),
    "EntityGroupStore.mentions": lambda t, h: (
        [
            len(EntityGroupStore(t).mentions([h.first.entity, h.second.entity], place.pool, limit=9))
            for place in h.places
        ]
        == [1, 1, 0]
    ),
    "EntityGroupStore.mentioned": lambda t, h: (
        EntityGroupStore(t).mentioned([h.first.entity], h.second.pool, h.first.messages) == []
    ),
    "RelationStore.of_entity": lambda t, h: (
        [relation.messages for relation in RelationStore(t).of_entity(EntityId(0), [h.first.entity], h.second.pool)]
        == [(), ()]
    ),
    "EntityGroupStore.apply_first_names": lambda t, h: (
        EntityGroupStore(t).apply_first_names([(GARDEN, "bob", same_name("Rosa"))]) == set()
    ),
    "ObservationStore.recent": lambda t, h: ObservationStore(t).recent(h.first.session, h.second.pool, limit=9) == [],
    "ObservationStore.recent_of_user": lambda t, h: (
        [stored.session for stored in ObservationStore(t).recent_of_user("ann", h.first.pool, limit=9)] == ["first"]
    ),
    "MemoryStore.known": lambda t, h: (
        MemoryStore(t).known(h.first.session, h.second.pool, "bob", 9, MOMENT) == ([], [])
    ),
}
# These take the integer id of a session, project or pool that the caller found under its own reach, or name the tenant's own;
# keys and usage are the whole tenant's, and their services refuse a confined caller.
BY_FOUND_ID = {
    "ReaderStore.of_pool",
    "ReaderStore.of_project",
    "ReaderStore.outside_projects",
    "EntityStore.of_session",
    "EntityStore.of_message",
    "RemovalStore.messages",
    "RemovalStore.items_of",
    "RemovalStore.last_message",
    "RemovalStore.responses_of",
    "RemovalStore.sample",
    "RemovalStore.observations",
    "RemovalStore.items",
    "RemovalStore.responses",
    "RemovalStore.receipts",
    "RemovalStore.receipts_of",
    "RemovalStore.old_receipts",
    "RemovalStore.files",
    "RemovalStore.remaining",
    "EntityStore.forget_statements",
    "FileStore.apply",
    "FileStore.move_to",
    "FileStore.remove_quotations",
    "FileStore.sizes",
    "FileStore.text",
    "ItemStore.add",
    "ItemStore.after",
    "ItemStore.before",
    "ItemStore.end",
    "ItemStore.find",
    "ItemStore.frames",
    "ItemStore.messages_after",
    "ItemStore.messages_before",
    "ItemStore.remove",
    "ItemStore.remove_by_id",
    "ResponseStore.add",
    "ResponseStore.remove",
    "ExclusionStore.add",
    "ExclusionStore.all",
    "ExclusionStore.remove",
    "ReceiptStore.add",
    "ReceiptStore.is_pool_there",
    "ReceiptStore.changed_entities",
    "ReceiptStore.indexed_at",
    "ReceiptStore.observations",
    "ReceiptStore.remove_expired",
    "ReceiptStore.remove_of_user",
    "ReceiptStore.remove_old",
    "ReceiptStore.replaced_texts",
    "ReceiptStore.set_ages",
    "TemplateStore.keep",
    "TemplateStore.of_expired",
    "TemplateStore.of_messages",
    "TemplateStore.of_session",
    "TemplateStore.text",
    "TemplateStore.unused",
    "RevisionStore.replaced",
    "SupersessionStore.changed_at",
    "SupersessionStore.copies",
    "TenantStore.ensure_secret",
    "TenantStore.secret",
    "ArchivedRows.messages",
    "ArchivedRows.memories",
    "ArchivedRows.observations",
    "ArchivedRows.mentions",
    "ArchivedRows.responses",
    "ImportedRows.restore_project",
    "ImportedRows.remove_unused_default_project",
    "ImportedRows.has_default_project",
    "ImportedRows.add_session",
    "ImportedRows.imported_words",
    "ImportedRows.set_updated_at",
    "ImportedRows.add_messages",
    "ImportedRows.note_messages",
    "ImportedRows.has_later_message",
    "ImportedRows.forget_vectors",
    "ImportedRows.add_memory",
    "ImportedRows.add_revision",
    "ImportedRows.add_replacement",
    "ImportedRows.add_observation",
    "ImportedRows.messages_to_mention",
    "ImportedRows.mentioned",
    "ImportedRows.add_items",
    "ImportedRows.add_response",
    "ImportedRows.has_relation",
    "VectorStore.claim",
    "VectorStore.release",
    "VectorStore.waiting",
    "VectorStore.add",
    "VectorStore.remove_others",
    "VectorStore.remove_all",
    "PoolVectors.state",
    "TenantStore.exists",
    "TenantStore.name",
    "TenantStore.add",
    "ProjectStore.add",
    "ProjectStore.lock_all",
    "ProjectStore.rename",
    "ProjectStore.set_settings",
    "ProjectStore.set_visibility",
    "ProjectStore.make_default",
    "ProjectStore.soft_delete",
    "TenantStore.lock_shared",
    "TenantStore.lock_names",
    "TenantStore.lock",
    "SessionStore.add",
    "SessionStore.by_ids",
    "SessionStore.make_due",
    "SessionStore.note_appends",
    "SessionStore.note_removal",
    "SessionStore.describe",
    "SessionStore.forget_title",
    "SessionStore.move",
    "SessionStore.lock_of_project",
    "SessionStore.remove",
    "TurnStore.renew",
    "TurnStore.cap",
    "TurnStore.is_running",
    "TurnStore.end",
    "TurnStore.revoke",
    "TurnStore.is_of",
    "MessageStore.append",
    "MessageStore.recent_authors",
    "FilterStore.session_messages",
    "MessageStore.count_episodes",
    "MessageStore.count_given_recalled_text",
    "MessageStore.detach_from_pool",
    "MessageStore.is_pool_quoted",
    "MessageStore.given_text_of",
    "MessageStore.set_contents",
    "MessageStore.contents",
    "MessageStore.remove",
    "MessageStore.remove_all",
    "PoolStore.find",
    "PoolStore.ensure",
    "PoolStore.raise_version",
    "PoolStore.note_departure",
    "PoolStore.note_arrival",
    "PoolStore.lock",
    "StoredPool.state",
    "IdempotencyStore.find",
    "IdempotencyStore.drop_expired",
    "IdempotencyStore.keep",
    "IdempotencyStore.forget_session",
    "IdempotencyStore.forget_contents",
    "IdempotencyStore.forget_message",
    "IdempotencyStore.forget_recording",
    "IdempotencyStore.forget_item",
    "IdempotencyStore.forget_memories",
    "IdempotencyStore.forget_key",
    "IndexStore.members",
    "IndexStore.words",
    "IndexStore.waiting",
    "IndexStore.set_indexed",
    "IndexStore.mark_indexed",
    "IndexStore.points",
    "IndexStore.requeue_around",
    "IndexStore.note_put",
    "IndexStore.settle_put",
    "IndexStore.note_removal",
    "IndexStore.settle_removal",
    "IndexStore.settle",
    "SignInStore.add",
    "SignInStore.find",
    "SignInStore.extend",
    "SignInStore.remove",
    "ApiKeyStore.add",
    "ApiKeyStore.find",
    "ApiKeyStore.page",
    "ApiKeyStore.lock_admins",
    "ApiKeyStore.revoke",
    "UsageStore.limits",
    "UsageStore.counts",
    "UsageStore.add_messages",
    "UsageStore.add_session",
    "UsageStore.remove_session",
    "UsageStore.projects",
    "UsageStore.api_keys",
    "UsageStore.set_limits",
    "PoolStore.derived",
    "MemoryStore.add",
    "MemoryStore.count",
    "MemoryStore.note_change",
    "MemoryStore.move",
    "MemoryStore.of_session",
    "MemoryStore.derived_from",
    "MemoryStore.ids",
    "MemoryStore.contents",
    "MemoryStore.remove",
    "MemoryStore.stored",
    "MemoryStore.with_digest",
    "SupersessionStore.set_successor",
    "ReplacementStore.person",
    "ReplacementStore.subjects",
    "ReplacementStore.pairs",
    "ReplacementStore.add",
    "RevisionStore.add",
    "RevisionStore.page",
    "RevisionStore.last",
    "RevisionStore.set_undone",
    "RevisionStore.set_state",
    "StoredMemories.version",
    "EntityStore.add",
    "EntityStore.mention",
    "EntityStore.set_index",
    "EntityStore.note_change",
    "EntityStore.of_project",
    "EntityStore.users_of",
    "EntityStore.give_mentions",
    "EntityStore.set_user",
    "EntityStore.contents",
    "EntityStore.forget_session",
    "EntityStore.forget_messages",
    # Only an operator copies, and whole tenants.
    "CarriedRows.tenant",
    "CarriedRows.set_secret",
    "CarriedRows.all_keys",
    "CarriedRows.exclusions",
    "CarriedRows.has_exclusion",
    "CarriedRows.add_exclusion",
    "ReceiptStore.days_of_tenant",
    "ReceiptStore.set_days_of_tenant",
    "RetentionStore.of_tenant",
    "RetentionStore.set_of_tenant",
    "RetentionStore.note_ages",
    "RetentionStore.note_oldest",
    "RetentionStore.messages",
    "RetentionStore.memories",
    "RetentionStore.observations",
    "RetentionStore.remove_observations",
    "RetentionStore.remove_searches",
    "EntityStore.retag",
    "EntityStore.found",
    "EntityStore.lock",
    "StoredEntities.version",
    "EntityStore.merge",
    "EntityGroupStore.names",
    "EntityGroupStore.of_entities",
    "EntityGroupStore.lock",
    "EntityGroupStore.locked_names",
    "EntityGroupStore.set_group",
    "EntityGroupStore.set_type",
    "EntityGroupStore.correct",
    "EntityGroupStore.copy_correction",
    "EntityGroupStore.set_deletion",
    "EntityGroupStore.unmentioned",
    "EntityGroupStore.remove",
    "EntityGroupStore.after_loss",
    "EntityGroupStore.first_names",
    "EntityGroupStore.note_change",
    "EntityGroupStore.last_change",
    "EntityGroupStore.drop_change",
    "EntityGroupStore.expire",
    "EntityGroupStore.extractions",
    "EntityGroupStore.move_extracted",
    "RelationStore.add",
    "RelationStore.move",
    "RelationStore.give",
    "RelationStore.forget_session",
    "RelationStore.forget_message",
    "MemoryIndexStore.set_indexed",
    "EntityIndexStore.set_indexed",
    "EntityIndexStore.mark_indexed",
    "EntityIndexStore.mark_put",
    "EntityIndexStore.settle_removal",
    "EntityIndexStore.note_removal",
    "ObservationStore.add",
    "ObservationStore.of_session",
    "ObservationStore.count",
    "ObservationStore.cursor_key",
    "ObservationStore.contents",
    "ObservationStore.forget_session",
    "ObservationStore.forget_message",
    "ExtractionStore.renew",
    "ExtractionStore.release",
    "ExtractionStore.claimed",
    "ExtractionStore.lock",
    "ExtractionStore.unchecked",
    "ExtractionStore.mark_checked",
    "ExtractionStore.finish",
    "ExtractionStore.failures",
    "ExtractionStore.fail",
    "ExtractionStore.note_past",
    "ExtractionStore.past",
    "ExtractionStore.unobserved",
    "ExtractionStore.recount_unchecked",
    "ExtractionStore.forget_past",
    "MemoryStore.sources",
    "SessionStore.choose",
    "SessionStore.last_message",
    "BranchStore.set_parent",
    "BranchStore.last_in",
    "BranchStore.current_in",
    "BranchStore.others_in",
    "BranchStore.move",
    "BranchStore.set_leaf",
    "BranchStore.note_change",
    "WithdrawalStore.sources",
    "SettledStore.settle",
    "SettledStore.settle_mentioning",
}


def waiting_memory(transaction: Transaction, home: Home) -> SessionId:
    """Every session's memory waits; of the first it is asked."""
    for place in home.places:
        MemoryIndexStore(transaction, GENERATION).set_indexed(place.session, [(place.memory, WAITING)])
    return home.first.session


def waiting_entity(transaction: Transaction, home: Home) -> ProjectId:
    """Every project's entity waits; of the garden's it is asked."""
    for place in (home.first, home.second):
        EntityStore(transaction).set_index(place.entity, WAITING)
    return GARDEN


def garden_vectors(transaction: Transaction, home: Home) -> PoolVectors:
    return PoolVectors(transaction, home.first.pool, MODEL)


def garden_memories(transaction: Transaction, home: Home) -> StoredMemories:
    return StoredMemories(transaction, home.first.pool, GENERATION)


def test_every_method_is_known_to_be_confined_or_to_take_found_ids() -> None:
    """ISO-4, ORG-4."""
    assert set(CONFINED) | set(ONE_POOL) | set(ONE_PLACE) | set(SESSION_CASES) | BY_FOUND_ID == methods_of_stores()


@pytest.mark.parametrize("name", CONFINED)
def test_a_confined_reach_finds_nothing_outside_its_project(world: World, name: str) -> None:
    """ISO-4: project ↔ project and project ↔ shared pool."""
    case = CONFINED[name]
    confined = Reach(tenant=world.ours.tenant, confined_to=GARDEN)
    before = world.engine.dump()
    if case.refusal is not None:
        with pytest.raises(case.refusal):
            world.database.write(confined, lambda transaction: case.act(transaction, world.ours))
    else:
        assert world.database.write(confined, lambda transaction: case.act(transaction, world.ours)) == case.nothing
    assert world.engine.dump() == before


def test_the_process_of_a_turn_outside_the_reach_is_not_found(world: World) -> None:
    """ISO-4, ISO-10: and a caller that reaches the session finds it."""
    home, session = world.ours, world.ours.second.session
    world.database.write(home.reach, lambda t: TurnStore(t).take(session, 1, now=MOMENT, until=MOMENT + 1, process=7))
    confined, bound = Reach(tenant=home.tenant, confined_to=GARDEN), Reach(tenant=home.tenant, user="nobody")
    found: list[object] = []
    for reach in (home.reach, confined, bound):
        with world.database.read(reach) as transaction:
            found.append(TurnStore(transaction).process_of(home.second.name))
    world.database.write(home.reach, lambda t: TurnStore(t).end(session, 1))
    assert found == [(session, 1, 7), None, None]


def test_a_default_project_outside_the_reach_is_not_there(world: World) -> None:
    """ISO-4, ORG-4: the garden is the default; a key confined to the cellar does not learn its id."""
    confined = Reach(tenant=world.ours.tenant, confined_to=world.ours.cellar)
    with pytest.raises(NotFound) as caught, world.database.read(confined) as transaction:
        ProjectStore(transaction).default()
    assert str(caught.value) == "There is no project 'default' here."


@pytest.mark.parametrize("name", ONE_POOL)
def test_the_rows_of_one_pool_hold_nothing_of_another_pool_of_the_same_tenant(world: World, name: str) -> None:
    """ISO-4: pool ↔ pool."""
    with world.database.read(world.ours.reach) as transaction:
        rows = pools(transaction).rows(world.ours.scope(world.ours.first))
        assert rows is not None
        assert ONE_POOL[name](rows, world.ours)


@pytest.mark.parametrize("name", ONE_PLACE)
def test_what_derives_in_one_place_is_nowhere_else_in_the_same_tenant(world: World, name: str) -> None:
    """ISO-4, ISO-10: pool ↔ pool, project ↔ project, and user ↔ user in a private project."""
    assert world.database.write(world.ours.reach, lambda transaction: ONE_PLACE[name](transaction, world.ours))


class Undone(Exception):
    """Rolls an attempt back, so that the next one finds the sessions as they were."""


@pytest.mark.parametrize("name", SESSION_CASES)
def test_a_session_given_messages_of_another_keeps_to_its_own(world: World, name: str) -> None:
    """ISO-4, ISO-10: session ↔ session of other projects and pools of the same tenant, whichever has the smaller ids."""
    answers: list[bool] = []

    def attempt(transaction: Transaction, pair: tuple[Place, Place]) -> None:
        answers.append(SESSION_CASES[name](transaction, *pair))
        raise Undone

    for pair in permutations(world.ours.places, 2):
        with pytest.raises(Undone):
            world.database.write(world.ours.reach, partial(attempt, pair=pair))
        assert answers[-1]
