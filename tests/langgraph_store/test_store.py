"""`CloisterStore` on a directory and at a server: the same part through every way in (ISO-11), and values as they were."""

import asyncio
import importlib
import sys
from collections.abc import Sequence
from typing import Any, cast

import pytest
from langgraph.store.base import PutOp, SearchItem, SearchOp
from langgraph_sdk import get_sync_client

from cloister import AsyncCloister, Cloister, InvalidRequest
from cloister.integrations.langgraph import CloisterStore, StoreRefused
from support.servers.http_server import Server, Tenant

ODD: dict[str, Any] = {
    "nul": "a\x00b",
    "text": "Grüße 🌊\n\t\u2028",
    "numbers": [0, -1, 10**30, 0.1, 1e300],
    "empty": [{}, [], "", None, True, False],
    "": {"$gt": "a key, not an operator"},
}


def test_iso_11_a_store_without_a_project_is_that_of_the_key_through_every_way_in(
    server: Server, tenant: Tenant
) -> None:
    """ISO-11, ORG-3: the named project, else the key's, else the default one; of the same user it is the same part."""
    assert server.services is not None
    pinned, named = tenant.new_project("Pinned"), tenant.new_project("Named")
    embedded = Cloister(services=server.services, tenant=tenant.tenant_id)
    cases: list[tuple[str, dict[str, str], dict[str, Any], str]] = [
        (tenant.key, {}, {}, tenant.default_project_id),
        (tenant.new_key(project_id=pinned), {}, {}, pinned),
        (tenant.new_key(project_id=pinned), {"X-Project-ID": named}, {"project_id": named}, named),
    ]
    for key, headers, given, expected in cases:
        for user in (None, "zoe"):
            with (
                Cloister(server.address, key=key) as remote,
                get_sync_client(
                    url=f"{server.address}/langgraph",
                    api_key=key,
                    headers=headers | ({} if user is None else {"X-User-ID": user}),
                ) as client,
            ):
                there = CloisterStore(remote, user_id=user, **given)
                here = CloisterStore(embedded, project_id=expected, user_id=user)
                there.put(("a",), "remote", {"by": "remote"})
                here.put(("a",), "embedded", {"by": "embedded"})
                client.store.put_item(["a"], "sdk", {"by": "sdk"})
                found = {item["key"] for item in client.store.search_items([])["items"]}
                assert {item.key for item in there.search(())} == {item.key for item in here.search(())} == found
                assert found == {"remote", "embedded", "sdk"}


def test_a_value_comes_back_as_it_was_stored(server: Server, tenant: Tenant) -> None:
    with Cloister(server.address, key=tenant.key) as remote:
        store = CloisterStore(remote)
        store.put(("Ünï", "a\nb", "%_*"), "k/../\\'\"", ODD)
        (item,) = store.search(("Ünï",))
        assert (item.namespace, item.key, item.value) == (("Ünï", "a\nb", "%_*"), "k/../\\'\"", ODD)
        assert item.created_at.utcoffset() is not None
        assert asyncio.run(store.aget(item.namespace, item.key)) == store.get(item.namespace, item.key)


def test_a_model_of_the_application_embeds_items_and_queries(server: Server, tenant: Tenant) -> None:
    """Its vectors are compared with each other only, and what Cloister embeds is not found by them."""
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[float("sweet" in text), float("salt" in text), 0.1] for text in texts]

    with Cloister(server.address, key=tenant.key) as remote:
        CloisterStore(remote).put(("a",), "other", {"title": "sweet"})
        store = CloisterStore(remote, index={"dims": 3, "embed": embed, "fields": ["title"]})
        store.batch([PutOp(("a",), key, {"title": key, "n": 1}) for key in ("sweet plum", "salt fish")])
        searches = [SearchOp((), query="something sweet"), SearchOp((), query="salt", filter={"n": 2})]
        found, none = cast(list[list[SearchItem]], store.batch(searches))
        assert [item.key for item in found] == ["sweet plum", "salt fish"]
        assert none == []
        assert asked[:2] == ["sweet plum", "salt fish"]
        assert [item.key for item in asyncio.run(store.asearch(("a",), query="salt", limit=1))] == ["salt fish"]


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph.store.base", None)
    monkeypatch.delitem(sys.modules, "cloister.integrations.langgraph")
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'cloister\[langgraph\]'"):
        importlib.import_module("cloister.integrations.langgraph")


def test_what_is_refused_is_a_public_error_with_its_cause(server: Server, tenant: Tenant) -> None:
    """DOOR-4: a `ValueError`, as of LangGraph's own stores, that an application can name."""
    with Cloister(server.address, key=tenant.key) as remote:
        store = CloisterStore(remote)
        with pytest.raises(StoreRefused) as refused:
            store.put(("notes",), "k", {"x": float("nan")})
    assert isinstance(refused.value, ValueError) and isinstance(refused.value.__cause__, InvalidRequest)
    given: Any = AsyncCloister()
    with pytest.raises(TypeError, match="not AsyncCloister: open one with Cloister"):
        CloisterStore(given)
