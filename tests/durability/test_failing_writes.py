"""Writes that fail are said to fail, by their answers, by `/readyz` and by `/metrics`, until a write succeeds (OPS-1)."""

import errno
import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import httpx2
import psycopg
import pytest

from cloister import Cloister, OutcomeUnknown
from cloister.domain.errors import StorageFull, StorageMissing, StorageReadOnly
from cloister.domain.scope import Reach
from cloister.interfaces.python.backends.embedded import EmbeddedBackend
from cloister.storage.interface import Transaction
from support.databases.engines import Engine, postgres_engine, sqlite_engine
from support.databases.faulty_files import every_write_fails
from support.servers.http_server import Server, Tenant, serving
from support.waiting import eventually

WORDS: Any = {"role": "user", "content": "The heron stood by the pond."}
FAILING = "cloister_storage_writes_failing 1.0"


@pytest.fixture
def engine(data: Path) -> Generator[Engine]:
    made = sqlite_engine(data)
    with made.closing:
        yield made


@pytest.fixture
def server(engine: Engine) -> Generator[Server]:
    with serving(engine.services()) as running:
        yield running


@pytest.fixture
def tenant(server: Server) -> Tenant:
    made = server.new_tenant()
    made.new_session("s")
    made.say("s", "Before.")
    return made


def write(tenant: Tenant) -> tuple[int, str]:
    answer = tenant.admin.post("/v1/sessions/s/messages", WORDS)
    return answer.status_code, answer.json().get("code", "")


def ready(server: Server) -> httpx2.Response:
    return server.nobody.get("/readyz")


def refused_as(server: Server, code: str) -> None:
    """Not ready for this reason, which names no file."""
    answer = ready(server)
    assert answer.status_code != 200
    assert answer.json()["code"] == code
    assert "/" not in answer.json()["detail"]
    assert FAILING in server.nobody.get("/metrics").text


def is_ready_again(server: Server) -> None:
    """Without any caller that writes: the server tries a write by itself."""
    eventually(lambda: ready(server).status_code == 200)
    assert FAILING not in server.nobody.get("/metrics").text


def test_a_write_after_the_directory_was_removed_is_refused(server: Server, tenant: Tenant, data: Path) -> None:
    """OPS-1: twenty writes into the deleted file were answered 201, and gone with the process."""
    assert ready(server).status_code == 200
    shutil.rmtree(data)
    refused_as(server, "storage_missing")
    assert {write(tenant) for _ in range(20)} == {(503, "storage_missing")}
    refused_as(server, "storage_missing")
    assert not data.exists()


def test_a_file_that_comes_back_is_written_again(server: Server, tenant: Tenant, data: Path) -> None:
    away = data.with_name(f"{data.name}-away")
    data.rename(away)
    assert write(tenant) == (503, "storage_missing")
    away.rename(data)
    is_ready_again(server)
    assert write(tenant)[0] == 201


def test_a_database_put_in_the_place_of_an_open_one_is_neither_written_nor_read(data: Path) -> None:
    """ISO-4, OPS-1: a connection that is opened later would read the other database, under the same ids."""
    another = data.with_name(f"{data.name}-another")
    with Cloister(another) as other:
        other.create_session("s")
        other.record("s", "user", "A stranger's words.")
    with Cloister(data) as memory:
        memory.create_session("s")
        memory.record("s", "user", "Our words.")
        backend = cast(EmbeddedBackend, memory._backend)  # pyright: ignore[reportPrivateUsage]
        database, reach = backend.services.database, backend.reach
        data.rename(data.with_name(f"{data.name}-away"))
        shutil.copytree(another, data)
        with database.read(reach), pytest.raises(StorageMissing), database.read(reach):
            pass
        assert [each.content for each in memory.messages("s")] == ["Our words."]
        with pytest.raises(StorageMissing):
            memory.record("s", "user", "More of ours.")
    with Cloister(data) as other:
        assert [each.content for each in other.messages("s")] == ["A stranger's words."]


def test_a_removed_log_is_noticed_too(data: Path) -> None:
    """OPS-1: recent commits are only in the log."""
    with Cloister(data) as memory:
        memory.create_session("s")
        (data / "cloister.db-wal").unlink()
        with pytest.raises(StorageMissing, match="-wal was removed"):
            memory.record("s", "user", "Lost with the log.")


@pytest.mark.parametrize(
    ("number", "status", "code"),
    [
        (errno.EROFS, 503, "storage_read_only"),
        (errno.ENOSPC, 507, "storage_full"),
        (errno.EDQUOT, 507, "storage_full"),
        (errno.EIO, 503, "outcome_unknown"),
    ],
    ids=["read-only", "full", "quota", "broken disk"],
)
def test_what_the_file_system_refuses_has_its_own_code_and_passes(
    server: Server, tenant: Tenant, number: int, status: int, code: str
) -> None:
    with every_write_fails(number):
        assert write(tenant) == (status, code)
        refused_as(server, code)
        assert tenant.admin.get("/v1/sessions/s/messages").json()["data"][0]["content"] == "Before."
    is_ready_again(server)
    assert write(tenant)[0] == 201
    found = tenant.admin.everything("/v1/sessions/s/messages")
    assert [each["content"] for each in found] == ["Before.", WORDS["content"]]


def test_refused_requests_do_not_hide_that_writes_fail(server: Server, tenant: Tenant) -> None:
    """OPS-1: what is refused commits an empty transaction, which succeeds on a full disk."""
    with every_write_fails(errno.ENOSPC):
        assert write(tenant) == (507, "storage_full")
        assert tenant.admin.delete("/v1/sessions/none").status_code == 404
        refused_as(server, "storage_full")
        assert tenant.admin.post("/v1/sessions", {"external_id": "s", "title": "Other"}).status_code == 409
        refused_as(server, "storage_full")
    is_ready_again(server)


def test_a_write_without_effect_does_not_hide_that_writes_fail(shared_engine: Engine) -> None:
    """OPS-1: it is undone in its savepoint, or changes no row. The check says so itself, since it changes none either."""
    services = shared_engine.services()
    database = services.database
    tenant = Reach(tenant=services.projects.create_tenant("One")[0])
    failing = database.write_status

    def undone(transaction: Transaction) -> None:
        assert transaction.execute("clear_default_project") == 1
        raise LookupError

    failing.failed(StorageFull("The disk is full."))
    with pytest.raises(LookupError):
        database.write(tenant, undone)
    assert database.write_problem() is not None
    database.maintenance.write("cap_claims", until=1 << 62, retry_until=1 << 62)
    assert database.write_problem() is not None
    database.maintenance.check_writes()
    assert database.write_problem() is None
    failing.failed(StorageFull("The disk is full."))
    services.projects.create_project(tenant, "Garden")
    assert database.write_problem() is None


def test_a_check_that_finds_its_row_locked_learns_nothing(migrated_postgres: str) -> None:
    """OPS-1: another server is checking."""
    engine = postgres_engine(migrated_postgres)
    with engine.closing, psycopg.connect(migrated_postgres) as another:
        database = engine.database()
        database.write_status.failed(StorageFull("The disk is full."))
        another.execute("SELECT only_row FROM notification_key FOR UPDATE")
        database.maintenance.check_writes()
        assert database.write_problem() is not None
        another.rollback()
        database.maintenance.check_writes()
        assert database.write_problem() is None


def test_the_library_raises_the_same(data: Path) -> None:
    with Cloister(data) as memory:
        memory.create_session("s")
        for number, kind in ((errno.EROFS, StorageReadOnly), (errno.ENOSPC, StorageFull), (errno.EIO, OutcomeUnknown)):
            with every_write_fails(number), pytest.raises(kind):
                memory.record("s", **WORDS)
        memory.record("s", **WORDS)
        assert len(memory.messages("s")) == 1


def test_a_directory_on_a_read_only_file_system_says_so(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cloister(data).close()
    found = os.statvfs(data)

    def readable_only(path: object, mode: int, **_: object) -> bool:
        return not mode & os.W_OK

    def read_only_mount(path: object) -> os.statvfs_result:
        return os.statvfs_result((*found[:8], found.f_flag | os.ST_RDONLY, found.f_namemax))

    monkeypatch.setattr(os, "access", readable_only)
    with pytest.raises(StorageReadOnly, match="owner and mode"):
        Cloister(data)
    monkeypatch.setattr(os, "statvfs", read_only_mount)
    with pytest.raises(StorageReadOnly, match="mounted read-only"):
        Cloister(data)


def test_a_postgresql_that_only_reads_is_said_and_passes(migrated_postgres: str) -> None:
    """OPS-1: as after a failover to a standby."""
    engine = postgres_engine(migrated_postgres)
    with engine.closing, serving(engine.services()) as server:
        tenant = server.new_tenant()
        tenant.new_session("s")
        tenant.say("s", "Before.")
        reconnect(migrated_postgres, "SET default_transaction_read_only = on")
        assert write(tenant) == (503, "storage_read_only")
        refused_as(server, "storage_read_only")
        reconnect(migrated_postgres, "RESET default_transaction_read_only")
        is_ready_again(server)
        assert write(tenant)[0] == 201


def reconnect(url: str, setting: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER DATABASE {connection.info.dbname} {setting}".encode())
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
