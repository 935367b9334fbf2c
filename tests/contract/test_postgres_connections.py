"""PostgreSQL as a server that can be away, full, busy or strict about rights: what the driver says becomes what to do."""

import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import make_conninfo

from cloister.domain.errors import StorageBusy, StorageError, StorageFull, StorageUnavailable
from cloister.storage.interface import Transaction
from cloister.storage.postgres import connections as postgres_connections
from cloister.storage.postgres import row_security
from cloister.storage.postgres.connections import WRITE_ATTEMPTS
from cloister.storage.postgres.database import PostgresDatabase, open_postgres
from support.databases.postgres_server import PostgresServer
from support.databases.rows import Household, insert_message, settle


def administer(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def test_an_unreachable_server_is_named_without_its_password() -> None:
    with pytest.raises(StorageUnavailable) as caught:
        open_postgres("postgresql://anna:hunter2@127.0.0.1:9/cloister")
    assert "127.0.0.1:9" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value.__cause__, psycopg.OperationalError)
    assert "hunter2" not in str(caught.value.__cause__)


@pytest.mark.parametrize(
    "url",
    [
        "hunter2",
        "postgresql//anna:hunter2@host/db",
        "postgresql://anna:hunter2@[host/db",
        "postgresql://anna:hunter2/x@host/db",
        "postgresql://anna:hunter2@host:port/db",
    ],
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(StorageUnavailable, match="postgresql://user:password@host") as caught:
        open_postgres(url)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_database_is_named(postgres_server: PostgresServer) -> None:
    with pytest.raises(StorageUnavailable, match="no_such_database"):
        open_postgres(postgres_server.url("no_such_database"))


def test_a_missing_driver_says_what_to_install() -> None:
    program = "import sys; sys.modules['psycopg'] = None; import cloister.storage.postgres.database"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "StorageUnavailable" in run.stderr
    assert "pip install cloister[postgres]" in run.stderr


def test_connections_that_broke_while_idle_are_replaced_unnoticed(
    postgres_database: PostgresDatabase, migrated_postgres: str
) -> None:
    household = settle(postgres_database)
    administer(
        migrated_postgres,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    with postgres_database.read(household.reach) as transaction:
        assert transaction.row("tenant") is not None
    postgres_database.write(household.reach, lambda other: insert_message(other, household.session, 2))


def test_a_connection_that_breaks_at_work_is_an_error_and_the_next_one_works(
    postgres_database: PostgresDatabase, migrated_postgres: str
) -> None:
    household = settle(postgres_database)

    def work(transaction: Transaction) -> None:
        insert_message(transaction, household.session, 2)
        administer(
            migrated_postgres,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'"
            " AND datname = current_database()",
        )
        insert_message(transaction, household.session, 3)

    with pytest.raises(StorageUnavailable):
        postgres_database.write(household.reach, work)
    with postgres_database.read(household.reach) as transaction:
        assert len(transaction.rows("pool_rows", pool_id=household.pool, generation=1)) == 1


def test_a_statement_that_failed_and_was_ignored_fails_the_whole_write(postgres_database: PostgresDatabase) -> None:
    household = settle(postgres_database)

    def work(transaction: Transaction) -> None:
        insert_message(transaction, household.session, 2)
        with pytest.raises(errors.UniqueViolation):
            insert_message(transaction, household.session, 2)

    with pytest.raises(StorageError, match="nothing of it was kept"):
        postgres_database.write(household.reach, work)
    with postgres_database.read(household.reach) as transaction:
        assert len(transaction.rows("pool_rows", pool_id=household.pool, generation=1)) == 1


def test_a_transaction_kept_past_its_end_can_do_nothing(postgres_database: PostgresDatabase) -> None:
    household = settle(postgres_database)
    with postgres_database.read(household.reach) as kept:
        rows = kept.stream("pool_rows", pool_id=household.pool, generation=1)
    with pytest.raises(StorageError, match="has ended"):
        kept.row("tenant")
    with pytest.raises(StorageError, match="has ended"):
        next(rows)


def test_writers_that_deadlock_both_land(postgres_database: PostgresDatabase) -> None:
    household = settle(postgres_database)
    both_hold_one = threading.Barrier(2)
    tries: list[str] = []

    def touch_both(first: str, second: str) -> None:
        def work(transaction: Transaction) -> None:
            touch(transaction, household, first)
            tries.append(first)
            if len(tries) <= 2:
                both_hold_one.wait(30)
            touch(transaction, household, second)

        postgres_database.write(household.reach, work)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(touch_both, ("pool", "project"), ("project", "pool")))
    assert len(tries) == 3
    with postgres_database.read(household.reach) as transaction:
        assert transaction.row("pool_state", pool_id=household.pool) == (2, 0)


def touch(transaction: Transaction, household: Household, what: str) -> None:
    if what == "pool":
        transaction.row("raise_pool_version", pool_id=household.pool)
    else:
        transaction.execute("rename_project", project_id=household.project, name="Orchard")


def test_a_conflict_that_never_ends_is_busy_after_a_few_tries(
    postgres_database: PostgresDatabase, migrated_postgres: str
) -> None:
    household = settle(postgres_database)
    fail_messages_with(migrated_postgres, "40001")
    tries: list[int] = []

    def work(transaction: Transaction) -> None:
        tries.append(1)
        insert_message(transaction, household.session, 2)

    with pytest.raises(StorageBusy):
        postgres_database.write(household.reach, work)
    assert len(tries) == WRITE_ATTEMPTS


def test_a_full_disk_is_storage_full(postgres_database: PostgresDatabase, migrated_postgres: str) -> None:
    household = settle(postgres_database)
    fail_messages_with(migrated_postgres, "53100")
    with pytest.raises(StorageFull):
        postgres_database.write(household.reach, lambda other: insert_message(other, household.session, 2))


def fail_messages_with(url: str, state: str) -> None:
    administer(
        url,
        f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '{state}'; END $$",
        "CREATE TRIGGER fail BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION fail()",
    )


def test_more_work_than_connections_is_busy(migrated_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_connections, "BUSY_SECONDS", 0.2)
    database = open_postgres(migrated_postgres, connections=1)
    household = settle(database)
    with (
        database.read(household.reach),
        pytest.raises(StorageBusy, match="All connections of one tenant"),
        database.read(household.reach),
    ):
        pass
    database.close()


def test_a_row_locked_for_too_long_is_busy(migrated_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_connections, "LOCK_SECONDS", 0.2)
    database = open_postgres(migrated_postgres)
    household = settle(database)
    with psycopg.connect(migrated_postgres) as holder:
        holder.execute("SELECT * FROM session FOR UPDATE")
        with pytest.raises(StorageBusy):
            database.write(household.reach, lambda other: other.row("lock_session", external_id="first"))
    database.close()


def test_a_commit_is_durable_even_where_the_server_is_set_to_forget(migrated_postgres: str) -> None:
    administer(migrated_postgres, f"ALTER DATABASE {name_of(migrated_postgres)} SET synchronous_commit = off")
    database = open_postgres(migrated_postgres)
    with database._writes.transaction("BEGIN", writes=True) as connection:  # pyright: ignore[reportPrivateUsage]
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    database.close()


def name_of(url: str) -> str:
    with psycopg.connect(url) as connection:
        return connection.info.dbname


def test_a_login_without_rights_is_told_what_an_administrator_must_run(empty_postgres: str, login: str) -> None:
    url = make_conninfo(empty_postgres, user=login)
    with pytest.raises(StorageError, match="Let an administrator run") as caught:
        open_postgres(url)
    assert isinstance(caught.value.__cause__, errors.InsufficientPrivilege)
    administer(empty_postgres, *re.findall(r"(?:CREATE|GRANT) [^;]+;", str(caught.value)))
    database = open_postgres(url)
    settle(database)
    assert database.maintenance.check() == []
    database.close()


def test_the_administrator_is_asked_only_for_roles_that_are_missing() -> None:
    asked = row_security.administration(
        login='"app"', owner=None, schema="public", existing={row_security.TENANT_ROLE}, version=180_000
    )
    assert "CREATE ROLE cloister_maintenance NOLOGIN;" in asked
    assert "CREATE ROLE cloister_tenant" not in asked


@pytest.mark.usefixtures("migrated_postgres")
def test_a_login_that_may_grant_the_roles_sets_up_a_database_alone(empty_postgres: str, login: str) -> None:
    administer(
        empty_postgres,
        f"ALTER ROLE {login} CREATEROLE",
        f"GRANT cloister_tenant, cloister_maintenance TO {login} WITH ADMIN OPTION",
        f"GRANT CREATE ON SCHEMA public TO {login}",
    )
    database = open_postgres(make_conninfo(empty_postgres, user=login))
    settle(database)
    database.close()


def test_a_login_that_owns_nothing_works_on_a_database_set_up_by_another(empty_postgres: str, login: str) -> None:
    open_postgres(empty_postgres).close()
    url = make_conninfo(empty_postgres, user=login)
    with pytest.raises(StorageError, match="open the database once as postgres") as caught:
        open_postgres(url)
    assert "ON SCHEMA" not in str(caught.value)
    administer(empty_postgres, *re.findall(r"(?:CREATE|GRANT) [^;]+;", str(caught.value)))
    database = open_postgres(url)
    household = settle(database)
    with database.read(household.reach) as transaction:
        assert transaction.row("tenant") is not None
    assert database.maintenance.check() == []
    database.close()
