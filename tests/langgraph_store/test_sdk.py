"""The unmodified LangGraph SDK at `/langgraph` (DOOR-4): `get_client(url=…).store`, awaited and not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.errors import APIStatusError
from langgraph_sdk.schema import SearchItem

from support.servers.http_server import Server, Tenant

NOTES = ["users", "ann", "notes"]


def url(server: Server) -> str:
    return f"{server.address}/langgraph"


def keys(items: list[SearchItem]) -> list[str]:
    return [item["key"] for item in items]


def test_the_client_puts_gets_searches_lists_and_deletes(server: Server, tenant: Tenant) -> None:
    with get_sync_client(url=url(server), api_key=tenant.key) as client:
        store = client.store
        assert store.get_item(NOTES, "tea") is None
        store.put_item(NOTES, "tea", {"text": "Ann drinks green tea.", "size": 2})
        store.put_item(NOTES, "car", {"text": "The car is red.", "size": 5}, index=["text"])
        store.put_item(["users", "bob"], "tea", {"text": "Tea is not for Bob."}, index=False, ttl=5)
        item = store.get_item(NOTES, "tea", refresh_ttl=True)
        assert (item["namespace"], item["key"]) == (NOTES, "tea")
        assert item["value"] == {"text": "Ann drinks green tea.", "size": 2}
        assert str(item["created_at"]).endswith("Z")

        assert keys(store.search_items(["users"])["items"]) == ["tea", "car", "tea"]
        assert keys(store.search_items(NOTES, filter={"size": {"$gt": 2}})["items"]) == ["car"]
        found = store.search_items(["users"], query="Which tea does she like?", limit=2)["items"]
        assert keys(found) == ["tea", "car"]
        scores = [item.get("score") for item in found]
        assert all(isinstance(score, float) for score in scores)
        assert store.search_items(["users"], limit=1, offset=1)["items"][0]["key"] == "car"

        assert store.list_namespaces(prefix=["users"])["namespaces"] == [NOTES, ["users", "bob"]]
        assert store.list_namespaces(suffix=["notes"], max_depth=2)["namespaces"] == [NOTES[:2]]
        store.delete_item(NOTES, "tea")
        store.delete_item(NOTES, "tea")
        assert store.get_item(NOTES, "tea") is None


def test_the_asynchronous_client_does_the_same(server: Server, tenant: Tenant) -> None:
    async def main() -> None:
        async with get_client(url=url(server), headers={"Authorization": f"Bearer {tenant.key}"}) as client:
            await asyncio.gather(*(client.store.put_item(NOTES, f"k{n}", {"n": n}) for n in range(20)))
            found = await client.store.search_items(NOTES, filter={"n": {"$lt": 3}}, limit=50)
            assert {item["key"] for item in found["items"]} == {"k0", "k1", "k2"}
            item = await client.store.get_item(NOTES, "k7")
            assert item["value"] == {"n": 7}
            await client.store.delete_item(NOTES, "k7")
            listed = await client.store.list_namespaces()
            assert listed["namespaces"] == [NOTES]

    asyncio.run(main())


BAD: dict[str, Callable[[Any], Any]] = {
    "namespace: a full stop": lambda store: store.http.put(
        "/store/items", json={"namespace": ["a.b"], "key": "k", "value": {}}
    ),
    "namespace: no labels": lambda store: store.put_item([], "k", {}),
    "namespace: an empty label": lambda store: store.get_item(["a", ""], "k"),
    "namespace: a reserved root": lambda store: store.put_item(["langgraph", "a"], "k", {}),
    "namespace: too long": lambda store: store.put_item(["a" * 2_000], "k", {}),
    "key: empty": lambda store: store.put_item(["a"], "", {}),
    "key: NUL": lambda store: store.put_item(["a"], "k\x00", {}),
    "value: a list": lambda store: store.put_item(["a"], "k", []),
    "value: too large": lambda store: store.put_item(["a"], "k", {"text": "x" * 300_000}),
    "ttl: not positive": lambda store: store.put_item(["a"], "k", {}, ttl=0),
    "index: too many paths": lambda store: store.put_item(["a"], "k", {}, index=["p"] * 33),
    "filter: an unknown operator": lambda store: store.search_items(["a"], filter={"n": {"$like": "x"}}),
    "filter: an operator without a key": lambda store: store.search_items(["a"], filter={"$or": []}),
    "limit: too many": lambda store: store.search_items(["a"], limit=1_001),
    "offset: negative": lambda store: store.search_items(["a"], offset=-1),
    "unknown field": lambda store: store.http.post(
        "/store/items/search", json={"namespace_prefix": [], "user_id": "bob"}
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_an_error_that_the_client_shows(sqlite_service: Server, case: str) -> None:
    tenant = sqlite_service.new_tenant()
    with get_sync_client(url=url(sqlite_service), api_key=tenant.key) as client:
        with pytest.raises(APIStatusError) as raised:
            BAD[case](client.store)
        assert raised.value.status_code in (413, 422)
        assert raised.value.code in ("too_large", "invalid_request")
        assert "field" in case or case.partition(":")[0] in raised.value.message
        assert client.store.search_items([])["items"] == []


def test_a_key_that_only_reads_changes_nothing_not_even_when_something_expires(server: Server, tenant: Tenant) -> None:
    with (
        get_sync_client(url=url(server), api_key=tenant.key) as owner,
        get_sync_client(url=url(server), api_key=tenant.new_key("read")) as reader,
        get_sync_client(url=url(server), api_key=tenant.new_key("write")) as writer,
    ):
        owner.store.put_item(NOTES, "k", {"n": 1}, ttl=1)
        assert reader.store.get_item(NOTES, "k", refresh_ttl=True)["value"] == {"n": 1}
        for refused in (
            lambda: reader.store.put_item(NOTES, "k", {}),
            lambda: reader.store.delete_item(NOTES, "k"),
            lambda: writer.store.get_item(NOTES, "k"),
            lambda: writer.store.search_items([]),
            lambda: writer.store.list_namespaces(),
        ):
            with pytest.raises(APIStatusError) as raised:
                refused()
            assert (raised.value.status_code, raised.value.code) == (403, "forbidden")
        writer.store.put_item(NOTES, "k", {"n": 2})
        assert reader.store.get_item(NOTES, "k")["value"] == {"n": 2}


def test_without_a_valid_key_nothing_is_answered(sqlite_service: Server) -> None:
    for given in ("", "clo_nothing", "x" * 100):
        with get_sync_client(url=url(sqlite_service), api_key=given) as client:
            with pytest.raises(APIStatusError) as raised:
                client.store.search_items([])
            assert raised.value.status_code == 401
