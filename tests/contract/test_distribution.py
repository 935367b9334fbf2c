"""OPS-5: `cloister distribute` on a real PostgreSQL with the names of Citus, which is in no package: what it calls, in which order
and as whom, what it refuses, and that a call that was interrupted can be repeated. What was tried on Citus itself is in
`docs/how-to/distribute.md`."""

import re
from collections.abc import Generator
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from cloister import Cloister
from cloister.domain.errors import InvalidRequest, StorageError
from cloister.storage.postgres.database import open_postgres
from cloister.storage.postgres.distribution import distribute_tables
from cloister.storage.postgres.row_security import ROLES
from support.clients.command_line import CommandLine
from support.databases.citus_catalogue import SHARDS, VERSION, CitusCatalogue
from support.databases.engines import TABLES
from support.databases.own_postgres import OwnPostgres, own_postgres
from support.servers.http_server import postgres_address

FOREIGN_KEYS = (
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'"
)
FORCED = "SELECT relname FROM pg_class WHERE relforcerowsecurity"
SETTINGS = "SELECT setrole::regrole::text, setconfig FROM pg_db_role_setting WHERE setrole <> 0"
NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Generator[OwnPostgres]:
    """Roles belong to a whole server, and these tests change them."""
    with own_postgres() as made:
        yield made


@pytest.fixture
def plain(server: OwnPostgres) -> Generator[CitusCatalogue]:
    """A database with a message, whose login has the rights that docs/how-to/deploy.md asks for, and no others."""
    login = f"login_{next(NUMBERS)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        role = sql.Identifier(login)
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))
        for each in map(sql.Identifier, ROLES):
            connection.execute(sql.SQL("GRANT {} TO {} WITH INHERIT FALSE, SET TRUE").format(each, role))
            connection.execute(sql.SQL("ALTER ROLE {} NOLOGIN").format(each))
    catalogue = CitusCatalogue(make_conninfo(server.url, dbname=login), login)
    with Cloister(postgres_address(catalogue.url)) as memory:
        memory.create_session("plans", user_id="zoe")
        memory.record("plans", "user", "I live in Graz.")
    yield catalogue
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(role))
        connection.execute(sql.SQL("DROP OWNED BY {}").format(role))
        connection.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.fixture
def closed(plain: CitusCatalogue) -> CitusCatalogue:
    """With Citus, and roles that cannot log in yet."""
    plain.install()
    return plain


@pytest.fixture
def citus(closed: CitusCatalogue) -> CitusCatalogue:
    """With Citus, and all rights."""
    for role in ROLES:
        closed.run(sql.SQL("ALTER ROLE {} LOGIN").format(sql.Identifier(role)))
    return closed


def state(catalogue: CitusCatalogue) -> tuple[list[tuple[Any, ...]], ...]:
    """What a distribution changes: calls, keys, forced policies, roles and settings."""
    queries = ("SELECT * FROM citus_call", FOREIGN_KEYS, FORCED, "SELECT rolname, rolcanlogin FROM pg_roles", SETTINGS)
    return tuple(sorted(catalogue.rows(query)) for query in queries)


def test_plain_postgresql_is_refused(plain: CitusCatalogue) -> None:
    with pytest.raises(InvalidRequest, match="CREATE EXTENSION citus"):
        distribute_tables(plain.url)


def test_a_coordinator_without_servers_is_refused(citus: CitusCatalogue) -> None:
    citus.run(b"DELETE FROM pg_dist_node WHERE shouldhaveshards")
    with pytest.raises(InvalidRequest, match="citus_add_node"):
        distribute_tables(citus.url)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_login_that_may_not_open_the_roles_is_refused_before_anything_is_changed(
    closed: CitusCatalogue, dry_run: bool
) -> None:
    before = state(closed)
    with pytest.raises(StorageError, match="administrator") as refused:
        distribute_tables(closed.url, dry_run=dry_run)
    assert state(closed) == before
    statements = re.findall(r"ALTER ROLE [^;]+;", str(refused.value))
    assert len(statements) == len(ROLES)
    for statement in statements:
        closed.run(statement.encode())
    assert distribute_tables(closed.url, dry_run=dry_run).tables


def test_a_login_that_may_open_the_roles_does_so(closed: CitusCatalogue) -> None:
    with psycopg.connect(closed.superuser_url, autocommit=True) as connection:
        login = sql.Identifier(str(conninfo_to_dict(closed.url)["user"]))
        connection.execute(sql.SQL("ALTER ROLE {} CREATEROLE").format(login))
        for role in map(sql.Identifier, ROLES):
            connection.execute(sql.SQL("GRANT {} TO {} WITH ADMIN TRUE").format(role, login))
    distribute_tables(closed.url)
    closed_roles = "SELECT rolname FROM pg_roles WHERE rolname = ANY (%s) AND NOT rolcanlogin"
    assert closed.rows(closed_roles, list(ROLES)) == []


def test_a_login_that_does_not_own_the_tables_is_refused(citus: CitusCatalogue, server: OwnPostgres) -> None:
    before = state(citus)
    citus.run(b"CREATE ROLE stranger LOGIN")
    try:
        with pytest.raises(StorageError, match=r"run this with the login login_\d+\."):
            distribute_tables(make_conninfo(citus.superuser_url, user="stranger"))
    finally:
        citus.run(b"DROP ROLE stranger")
    assert state(citus) == before


def test_a_dry_run_counts_all_rows_and_changes_nothing(citus: CitusCatalogue) -> None:
    """Row-level security hides the rows from the owner of the tables too."""
    before = state(citus)
    report = distribute_tables(citus.url, dry_run=True)
    assert state(citus) == before
    assert set(report.tables) == set(TABLES)
    assert (report.citus_version, report.servers, report.shards) == (VERSION, 2, SHARDS)
    assert (report.copied_tables, report.done_before) == (("embedding_model",), ())
    counted = [citus.rows(f"SELECT count(*) FROM {table}")[0][0] for table in (*TABLES, "embedding_model")]
    assert report.rows == sum(counted) > len(("tenant", "pool", "session", "message"))


def test_every_table_is_distributed_with_its_tenant(citus: CitusCatalogue) -> None:
    keys, forced = sorted(citus.rows(FOREIGN_KEYS)), sorted(citus.rows(FORCED))
    distribute_tables(citus.url)
    first, *others = citus.calls("create_distributed_table")
    assert first == ("tenant", "none")
    assert sorted(others) == sorted((table, "tenant") for table in TABLES if table != "tenant")
    assert citus.calls("create_reference_table") == [("embedding_model", None)]
    assert len(citus.transactions("create_distributed_table") | citus.transactions("create_reference_table")) == 1
    assert (sorted(citus.rows(FOREIGN_KEYS)), sorted(citus.rows(FORCED))) == (keys, forced)
    ((login, settings),) = citus.rows(SETTINGS)
    assert login.startswith("login_")
    assert settings == ["citus.propagate_set_commands=local"]


def test_the_rows_that_the_coordinator_had_are_removed_after_the_commit(citus: CitusCatalogue) -> None:
    distribute_tables(citus.url)
    removed = citus.calls("truncate_local_data_after_distributing_table")
    assert {table for table, _ in removed} == {*TABLES, "embedding_model"}
    distributed = citus.transactions("create_distributed_table")
    assert min(citus.transactions("truncate_local_data_after_distributing_table")) > max(distributed)


def test_a_failure_distributes_nothing(citus: CitusCatalogue) -> None:
    before = sorted(citus.rows(FOREIGN_KEYS)), sorted(citus.rows(FORCED))
    citus.fail("create_distributed_table", "session")
    with pytest.raises(StorageError, match="a server was lost"):
        distribute_tables(citus.url)
    assert citus.rows("SELECT * FROM pg_dist_partition") == []
    assert (sorted(citus.rows(FOREIGN_KEYS)), sorted(citus.rows(FORCED))) == before
    citus.recover()
    assert set(distribute_tables(citus.url).tables) == set(TABLES)


def test_a_call_that_was_interrupted_after_the_commit_is_repeated(citus: CitusCatalogue) -> None:
    citus.fail("truncate_local_data_after_distributing_table", "message")
    with pytest.raises(StorageError, match="a server was lost"):
        distribute_tables(citus.url)
    citus.recover()
    report = distribute_tables(citus.url)
    assert (report.tables, report.copied_tables, report.rows) == ((), (), 0)
    assert set(report.done_before) == {*TABLES, "embedding_model"}
    removed = {table for table, _ in citus.calls("truncate_local_data_after_distributing_table")}
    assert removed == {*TABLES, "embedding_model"}
    assert len(citus.calls("create_distributed_table")) == len(TABLES)


def test_a_table_that_came_later_is_distributed_alone(citus: CitusCatalogue) -> None:
    distribute_tables(citus.url)
    citus.run(b"CREATE TABLE late (tenant_id BIGINT, id BIGINT, PRIMARY KEY (tenant_id, id))")
    citus.run(sql.SQL("ALTER TABLE late OWNER TO {}").format(sql.Identifier(citus.rows(SETTINGS)[0][0])))
    citus.run(b"GRANT SELECT ON late TO cloister_maintenance")
    assert distribute_tables(citus.url).tables == ("late",)
    assert citus.calls("create_distributed_table")[-1] == ("late", "tenant")


def test_the_database_opens_and_answers_after_a_distribution(citus: CitusCatalogue) -> None:
    distribute_tables(citus.url)
    with Cloister(postgres_address(citus.url)) as memory:
        assert memory.search("Where do I live?", session_id="plans")[0].content == "I live in Graz."
    database = open_postgres(citus.url)
    assert (database.maintenance.check(), database.maintenance.excess_rights()) == ([], None)
    database.close()


def test_the_command_says_what_it_would_do_and_did(citus: CitusCatalogue) -> None:
    shell = CommandLine(data=postgres_address(citus.url))
    planned = shell.json("distribute", "--dry-run")
    assert (planned["dry_run"], set(planned["tables"])) == (True, set(TABLES))
    where = f"over 2 servers in {SHARDS} shards (Citus {VERSION})."
    what = f"{len(TABLES) + 1} tables with {planned['rows']} rows"
    assert " ".join(shell.run("distribute", "--dry-run").stdout.split()) == f"Would distribute {what} {where}"
    assert " ".join(shell.run("distribute").stdout.split()) == f"Distributed {what} {where}"
    assert " ".join(shell.run("distribute").stdout.split()) == f"All tables are distributed {where}"


def test_the_command_refuses_a_directory_and_a_server(
    plain: CitusCatalogue, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("data")
    assert "postgresql:// URL" in CommandLine(data=str(folder)).refusal("distribute")
    assert "CREATE EXTENSION citus" in CommandLine(data=postgres_address(plain.url)).refusal("distribute", "--dry-run")
