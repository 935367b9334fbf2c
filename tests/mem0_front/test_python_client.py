"""The unmodified Python client of mem0 at `/mem0` (DOOR-5): `MemoryClient(host=…)`, awaited and not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from support.clients.mem0_client import ClientError, async_client, memories, status_of
from support.servers.http_server import Server, Tenant

SAID = [
    {"role": "system", "content": "You are a waiter."},
    {"role": "user", "content": "I am a vegetarian, and I live in Lisbon."},
    {"role": "assistant", "content": "Noted."},
]
ALICE = {"user_id": "alice"}
Connect = Callable[..., Any]


@pytest.fixture
def client(memory_client: Connect, server: Server, tenant: Tenant) -> Any:
    return memory_client(server.address, tenant.key)


def test_the_client_is_told_its_tenant_and_project(memory_client: Connect, server: Server, tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    client = memory_client(server.address, tenant.new_key("write", project_id=garden, confined=True))
    assert client.org_id.startswith("ten_") and client.project_id == garden
    with pytest.raises(ValueError, match="valid API key"):
        memory_client(server.address, "clo_nothing")


def test_messages_are_recorded_and_memories_extracted(client: Any, tenant: Tenant) -> None:
    """The answer says what was extracted; the messages are there for every other interface."""
    given = client.add(SAID, user_id="alice", agent_id="waiter", app_id="menu", metadata={"topic": "food"})
    assert given["status"] == "SUCCEEDED"
    assert {each["memory"] for each in given["results"]} == {"The user is a vegetarian.", "The user lives in Lisbon."}
    assert {each["event"] for each in given["results"]} == {"ADD"}
    found = client.search("What does she eat?", filters=ALICE)["results"]
    assert found[0]["memory"] == "The user is a vegetarian."
    assert 0 < found[0]["score"] <= 1
    shown = {name: found[0][name] for name in ("user_id", "agent_id", "app_id", "run_id", "metadata")}
    assert shown == {
        "user_id": "alice",
        "agent_id": "waiter",
        "app_id": "menu",
        "run_id": None,
        "metadata": {"topic": "food"},
    }
    (session,) = tenant.admin.everything("/v1/sessions")
    messages = tenant.admin.everything(f"/v1/sessions/{session['external_id']}/messages")
    assert [message["content"] for message in messages] == [said["content"] for said in SAID[1:]]
    assert client.add("I own a red bicycle.", user_id="alice")["status"] == "SUCCEEDED"
    assert len(tenant.admin.everything("/v1/sessions")) == 1
    assert client.get_all(filters=ALICE)["count"] == 3


def test_without_infer_each_message_is_a_memory_as_it_is(client: Any, tenant: Tenant) -> None:
    given = client.add(
        SAID, user_id="alice", run_id="ticket-7", infer=False, metadata={"n": 1}, timestamp=1_700_000_000
    )
    assert [each["data"]["memory"] for each in given["results"]] == [said["content"] for said in SAID[1:]]
    assert given["status"] == "SUCCEEDED"
    found = client.get(given["results"][0]["id"])
    assert (found["run_id"], found["metadata"], found["created_at"]) == ("ticket-7", {"n": 1}, "2023-11-14T22:13:20Z")
    assert tenant.admin.get("/v1/sessions/ticket-7/messages").json()["data"] == []
    assert client.add(SAID, user_id="alice", run_id="ticket-7", infer=False)["results"] == []
    assert memories(client.get_all(filters={"run_id": "ticket-7"})) == memories(client.get_all(filters=ALICE))


def test_pages_are_numbered(client: Any) -> None:
    client.add([{"role": "user", "content": f"Alice owns book {n}."} for n in range(7)], user_id="alice", infer=False)
    pages = [client.get_all(filters=ALICE, page=number, page_size=3) for number in (1, 2, 3, 4)]
    assert [page["count"] for page in pages] == [7, 7, 7, 7]
    assert [len(page["results"]) for page in pages] == [3, 3, 1, 0]
    assert pages[0]["previous"] is None and "page=2" in pages[0]["next"] and pages[2]["next"] is None
    assert len({text for page in pages for text in memories(page)}) == 7


def test_a_memory_is_read_changed_and_deleted(client: Any, tenant: Tenant) -> None:
    """MEM-13: a change is a revision like that of any other interface."""
    (first, _) = client.add(SAID, user_id="alice", agent_id="waiter", metadata={"topic": "food"})["results"]
    memory = first["id"]
    changed = client.update(memory, text="Alice is a vegan.", metadata={"topic": "diet"})
    assert (changed["memory"], changed["metadata"], changed["agent_id"]) == (
        "Alice is a vegan.",
        {"topic": "diet"},
        "waiter",
    )
    assert client.get(memory) == changed and changed["updated_at"] > changed["created_at"]
    assert client.update(memory, expiration_date="2099-01-31")["expiration_date"] == "2099-01-31"
    assert client.update(memory, expiration_date=None)["expiration_date"] is None
    history = client.history(memory)
    assert [each["event"] for each in history] == ["ADD", "UPDATE", "UPDATE", "UPDATE"]
    assert (history[1]["old_memory"], history[1]["new_memory"]) == ("The user is a vegetarian.", "Alice is a vegan.")
    assert tenant.admin.get(f"/v1/memories/{memory}").json()["content"] == "Alice is a vegan."
    assert client.delete(memory) == {"message": "Memory deleted successfully!"}
    calls: list[Callable[[str], Any]] = [
        client.get,
        client.history,
        client.delete,
        lambda id: client.update(id, text="x"),
    ]
    for gone in calls:
        with pytest.raises(ClientError) as raised:
            gone(memory)
        assert (status_of(raised.value), type(raised.value).__name__) == (404, "MemoryNotFoundError")


def test_several_memories_are_changed_and_deleted_at_once(client: Any) -> None:
    texts = ["Alice owns a book.", "Alice owns a boat.", "Alice owns a barn."]
    ids = [
        each["id"]
        for each in client.add([{"role": "user", "content": text} for text in texts], **ALICE, infer=False)["results"]
    ]
    client.batch_update(
        [{"memory_id": ids[0], "text": "Alice sold the book."}, {"memory_id": ids[1], "metadata": {"n": 2}}]
    )
    assert client.get(ids[0])["memory"] == "Alice sold the book." and client.get(ids[1])["metadata"] == {"n": 2}
    for act in (client.batch_delete, client.batch_update):
        with pytest.raises(ClientError) as raised:
            act([{"memory_id": ids[1]}, {"memory_id": "mem_0000000000000001"}])
        assert status_of(raised.value) in (404, 422)
    assert client.get_all(filters=ALICE)["count"] == 3
    client.batch_delete([{"memory_id": ids[0]}, {"memory_id": ids[1]}])
    assert memories(client.get_all(filters=ALICE)) == ["Alice owns a barn."]


def test_delete_all_takes_the_past_too(client: Any) -> None:
    """MEM-12: what a deleted memory had superseded does not come back as true."""
    client.add("I live in Lisbon.", user_id="alice")
    client.add("I moved to Porto.", user_id="alice")
    client.add("I live in Rome.", user_id="bob")
    assert not any("Lisbon" in text for text in memories(client.get_all(filters=ALICE)))
    assert client.delete_all(user_id="alice")["deleted"] >= 2
    assert client.get_all(filters=ALICE)["results"] == []
    assert memories(client.get_all(filters={"user_id": "bob"})) == ["The user lives in Rome."]
    with pytest.raises(ClientError) as raised:
        client.delete_all()
    assert status_of(raised.value) == 422


def test_entities_are_listed_and_deleted(client: Any, tenant: Tenant) -> None:
    client.add("I live in Lisbon.", user_id="alice", run_id="ticket-1")
    client.add("I live in Rome.", user_id="bob")
    client.add("The till is empty.", agent_id="waiter", infer=False)
    client.add("The menu is new.", agent_id="waiter", app_id="menu", infer=False)
    listed = {(each["type"], each["name"]): each["total_memories"] for each in client.users()["results"]}
    assert listed == {
        ("user", "alice"): 1,
        ("user", "bob"): 1,
        ("run", "ticket-1"): 1,
        ("agent", "waiter"): 2,
        ("app", "menu"): 1,
    }
    client.delete_users(app_id="menu")
    assert memories(client.get_all(filters={"agent_id": "waiter"})) == ["The till is empty."]
    client.delete_users(run_id="ticket-1")
    assert tenant.admin.get("/v1/sessions/ticket-1").status_code == 404
    client.delete_users(user_id="nobody")
    assert client.reset()["message"].startswith("Client reset successful")
    assert client.users()["results"] == []


def test_the_asynchronous_client_does_the_same(server: Server, tenant: Tenant) -> None:
    async def main() -> None:
        client = async_client(server.address, tenant.key)
        added = await asyncio.gather(
            *(client.add(f"Alice owns boat {n}.", user_id="alice", infer=False) for n in range(5))
        )
        ids = [each["results"][0]["id"] for each in added]
        found = await client.search("Which boat is the third?", filters=ALICE, top_k=2, threshold=0)
        assert len(found["results"]) == 2
        await client.update(ids[0], text="Alice sold the boat.")
        assert len(await client.history(ids[0])) == 2
        assert (await client.get(ids[0]))["memory"] == "Alice sold the boat."
        assert (await client.get_all(filters=ALICE, page=2, page_size=3))["count"] == 5
        await client.batch_delete([{"memory_id": ids[1]}])
        await client.delete(ids[2])
        assert (await client.delete_all(user_id="alice"))["deleted"] == 3
        assert [each["name"] for each in (await client.users())["results"]] == ["alice"]
        await client.delete_users(user_id="alice")
        assert (await client.users())["count"] == 0
        await client.async_client.aclose()

    asyncio.run(main())


UNSUPPORTED: dict[str, Callable[[Any], Any]] = {
    "profiles": lambda client: client.get_profile("alice"),
    "profile settings": lambda client: client.get_profile_settings(),
    "exports": lambda client: client.create_memory_export(schema="{}"),
    "summary": lambda client: client.get_summary(),
    "feedback": lambda client: client.feedback("mem_1", feedback="POSITIVE"),
    "project": lambda client: client.project.get(),
    "webhooks": lambda client: client.get_webhooks("p"),
    "add: instructions": lambda client: client.add("x", user_id="alice", custom_instructions="Be brief."),
    "add: expiry": lambda client: client.add("x", user_id="alice", expiration_date="2099-01-01"),
    "add: an image": lambda client: client.add(
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], user_id="alice"
    ),
    "search: reranking": lambda client: client.search("x", filters=ALICE, rerank=True),
    "search: expired": lambda client: client.search("x", filters=ALICE, show_expired=True),
    "search: an unknown option": lambda client: client.search("x", filters=ALICE, enable_graph=True),
    "filters: a field": lambda client: client.get_all(filters={**ALICE, "feedback": "POSITIVE"}),
    "filters: an operator": lambda client: client.get_all(filters={**ALICE, "created_at": {"between": [1, 2]}}),
    "delete: linked": lambda client: client.delete("mem_0000000000000001", delete_linked=True),
    "update: timestamp": lambda client: client.update("mem_0000000000000001", text="x", timestamp=1),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_what_is_not_supported_says_what_is(memory_client: Connect, sqlite_service: Server, case: str) -> None:
    tenant = sqlite_service.new_tenant()
    client = memory_client(sqlite_service.address, tenant.key)
    with pytest.raises(ClientError, match=r"is not supported here\. Supported: ") as raised:
        UNSUPPORTED[case](client)
    assert status_of(raised.value) == 501
    assert tenant.admin.everything("/v1/sessions") == []


BAD: dict[str, Callable[[Any], Any]] = {
    "user_id: missing": lambda client: client.add("x"),
    "user_id: a wildcard": lambda client: client.add("x", user_id="*"),
    "messages: empty": lambda client: client.add([], user_id="alice"),
    "messages[0].role: unknown": lambda client: client.add([{"role": "tool", "content": "x"}], user_id="alice"),
    "metadata.agent_id: another": lambda client: client.add("x", user_id="alice", metadata={"agent_id": "b"}),
    "filters.user_id: another": lambda client: client.add("x", user_id="alice", filters={"user_id": "bob"}),
    "filters: none": lambda client: client.get_all(),
    "filters: no entity": lambda client: client.search("x", filters={"metadata": {"a": 1}}),
    "filters: only who it is not": lambda client: client.search("x", filters={"user_id": {"ne": "bob"}}),
    "filters: a NOT of who it is not": lambda client: client.search("x", filters={"NOT": [{"user_id": "bob"}]}),
    "top_k: too many": lambda client: client.search("x", filters=ALICE, top_k=1_000),
    "threshold: above 1": lambda client: client.search("x", filters=ALICE, threshold=1.5),
    "reference_date: no date": lambda client: client.search("x", filters=ALICE, reference_date="soon"),
    "filters.created_at: no time": lambda client: client.get_all(filters={**ALICE, "created_at": {"gte": "soon"}}),
    "filters.AND: no list": lambda client: client.get_all(filters={"AND": ALICE}),
    "page: zero": lambda client: client.get_all(filters=ALICE, page=0),
    "memories: too many": lambda client: client.batch_delete([{"memory_id": "mem_1"}] * 101),
    "memories: empty": lambda client: client.batch_update([]),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_an_error_that_the_client_shows(
    memory_client: Connect, sqlite_service: Server, case: str
) -> None:
    tenant = sqlite_service.new_tenant()
    client = memory_client(sqlite_service.address, tenant.key)
    with pytest.raises(ClientError) as raised:
        BAD[case](client)
    assert status_of(raised.value) in (413, 422)
    assert str(raised.value).startswith(case.partition(":")[0])
    assert tenant.admin.everything("/v1/sessions") == []
