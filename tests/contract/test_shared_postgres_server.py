"""The PostgreSQL server that all workers of a test run share: nobody stops it under another, and nobody runs out of connections."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from support.databases.postgres_server import PostgresServer, running_server

JOIN = """
import sys
from support.databases.postgres_server import running_server
with running_server(sys.argv[1], "child") as server:
    print(server.url("postgres"), flush=True)
    sys.stdin.read()
"""
TESTS = Path(__file__).parents[1]


@pytest.fixture
def run(postgres_server: PostgresServer) -> str:
    """A run of its own, where there is a PostgreSQL at all."""
    del postgres_server
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
def child(run: str) -> Generator[subprocess.Popen[str]]:
    """Another worker of the same run, which leaves when its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", JOIN, run], cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process
        process.kill()


def url_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def is_up(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_worker_that_leaves_stops_the_server_only_as_the_last(run: str, child: subprocess.Popen[str]) -> None:
    with running_server(run, "first") as server:
        url = server.url("postgres")
        assert url_of(child) and is_up(url)
    assert is_up(url), "another worker still uses it"
    child.communicate("", timeout=60)
    assert not is_up(url)


def test_a_worker_that_was_killed_does_not_keep_the_server(run: str, child: subprocess.Popen[str]) -> None:
    with running_server(run, "first") as server:
        url = server.url("postgres")
        assert url_of(child) and is_up(url)
        child.kill()
        child.wait(60)
        assert is_up(url)
    assert not is_up(url)


def test_there_are_connections_for_all_workers_of_a_run(postgres_server: PostgresServer) -> None:
    """The server's own default is 100, which three workers that start processes have used up."""
    with ExitStack() as stack:
        for _ in range(120):
            stack.enter_context(psycopg.connect(postgres_server.url("postgres")))
