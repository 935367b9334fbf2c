"""PostgreSQL that is away, silent or blocked: callers are answered soon, reads go on, and nothing acknowledged is lost (OPS-1)."""

import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import psycopg
import pytest

from cloister.domain.errors import OutcomeUnknown, StorageBusy, StorageUnavailable
from cloister.storage.interface import Transaction
from cloister.storage.postgres.database import open_postgres
from support.databases.engines import at_once, postgres_engine
from support.databases.own_postgres import OwnPostgres, own_postgres
from support.databases.rows import insert_message, settle
from support.servers.http_server import Server, Tenant, serving
from support.waiting import eventually

WORDS: Any = {"role": "user", "content": "The heron stood by the pond."}
# Far above the two seconds that are promised, and far below what a caller waited before: fifteen, or for ever.
SOON = 8.0


@pytest.fixture(scope="module")
def postgres() -> Generator[OwnPostgres]:
    with own_postgres() as made:
        yield made


@pytest.fixture(scope="module")
def server(postgres: OwnPostgres) -> Generator[Server]:
    engine = postgres_engine(postgres.url)
    with engine.closing, serving(engine.services()) as running:
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    made = server.new_tenant()
    made.new_session("s")
    made.say("s", "Before.")
    return made


@contextmanager
def frozen(postgres: OwnPostgres) -> Generator[None]:
    postgres.freeze()
    try:
        yield
    finally:
        postgres.thaw()


def answered_soon(answer: httpx2.Response, code: str = "storage_unavailable") -> None:
    assert (answer.status_code, answer.json()["code"]) == (503, code)
    assert answer.headers["retry-after"] == "1"
    assert answer.elapsed.total_seconds() < SOON


def is_ready_again(server: Server) -> None:
    eventually(lambda: server.nobody.get("/readyz").status_code == 200, 30)


def said_in(tenant: Tenant) -> list[str]:
    return [each["content"] for each in tenant.admin.everything("/v1/sessions/s/messages")]


def test_ops_1_a_silent_server_is_answered_for_and_comes_back_by_itself(
    postgres: OwnPostgres, server: Server, tenant: Tenant
) -> None:
    with frozen(postgres):
        with ThreadPoolExecutor(12) as threads:
            reads = [threads.submit(tenant.admin.get, "/v1/sessions/s/messages") for _ in range(6)]
            writes = [threads.submit(tenant.admin.post, "/v1/sessions/s/messages", WORDS) for _ in range(5)]
            ready = threads.submit(server.nobody.get, "/readyz")
            answered_soon(ready.result())
            for each in (*reads, *writes):
                answered_soon(each.result())
        # Nobody waits for it any more.
        refused = [tenant.admin.get("/v1/sessions/s/messages") for _ in range(20)]
        assert {each.json()["code"] for each in refused} == {"storage_unavailable"}
        assert sum(each.elapsed.total_seconds() for each in refused) < SOON
        assert server.nobody.get("/livez").status_code == 200
    is_ready_again(server)
    assert said_in(tenant) == ["Before."]
    tenant.say("s", "After.")
    assert said_in(tenant) == ["Before.", "After."]


def test_ops_1_metrics_say_what_is_known_while_the_server_is_away(postgres: OwnPostgres, server: Server) -> None:
    """What has to be read from the database is left out, not guessed."""
    assert "cloister_storage_up 1.0" in server.nobody.get("/metrics").text
    with frozen(postgres):
        answered_soon(server.nobody.get("/readyz"))
        answer = server.nobody.get("/metrics")
        assert (answer.status_code, answer.elapsed.total_seconds() < SOON) == (200, True)
        assert "cloister_storage_up 0.0" in answer.text
        assert "cloister_storage_writes_failing" in answer.text
        assert "cloister_http_requests_total" in answer.text
        assert "cloister_index_waiting" not in answer.text
        assert "cloister_index_stale" not in answer.text
        assert "cloister_extraction_waiting" not in answer.text
    is_ready_again(server)
    back = server.nobody.get("/metrics").text
    assert "cloister_storage_up 1.0" in back
    assert "cloister_index_waiting 0.0" in back


def test_ops_1_a_commit_that_a_silent_server_did_not_confirm_is_an_unknown_outcome(postgres: OwnPostgres) -> None:
    """The COMMIT is in the socket of the frozen server, which makes it when it goes on."""
    database = open_postgres(postgres.url)
    home = settle(database)

    def work(transaction: Transaction) -> None:
        insert_message(transaction, home.session, 2)
        postgres.freeze()

    try:
        with pytest.raises(OutcomeUnknown, match="same idempotency key"):
            database.write(home.reach, work)
        with pytest.raises(StorageUnavailable, match="does not answer"):
            database.write(home.reach, work)
        assert isinstance(database.write_problem(), StorageUnavailable)
    finally:
        postgres.thaw()

    def rows() -> int:
        with database.read(home.reach) as transaction:
            return len(transaction.rows("pool_rows", pool_id=home.pool, generation=1))

    def answers() -> bool:
        try:
            return rows() == 2
        except StorageUnavailable:
            return False

    eventually(answers, 30)
    database.close()


def test_ops_1_a_statement_that_is_only_slow_is_waited_for(postgres: OwnPostgres) -> None:
    """The server is asked on another connection, and answers there."""
    database = open_postgres(postgres.url, seconds=4.0)
    with database._reads.transaction("BEGIN") as connection:  # pyright: ignore[reportPrivateUsage]
        assert connection.execute("SELECT pg_sleep(6), 'slow'").fetchone() == ("", "slow")
    database.close()


def test_ops_1_a_killed_server_is_answered_for_at_once_and_nothing_acknowledged_is_lost(
    postgres: OwnPostgres, server: Server, tenant: Tenant
) -> None:
    acknowledged: list[str] = []
    refusals: list[httpx2.Response] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            answer = tenant.admin.post("/v1/sessions/s/messages", {"role": "user", "content": f"Number {number}."})
            if answer.status_code == 201:
                acknowledged.append(f"Number {number}.")
            else:
                refusals.append(answer)
                time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        eventually(lambda: len(acknowledged) > 20)
        postgres.kill()
        eventually(lambda: len(refusals) > 20)
        answered_soon(server.nobody.get("/readyz"))
        count = len(acknowledged)
        postgres.start()
        eventually(lambda: len(acknowledged) > count + 20, 60)
    finally:
        stop.set()
        writer.join()
    assert {each.json()["code"] for each in refusals} <= {"storage_unavailable", "outcome_unknown"}
    assert all(each.elapsed.total_seconds() < SOON for each in refusals)
    found = said_in(tenant)
    assert set(acknowledged) <= set(found)
    assert len(found) == len(set(found))
    is_ready_again(server)


def test_ops_3_writers_that_wait_for_one_row_block_neither_readers_nor_other_tenants(
    postgres: OwnPostgres, server: Server, tenant: Tenant
) -> None:
    """Twenty writers of one locked row had all connections: a read took 13.6 s."""
    other = server.new_tenant()
    other.new_session("o")
    with psycopg.connect(postgres.url) as locking, ThreadPoolExecutor(20) as threads:
        locking.execute("SELECT * FROM session WHERE external_id = 's' FOR UPDATE")
        writers = [threads.submit(tenant.admin.post, "/v1/sessions/s/messages", WORDS) for _ in range(20)]
        eventually(lambda: waiting_for_locks(postgres) >= 10)
        read = tenant.admin.get("/v1/sessions/s/messages")
        assert (read.status_code, read.json()["data"][0]["content"]) == (200, "Before.")
        assert other.admin.post("/v1/sessions/o/messages", WORDS).status_code == 201
        assert server.nobody.get("/readyz").status_code == 200
        locking.rollback()
        answers = [each.result() for each in writers]
    stored = [each for each in answers if each.status_code == 201]
    for each in answers:
        if each not in stored:
            answered_soon(each, "storage_busy")
    assert len(said_in(tenant)) == 1 + len(stored)


def waiting_for_locks(postgres: OwnPostgres) -> int:
    with psycopg.connect(postgres.url) as connection:
        found = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone()
        assert found is not None
        return found[0]


def test_ops_3_one_tenant_does_not_get_all_connections(postgres: OwnPostgres) -> None:
    """A write that has not ended keeps its connection: the other tenant still gets one, the same tenant is refused in time."""
    database = open_postgres(postgres.url, connections=2)
    home, other = settle(database), settle(database)
    inside, leave = threading.Event(), threading.Event()

    def stay(transaction: Transaction) -> None:
        inside.set()
        leave.wait(60)

    with ThreadPoolExecutor(1) as threads:
        staying = threads.submit(database.write, home.reach, stay)
        inside.wait(60)
        try:
            with pytest.raises(StorageBusy, match="of one tenant"):
                database.write(home.reach, lambda transaction: insert_message(transaction, home.session, 2))
            database.write(other.reach, lambda transaction: insert_message(transaction, other.session, 2))
            with database.read(home.reach) as transaction:
                assert transaction.row("tenant") is not None
        finally:
            leave.set()
        staying.result()
    database.close()


def test_ops_1_many_threads_learn_at_one_moment_that_the_server_is_away(postgres: OwnPostgres) -> None:
    database = open_postgres(postgres.url, connections=8)
    home = settle(database)
    with frozen(postgres):

        def refused(_: int) -> float:
            began = time.monotonic()
            with pytest.raises(StorageUnavailable), database.read(home.reach) as transaction:
                transaction.row("tenant")
            return time.monotonic() - began

        assert max(at_once(refused, 24)) < SOON
        assert max(at_once(refused, 24)) < SOON
    database.close()
