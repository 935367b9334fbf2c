"""What `add` of mem0's client stores and answers when things go wrong (DOOR-5), and what moves while a request runs (ISO-12)."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from cloister.bootstrap import Services
from cloister.domain.errors import ModelUnavailable
from cloister.models.rules.extractor import Rules
from cloister.services.recall.pool_reader import PoolReader
from cloister.services.recall.search import Search
from support.clients.mem0_client import memories
from support.databases.engines import sqlite_engine
from support.servers.http_server import Server, Tenant, serving
from support.setups.extraction import run_due
from support.setups.memories import HOUR

Connect = Callable[..., Any]
ALICE = {"user_id": "alice"}


class Failing(Rules):
    """Rules that cannot be reached while `is_down`."""

    is_down = True

    def memories(self, *given: Any, **named: Any) -> Any:
        if self.is_down:
            raise ModelUnavailable("The model cannot be reached.")
        return super().memories(*given, **named)


class Clock:
    moment = 1_790_000_000_000_000

    def __call__(self) -> int:
        self.moment += 1
        return self.moment


@pytest.fixture
def broken(data: Path) -> Generator[tuple[Server, Services, Failing, Clock]]:
    engine, extractor, clock = sqlite_engine(data), Failing(), Clock()
    with engine.closing:
        services = engine.services(extractor=extractor, clock=clock)
        with serving(services) as server:
            yield server, services, extractor, clock


def test_mem_6_what_could_not_be_extracted_is_pending_and_extracted_later(
    memory_client: Connect, broken: tuple[Server, Services, Failing, Clock]
) -> None:
    """The messages are stored with their metadata, so that the memories have it whenever they come."""
    server, services, extractor, clock = broken
    client = memory_client(server.address, server.new_tenant().key)
    added = client.add("I live in Lisbon.", user_id="alice", agent_id="guide", metadata={"topic": "home"})
    assert (added["status"], added["results"]) == ("PENDING", [])
    assert "the server will try again" in added["message"]
    assert client.get_all(filters=ALICE)["count"] == 0
    extractor.is_down = False
    clock.moment += HOUR
    assert run_due(services) == 1
    (found,) = client.get_all(filters=ALICE)["results"]
    assert (found["memory"], found["agent_id"], found["metadata"]) == (
        "The user lives in Lisbon.",
        "guide",
        {"topic": "home"},
    )


def test_a_memory_has_the_metadata_that_its_messages_share(tenant: Tenant) -> None:
    """MEM-14, through the HTTP interface: a filter that finds the messages finds the memories too."""
    tenant.new_session("s", user_id="alice")
    for content, metadata in (
        ("I live in Lisbon.", {"source": "mail", "n": 1}),
        ("I own a red bicycle.", {"source": "chat"}),
        ("My cousin is called Ines.", {}),
    ):
        tenant.admin.made("/v1/sessions/s/messages", {"role": "user", "content": content, "metadata": metadata})
    tenant.admin.made("/v1/sessions/s/extract", None)
    found = {each["content"]: each["metadata"] for each in tenant.admin.everything("/v1/sessions/s/memories")}
    assert found["The user lives in Lisbon."] == {"source": "mail", "n": 1}
    assert found["The user owns a red bicycle."] == {"source": "chat"}
    assert {} in found.values()


def test_parts_of_text_and_names_of_speakers_are_recorded(memory_client: Connect, sqlite_service: Server) -> None:
    tenant = sqlite_service.new_tenant()
    client = memory_client(sqlite_service.address, tenant.key)
    parts = [{"type": "text", "text": "I live in Lisbon."}, {"type": "text", "text": "I like tea."}]
    client.add([{"role": "user", "content": parts, "name": "Alice"}], filters={"user_id": "alice", "run_id": "r"})
    (message,) = tenant.admin.everything("/v1/sessions/r/messages")
    assert (message["content"], message["author"]) == ("I live in Lisbon.\nI like tea.", "Alice")


@pytest.mark.parametrize("moved_at", ["search", "list"])
def test_iso_12_a_session_that_moves_while_a_request_runs_is_not_shown(
    memory_client: Connect, server: Server, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, moved_at: str
) -> None:
    """ISO-12: it moves after the filter chose its memory, or after the parts were chosen, and before they are read."""
    garden = tenant.new_project("Garden")
    client = memory_client(server.address, tenant.key)
    client.add("Zorvath keeps the safe.", user_id="alice", run_id="r", agent_id="guard", infer=False)
    filters = {"AND": [ALICE, {"agent_id": "guard"}]}
    assert memories(client.search("Who keeps the safe?", filters=filters, threshold=0))
    kind: Any = Search if moved_at == "search" else PoolReader
    name = "search" if moved_at == "search" else "memories"
    original = getattr(kind, name)

    def moving(*given: Any, **named: Any) -> Any:
        assert tenant.admin.patch("/v1/sessions/r", {"project_id": garden}).status_code == 200
        return original(*given, **named)

    monkeypatch.setattr(kind, name, moving)
    if moved_at == "list":
        assert client.get_all(filters=filters)["results"] == []
    else:
        assert client.search("Who keeps the safe?", filters=filters, threshold=0)["results"] == []


def test_mem_12_a_memory_that_is_not_inferred_supersedes_the_former_one(
    memory_client: Connect, server: Server, tenant: Tenant
) -> None:
    """MEM-12, DOOR-5: and the words of an assistant about itself change nothing of the user."""
    client = memory_client(server.address, tenant.key)
    for role, town in (("user", "Rome"), ("user", "Oslo"), ("assistant", "Paris")):
        client.add([{"role": role, "content": f"I live in {town}."}], user_id="alice", infer=False)
    found = client.search("Where does the user live?", filters=ALICE, threshold=0)
    assert {*memories(found)} == {"I live in Oslo.", "I live in Paris."}
