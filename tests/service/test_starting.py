"""`cloister serve` as people start and stop it: a key at the first start, a clean end, and company on the same data directory."""

import json
import re
import signal
import socket
import time
from pathlib import Path
from stat import S_IMODE

from support.clients.command_line import CommandLine
from support.databases.engines import sqlite_engine
from support.databases.postgres_server import PostgresServer
from support.servers.http_server import Caller, ServerProcess, postgres_address
from support.waiting import eventually

KEY = re.compile(r"clo_[0-9A-Za-z]+")


def test_the_first_start_shows_a_key_once_and_others_may_share_the_directory(data: Path) -> None:
    """ORG-8: a key revoked through one server is refused by the other at its next request."""
    with ServerProcess(data, terminal=True) as first:
        (shown,) = KEY.findall(first.printed + first.complaints)
        kept = data / "local.key"
        assert kept.read_text() == f"{shown}\n"
        assert S_IMODE(kept.stat().st_mode) == 0o600
        local = first.server.caller(shown)
        local.made("/v1/sessions", {"external_id": "roses"})
        local.made("/v1/sessions/roses/messages", {"role": "user", "content": "The roses need water."})
        the_command_line_sees_the_same(CommandLine(data=str(data)), local)

        with ServerProcess(data, terminal=True) as second:
            assert KEY.findall(second.printed + second.complaints) == []
            assert kept.read_text() == f"{shown}\n"
            same = second.server.caller(shown)
            made = local.made("/org/api-keys", {"name": "lost", "permissions": ["read"]})
            lost = [server.server.caller(made["key"]) for server in (first, second)]
            assert [asking.get("/v1/sessions").status_code for asking in lost] == [200, 200]
            assert same.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
            assert [asking.get("/v1/sessions").status_code for asking in lost] == [401, 401]
            second.process.send_signal(signal.SIGINT)
            assert second.wait() == 0
        assert first.stop() == 0


def the_command_line_sees_the_same(command_line: CommandLine, local: Caller) -> None:
    assert command_line.said("roses", "--session", "roses") == ["The roses need water."]
    command_line.run("record", "roses", "The beans are ripe.")
    contents = [entry["content"] for entry in local.everything("/v1/sessions/roses/messages")]
    assert contents == ["The roses need water.", "The beans are ripe."]


def test_being_told_to_stop_it_finishes_what_is_under_way(data: Path) -> None:
    with ServerProcess(data) as process:
        tenant = process.server.new_tenant()
        tenant.new_session("roses")
        body = json.dumps({"role": "user", "content": "The roses need water."}).encode()
        host, _, port = process.address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as slow:
            slow.sendall(
                b"POST /v1/sessions/roses/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + f"Authorization: Bearer {tenant.key}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body[:10]
            )
            time.sleep(0.2)
            process.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            assert process.process.poll() is None
            slow.sendall(body[10:])
            answer = slow.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert process.wait() == 0
        assert "Traceback" not in process.complaints

    engine = sqlite_engine(data)
    with engine.closing:
        assert [row[0] for row in engine.rows("SELECT content FROM message")] == ["The roses need water."]


def test_a_port_in_use_is_said_in_one_line(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = ServerProcess(data, options=("--port", str(port)))
        assert process.wait() == 1
    assert process.printed == ""
    assert process.complaints.count("\n") == 1
    assert process.complaints.startswith(f"error: Cannot listen on 127.0.0.1:{port}: it is in use")
    assert "`cloister console`" in process.complaints
    assert not (data / "local.key").exists(), "the key is made when it can be used"


def test_started_in_the_background_it_stops_on_sigterm_and_leaves_ctrl_c_to_the_foreground(data: Path) -> None:
    """A shell starts such commands with SIGINT ignored, and `nohup` with SIGHUP ignored."""
    with ServerProcess(data, ignored=(signal.SIGINT, signal.SIGHUP)) as process:
        for unheard in (signal.SIGINT, signal.SIGHUP):
            process.process.send_signal(unheard)
        for _ in range(20):
            assert process.server.nobody.get("/livez").status_code == 200
        assert process.stop() == 0


def test_where_no_terminal_is_neither_a_key_nor_a_link_is_printed(data: Path) -> None:
    """ORG-8: what a service prints ends up in a log."""
    with ServerProcess(data) as process:
        said = process.printed + process.complaints
        kept = (data / "local.key").read_text().strip()
        assert KEY.findall(said) == []
        assert "sign-in#" not in said
        assert f"An admin key was made. It is kept in {data}/local.key." in process.complaints
        assert "`cloister console` makes a link" in process.printed
        assert process.server.caller(kept).get("/console/session").json()["name"] == "local admin"


def test_who_asks_for_json_is_given_the_key_and_the_link(data: Path) -> None:
    process = ServerProcess(data, options=("--json",))
    told = json.loads(eventually(lambda: process.printed if process.printed.endswith("}\n") else None, 60))
    assert told["key"] == (data / "local.key").read_text().strip()
    assert told["console"].startswith(f"{told['address']}/sign-in#")
    process.kill()


def test_no_key_is_made_where_it_could_neither_be_shown_nor_kept(postgres_server: PostgresServer) -> None:
    """On PostgreSQL there is no directory: a start at a terminal makes it, or the command line."""
    with postgres_server.migrated_database() as url:
        address = postgres_address(url)
        with ServerProcess(address) as process:
            assert KEY.findall(process.printed + process.complaints) == []
            assert "There is no admin key yet: `cloister keys create NAME --may admin`" in process.complaints
        with ServerProcess(address, terminal=True) as process:
            (shown,) = KEY.findall(process.printed + process.complaints)
            assert process.server.caller(shown).get("/org/api-keys").status_code == 200
