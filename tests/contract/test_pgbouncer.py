"""PostgreSQL behind a real pgbouncer in transaction mode: each transaction may run on another connection of the server, which was
another client's before and will be again."""

import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from cloister.domain.errors import StorageUnavailable
from cloister.domain.events import Event, reset
from cloister.domain.identifiers import TenantId
from cloister.domain.maintenance.backup import no_progress
from cloister.domain.timestamps import now
from cloister.services.conversations.sessions import SessionFields
from cloister.storage.interface import Transaction
from cloister.storage.postgres.database import PostgresDatabase, open_postgres
from cloister.storage.postgres.row_security import MAINTENANCE_ROLE, TENANT_ROLE
from support.databases.engines import postgres_engine
from support.databases.pgbouncer import PgBouncer, running_pgbouncer
from support.databases.postgres_server import PostgresServer
from support.databases.rows import Household, insert_message, settle
from support.waiting import eventually

STATE = """
SELECT current_user = session_user, coalesce(current_setting('cloister.tenant', true), ''), current_setting('lock_timeout'),
    current_setting('cursor_tuple_fraction'), (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_cursors),
    (SELECT count(*) FROM pg_listening_channels()), (
        SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND d.datname = current_database()
    )
"""
CLEAN = (True, "", "0", "0.1", 0, 0, 0, 0)
Heard = list[tuple[TenantId, Sequence[Event]]]


@pytest.fixture(scope="module")
def one_connection(postgres_server: PostgresServer, pgbouncer_program: None) -> Generator[PgBouncer]:
    """All clients of a database share one connection of the server."""
    del pgbouncer_program
    with running_pgbouncer(postgres_server.url("postgres"), server_connections=1) as pooler:
        yield pooler


@pytest.fixture
def pooled_url(one_connection: PgBouncer, migrated_postgres: str) -> str:
    return one_connection.url(migrated_postgres)


@pytest.fixture
def pooled(pooled_url: str) -> Generator[PostgresDatabase]:
    with closing(open_postgres(pooled_url)) as database:
        yield database


def state(url: str) -> tuple[object, ...]:
    """What another client finds on the connection of the server."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as client:
        row = client.execute(STATE).fetchone()
        assert row is not None
        return row


def read_everything(database: PostgresDatabase, household: Household) -> None:
    with database.read(household.reach) as transaction:
        assert len(list(transaction.stream("pool_rows", pool_id=household.pool, generation=1))) == 1


def test_nothing_is_left_on_the_connection_for_the_next_client(
    pooled: PostgresDatabase, pooled_url: str, tmp_path: Path
) -> None:
    household = settle(pooled)
    for _ in range(8):
        read_everything(pooled, household)
        pooled.write(household.reach, lambda transaction: transaction.row("lock_session", external_id="first"))
        pooled.maintenance.rows("tenant_ids")
    pooled.maintenance.check_writes()
    assert pooled.maintenance.check() == []
    pooled.maintenance.backup(tmp_path / "backup", no_progress)
    pooled.notifier.publish(household.tenant, [reset(now(), wide=True)])
    with pytest.raises(ZeroDivisionError):
        pooled.write(household.reach, lambda transaction: (insert_message(transaction, household.session, 2), 1 / 0))
    assert state(pooled_url) == CLEAN


def test_a_migration_leaves_nothing_on_the_connection(one_connection: PgBouncer, empty_postgres: str) -> None:
    url = one_connection.url(empty_postgres)
    open_postgres(url).close()
    assert state(url) == CLEAN
    with closing(open_postgres(url)) as again:
        read_everything(again, settle(again))


@pytest.mark.parametrize("left", [MAINTENANCE_ROLE, TENANT_ROLE, "none"])
def test_what_another_client_left_on_the_connection_opens_nothing(
    pooled: PostgresDatabase, pooled_url: str, left: str
) -> None:
    """ISO-4: a role, a tenant and a statement that a client left there do not reach into our transactions."""
    ours, theirs = settle(pooled), settle(pooled)
    with psycopg.connect(pooled_url, autocommit=True) as client:
        client.execute(f"SET ROLE {left}".encode())
        client.execute(f"SET cloister.tenant = '{theirs.tenant:d}'".encode())
        client.execute("PREPARE _pg3_0 AS SELECT content FROM message")
        client.execute("PREPARE _pg3_1 AS SELECT content FROM message")
    for _ in range(8):
        with pooled.read(ours.reach) as transaction:
            assert [row[0] for row in transaction.rows("pool_rows", pool_id=ours.pool, generation=1)] == [ours.message]
            assert transaction.rows("pool_rows", pool_id=theirs.pool, generation=1) == []
        with pooled._reads.transaction("BEGIN") as connection:  # pyright: ignore[reportPrivateUsage]
            assert connection.execute("SELECT current_user").fetchone() == (TENANT_ROLE,)
        assert len(pooled.maintenance.rows("tenant_ids")) == 2
    with psycopg.connect(pooled_url, autocommit=True) as client:
        client.execute("DISCARD ALL")


def test_tenants_and_maintenance_that_take_turns_on_few_connections_stay_apart(
    postgres_server: PostgresServer, migrated_postgres: str, pgbouncer_program: None
) -> None:
    """ISO-4: each statement runs under the role and the tenant of its own transaction, whatever ran on the connection before."""
    del pgbouncer_program
    with running_pgbouncer(postgres_server.url("postgres"), server_connections=2) as pooler:
        url = pooler.url(migrated_postgres)
        with closing(open_postgres(url)) as first, closing(open_postgres(url)) as second:
            homes = [settle(first) for _ in range(4)]

            def read(number: int) -> None:
                database, home = (first, second)[number % 2], homes[number % 4]
                if number % 5 == 0:
                    assert len(database.maintenance.rows("tenant_ids")) == len(homes)
                    return
                with database._reads.transaction("BEGIN", tenant=home.tenant) as connection:  # pyright: ignore[reportPrivateUsage]
                    seen = connection.execute("SELECT DISTINCT tenant_id, current_user FROM message").fetchall()
                assert seen == [(home.tenant, TENANT_ROLE)]

            with ThreadPoolExecutor(8) as threads:
                list(threads.map(read, range(200)))


def test_every_write_of_eight_threads_lands_once(pooled: PostgresDatabase) -> None:
    household = settle(pooled)

    def write(number: int) -> None:
        pooled.write(household.reach, lambda transaction: insert_message(transaction, household.session, number + 2))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(64)))
    with pooled.read(household.reach) as transaction:
        assert len(transaction.rows("pool_rows", pool_id=household.pool, generation=1)) == 65


def test_a_pooler_that_was_killed_is_away_until_it_is_back(
    postgres_server: PostgresServer, migrated_postgres: str, pgbouncer_program: None
) -> None:
    del pgbouncer_program
    with (
        running_pgbouncer(postgres_server.url("postgres")) as pooler,
        closing(open_postgres(pooler.url(migrated_postgres))) as database,
    ):
        household = settle(database)
        pooler.kill()
        with pytest.raises(StorageUnavailable):
            read_everything(database, household)
        pooler.start()

        def is_back() -> bool:
            try:
                read_everything(database, household)
            except StorageUnavailable:
                return False
            return True

        eventually(is_back)


def test_notifications_arrive_at_the_address_of_the_server_itself(pooled_url: str, migrated_postgres: str) -> None:
    heard: Heard = []
    ready = threading.Event()
    event = reset(now(), wide=True)
    with (
        closing(open_postgres(pooled_url, direct=migrated_postgres)) as listening,
        closing(open_postgres(pooled_url)) as sending,
    ):
        listening.notifier.subscribe(lambda tenant, events: heard.append((tenant, events)), ready.set)
        assert ready.wait(30)
        sending.notifier.publish(TenantId(7), [event])
        eventually(lambda: bool(heard))
        assert heard == [(TenantId(7), [event])]
    assert state(pooled_url) == CLEAN


def test_without_that_address_changes_are_polled_for(pooled_url: str) -> None:
    """ISO-4: each tenant is given its own alone."""
    engine = postgres_engine(pooled_url)
    with engine.closing:
        here, other = engine.services(), engine.services()
        ours, theirs = settle(here.database, "ours").reach, settle(here.database, "theirs").reach
        with closing(here.events.subscribe(ours)) as stream, closing(here.events.subscribe(theirs)) as foreign:
            other.sessions.create(ours, SessionFields(external_id="rose"))
            eventually(lambda: stream.has_events)
            assert {(each.event.kind, each.event.session) for each in stream.read() if each.event} == {
                ("session.changed", "rose")
            }
            assert foreign.read() == []
    assert state(pooled_url) == CLEAN


def test_a_statement_of_a_direct_connection_is_still_prepared(migrated_postgres: str) -> None:
    with closing(open_postgres(migrated_postgres)) as database:
        household = settle(database)

        def prepared(transaction: Transaction) -> int:
            for _ in range(8):
                transaction.rows("pool_state", pool_id=household.pool)
            return 0

        database.write(household.reach, prepared)
        counts: list[int] = []
        for _ in range(20):  # the pool gives its connections in turn
            with database._writes.transaction("BEGIN") as connection:  # pyright: ignore[reportPrivateUsage]
                row = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
                counts.append(row[0] if row else 0)
        assert max(counts) > 0


def test_a_process_behind_it_takes_no_lock_which_would_stay_after_it(pooled: PostgresDatabase, pooled_url: str) -> None:
    pooled.process_locks.take(7)
    assert not pooled.process_locks.has(7)
    assert not pooled.process_locks.is_taken(7)
    assert state(pooled_url) == CLEAN


def test_a_process_with_the_address_of_the_server_itself_takes_its_lock_there(
    pooled_url: str, migrated_postgres: str
) -> None:
    with closing(open_postgres(pooled_url, direct=migrated_postgres)) as database:
        database.process_locks.take(7)
        assert database.process_locks.has(7)
        assert database.process_locks.is_taken(7)
