"""The smallest tenant, project, pool, session, message and key that the schema accepts, written through the named queries."""

from dataclasses import dataclass

from cloister.domain.identifiers import (
    KeyId,
    MessageId,
    PoolId,
    ProjectId,
    SessionId,
    TenantId,
    message_id,
    new_key_id,
    new_pool_id,
    new_project_id,
    new_session_id,
    new_tenant_id,
)
from cloister.domain.scope import Reach
from cloister.storage.interface import Database, Transaction, Value
from cloister.storage.stores.receipts.templates import TemplateStore

MOMENT = 1_700_000_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Household:
    """A tenant with one of everything."""

    tenant: TenantId
    project: ProjectId
    pool: PoolId
    session: SessionId
    message: MessageId
    key: KeyId

    @property
    def reach(self) -> Reach:
        return Reach(tenant=self.tenant)


def new_household() -> Household:
    session = new_session_id()
    return Household(
        tenant=new_tenant_id(),
        project=new_project_id(),
        pool=new_pool_id(),
        session=session,
        message=message_id(session, 1),
        key=new_key_id(),
    )


def settle(database: Database, external_id: str = "first") -> Household:
    """Write a new tenant with one of everything. Two of them may give their sessions the same external id."""
    household = new_household()
    database.maintenance.write("insert_embedding_model", name="model", now=MOMENT)

    def work(transaction: Transaction) -> None:
        insert_household(transaction, household, external_id)
        transaction.execute(
            "insert_vector", session_id=household.session, message_id=household.message, model_id=1, vector=b"\x00\x3c"
        )

    database.write(household.reach, work)
    return household


def insert_household(transaction: Transaction, household: Household, external_id: str = "first") -> None:
    insert_conversation(transaction, household, external_id)
    insert_key(transaction, household)
    insert_derived(transaction, household)
    transaction.row(
        "keep_idempotent_answer",
        request=b"once",
        kind="messages",
        session_id=household.session,
        first_id=household.message,
        last_id=household.message,
        fingerprint=b"f",
        answer="{}",
        expires_at=MOMENT,
    )
    transaction.execute("insert_sign_in", digest=b"browser", kind="browser", key_id=household.key, expires_at=MOMENT)
    template = TemplateStore(transaction).keep(None, "digest", "Answer briefly.")
    transaction.execute(
        "insert_receipt",
        receipt_id=household.message,
        session_id=household.session,
        question_id=household.message,
        reply_id=None,
        project_id=None,
        user_id=None,
        pool_id=household.pool,
        kind="context",
        created_at=MOMENT,
        expires_at=None,
        question=None,
        body="{}",
        template_id=template,
    )
    transaction.execute(
        "insert_exclusion",
        exclusion_id=household.message,
        session_id=household.session,
        created_at=MOMENT,
        message_id=household.message,
        memory_id=None,
        entity_id=None,
    )
    transaction.execute(
        "insert_item",
        session_id=household.session,
        message_id=household.message,
        position=1,
        item_id=household.message,
        response_id=None,
        recalled_pool_id=household.pool,
        item="{}",
    )
    transaction.execute(
        "insert_response",
        session_id=household.session,
        response_id=household.message,
        question_id=household.message,
        reply_id=None,
        owns_messages=0,
        body="{}",
    )
    transaction.execute(
        "insert_file",
        session_id=household.session,
        pool_id=household.pool,
        path="notes.txt",
        size=1,
        content="x",
        updated_at=MOMENT,
    )
    transaction.execute(
        "insert_entry",
        entry_id=household.message,
        project_id=household.project,
        user_id="ann",
        namespace=b"notes.",
        entry_key="roses",
        value="{}",
        ttl=None,
        expires_at=None,
        index_paths="[]",
        vector_model=None,
        vectors=None,
        now=MOMENT,
    )
    transaction.execute("open_usage_part", part=household.session % 16)
    transaction.execute("add_usage", part=household.session % 16, sessions=1, messages=0)


def insert_conversation(transaction: Transaction, household: Household, external_id: str = "first") -> None:
    """All of it that the first version of the schema could hold."""
    insert_tenant(transaction)
    transaction.execute(
        "insert_project",
        project_id=household.project,
        name="Garden",
        is_default=1,
        member_visibility="shared",
        settings="{}",
        created_at=MOMENT,
    )
    transaction.execute("insert_pool", pool_id=household.pool, project_id=household.project, user_id=None, generation=1)
    insert_session(transaction, household, household.session, external_id)
    insert_message(transaction, household.session, 1)
    transaction.execute("note_index_removal", removal_id=1, session_id=household.session, message_id=0)


def insert_session(transaction: Transaction, household: Household, session: SessionId, external_id: str) -> None:
    transaction.row(
        "insert_session",
        session_id=session,
        external_id=external_id,
        project_id=household.project,
        pool_id=household.pool,
        user_id=None,
        title=None,
        tags="[]",
        metadata="{}",
        version=1,
        created_at=MOMENT,
    )


def insert_derived(transaction: Transaction, household: Household) -> None:
    """One of everything that derives from what was said."""
    indexed: dict[str, Value] = {
        "generation": 1,
        "vector": b"\x00\xff" * 128,
        "terms": b"\x01\x00",
        "indexed_at": MOMENT,
    }
    transaction.row(
        "insert_memory",
        memory_id=household.message,
        session_id=household.session,
        digest=bytes(16),
        importance=None,
        created_at=MOMENT,
        content="The roses need water.",
        checksum=None,
        valid_from=MOMENT,
        source="extracted",
        subject=None,
        categories="[]",
        metadata="{}",
        **indexed,
    )
    transaction.execute("insert_memory_source", message_id=household.message, memory_id=household.message)
    transaction.execute("insert_replacement", older_id=household.message, newer_id=household.message)
    transaction.execute(
        "insert_memory_revision",
        revision_id=household.message,
        memory_id=household.message,
        action="correct",
        changed_at=MOMENT,
        changed_by=None,
        digest=bytes(16),
        before="{}",
    )
    transaction.row(
        "insert_entity",
        entity_id=household.message,
        project_id=household.project,
        user_id=None,
        digest=bytes(16),
        first_digest=bytes(16),
        name="Rosa",
        type="person",
        created_at=MOMENT,
        part_of=None,
        grouped_by_hand=0,
        name_by_hand=0,
        deleted_at=None,
        **indexed,
    )
    of_message: dict[str, Value] = {"message_id": household.message, "session_id": household.session}
    transaction.execute(
        "insert_mention", entity_id=household.message, created_at=MOMENT, notes="needs water", **of_message
    )
    transaction.execute(
        "insert_relation",
        relation_id=household.message,
        subject_id=household.message,
        object_id=household.message,
        created_at=MOMENT,
        relation="knows",
        **of_message,
    )
    transaction.execute(
        "insert_entity_change",
        change_id=household.message,
        entity_id=household.message,
        other_id=None,
        changed_at=MOMENT,
        kind="delete",
        detail="[]",
    )
    transaction.execute(
        "insert_observation",
        observation_id=household.message,
        session_id=household.session,
        first_message_id=household.message,
        last_message_id=household.message,
        created_at=MOMENT,
        said_at=MOMENT,
        sources="[]",
        content="The roses need water.",
    )
    transaction.execute(
        "note_past", session_id=household.session, last_message_id=household.message, project_id=household.project
    )


def insert_key(transaction: Transaction, household: Household) -> None:
    transaction.row(
        "insert_api_key",
        key_id=household.key,
        name="key",
        secret_hash=bytes(32),
        project_id=household.project,
        is_confined=0,
        permissions='["read"]',
        created_at=MOMENT,
        expires_at=None,
        user_id=None,
    )


def insert_tenant(transaction: Transaction, name: str = "Household") -> None:
    transaction.execute("insert_tenant", name=name, created_at=MOMENT)


def insert_message(
    transaction: Transaction, session: SessionId, sequence: int, content: str = "The roses need water."
) -> None:
    transaction.execute(
        "insert_message",
        message_id=message_id(session, sequence),
        session_id=session,
        role="user",
        status="completed",
        author=None,
        created_at=MOMENT + sequence,
        generation=1,
        indexed_at=MOMENT,
        vector=b"\x00\xff" * 128,
        terms=b"\x01\x00",
        episode_id=message_id(session, sequence),
        tokens=5,
        metadata="{}",
        content=content,
        recalled_pool_id=None,
        categories="[]",
        checksum=None,
    )
