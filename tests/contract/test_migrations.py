"""Migrations on both engines: once, in order, whole or not at all, whoever comes first."""

import re
import subprocess
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from cloister.domain.errors import StorageError, StorageTooNew
from cloister.domain.identifiers import SessionId
from cloister.domain.usage import Limits
from cloister.storage import migrate
from cloister.storage.interface import Database, Transaction
from cloister.storage.migrate import Migration
from cloister.storage.postgres import database as postgres
from cloister.storage.postgres.database import open_postgres
from cloister.storage.postgres.row_security import ROLES
from cloister.storage.queries import load_queries
from cloister.storage.sqlite import database as sqlite
from cloister.storage.sqlite.database import DATABASE_FILE, open_sqlite
from cloister.storage.stores.usage import Counts, UsageStore
from support.databases.postgres_server import PostgresServer
from support.databases.rows import Household, insert_conversation, insert_message, insert_session, new_household

Dump = list[tuple[object, ...]]

# The key of notifications, which SQLite does not have.
ONLY_IN_POSTGRES = {"notification_key"}
POSTGRES_DUMP = b"""
SELECT 'column', table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
WHERE table_schema = 'public'
UNION ALL
SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid), NULL, NULL FROM pg_constraint
WHERE connamespace = 'public'::regnamespace
UNION ALL
SELECT 'index', tablename, indexname, indexdef, NULL, NULL FROM pg_indexes WHERE schemaname = 'public'
UNION ALL
SELECT 'policy', tablename, policyname, roles::text, qual, cmd FROM pg_policies WHERE schemaname = 'public'
UNION ALL
SELECT 'grant', table_name, grantee, privilege_type, NULL, NULL FROM information_schema.role_table_grants
WHERE table_schema = 'public'
UNION ALL
SELECT 'security', relname, relrowsecurity::text, relforcerowsecurity::text, NULL, NULL FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
UNION ALL
SELECT 'function', proname, pg_get_functiondef(oid), NULL, NULL, NULL FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL
SELECT 'applied', version::text, name, checksum, NULL, NULL FROM schema_migration
ORDER BY 1, 2, 3, 4
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a database is or will be: `open` migrates it, `dump` tells its schema, `rows` runs SQL."""

    engine: str
    address: str
    open: Callable[[], Database]
    dump: Callable[[], Dump]
    rows: Callable[[str], Dump]

    @property
    def postgres(self) -> bool:
        return self.engine == "postgres"


def sqlite_rows(file: str, statement: str) -> Dump:
    connection: Any = apsw.Connection(file)
    rows = connection.execute(statement).fetchall()
    connection.close()
    return rows


def sqlite_place(directory: Path) -> Place:
    file = str(directory / DATABASE_FILE)

    def dump() -> Dump:
        schema = sqlite_rows(file, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")
        return schema + sqlite_rows(file, "SELECT * FROM schema_migration ORDER BY version")

    def rows(statement: str) -> Dump:
        return sqlite_rows(file, statement)

    return Place(engine="sqlite", address=str(directory), open=lambda: open_sqlite(directory), dump=dump, rows=rows)


def postgres_place(url: str) -> Place:
    def dump() -> Dump:
        with psycopg.connect(url) as connection:
            return connection.execute(POSTGRES_DUMP).fetchall()

    def rows(statement: str) -> Dump:
        with psycopg.connect(url) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    return Place(engine="postgres", address=url, open=lambda: open_postgres(url), dump=dump, rows=rows)


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[tuple[Place, Place]]:
    """Two empty places of one engine."""
    if request.param == "sqlite":
        yield sqlite_place(tmp_path / "one"), sqlite_place(tmp_path / "two")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.empty_database() as one, server.empty_database() as two:
        yield postgres_place(one), postgres_place(two)


@pytest.fixture
def place(places: tuple[Place, Place]) -> Place:
    return places[0]


def opened(place: Place) -> Dump:
    place.open().close()
    return place.dump()


def known(place: Place) -> list[Migration]:
    return list(migrate.migrations(postgres=place.postgres))


def with_steps(monkeypatch: pytest.MonkeyPatch, steps: list[Migration]) -> None:
    def fixed(*, postgres: bool) -> list[Migration]:
        return steps

    monkeypatch.setattr(migrate, "migrations", fixed)


def next_step(place: Place, text: str) -> Migration:
    return Migration(version=known(place)[-1].version + 1, name="later", text=text)


def test_migrating_step_by_step_equals_migrating_at_once(
    places: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    stepwise, at_once = places
    steps = [
        *known(stepwise),
        next_step(stepwise, "CREATE TABLE later (id BIGINT); CREATE INDEX later_id ON later (id);"),
    ]
    for applied in range(1, len(steps) + 1):
        with_steps(monkeypatch, steps[:applied])
        opened(stepwise)
    with_steps(monkeypatch, steps)
    assert stepwise.dump() == opened(at_once)


def test_opening_a_database_again_changes_nothing(place: Place) -> None:
    first = opened(place)
    assert opened(place) == first


def test_every_known_step_is_recorded_with_its_checksum(place: Place) -> None:
    dump = {str(field) for row in opened(place) for field in row}
    for step in known(place):
        assert {str(step.version), step.name, step.checksum} <= dump
    database = place.open()
    assert database.maintenance.schema_version() == known(place)[-1].version
    database.close()


def test_a_database_of_a_newer_cloister_is_refused_and_left_alone(place: Place) -> None:
    opened(place)
    place.rows("INSERT INTO schema_migration (version, name, checksum) VALUES (9999, 'from_the_future', 'x')")
    before = place.dump()
    with pytest.raises(StorageTooNew, match="9999"):
        place.open()
    assert place.dump() == before


def test_a_step_applied_in_another_form_is_refused(place: Place) -> None:
    opened(place)
    place.rows("UPDATE schema_migration SET checksum = 'another' WHERE version = 1")
    with pytest.raises(StorageTooNew, match="another form"):
        place.open()


def test_a_step_that_fails_leaves_the_database_as_it_was(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = opened(place)
    broken = next_step(place, "CREATE TABLE half_done (id BIGINT); CREATE TABLE tenant (id BIGINT);")
    with_steps(monkeypatch, [*known(place), broken])
    with pytest.raises(StorageError, match="already exists"):
        place.open()
    assert place.dump() == before


def test_threads_opening_a_new_database_at_once_all_succeed(place: Place) -> None:
    with ThreadPoolExecutor(4) as threads:
        databases = [opening.result() for opening in [threads.submit(place.open) for _ in range(4)]]
    for database in databases:
        assert database.maintenance.check() == []
        database.close()


def test_processes_opening_a_new_database_at_once_all_succeed(place: Place) -> None:
    program = (
        "import sys, pathlib\n"
        f"from cloister.storage.{place.engine}.database import open_{place.engine} as open_database\n"
        f"open_database({'sys.argv[1]' if place.postgres else 'pathlib.Path(sys.argv[1])'}).close()\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, place.address], stderr=subprocess.PIPE) for _ in range(3)
    ]
    for process in running:
        _, complaint = process.communicate()
        assert process.returncode == 0, complaint.decode()
    place.open().close()


def test_new_databases_of_one_server_can_be_set_up_at_once(postgres_server: PostgresServer) -> None:
    """Roles belong to the server, so the setups of two databases meet there."""
    with postgres_server.empty_database() as one, postgres_server.empty_database() as two:
        with ThreadPoolExecutor(2) as threads:
            databases = list(threads.map(open_postgres, (one, two)))
        for database in databases:
            assert database.maintenance.check() == []
            database.close()


def insert_old_data(transaction: Transaction, household: Household) -> None:
    """What version 001 could hold: two sessions of one part with three messages, an empty one of the next, and a deleted one."""
    insert_conversation(transaction, household)
    session = household.session
    for number, name in ((session + 16, "second"), (session + 1, "empty"), (session + 32, "deleted")):
        insert_session(transaction, household, SessionId(number), name)
    insert_message(transaction, SessionId(session + 16), 1)
    insert_message(transaction, SessionId(session + 16), 2)
    for number, messages in ((session, 1), (session + 16, 2)):
        transaction.execute("old_count", session_id=number, messages=messages)
    transaction.execute("old_burial", session_id=session + 32)


OLD_QUERIES = {
    "old_count": "UPDATE session SET message_count = :messages WHERE tenant_id = :tenant_id AND session_id = :session_id",
    "old_burial": "UPDATE session SET external_id = NULL, project_id = NULL, pool_id = NULL "
    "WHERE tenant_id = :tenant_id AND session_id = :session_id",
    "insert_message": "INSERT INTO message (message_id, tenant_id, session_id, role, status, author, created_at, generation, "
    "indexed_at, vector, terms, episode_id, tokens, metadata, content) VALUES (:message_id, :tenant_id, :session_id, :role, "
    ":status, :author, :created_at, :generation, :indexed_at, :vector, :terms, :episode_id, :tokens, :metadata, :content)",
}


def with_old_queries(*, postgres: bool) -> dict[str, str]:
    """With those that today's queries have no words for any more: they name columns that version 001 did not have."""
    old = {name: re.sub(r":(\w+)", r"%(\1)s", text) if postgres else text for name, text in OLD_QUERIES.items()}
    return {**load_queries(postgres=postgres), **old}


def with_version(past: pytest.MonkeyPatch, place: Place, version: int) -> None:
    """As a Cloister that knew no more migrations than up to this one."""
    with_steps(past, [step for step in known(place) if step.version <= version])
    for module in (sqlite, postgres):
        past.setattr(module, "load_queries", with_old_queries)


def counts_after(place: Place, households: list[Household]) -> list[Counts]:
    database = place.open()
    try:
        assert database.maintenance.check() == []
        found: list[Counts] = []
        for household in households:
            with database.read(household.reach) as transaction:
                found.append(UsageStore(transaction).counts())
        return found
    finally:
        database.close()


def old_households(place: Place, monkeypatch: pytest.MonkeyPatch) -> list[Household]:
    """Two tenants in a database of version 001, which the next opening brings up to date; and one that is not there."""
    with monkeypatch.context() as past:
        with_version(past, place, 1)
        database = place.open()
        households = [new_household(), new_household()]
        for household in households:
            database.write(household.reach, lambda transaction, one=household: insert_old_data(transaction, one))
        database.close()
    return [*households, new_household()]


COUNTS = [
    Counts(messages=messages, sessions=sessions, limits=Limits()) for messages, sessions in ((3, 3), (3, 3), (0, 0))
]


def test_org_7_what_was_kept_before_it_was_counted_is_counted_by_the_migration(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    households = old_households(place, monkeypatch)
    assert counts_after(place, households) == COUNTS
    rows = place.rows("SELECT tenant_id, part, sessions, messages FROM tenant_usage")
    assert sorted(rows) == sorted(
        (one.tenant, (one.session + further) % 16, sessions, messages)
        for one in households[:2]
        for further, sessions, messages in ((0, 2, 3), (1, 1, 0))
    )
    assert counts_after(place, households) == COUNTS, "opening it again counts nothing twice"


@pytest.mark.parametrize("inherits", ["INHERIT", "NOINHERIT"])
def test_org_7_the_migration_of_an_owner_that_row_level_security_binds_counts_all_tenants(
    empty_postgres: str, login: str, inherits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such an owner sees no tenant's rows, or all of them where it inherits the maintenance role."""
    everyone = postgres_place(empty_postgres)
    for role in ROLES:
        everyone.rows(f"DO $$ BEGIN IF to_regrole('{role}') IS NULL THEN CREATE ROLE {role} NOLOGIN; END IF; END $$")
    everyone.rows(f"ALTER ROLE {login} {inherits}")
    everyone.rows(f"GRANT {', '.join(ROLES)} TO {login}; GRANT USAGE, CREATE ON SCHEMA public TO {login}")
    place = postgres_place(make_conninfo(empty_postgres, user=login))
    households = old_households(place, monkeypatch)
    assert counts_after(place, households) == COUNTS


def old_derived(place: Place, rows: Callable[[str], Dump], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a database of version 004: a memory whose vector is known, one that a slow embedder left without, and an entity."""
    household = new_household()
    with monkeypatch.context() as past:
        with_version(past, place, 4)
        database = place.open()
        database.write(household.reach, lambda transaction: insert_conversation(transaction, household))
        database.close()
    columns = "tenant_id, digest, created_at, generation, terms, vector"
    for number, vector in ((1, "digest"), (2, "NULL")):
        digest = f"CAST('{number}' AS {'BYTEA' if place.postgres else 'BLOB'})"
        rows(
            f"INSERT INTO memory (memory_id, session_id, content, {columns}) SELECT {number}, {household.session:d}, 'x', "
            f"{household.tenant:d}, digest, 7, 1, digest, {vector} FROM (SELECT {digest} AS digest) AS made"
        )
        rows(
            f"INSERT INTO entity (entity_id, project_id, name, type, {columns}) SELECT {number}, {household.project:d}, 'x', "
            f"'other', {household.tenant:d}, digest, 7, 1, digest, {vector} FROM (SELECT {digest} AS digest) AS made"
        )


def waiting_after(place: Place, rows: Callable[[str], Dump]) -> list[Dump]:
    place.open().close()
    return [
        sorted(rows("SELECT memory_id, coalesce(indexed_at, 0) FROM memory")),
        sorted(rows("SELECT entity_id, coalesce(indexed_at, 0), revision FROM entity")),
        rows("SELECT entity_id FROM index_removal"),
    ]


# A memory without a vector waits for it; entities all wait, as they may have to be put into an index outside the database.
WAITING = [[(1, 7), (2, 0)], [(1, 0, 0), (2, 0, 0)], [(0,)]]


def test_what_derived_before_it_was_queued_waits_after_the_migration(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_derived(place, place.rows, monkeypatch)
    assert waiting_after(place, place.rows) == WAITING
    assert waiting_after(place, place.rows) == WAITING


def test_the_migration_of_an_owner_that_row_level_security_binds_queues_what_derives_of_all_tenants(
    empty_postgres: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = postgres_place(empty_postgres)
    for role in ROLES:
        everyone.rows(f"DO $$ BEGIN IF to_regrole('{role}') IS NULL THEN CREATE ROLE {role} NOLOGIN; END IF; END $$")
    everyone.rows(f"GRANT {', '.join(ROLES)} TO {login}; GRANT USAGE, CREATE ON SCHEMA public TO {login}")
    place = postgres_place(make_conninfo(empty_postgres, user=login))
    old_derived(place, everyone.rows, monkeypatch)
    assert waiting_after(place, everyone.rows) == WAITING


def truth_after(place: Place, rows: Callable[[str], Dump], monkeypatch: pytest.MonkeyPatch) -> Dump:
    """Of memories of version 004: one that was added by hand, and one of a message that was said before it was extracted."""
    old_derived(place, rows, monkeypatch)
    rows("INSERT INTO memory_source (tenant_id, message_id, memory_id) SELECT tenant_id, message_id, 2 FROM message")
    ((said,),) = rows("SELECT created_at FROM message")
    place.open().close()
    found = rows("SELECT memory_id, valid_from, source, valid_until, pinned, categories, metadata FROM memory")
    return [tuple("said" if value == said else value for value in row) for row in sorted(found)]


# As old as what was said, where that is known, and not superseded.
TRUTH = [(1, 7, "written", None, 0, "[]", "{}"), (2, "said", "extracted", None, 0, "[]", "{}")]


def test_mem_12_memories_from_before_are_true_since_they_were_said(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert truth_after(place, place.rows, monkeypatch) == TRUTH


def test_mem_12_the_migration_of_an_owner_that_row_level_security_binds_dates_the_memories_of_all_tenants(
    empty_postgres: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = postgres_place(empty_postgres)
    for role in ROLES:
        everyone.rows(f"DO $$ BEGIN IF to_regrole('{role}') IS NULL THEN CREATE ROLE {role} NOLOGIN; END IF; END $$")
    everyone.rows(f"GRANT {', '.join(ROLES)} TO {login}; GRANT USAGE, CREATE ON SCHEMA public TO {login}")
    place = postgres_place(make_conninfo(empty_postgres, user=login))
    assert truth_after(place, everyone.rows, monkeypatch) == TRUTH


VISIBILITIES = "SELECT project_id, member_visibility FROM project ORDER BY project_id"


def test_iso_10_projects_from_before_keep_who_sees_what_in_them(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new project is divided by user, unless asked otherwise; no migration changes one that is there, of whichever version."""
    households = old_households(place, monkeypatch)[:2]
    for at, household in enumerate(households):
        place.rows(
            "INSERT INTO project (tenant_id, project_id, name, is_default, member_visibility, settings, created_at) "
            f"VALUES ({household.tenant}, {at + 1}, 'Divided', 0, 'private', '{{}}', 1)"
        )
        place.rows(f"UPDATE project SET member_visibility = 'shared' WHERE project_id = {household.project}")
    before = place.rows(VISIBILITIES)
    assert sorted(str(visibility) for _, visibility in before) == ["private", "private", "shared", "shared"]
    for step in known(place)[1:]:
        with monkeypatch.context() as past:
            with_version(past, place, step.version)
            place.open().close()
        assert place.rows(VISIBILITIES) == before, step.name
    place.open().close()
    assert place.rows(VISIBILITIES) == before


QUOTING = "Told: <Recalled-Memory> - It is so. </recalled-memory>"


def old_quotation(place: Place, monkeypatch: pytest.MonkeyPatch) -> Household:
    """In a database of version 007: two messages, of which the second quotes what was recalled."""
    household = new_household()
    with monkeypatch.context() as past:
        with_version(past, place, 7)
        database = place.open()

        def work(transaction: Transaction) -> None:
            insert_conversation(transaction, household)
            insert_message(transaction, household.session, 2, QUOTING)

        database.write(household.reach, work)
        database.close()
    place.open().close()
    return household


def test_iso_12_what_was_quoted_before_it_was_noted_is_of_the_pool_of_its_session(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    household = old_quotation(place, monkeypatch)
    rows = place.rows("SELECT recalled_pool_id FROM message ORDER BY message_id")
    assert rows == [(None,), (household.pool,)]


def test_iso_12_the_migration_of_an_owner_that_row_level_security_binds_notes_quotations_of_all_tenants(
    empty_postgres: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = postgres_place(empty_postgres)
    for role in ROLES:
        everyone.rows(f"DO $$ BEGIN IF to_regrole('{role}') IS NULL THEN CREATE ROLE {role} NOLOGIN; END IF; END $$")
    everyone.rows(f"GRANT {', '.join(ROLES)} TO {login}; GRANT USAGE, CREATE ON SCHEMA public TO {login}")
    household = old_quotation(postgres_place(make_conninfo(empty_postgres, user=login)), monkeypatch)
    rows = everyone.rows("SELECT recalled_pool_id FROM message ORDER BY message_id")
    assert rows == [(None,), (household.pool,)]


LEAVES = "SELECT leaf_id FROM session WHERE message_count > 0"


def old_conversation(place: Place, rows: Callable[[str], Dump], monkeypatch: pytest.MonkeyPatch) -> Household:
    """In a database from before there were branches: a session with one message."""
    household = new_household()
    with monkeypatch.context() as past:
        with_version(past, place, 32)
        database = place.open()
        database.write(household.reach, lambda transaction: insert_conversation(transaction, household))
        database.close()
    rows("UPDATE session SET message_count = 1")
    place.open().close()
    return household


def test_a_session_from_before_branches_has_its_last_message_as_leaf(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    household = old_conversation(place, place.rows, monkeypatch)
    assert place.rows(LEAVES) == [(household.message,)]


def test_the_migration_of_an_owner_that_row_level_security_binds_finds_the_leaves_of_all_tenants(
    empty_postgres: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = postgres_place(empty_postgres)
    for role in ROLES:
        everyone.rows(f"DO $$ BEGIN IF to_regrole('{role}') IS NULL THEN CREATE ROLE {role} NOLOGIN; END IF; END $$")
    everyone.rows(
        f"ALTER ROLE {login} NOINHERIT; GRANT {', '.join(ROLES)} TO {login}; GRANT USAGE, CREATE ON SCHEMA public TO {login}"
    )
    place = postgres_place(make_conninfo(empty_postgres, user=login))
    household = old_conversation(place, everyone.rows, monkeypatch)
    assert everyone.rows(LEAVES) == [(household.message,)]


def test_both_engines_have_the_same_tables_and_columns(tmp_path: Path, empty_postgres: str) -> None:
    opened(sqlite_place(tmp_path))
    in_sqlite = sqlite_rows(
        str(tmp_path / DATABASE_FILE),
        'SELECT t.name, c.name, c.type, c."notnull" OR c.pk FROM pragma_table_list AS t, pragma_table_info(t.name) AS c '
        "WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'",
    )
    types = {"BIGINT": "bigint", "INTEGER": "bigint", "TEXT": "text", "BLOB": "bytea"}
    in_postgres = [
        row[1:5]
        for row in opened(postgres_place(empty_postgres))
        if row[0] == "column" and row[1] not in ONLY_IN_POSTGRES
    ]
    assert {(table, column, types[str(kind)], bool(required)) for table, column, kind, required in in_sqlite} == {
        (table, column, kind, nullable == "NO") for table, column, kind, nullable in in_postgres
    }


def test_both_engines_have_the_same_indexes(tmp_path: Path, empty_postgres: str) -> None:
    opened(sqlite_place(tmp_path))
    in_sqlite = sqlite_rows(
        str(tmp_path / DATABASE_FILE),
        "SELECT tbl_name, name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    dump = opened(postgres_place(empty_postgres))
    constraints = {row[2] for row in dump if row[0] == "constraint"}
    assert set(in_sqlite) == {row[1:3] for row in dump if row[0] == "index" and row[2] not in constraints}
