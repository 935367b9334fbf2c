"""Row-level security, tried with SQL that forgets its tenant, on connections as the driver hands them out.

`RESET ROLE` is the only way out of the tenants' role: a login keeps the rights it connected with. That is why no caller can
pass SQL, and why a login should own nothing.
"""

from collections.abc import Generator

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.rows import TupleRow

from cloister.storage.postgres.database import PostgresDatabase
from cloister.storage.postgres.row_security import MAINTENANCE_ROLE, TENANT_ROLE, breaches
from support.databases.rows import Household, settle

Connection = psycopg.Connection[TupleRow]
TENANT_TABLES = (
    "api_key",
    "entity",
    "entity_change",
    "entity_relation",
    "entry",
    "exclusion",
    "idempotency",
    "index_removal",
    "memory",
    "memory_file",
    "memory_replacement",
    "memory_revision",
    "memory_source",
    "mention",
    "message",
    "message_vector",
    "observation",
    "pool",
    "project",
    "prompt_template",
    "receipt",
    "session",
    "session_item",
    "session_past",
    "session_response",
    "sign_in",
    "tenant",
    "tenant_usage",
)
# Those that nothing else points at.
LEAVES = (
    "api_key",
    "entity_change",
    "entity_relation",
    "entry",
    "exclusion",
    "idempotency",
    "index_removal",
    "memory_file",
    "memory_replacement",
    "memory_revision",
    "memory_source",
    "mention",
    "message_vector",
    "observation",
    "prompt_template",
    "receipt",
    "session_item",
    "session_past",
    "session_response",
    "sign_in",
    "tenant_usage",
)


@pytest.fixture
def ours(postgres_database: PostgresDatabase) -> Household:
    return settle(postgres_database)


@pytest.fixture
def theirs(postgres_database: PostgresDatabase) -> Household:
    return settle(postgres_database)


@pytest.fixture
def owner(migrated_postgres: str) -> Generator[Connection]:
    with psycopg.connect(migrated_postgres, autocommit=True) as connection:
        yield connection


@pytest.fixture
def tenant_connection(migrated_postgres: str) -> Generator[Connection]:
    with psycopg.connect(migrated_postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(TENANT_ROLE)))
        yield connection


def test_row_security_is_forced_on_every_table_of_tenants(owner: Connection) -> None:
    """ISO-4: the owner of a table is bound by the policies too."""
    rows = owner.execute(
        "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = ANY(%s) AND relkind = 'r'",
        [list(TENANT_TABLES)],
    ).fetchall()
    assert {name: (enabled, forced) for name, enabled, forced in rows} == dict.fromkeys(TENANT_TABLES, (True, True))


def enter(connection: Connection, household: Household) -> None:
    connection.execute("SELECT set_config('cloister.tenant', %s, false)", [str(household.tenant)])


def count(connection: Connection, table: str) -> int:
    row = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    assert row is not None
    return row[0]


def row_for(tenant: int, table: str) -> sql.Composed:
    """An insert of a row for that tenant that breaks no other rule than whose it is."""
    columns = {
        "tenant": {"tenant_id": tenant, "name": "x", "created_at": 1},
        "project": {
            "tenant_id": tenant,
            "project_id": 7,
            "name": "x",
            "is_default": 0,
            "member_visibility": "shared",
            "settings": "{}",
            "created_at": 1,
        },
        "pool": {"pool_id": 7, "tenant_id": tenant, "version": 0, "removed_version": 0, "generation": 1},
        "session": {
            "session_id": 7,
            "tenant_id": tenant,
            "external_id": "x",
            "pool_id": 7,
            "tags": "[]",
            "metadata": "{}",
            "next_sequence": 1,
            "message_count": 0,
            "changed_version": 0,
            "rebuilt_version": 0,
            "created_at": 1,
            "updated_at": 1,
        },
        "message": {
            "message_id": 7 << 21,
            "tenant_id": tenant,
            "session_id": 7,
            "role": "user",
            "status": "completed",
            "created_at": 1,
            "generation": 1,
            "terms": b"",
            "episode_id": 1,
            "tokens": 1,
            "metadata": "{}",
            "content": "x",
        },
        "message_vector": {
            "tenant_id": tenant,
            "session_id": 7,
            "message_id": 7 << 21,
            "model_id": 1,
            "vector": b"",
        },
        "session_item": {
            "tenant_id": tenant,
            "session_id": 7,
            "message_id": 7 << 21,
            "position": 1,
            "item_id": 7,
            "recalled_pool_id": 7,
            "item": "{}",
        },
        "memory_file": {
            "tenant_id": tenant,
            "session_id": 7,
            "recalled_pool_id": 7,
            "path": "x",
            "size": 0,
            "updated_at": 0,
        },
        "session_response": {
            "tenant_id": tenant,
            "session_id": 7,
            "response_id": 7,
            "question_id": 7 << 21,
            "owns_messages": 0,
            "body": "{}",
        },
        "receipt": {
            "tenant_id": tenant,
            "receipt_id": 7,
            "recalled_pool_id": 7,
            "kind": "search",
            "created_at": 1,
            "body": "{}",
        },
        "prompt_template": {"tenant_id": tenant, "template_id": 7, "digest": "x", "template": "x"},
        "exclusion": {"exclusion_id": 7, "tenant_id": tenant, "session_id": 7, "created_at": 1},
        "entry": {
            "entry_id": 7,
            "tenant_id": tenant,
            "namespace": b"x.",
            "entry_key": "x",
            "created_at": 1,
            "updated_at": 1,
            "value": "{}",
        },
        "idempotency": {
            "tenant_id": tenant,
            "request": b"x",
            "kind": "projects",
            "fingerprint": b"x",
            "answer": "{}",
            "expires_at": 1,
        },
        "index_removal": {"tenant_id": tenant, "removal_id": 7, "session_id": 7, "message_id": 0},
        "api_key": {
            "key_id": 7,
            "tenant_id": tenant,
            "name": "x",
            "secret_hash": b"",
            "is_confined": 0,
            "permissions": "[]",
            "created_at": 1,
        },
        "sign_in": {"tenant_id": tenant, "digest": b"x", "kind": "link", "key_id": 7, "expires_at": 1},
        "tenant_usage": {"tenant_id": tenant, "part": 99, "sessions": 0, "messages": 0},
        "memory": {
            "memory_id": 7,
            "tenant_id": tenant,
            "session_id": 7,
            "digest": b"",
            "created_at": 1,
            "generation": 1,
            "terms": b"",
            "content": "x",
        },
        "memory_source": {"tenant_id": tenant, "message_id": 7, "memory_id": 7},
        "memory_replacement": {"tenant_id": tenant, "older_id": 7, "newer_id": 7},
        "memory_revision": {
            "tenant_id": tenant,
            "revision_id": 7,
            "memory_id": 7,
            "action": "correct",
            "changed_at": 1,
            "before": "{}",
        },
        "entity": {
            "entity_id": 7,
            "tenant_id": tenant,
            "project_id": 7,
            "digest": b"",
            "name": "x",
            "type": "other",
            "created_at": 1,
            "generation": 1,
            "terms": b"",
        },
        "mention": {
            "tenant_id": tenant,
            "message_id": 7,
            "entity_id": 7,
            "session_id": 7,
            "created_at": 1,
            "notes": "x",
        },
        "entity_relation": {
            "relation_id": 7,
            "tenant_id": tenant,
            "subject_id": 7,
            "object_id": 7,
            "message_id": 7,
            "session_id": 7,
            "created_at": 1,
            "relation": "x",
        },
        "entity_change": {
            "change_id": 7,
            "tenant_id": tenant,
            "entity_id": 7,
            "changed_at": 1,
            "kind": "delete",
            "detail": "[]",
        },
        "observation": {
            "observation_id": 7,
            "tenant_id": tenant,
            "session_id": 7,
            "first_message_id": 7,
            "last_message_id": 7,
            "created_at": 1,
            "said_at": 1,
            "sources": "[]",
            "content": "x",
        },
        "session_past": {"tenant_id": tenant, "session_id": 7, "last_message_id": 7},
    }[table]
    return sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.SQL(", ").join(map(sql.Literal, columns.values())),
    )


def test_the_tables_tried_here_are_all_that_carry_a_tenant(owner: Connection) -> None:
    found = owner.execute(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'"
    )
    assert tuple(sorted(name for (name,) in found)) == TENANT_TABLES


@pytest.mark.parametrize("table", TENANT_TABLES)
@pytest.mark.usefixtures("ours", "theirs")
def test_a_connection_that_named_no_tenant_sees_no_row(tenant_connection: Connection, table: str) -> None:
    assert count(tenant_connection, table) == 0


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_a_connection_whose_transaction_is_over_sees_no_row(
    tenant_connection: Connection, ours: Household, table: str
) -> None:
    with tenant_connection.transaction():
        tenant_connection.execute("SELECT set_config('cloister.tenant', %s, true)", [str(ours.tenant)])
        assert count(tenant_connection, table) == 1
    assert count(tenant_connection, table) == 0


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_a_connection_that_named_no_tenant_inserts_nothing(
    tenant_connection: Connection, ours: Household, table: str
) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        tenant_connection.execute(row_for(ours.tenant, table))


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_a_query_that_forgets_its_tenant_reads_only_its_own(
    tenant_connection: Connection, ours: Household, theirs: Household, table: str
) -> None:
    enter(tenant_connection, ours)
    found = tenant_connection.execute(sql.SQL("SELECT DISTINCT tenant_id FROM {}").format(sql.Identifier(table)))
    assert found.fetchall() == [(ours.tenant,)]
    named = sql.SQL("SELECT count(*) FROM {} WHERE tenant_id = {}")
    foreign = tenant_connection.execute(named.format(sql.Identifier(table), sql.Literal(theirs.tenant)))
    assert foreign.fetchone() == (0,)


@pytest.mark.parametrize("table", TENANT_TABLES)
@pytest.mark.usefixtures("theirs")
def test_an_update_that_forgets_its_tenant_changes_only_its_own(
    tenant_connection: Connection, ours: Household, table: str
) -> None:
    enter(tenant_connection, ours)
    changed = tenant_connection.execute(sql.SQL("UPDATE {} SET tenant_id = tenant_id").format(sql.Identifier(table)))
    assert changed.rowcount == 1


@pytest.mark.parametrize("table", LEAVES)
def test_a_delete_that_forgets_its_tenant_removes_only_its_own(
    tenant_connection: Connection, owner: Connection, ours: Household, theirs: Household, table: str
) -> None:
    enter(tenant_connection, ours)
    tenant_connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    left = owner.execute(sql.SQL("SELECT tenant_id FROM {}").format(sql.Identifier(table))).fetchall()
    assert left == [(theirs.tenant,)]


def test_a_delete_of_messages_that_forgets_its_tenant_takes_only_its_own_vectors(
    tenant_connection: Connection, owner: Connection, ours: Household, theirs: Household
) -> None:
    """The cascade bypasses row-level security, and still removes nothing but what belongs to the deleted messages."""
    enter(tenant_connection, ours)
    tenant_connection.execute("DELETE FROM message")
    for table in ("message", "message_vector"):
        left = owner.execute(sql.SQL("SELECT tenant_id FROM {}").format(sql.Identifier(table))).fetchall()
        assert left == [(theirs.tenant,)]


def test_a_vector_cannot_belong_to_another_tenant_than_its_message(
    owner: Connection, ours: Household, theirs: Household
) -> None:
    for statement in (
        "UPDATE message_vector SET tenant_id = %(theirs)s WHERE tenant_id = %(ours)s",
        "UPDATE message_vector SET message_id = %(message)s, model_id = 2 WHERE tenant_id = %(ours)s",
    ):
        with pytest.raises((errors.ForeignKeyViolation, errors.CheckViolation)):
            owner.execute(statement, {"ours": ours.tenant, "theirs": theirs.tenant, "message": theirs.message})


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_a_delete_of_a_foreign_row_by_name_removes_nothing(
    tenant_connection: Connection, ours: Household, theirs: Household, table: str
) -> None:
    enter(tenant_connection, ours)
    statement = sql.SQL("DELETE FROM {} WHERE tenant_id = {}")
    deleted = tenant_connection.execute(statement.format(sql.Identifier(table), sql.Literal(theirs.tenant)))
    assert deleted.rowcount == 0


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_a_row_for_another_tenant_cannot_be_inserted(
    tenant_connection: Connection, ours: Household, theirs: Household, table: str
) -> None:
    enter(tenant_connection, ours)
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        tenant_connection.execute(row_for(theirs.tenant, table))


@pytest.mark.parametrize("table", TENANT_TABLES)
def test_a_row_cannot_be_given_to_another_tenant(
    tenant_connection: Connection, ours: Household, theirs: Household, table: str
) -> None:
    enter(tenant_connection, ours)
    statement = sql.SQL("UPDATE {} SET tenant_id = {}").format(sql.Identifier(table), sql.Literal(theirs.tenant))
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        tenant_connection.execute(statement)


def test_a_row_cannot_point_at_another_tenants_even_without_the_walls(
    owner: Connection, ours: Household, theirs: Household
) -> None:
    with pytest.raises(errors.ForeignKeyViolation):
        owner.execute("UPDATE session SET pool_id = %s WHERE session_id = %s", [theirs.pool, ours.session])


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE message DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE message NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY tenant_walls ON message",
        "CREATE POLICY mine ON message USING (true)",
        "ALTER ROLE cloister_tenant BYPASSRLS",
        "TRUNCATE message",
        "CREATE TABLE mine (id BIGINT)",
        "SELECT * FROM generation",
        "SELECT * FROM schema_migration",
    ],
)
def test_the_tenants_role_cannot_open_the_walls(tenant_connection: Connection, statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        tenant_connection.execute(statement.encode())


@pytest.mark.usefixtures("ours")
def test_turning_row_security_off_fails_the_query_rather_than_opening_it(tenant_connection: Connection) -> None:
    tenant_connection.execute("SET row_security = off")
    with pytest.raises(errors.InsufficientPrivilege):
        count(tenant_connection, "message")


def test_reset_role_is_the_only_way_out(tenant_connection: Connection, ours: Household, theirs: Household) -> None:
    enter(tenant_connection, ours)
    tenant_connection.execute("RESET ROLE")
    found = tenant_connection.execute("SELECT tenant_id FROM tenant").fetchall()
    assert {tenant for (tenant,) in found} == {ours.tenant, theirs.tenant}


def test_maintenance_sees_every_tenant_but_owns_nothing(
    migrated_postgres: str, ours: Household, theirs: Household
) -> None:
    with psycopg.connect(migrated_postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(MAINTENANCE_ROLE)))
        found = connection.execute("SELECT tenant_id FROM tenant").fetchall()
        assert {tenant for (tenant,) in found} == {ours.tenant, theirs.tenant}
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("ALTER TABLE message DISABLE ROW LEVEL SECURITY")


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("ALTER TABLE message DISABLE ROW LEVEL SECURITY", "Row-level security is not enabled on message."),
        ("ALTER TABLE pool NO FORCE ROW LEVEL SECURITY", "Row-level security is not forced on pool."),
        ("ALTER TABLE session OWNER TO cloister_tenant", "cloister_tenant is, or belongs to, the owner of session."),
        (
            "CREATE POLICY open_door ON project USING (true)",
            "project has 2 policies for cloister_tenant, and needs exactly one.",
        ),
        (
            "CREATE TABLE note (tenant_id BIGINT)",
            "Row-level security is not enabled on note.",
        ),
    ],
)
def test_check_finds_a_gap_in_the_walls(
    postgres_database: PostgresDatabase, owner: Connection, statement: str, finding: str
) -> None:
    owner.execute(statement.encode())
    assert finding in postgres_database.maintenance.check()


def test_check_finds_a_role_that_row_level_security_does_not_bind() -> None:
    (finding,) = breaches([], role_is_unbound=True)
    assert "BYPASSRLS" in finding
