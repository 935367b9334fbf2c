"""The stores of archives, method by method, as `test_store_isolation` runs them."""

from cloister.domain.archive.records import ObservationRecord, RevisionRecord, SessionRecord, StateRecord
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.errors import StorageError
from cloister.domain.identifiers import (
    EntityId,
    MessageId,
    RevisionId,
    new_memory_id,
    new_observation_id,
    new_session_id,
)
from cloister.domain.memory import same_as
from cloister.storage.interface import Transaction
from cloister.storage.stores.archived_rows import ArchivedRows, ArchivedSession
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.items import ItemRow, ResponseRow
from cloister.storage.stores.tenants import ProjectStore
from support.isolation.twin_tenants import (
    INDEXED,
    MOMENT,
    Case,
    Home,
    first_item,
    first_response,
    new_memory,
    new_message,
)

OTHER = "Tulips need none."


def rows(transaction: Transaction) -> ArchivedRows:
    return ArchivedRows(transaction, ArchiveTarget())


def session_record(home: Home, external_id: str) -> SessionRecord:
    return SessionRecord(
        id=home.first.session,
        external_id=external_id,
        project_id=None,
        user_id="ann",
        title=None,
        tags=(),
        metadata={},
        next_sequence=3,
        episode_id=None,
        observed_message_id=None,
        created_at=MOMENT,
        updated_at=MOMENT,
    )


def archived(home: Home) -> ArchivedSession:
    return ArchivedSession(record=session_record(home, "first"), pool=home.first.pool, is_shared=False)


def restore_project(transaction: Transaction, home: Home) -> bool:
    ProjectStore(transaction).soft_delete(home.cellar, MOMENT)
    return ImportedRows(transaction).restore_project(home.cellar)


def note_messages(transaction: Transaction, home: Home, added: int) -> int:
    return ImportedRows(transaction).note_messages(
        home.first.session, session_record(home, "first"), added=added, unchecked=1, version=9
    )


def add_messages(transaction: Transaction, home: Home) -> None:
    added = [(new_message(home.first.session, 3), INDEXED)]
    ImportedRows(transaction).add_messages(home.first.session, added)
    note_messages(transaction, home, 1)


def revision() -> RevisionRecord:
    before = StateRecord(
        content=OTHER,
        subject=None,
        importance=None,
        source="written",
        categories=(),
        metadata={},
        pinned=False,
        expires_at=None,
        retracted_at=None,
    )
    return RevisionRecord(
        id=RevisionId(new_observation_id()),
        action="correct",
        changed_by=None,
        digest=None,
        before=before,
        changed_at=MOMENT,
        undone_at=None,
    )


def related(home: Home) -> tuple[EntityId, str, EntityId, MessageId, int]:
    return home.first.entity, "knows", home.first.entity, home.first.messages[0], MOMENT


def observation(home: Home) -> ObservationRecord:
    source = home.first.messages[0]
    return ObservationRecord(
        id=new_observation_id(),
        content=OTHER,
        source_message_ids=(source,),
        first_message_id=source,
        last_message_id=source,
        said_at=MOMENT,
        created_at=MOMENT,
    )


RESPONSE = ResponseRow(session="first", question=MessageId(1), reply=None, owns_messages=False, body="{}")


ARCHIVE_CASES: dict[str, Case] = {
    "ArchivedRows.projects": Case(act=lambda t, h: rows(t).projects()),
    "ArchivedRows.sessions": Case(
        act=lambda t, h: list(ArchivedRows(t, ArchiveTarget(project=h.cellar)).sessions()), nothing=[]
    ),
    "ArchivedRows.messages": Case(act=lambda t, h: list(rows(t).messages(archived(h))), nothing=[]),
    "ArchivedRows.memories": Case(act=lambda t, h: list(rows(t).memories(h.first.session)), nothing=[]),
    "ArchivedRows.observations": Case(act=lambda t, h: list(rows(t).observations(h.first.session)), nothing=[]),
    "ArchivedRows.replacements": Case(act=lambda t, h: list(rows(t).replacements())),
    "ArchivedRows.entities": Case(
        act=lambda t, h: [*rows(t).entities(), *ArchivedRows(t, ArchiveTarget(user="ann")).entities()]
    ),
    "ArchivedRows.relations": Case(
        act=lambda t, h: [*rows(t).relations(), *ArchivedRows(t, ArchiveTarget(user="ann")).relations()]
    ),
    "ArchivedRows.responses": Case(act=lambda t, h: list(rows(t).responses(archived(h))), nothing=[]),
    "ArchivedRows.mentions": Case(act=lambda t, h: list(rows(t).mentions(h.first.entity)), nothing=[]),
    "ImportedRows.restore_project": Case(act=restore_project, nothing=False, writes=True),
    "ImportedRows.remove_unused_default_project": Case(
        act=lambda t, h: ImportedRows(t).remove_unused_default_project("Garden")
    ),
    "ImportedRows.has_default_project": Case(act=lambda t, h: ImportedRows(t).has_default_project()),
    "ImportedRows.add_session": Case(
        act=lambda t, h: ImportedRows(t).add_session(session_record(h, "fourth"), new_session_id(), h.first.pool, 9),
        nothing=StorageError,
        writes=True,
    ),
    "ImportedRows.imported_words": Case(
        act=lambda t, h: ImportedRows(t).imported_words(h.first.session, "source_id", 0).digests
    ),
    "ImportedRows.set_updated_at": Case(
        act=lambda t, h: ImportedRows(t).set_updated_at(h.first.session, 7), writes=True
    ),
    "ImportedRows.add_messages": Case(act=add_messages, nothing=StorageError, writes=True),
    "ImportedRows.note_messages": Case(act=lambda t, h: note_messages(t, h, 0), nothing=0, writes=True),
    "ImportedRows.has_later_message": Case(
        act=lambda t, h: ImportedRows(t).has_later_message(h.first.session, h.first.messages[0]), nothing=False
    ),
    "ImportedRows.forget_vectors": Case(act=lambda t, h: ImportedRows(t).forget_vectors(h.first.session), writes=True),
    "ImportedRows.add_memory": Case(
        act=lambda t, h: ImportedRows(t).add_memory(
            new_memory(new_memory_id(), h.first.session, content=OTHER), same_as(OTHER), INDEXED
        ),
        nothing=StorageError,
        writes=True,
    ),
    "ImportedRows.add_revision": Case(
        act=lambda t, h: ImportedRows(t).add_revision(h.first.memory, revision()), nothing=StorageError, writes=True
    ),
    "ImportedRows.add_replacement": Case(
        act=lambda t, h: ImportedRows(t).add_replacement(h.first.memory, h.second.memory), nothing=None, writes=True
    ),
    "ImportedRows.add_observation": Case(
        act=lambda t, h: ImportedRows(t).add_observation(h.first.session, observation(h)),
        nothing=StorageError,
        writes=True,
    ),
    "ImportedRows.add_items": Case(
        act=lambda t, h: ImportedRows(t).add_items(
            h.first.session,
            [ItemRow(h.first.messages[1], 5, first_item(h.first.session) + 1, None, h.first.pool, "{}")],
        ),
        nothing=StorageError,
        writes=True,
    ),
    "ImportedRows.add_response": Case(
        act=lambda t, h: ImportedRows(t).add_response(h.first.session, first_response(h.first.session) + 1, RESPONSE),
        nothing=StorageError,
        writes=True,
    ),
    "ImportedRows.names_to_relate": Case(
        act=lambda t, h: ImportedRows(t).names_to_relate([h.first.entity, h.second.entity]), nothing={}
    ),
    "ImportedRows.has_relation": Case(act=lambda t, h: ImportedRows(t).has_relation(*related(h)), nothing=False),
    "ImportedRows.messages_to_mention": Case(
        act=lambda t, h: ImportedRows(t).messages_to_mention(h.first.messages), nothing={}
    ),
    "ImportedRows.mentioned": Case(
        act=lambda t, h: ImportedRows(t).mentioned(h.first.entity, h.first.messages), nothing=set[int]()
    ),
}
