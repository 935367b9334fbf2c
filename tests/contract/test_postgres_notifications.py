"""A PostgreSQL database whose table `notification_key` is empty: processes cannot notify each other until it is filled again."""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import psycopg
import pytest

from cloister.domain.events import Event, reset
from cloister.domain.identifiers import TenantId
from cloister.domain.timestamps import now
from cloister.storage.postgres import notifications
from cloister.storage.postgres.database import open_postgres
from support.waiting import eventually

TENANT = TenantId(1)
EVENT = reset(now(), wide=True)
OTHER_CONNECTIONS = (
    b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@contextmanager
def without_key(url: str) -> Generator[psycopg.Connection]:
    """The table as a restore without it leaves it; filled again at the end, since the database is used by other tests."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute("DELETE FROM notification_key RETURNING *").fetchall()
        assert len(rows) == 1
        try:
            yield connection
        finally:
            if connection.execute("SELECT 1 FROM notification_key").fetchone() is None:
                places = ", ".join(["%s"] * len(rows[0]))
                connection.execute(f"INSERT INTO notification_key VALUES ({places})".encode(), rows[0])


def count(connection: psycopg.Connection) -> int:
    row = connection.execute(OTHER_CONNECTIONS).fetchone()
    assert row is not None
    return row[0]


def listening_thread() -> threading.Thread:
    (found,) = [thread for thread in threading.enumerate() if thread.name == "cloister-listen"]
    return found


def test_a_listener_that_finds_no_key_tries_again_and_leaks_no_connection(
    migrated_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "_WAIT_SECONDS", 0.1)
    monkeypatch.setattr(notifications, "_RECONNECT_SECONDS", 0.01)
    tries: list[object] = []
    envelopes = notifications.PostgresNotifier._envelopes  # pyright: ignore[reportPrivateUsage]

    def counting(*given: object) -> object:
        tries.append(None)
        return envelopes(*given)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(notifications.PostgresNotifier, "_envelopes", counting)
    heard: list[tuple[TenantId, Sequence[Event]]] = []
    missed = threading.Event()
    listening, telling = open_postgres(migrated_postgres), open_postgres(migrated_postgres)
    try:
        with without_key(migrated_postgres) as connection:
            before = count(connection)
            listening.notifier.subscribe(lambda tenant, events: heard.append((tenant, events)), missed.set)
            eventually(lambda: len(tries) >= 20)
            assert listening_thread().is_alive() and not missed.is_set()
            assert count(connection) <= before + 2, "each try left its connection open"
        assert missed.wait(10), "it listens as soon as there is a key"

        def has_heard() -> bool:
            telling.notifier.publish(TENANT, [EVENT])
            return bool(heard)

        eventually(has_heard)
    finally:
        for database in (listening, telling):
            database.close()


def test_what_was_published_without_a_key_is_made_good_by_a_reset(
    migrated_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sender's pool gets its connection back after each failure."""
    monkeypatch.setattr("cloister.storage.event_sender._BATCH_SECONDS", 0.0)
    heard: list[tuple[TenantId, Sequence[Event]]] = []
    listening, telling = open_postgres(migrated_postgres), open_postgres(migrated_postgres)
    sent: list[object] = []
    send = notifications.PostgresNotifier._send  # pyright: ignore[reportPrivateUsage]

    def counting(notifier: notifications.PostgresNotifier, told: Sequence[tuple[TenantId, Sequence[Event]]]) -> None:
        send(notifier, told)
        sent.append(None)

    monkeypatch.setattr(notifications.PostgresNotifier, "_send", counting)
    try:
        listening.notifier.subscribe(lambda tenant, events: heard.append((tenant, events)), lambda: None)
        with without_key(migrated_postgres):
            for attempt in range(12):
                telling.notifier.publish(TENANT, [EVENT])
                eventually(lambda attempt=attempt: len(sent) > attempt)
        assert heard == []
        telling.notifier.publish(TenantId(2), [EVENT])
        eventually(lambda: {tenant for tenant, _ in heard} == {TenantId(2), TENANT})
        assert [event.kind for tenant, events in heard if tenant == TENANT for event in events] == ["reset"]
    finally:
        for database in (listening, telling):
            database.close()
