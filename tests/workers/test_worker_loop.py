"""The loop inside a process: woken by a reply and otherwise asleep, patient with trouble, and gone when told to go."""

import logging
import threading
from collections.abc import Generator
from itertools import count

import pytest

from cloister import worker as loop
from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import StorageUnavailable
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.index import terms
from cloister.services.due_tenants import DueTenants
from cloister.services.memories.claims import Claim, Claims
from cloister.worker import Worker
from support.servers.worker_processes import FACT, Place, converse
from support.waiting import eventually

AN_HOUR = 3_600.0
DAY = 24 * 3_600 * 1_000_000


@pytest.fixture
def services(place: Place, monkeypatch: pytest.MonkeyPatch) -> Services:
    """Nobody looks into the database by the clock: only the bell is left."""
    monkeypatch.setattr(loop, "_POLL_SECONDS", AN_HOUR)
    return place.engine.services()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that somebody asks whether anything is due."""
    found: list[int] = []
    numbers = count()
    ask = DueTenants.is_any

    def counted(due: DueTenants) -> bool:
        found.append(next(numbers))
        return ask(due)

    monkeypatch.setattr(DueTenants, "is_any", counted)
    return found


@pytest.fixture
def reach(services: Services) -> Reach:
    return Reach(tenant=services.projects.create_tenant("One")[0])


@pytest.fixture
def running(services: Services) -> Generator[Worker]:
    worker = Worker(services, threads=3)
    worker.start()
    yield worker
    worker.stop()


def test_mem_3_a_reply_wakes_the_worker_of_its_process(services: Services, reach: Reach, running: Worker) -> None:
    for number in range(5):
        converse(services, reach, f"s{number}")
        eventually(lambda: not services.claims.waiting())
    assert running.done.succeeded == 5


def test_an_idle_worker_asks_nothing(services: Services, reach: Reach, looks: list[int], running: Worker) -> None:
    """Each thread looks once when it starts; what is no reply wakes nobody."""
    eventually(lambda: len(looks) == 3)
    converse(services, reach, "s", exchanges=1)
    eventually(lambda: len(looks) == 4)
    for number in range(20):
        services.record.messages(reach, "s", [Draft(role="user", content=f"Still here {number}.")])
    # Whoever was woken before the next reply has looked before it, or is stopped here.
    converse(services, reach, "another", exchanges=1)
    eventually(lambda: len(looks) >= 5)
    running.stop()
    assert len(looks) == 5
    assert running.done.succeeded == 0


def test_a_worker_says_at_its_start_that_another_version_indexed_what_is_here(
    place: Place, services: Services, reach: Reach, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    converse(services, reach, "s", exchanges=1)
    monkeypatch.setattr(terms, "VERSION", terms.VERSION + 1)
    worker = Worker(place.engine.services())
    with caplog.at_level(logging.WARNING, "cloister.worker"):
        worker.start()
        eventually(lambda: caplog.records)
        worker.stop()
    (told,) = caplog.records
    assert told.message == "stale index"
    assert getattr(told, "fields", {})["messages"] == 2


def test_a_stopped_worker_has_left_no_thread_behind(services: Services) -> None:
    """The thread that asks whether PostgreSQL is there is not the worker's: it comes and goes as the server is quick or slow."""

    def running() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name != "cloister-availability"}

    before = running()
    worker = Worker(services, threads=3)
    worker.start()
    assert len(running() - before) == 8
    assert worker.stop() == 0
    assert running() == before


def test_idempotency_keys_that_expired_are_dropped_though_nobody_writes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a worker that is run once."""
    monkeypatch.setattr(loop, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(loop, "_EXPIRY_SECONDS", 0.01)
    ahead = 0
    services = place.engine.services(clock=lambda: now() + ahead)
    reach = Reach(tenant=services.projects.create_tenant("One")[0])

    def kept() -> int:
        return len(place.engine.dump(reach.tenant)["idempotency"])

    services.projects.create_project(reach, "Garden", idempotency_key="once")
    Worker(services).drain()
    assert kept() == 1
    ahead += DAY
    Worker(services).drain()
    assert kept() == 0
    services.projects.create_project(reach, "Cellar", idempotency_key="once")
    ahead += DAY
    worker = Worker(services)
    worker.start()
    eventually(lambda: kept() == 0)
    worker.stop()


def test_trouble_with_the_database_is_waited_out(
    services: Services, reach: Reach, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And once only: a worker that rests for long after a session has nothing to rest from."""
    monkeypatch.setattr(loop, "_ERROR_PAUSE_SECONDS", 0.01)
    claim_due, failures = Claims.claim_due, count(1)

    def troubled(claims: Claims) -> Claim | None:
        if next(failures) <= 3:
            raise StorageUnavailable(f"cannot store {FACT}")
        return claim_due(claims)

    converse(services, reach, "s")
    monkeypatch.setattr(Claims, "claim_due", troubled)
    worker = Worker(services, rest=1_000_000.0)
    with caplog.at_level(logging.INFO, "cloister.worker"):
        worker.start()
        eventually(lambda: worker.done.succeeded == 1)
        worker.stop()
    fields = [getattr(record, "fields", {}) for record in caplog.records]
    assert [each["problem"] for each in fields if "problem" in each] == ["storage_unavailable"] * 3
    assert FACT not in repr(fields)


def test_trouble_with_the_database_ends_a_worker_that_runs_once(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: DueTenants) -> bool:
        raise StorageUnavailable("The database is away.")

    monkeypatch.setattr(DueTenants, "is_any", away)
    worker = Worker(services, threads=2)
    with pytest.raises(StorageUnavailable):
        worker.drain()
    worker.stop()
