"""Events of other processes: on PostgreSQL each is told once, on SQLite it is noticed which sessions changed."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from cloister.domain.conversation import Draft
from cloister.domain.events import Event
from cloister.domain.identifiers import TenantId
from cloister.domain.scope import Reach
from cloister.interfaces.http.serve import LOCAL_KEY_FILE
from cloister.services.conversations.sessions import SessionFields
from cloister.storage import notifications as notifier
from cloister.storage.event_payloads import TenantEvents
from cloister.storage.event_sender import EventSender
from cloister.storage.notifications import PollingNotifier
from cloister.storage.postgres import notifications as postgres_neighbours
from cloister.storage.sqlite import notifications as sqlite
from cloister.storage.sqlite.notifications import FOLDER
from support.clients.event_streams import Stream, following
from support.databases.engines import Engine, postgres_engine, sqlite_engine
from support.databases.postgres_server import PostgresServer
from support.servers.http_server import ServerProcess, postgres_address, serving
from support.waiting import eventually


def test_two_servers_on_one_postgresql_tell_each_other_everything_once(migrated_postgres: str) -> None:
    """ISO-4: and tell each tenant its own alone."""
    address = postgres_address(migrated_postgres)
    with ServerProcess(address) as first, ServerProcess(address) as second:
        here, other = first.server.new_tenant(), first.server.new_tenant()
        there = here.at(second.server)
        with following(here) as stream, following(there) as far, following(other) as foreign:
            for number in range(20):
                (here if number % 2 else there).new_session(f"rose {number}")
            said = there.say("rose 1", "Ünder the söil.")
            here.admin.delete("/v1/sessions/rose 0")
            here.new_session("fence")
            there.new_session("far fence")
            for each in (stream, far):
                each.until_kind("session.created", "fence")
                each.until_kind("session.created", "far fence")
                told = [(told.kind, told.session) for told in each.events]
                assert len(set(told)) == len(told) == 24
                (added,) = [told for told in each.events if told.kind == "message.added"]
                assert added.data["message_ids"] == [said["id"]]
                assert b"der the s" not in each.raw
            other.new_session("mine")
            foreign.until_kind("session.created", "mine")
            assert len(foreign.events) == 1


def test_what_a_process_told_before_it_ended_is_heard(migrated_postgres: str) -> None:
    engine = postgres_engine(migrated_postgres)
    with engine.closing, serving(engine.services()) as server:
        tenant = server.new_tenant()
        neighbour = postgres_engine(migrated_postgres)
        with following(tenant) as stream:
            with neighbour.closing:
                services = neighbour.services()
                reach = Reach(tenant=services.api_keys.authenticate(tenant.key).tenant)
                names = [f"{'ü' * 250} {number}" for number in range(50)]
                for name in names:
                    services.sessions.create(reach, SessionFields(external_id=name))
            stream.until_kind("session.created", names[-1])
            assert [told.session for told in stream.events] == names


def test_the_end_of_a_killed_process_is_a_reset(migrated_postgres: str) -> None:
    """ISO-12: what it had stored and not yet published would never be read. The end of a process that was not running any more when
    the subscriber came is none."""
    address = postgres_address(migrated_postgres)
    with ServerProcess(address) as gone:
        gone.kill()
    with ServerProcess(address) as first, ServerProcess(address) as second:
        here = first.server.new_tenant()
        with following(here.at(second.server)) as stream:
            here.new_session("roses")
            stream.until_kind("session.created", "roses")
            assert "reset" not in [told.kind for told in stream.events]
            first.kill()
            stream.until_kind("reset")


def test_a_lost_connection_is_made_good_with_a_reset(migrated_postgres: str) -> None:
    engine = postgres_engine(migrated_postgres)
    with engine.closing, serving(engine.services()) as server:
        tenant = server.new_tenant()
        with following(tenant) as stream:
            with psycopg.connect(migrated_postgres, autocommit=True) as connection:
                cut = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
                ).fetchall()
            assert cut == [(True,)]
            stream.until_kind("reset")
            neighbour = postgres_engine(migrated_postgres)
            with neighbour.closing:
                services = neighbour.services()
                reach = Reach(tenant=services.api_keys.authenticate(tenant.key).tenant)
                services.sessions.create(reach, SessionFields(external_id="roses"))
                stream.until_kind("session.created", "roses")


@pytest.mark.parametrize("payload", ["", "[]", "{", "[1]", "[2, 'x']", '[1,"x",[1,2]]', "[" * 5_000, '[9,"x",[]]'])
def test_what_cannot_be_read_is_a_reset_and_nothing_worse(migrated_postgres: str, payload: str) -> None:
    engine = postgres_engine(migrated_postgres)
    with engine.closing, serving(engine.services()) as server:
        tenant = server.new_tenant()
        with following(tenant) as stream:
            with psycopg.connect(migrated_postgres, autocommit=True) as connection:
                oid = connection.execute("SELECT CAST(CAST(to_regnamespace('public') AS oid) AS text)").fetchone()
                assert oid is not None
                connection.execute("SELECT pg_notify(%s, %s)", [f"cloister_events_{oid[0]}", payload])
            stream.until_kind("reset")
            tenant.new_session("fence")
            stream.until_kind("session.created", "fence")


@pytest.fixture
def outsider(postgres_server: PostgresServer, migrated_postgres: str) -> Generator[str]:
    """The URL of a login that may connect to the database, and has been granted nothing."""
    with psycopg.connect(migrated_postgres, autocommit=True) as connection:
        role = f"outsider_of_{connection.info.dbname}"
    postgres_server.run(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
    yield make_conninfo(migrated_postgres, user=role)
    postgres_server.run(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def channel_of(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute("SELECT CAST(CAST(to_regnamespace('public') AS oid) AS text)").fetchone()
    assert row is not None
    return f"cloister_events_{row[0]}"


def test_iso_4_a_role_without_grants_can_neither_read_nor_forge_nor_replay_what_is_told(
    migrated_postgres: str, outsider: str
) -> None:
    """All that it can do is to make readers look again, once a minute."""
    engine = postgres_engine(migrated_postgres)
    with engine.closing, serving(engine.services()) as server:
        tenant = server.new_tenant()
        neighbour = postgres_engine(migrated_postgres)
        with following(tenant) as stream, neighbour.closing, psycopg.connect(outsider, autocommit=True) as listening:
            channel = channel_of(listening)
            listening.execute(f'LISTEN "{channel}"'.encode())
            services = neighbour.services()
            reach = Reach(tenant=services.api_keys.authenticate(tenant.key).tenant)
            fields = SessionFields(external_id="secret roses", user_id="ann the gardener")
            services.sessions.create(reach, fields)
            stream.until_kind("session.created", "secret roses")
            overheard = [notice.payload for notice in listening.notifies(timeout=5, stop_after=1)]
            assert overheard
            for payload in overheard:
                for word in (b"roses", b"gardener", b"session", str(reach.tenant).encode()):
                    assert word not in payload.encode() and word not in base64.b64decode(payload)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                listening.execute("SELECT secret FROM notification_key")
            forged = json.dumps([1, "x", [reach.tenant, *Event("session.created", "forged", None, None, 1)]])
            for payload in (*overheard, *[forged] * 200, *overheard):
                listening.execute("SELECT pg_notify(%s, %s)", [channel, payload])
            services.sessions.create(reach, SessionFields(external_id="fence"))
            stream.until_kind("session.created", "fence")
            told = [(told.kind, told.data.get("session_id")) for told in stream.events if told.kind != "ready"]
            assert set(told) == {("session.created", "secret roses"), ("reset", None), ("session.created", "fence")}
            assert len(told) == 3


def test_two_servers_on_one_directory_publish_everything_to_each_other_once(tmp_path: Path) -> None:
    """OPS-4, ISO-4: and each tenant's own to it alone, a title alone and moves too; a confined key sees its project alone."""
    with ServerProcess(tmp_path / "data") as first, ServerProcess(tmp_path / "data") as second:
        here, other = first.server.new_tenant(), first.server.new_tenant()
        there = here.at(second.server)
        garden, cellar = here.new_project("Garden"), here.new_project("Cellar")
        confined = here.new_key("read", project_id=garden, confined=True)
        with (
            following(here) as stream,
            following(there) as far,
            following(there, confined) as inside,
            following(other.at(second.server)) as foreign,
        ):
            here.new_session("rose", project_id=garden)
            said = here.say("rose", "Ünder the söil.")
            here.admin.patch("/v1/sessions/rose", {"title": "Roses"})
            there.new_session("wine", project_id=cellar)
            here.admin.patch("/v1/sessions/wine", {"project_id": garden})
            here.admin.patch("/v1/sessions/rose", {"project_id": cellar})
            there.admin.delete("/v1/sessions/rose")
            here.new_session("fence", project_id=garden)
            there.new_session("far fence", project_id=garden)
            expected = {
                "rose": ["message.added", "session.changed", "session.changed", "session.created", "session.deleted"],
                "wine": ["session.changed", "session.created"],
            }
            for each in (stream, far, inside):
                each.until_kind("session.created", "fence")
                each.until_kind("session.created", "far fence")
            for each in (stream, far):
                assert {name: kinds_of(each, name) for name in expected} == expected
                (added,) = [event for event in each.events if event.kind == "message.added"]
                assert added.data["message_ids"] == [said["id"]]
                assert b"der the s" not in each.raw
            assert kinds_of(inside, "rose") == [
                "message.added",
                "session.changed",
                "session.created",
                "session.deleted",
            ]
            assert kinds_of(inside, "wine") == ["session.created"]
            assert cellar.encode() not in inside.raw
            other.new_session("mine")
            foreign.until_kind("session.created", "mine")
            assert len(foreign.events) == 1
            # What the tables show is not published again: two more looks at the file.
            here.new_session("last", project_id=garden)
            far.until_kind("session.created", "last")
            time.sleep(1.5)
            for each in (stream, far, inside):
                assert {event.kind for event in each.events} <= {*expected["rose"]}
                assert kinds_of(each, "last") == ["session.created"]


def kinds_of(stream: Stream, session: str) -> list[str]:
    """Sorted: the events of two processes may come in another order than they were committed in."""
    return sorted(event.kind for event in stream.events if event.session == session)


def test_a_server_is_sent_what_the_command_line_stores(tmp_path: Path) -> None:
    """OPS-4: each command is a process, which ends at once."""
    data = tmp_path / "data"
    with ServerProcess(data) as process:
        key = (data / LOCAL_KEY_FILE).read_text().strip()
        other = process.server.new_tenant()
        with Stream(process.address, key) as stream, following(other) as foreign:
            stream.until_kind("ready")
            beside(data, "sessions", "create", "roses")
            stream.until_kind("session.created", "roses")
            beside(data, "record", "roses", "Water them.")
            stream.until_kind("message.added", "roses")
            beside(data, "forget", "roses", "--yes")
            stream.until_kind("session.deleted", "roses")
            other.new_session("fence")
            foreign.until_kind("session.created", "fence")
            assert {event.kind for event in foreign.events} == {"session.created"}
            assert b"Water" not in stream.raw
        process.stop()
    assert list((data / FOLDER).iterdir()) == []


def unsent(*_: object) -> None:
    """Publish nothing."""


@pytest.mark.parametrize("reason", ["killed", "no sockets"])
def test_what_was_stored_and_not_sent_is_found_in_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """OPS-4: the other process was killed before it sent its events, or the file system has no sockets."""
    if reason == "killed":
        monkeypatch.setattr(sqlite.SqliteNotifier, "publish", unsent)
    else:
        monkeypatch.setattr(sqlite, "_LONGEST_PATH", 0)
        monkeypatch.setattr(sqlite, "FOLDER", "no/such/folder")
    engine, neighbour = sqlite_engine(tmp_path / "data"), sqlite_engine(tmp_path / "data")
    with engine.closing, neighbour.closing, serving(engine.services()) as server:
        tenant = server.new_tenant()
        services = neighbour.services()
        reach = Reach(tenant=services.api_keys.authenticate(tenant.key).tenant)
        with following(tenant) as stream:
            services.sessions.create(reach, SessionFields(external_id="roses"))
            stream.until_kind("session.changed", "roses")
            services.record.messages(reach, "roses", [Draft(role="user", content="Red.")])
            stream.until_kind("session.changed", "roses", number=2)
            services.forgetting.session(reach, "roses")
            stream.until_kind("reset")
            tenant.new_session("lilies")
            stream.until_kind("session.created", "lilies")
            time.sleep(1.2)  # that event explains no change from now on
            services.record.messages(reach, "lilies", [Draft(role="user", content="White.")])
            stream.until_kind("session.changed", "lilies")


def test_a_batch_that_cannot_be_sent_does_not_keep_the_next_ones() -> None:
    sent: list[int] = []

    def send(batch: Sequence[TenantEvents]) -> None:
        if not sent:
            sent.append(0)
            raise OSError("too many open files")
        sent.extend(tenant for tenant, _ in batch)

    sender = EventSender("test", send)
    sender.publish(TenantId(1), [])
    eventually(lambda: sent == [0])
    sender.publish(TenantId(2), [])
    sender.close()
    assert sent == [0, 2]


def test_a_folder_of_events_into_which_others_may_write_is_not_listened_to(tmp_path: Path) -> None:
    """ISO-4: what is received there is believed."""
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER).chmod(0o777)
    listening = sqlite.SqliteNotifier(tmp_path, lambda: 0)
    listening.subscribe(lambda tenant, events: None, lambda: None)
    listening.close()
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_the_socket_of_a_killed_process_is_removed_and_a_long_path_has_sockets_too(tmp_path: Path) -> None:
    data = tmp_path / ("long " * 20) / ("longer " * 20) / "data"
    with ServerProcess(data) as first, ServerProcess(data) as second:
        tenant = first.server.new_tenant()
        with following(tenant) as stream, following(tenant.at(second.server)) as gone:
            assert len(list((data / FOLDER).iterdir())) == 2
            (data / FOLDER / "note").touch()
            second.kill()
            gone.until_ended()
            tenant.new_session("roses")
            stream.until_kind("session.created", "roses")
            eventually(lambda: len(list((data / FOLDER).iterdir())) == 2)
            assert (data / FOLDER / "note").exists()


def beside(data: Path, *arguments: str) -> None:
    """In a process of its own, as people run it."""
    done = subprocess.run(
        [sys.executable, "-m", "cloister", *arguments, "--data", str(data)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_iso_4_what_another_process_changes_is_told_within_its_project_alone(tmp_path: Path) -> None:
    engine, neighbour = sqlite_engine(tmp_path / "data"), sqlite_engine(tmp_path / "data")
    with engine.closing, neighbour.closing, serving(engine.services()) as server:
        tenant = server.new_tenant()
        garden, cellar = tenant.new_project("Garden"), tenant.new_project("Cellar")
        confined = tenant.new_key("read", project_id=garden, confined=True)
        tenant.new_session("wine", project_id=cellar)
        tenant.new_session("old wine", project_id=cellar)
        services = neighbour.services()
        key = services.api_keys.authenticate(confined)
        reach = Reach(tenant=key.tenant)
        with following(tenant, confined) as stream, following(tenant) as everything:
            services.record.messages(reach, "wine", [Draft(role="user", content="Red.")])
            services.forgetting.session(reach, "old wine")
            services.sessions.create(reach, SessionFields(external_id="roses", project=key.project))
            everything.until_kind("session.deleted", "old wine")
            stream.until_kind("session.created", "roses")
            assert [(told.kind, told.session) for told in stream.events] == [("session.created", "roses")]


@pytest.fixture
def noticed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each look at the file of an SQLite database, and for each event that PostgreSQL brought, our own too."""
    found: list[object] = []
    read = postgres_neighbours.unpacked

    class Counted(PollingNotifier):
        def __init__(self, data_version: Callable[[], object]) -> None:
            super().__init__(lambda: found.append("look") or data_version())

    def counted(text: str, own: str) -> object:
        found.extend(json.loads(text)[2:])
        return read(text, own)

    monkeypatch.setattr(notifier, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(sqlite, "PollingNotifier", Counted)
    monkeypatch.setattr(postgres_neighbours, "unpacked", counted)
    return found


def test_own_changes_are_not_taken_for_those_of_others(engine: Engine, noticed: list[object]) -> None:
    """Nor is what the database does to its own files, such as emptying the log after something was forgotten."""
    with serving(engine.services()) as server:
        tenant = server.new_tenant()
        with following(tenant) as stream:
            for number in range(30):
                tenant.new_session(f"rose {number}")
                tenant.admin.delete(f"/v1/sessions/rose {number}")
            # Two more looks at the file, or all that was told to others.
            enough = len(noticed) + 2 if engine.name == "sqlite" else 60
            eventually(lambda: len(noticed) >= enough)
            tenant.new_session("fence")
            assert {kind for kind, _ in stream.up_to("fence")} == {"session.created", "session.deleted"}
            assert len(stream.up_to("fence")) == 60
