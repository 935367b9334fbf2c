"""Everywhere: it works with no network and no model key. Its processes run where a connection to another machine is refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.clients.chat_client import say
from support.servers.http_server import ServerProcess

# What Python itself connects; the drivers of databases that are elsewhere would not be seen.
OFFLINE = """
import os, sys

HERE = (None, "", "127.0.0.1", "::1", "localhost", b"127.0.0.1", b"localhost")

def refuse(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    else:
        return
    if host not in HERE:
        with open(os.environ["ATTEMPTS"], "a") as attempts:
            attempts.write(f"{event} {host}\\n")
        raise OSError(f"no network: {host}")

sys.addaudithook(refuse)
"""


@pytest.fixture
def offline(tmp_path: Path) -> dict[str, str]:
    """The environment of a process without a network; what it tries is written down."""
    (tmp_path / "sitecustomize.py").write_text(OFFLINE)
    return {"PYTHONPATH": str(tmp_path), "ATTEMPTS": str(tmp_path / "attempts")}


def test_a_process_without_a_network_reaches_nobody(offline: dict[str, str]) -> None:
    """So that the tests below are not empty."""
    for reach in ("socket.create_connection(('192.0.2.1', 9), 1)", "socket.getaddrinfo('example.org', 80)"):
        done = subprocess.run(
            [sys.executable, "-c", f"import socket; {reach}"],
            env={**os.environ, **offline},
            capture_output=True,
            text=True,
        )
        assert "OSError: no network" in done.stderr
    assert len(Path(offline["ATTEMPTS"]).read_text().splitlines()) == 2


def test_the_service_records_recalls_extracts_and_answers_with_no_network(data: Path, offline: dict[str, str]) -> None:
    with ServerProcess(data, offline) as running:
        tenant = running.server.new_tenant()
        garden = tenant.new_project("Garden")
        tenant.new_session("spring", project_id=garden)
        tenant.say("spring", "My neighbour Anna plays the cello.")
        assert tenant.admin.made("/v1/sessions/spring/extract", None)["appended"] == 1
        reply = say(tenant.admin, "summer", "Who plays the cello?", project_id=garden)
        assert reply.recalled == {"My neighbour Anna plays the cello."}
        assert "cello" in reply.text
        assert tenant.admin.get("/docs").status_code == 200
        assert running.stop() == 0
    assert not Path(offline["ATTEMPTS"]).exists()


def test_the_command_line_works_with_no_network(offline: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cloister", "demo"], env={**os.environ, **offline}, capture_output=True, text=True
    )
    assert (done.returncode, "Nothing crossed" in done.stdout) == (0, True), done.stderr
    assert not Path(offline["ATTEMPTS"]).exists()
