"""OPS-1, OPS-4: which processes of a database are running is seen by locks that end with them, and never by a lock alone."""

import socket
from collections.abc import Generator

import pytest

from cloister.domain.timestamps import now
from cloister.services.processes import Presence, Process, Processes
from cloister.storage.interface import Database
from support.databases.engines import Engine, postgres_engine
from support.waiting import eventually

NUMBER = 1 << 61


@pytest.fixture
def one(engine: Engine) -> Database:
    return engine.database()


@pytest.fixture
def other(engine: Engine) -> Database:
    return engine.database()


@pytest.fixture
def listening() -> Generator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def test_a_lock_is_seen_by_others_until_it_is_released_or_its_database_closed(one: Database, other: Database) -> None:
    for number in (NUMBER, NUMBER + 1):
        one.process_locks.take(number)
    assert one.process_locks.has(NUMBER) and not other.process_locks.has(NUMBER)
    assert other.process_locks.is_taken(NUMBER) is True
    assert one.process_locks.is_taken(NUMBER) is True
    one.process_locks.release(NUMBER)
    assert not one.process_locks.has(NUMBER)
    eventually(lambda: other.process_locks.is_taken(NUMBER) is False)
    assert other.process_locks.is_taken(NUMBER + 1) is True
    one.close()
    eventually(lambda: other.process_locks.is_taken(NUMBER + 1) is False)
    assert other.process_locks.is_taken(NUMBER + 2) is False


def test_a_process_has_ended_only_if_its_lock_is_free_and_its_address_refuses(
    one: Database, other: Database, listening: socket.socket
) -> None:
    """A process that is about to end listens no more, and one whose connection was lost has no lock: both are running."""
    here, there = Processes(one, now), Processes(other, now)
    process = here.add(f"http://127.0.0.1:{listening.getsockname()[1]}")
    assert here.own == process.id
    assert not there.has_ended(process.id)
    eventually(lambda: other.process_locks.is_taken(1) is False)  # the server has run long enough
    listening.close()
    assert process.presence() is Presence.GONE
    assert not there.has_ended(process.id), "it listens no more, and has its lock"
    there.remove_gone(process)
    assert [each.id for each in there.others(Process(id=0, address="", secret=b""))] == [process.id]
    one.process_locks.release(process.id)
    assert here.own is None, "the others would not notice its end"
    assert not here.has_ended(process.id), "it is itself"
    eventually(lambda: there.has_ended(process.id))


def test_a_process_without_a_lock_that_is_silent_has_not_ended(
    one: Database, other: Database, listening: socket.socket
) -> None:
    process = Processes(one, now).add(f"http://127.0.0.1:{listening.getsockname()[1]}")
    one.process_locks.release(process.id)
    eventually(lambda: other.process_locks.is_taken(process.id) is False)
    assert process.presence() is Presence.SILENT
    assert not Processes(other, now).has_ended(process.id)


@pytest.mark.parametrize(
    "address", ["", "http://", "http://127.0.0.1", "http://127.0.0.1:x", "http://no.such.host.invalid:80"]
)
def test_an_address_that_is_none_is_no_proof_of_an_end(address: str) -> None:
    assert Process(id=1, address=address, secret=b"").presence() is Presence.UNREACHABLE


def test_a_lock_that_was_lost_with_its_connection_is_taken_again(migrated_postgres: str) -> None:
    """PostgreSQL may be restarted, or a network fail, while the process goes on."""
    engine = postgres_engine(migrated_postgres)
    with engine.closing:
        one, other = engine.database(), engine.database()
        one.process_locks.take(NUMBER)
        here = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        ended = engine.each([f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND {here}"])
        assert ended == [[(True,)]]
        eventually(lambda: not one.process_locks.has(NUMBER))
        eventually(lambda: one.process_locks.has(NUMBER))
        assert other.process_locks.is_taken(NUMBER) is True
