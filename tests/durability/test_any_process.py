"""OPS-1, OPS-4: two processes behind a proxy without stickiness, of which either is killed or replaced while clients write, read,
chat and follow events."""

import time
from collections.abc import Generator
from pathlib import Path

import pytest

from support.clients.chat_client import words
from support.clients.persistent_clients import SESSION, PersistentClients
from support.databases.folders import quick_folder
from support.servers.fake_endpoint import FakeEndpoint, fake_endpoint
from support.servers.fleets import fleet
from support.servers.http_server import postgres_address


@pytest.fixture(params=["sqlite", "postgres"])
def data(request: pytest.FixtureRequest) -> Generator[str]:
    if request.param == "postgres":
        yield postgres_address(request.getfixturevalue("migrated_postgres"))
        return
    with quick_folder() as folder:
        yield str(Path(folder) / "data")


@pytest.fixture
def model() -> Generator[FakeEndpoint]:
    """Takes a moment for each word, so that there is mostly a reply that can be cut."""
    with fake_endpoint() as endpoint:
        answer = words("One ", "two ", "three ", "four.")
        endpoint.answers(type(answer)(pieces=answer.pieces, headers=answer.headers, pause=lambda: time.sleep(0.02)))
        yield endpoint


def test_either_process_is_killed_at_any_moment(data: str, model: FakeEndpoint) -> None:
    """No acknowledged write is lost, none is stored twice, and a reply that was cut is asked for again at once."""
    with fleet(data, model) as (processes, server):
        tenant = server.new_tenant()
        tenant.new_session(SESSION)
        clients = PersistentClients(tenant)
        with clients.running():
            for number in range(4):
                clients.wait_for(writes=5 + 3 * number, chats=1)
                processes.kill(number % 2)
            clients.wait_for(writes=10, chats=2)
        assert clients.failed == []
        assert (clients.lost(), clients.duplicated(), clients.reordered()) == ([], [], [])
        assert clients.inconsistent() == []
        assert clients.reads and clients.events and clients.told["events ended"]


def test_a_rolling_restart_fails_no_request(data: str, model: FakeEndpoint) -> None:
    """No request fails that a client would not repeat by itself; a reply that is cut is told to be partial, and stored."""
    with fleet(data, model) as (processes, server):
        tenant = server.new_tenant()
        tenant.new_session(SESSION)
        clients = PersistentClients(tenant)
        with clients.running():
            for number in range(2):
                clients.wait_for(writes=10, chats=1)
                assert processes.replace(number) == 0
            clients.wait_for(writes=10, chats=2)
        assert clients.failed == []
        assert (clients.lost(), clients.duplicated(), clients.reordered()) == ([], [], [])
        assert clients.inconsistent() == []
        assert clients.told["reply cut"] == 0
        assert clients.reads and clients.events
