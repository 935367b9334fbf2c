"""The canary grid at LangGraph's door: the SDK and `CloisterStore`, handles of different keys side by side, every operation, and
nothing crosses (ISO-4). All handles use the same namespaces and keys."""

from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import APIStatusError

from cloister import Cloister, Forbidden, NotFound
from cloister.integrations.langgraph import CloisterStore
from support.servers.http_server import Server

# Invented names, so that none can be in an answer by chance; each is one part's alone.
CANARIES = {
    "garden, ada": "Zorvath",
    "garden, bob": "Quimbelo",
    "garden, no user": "Yandrimo",
    "kitchen, ada": "Wextalu",
    "kitchen, no user": "Brosk",
    "other tenant, ada": "Fenwilda",
}
NAMESPACE, KEY = ("people", "known"), "captain"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of the store with its canary, and two handles that belong to it."""

    canary: str
    sdk: Any
    store: CloisterStore

    def seen(self) -> list[Any]:
        """Everything that any read of either handle answers."""
        everything = self.store.batch(
            [
                GetOp(NAMESPACE, KEY),
                SearchOp(()),
                SearchOp(NAMESPACE[:1], query="Who keeps the safe?"),
                SearchOp((), filter={"role": {"$ne": "mate"}}),
                ListNamespacesOp(),
                ListNamespacesOp((MatchCondition("suffix", ("*", "known")),)),
            ]
        )
        return [
            *everything,
            self.sdk.get_item(NAMESPACE, KEY),
            self.sdk.search_items([]),
            self.sdk.search_items([], query="Who keeps the safe?", filter={"role": "captain"}),
            self.sdk.list_namespaces(),
        ]


@pytest.fixture
def grid(server: Server) -> Generator[dict[str, Part]]:
    """Every part with its canary. Some handles are bound by their key, some by a header or an argument, and some by both."""
    tenant, stranger = server.new_tenant(), server.new_tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    keys: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
        "garden, ada": (tenant.new_key("read", "write", project_id=garden, confined=True, user_id="ada"), {}, {}),
        "garden, bob": (
            tenant.new_key("read", "write", user_id="bob"),
            {"X-Project-ID": garden},
            {"project_id": garden},
        ),
        "garden, no user": (tenant.new_key(project_id=garden), {}, {}),
        "kitchen, ada": (
            tenant.key,
            {"X-Project-ID": kitchen, "X-User-ID": "ada"},
            {"project_id": kitchen, "user_id": "ada"},
        ),
        "kitchen, no user": (tenant.new_key("read", "write", project_id=kitchen, confined=True), {}, {}),
        "other tenant, ada": (stranger.key, {"X-User-ID": "ada"}, {"user_id": "ada"}),
    }
    with ExitStack() as stack:
        parts: dict[str, Part] = {}
        for name, (key, headers, named) in keys.items():
            client = get_sync_client(url=f"{server.address}/langgraph", api_key=key, headers=headers)
            cloister = stack.enter_context(Cloister(server.address, key=key))
            sdk = stack.enter_context(client).store
            parts[name] = Part(canary=CANARIES[name], sdk=sdk, store=CloisterStore(cloister, **named))
        for number, part in enumerate(parts.values()):
            value = {"text": f"{part.canary} keeps the safe.", "role": "captain"}
            own = ("people", part.canary.lower())
            if number % 2:
                part.sdk.put_item(NAMESPACE, KEY, value)
                part.sdk.put_item(own, KEY, value)
            else:
                part.store.batch([PutOp(NAMESPACE, KEY, value), PutOp(own, KEY, value)])
        yield parts


def canaries_in(answers: list[Any]) -> set[str]:
    text = repr(answers).lower()
    return {canary for canary in CANARIES.values() if canary.lower() in text}


def test_iso_4_no_handle_sees_what_another_stored(grid: dict[str, Part]) -> None:
    """ISO-4, ISO-10, ORG-4, ORG-10."""
    for part in grid.values():
        answers = part.seen()
        assert all(answers)
        assert canaries_in(answers) == {part.canary}


def test_iso_4_no_handle_changes_what_another_stored(grid: dict[str, Part]) -> None:
    kept = grid.pop("garden, no user")
    before = kept.seen()
    for part in grid.values():
        part.store.put(NAMESPACE, KEY, {"text": "overwritten", "role": "captain"}, ttl=1)
        part.sdk.delete_item(("people", kept.canary.lower()), KEY)
        part.store.delete(NAMESPACE, KEY)
        part.store.sweep_ttl()
    assert kept.seen() == before


def test_a_payload_or_a_header_narrows_and_never_widens(server: Server) -> None:
    """DOOR-4, ORG-4, ORG-10."""
    tenant, stranger = server.new_tenant(), server.new_tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    bound = tenant.new_key("read", "write", user_id="ada")
    confined = tenant.new_key("read", "write", project_id=garden, confined=True)
    foreign = stranger.new_project("Theirs")
    refused: list[tuple[str, dict[str, str], dict[str, Any], type[Exception], int]] = [
        (bound, {"X-User-ID": "bob"}, {"user_id": "bob"}, Forbidden, 403),
        (confined, {"X-Project-ID": kitchen}, {"project_id": kitchen}, NotFound, 403),
        (tenant.key, {"X-Project-ID": foreign}, {"project_id": foreign}, NotFound, 404),
        (confined, {"X-Project-ID": foreign}, {"project_id": None}, Forbidden, 403),
    ]
    for key, headers, named, error, status in refused:
        with (
            Cloister(server.address, key=key) as cloister,
            get_sync_client(url=f"{server.address}/langgraph", api_key=key, headers=headers) as client,
        ):
            store = CloisterStore(cloister, **named)
            for act in (partial(store.put, NAMESPACE, KEY, {}), partial(store.search, ()), store.sweep_ttl):
                with pytest.raises(error):
                    act()
            for act in (
                lambda: client.store.put_item(NAMESPACE, KEY, {}),
                lambda: client.store.get_item(NAMESPACE, KEY),
                lambda: client.store.search_items([]),
            ):
                with pytest.raises(APIStatusError) as raised:
                    act()
                assert raised.value.status_code == status


def test_a_namespace_cannot_be_taken_for_another(server: Server) -> None:
    """ISO-4: `a.b` and `a`, `b` are two namespaces, and only one of them can be."""
    tenant = server.new_tenant()
    with Cloister(server.address, key=tenant.key) as cloister:
        store = CloisterStore(cloister)
        store.put(("a", "b"), "k", {"n": 1})
        for op in (GetOp(("a.b",), "k"), PutOp(("a.b",), "k", {}), PutOp(("a.b",), "k", None), SearchOp(("a.",))):
            with pytest.raises(InvalidNamespaceError):
                store.batch([op])
        answer = tenant.admin.get("/langgraph/store/items?namespace=a..b&key=k")
        assert answer.status_code == 422
        assert store.search(("a",))[0].value == {"n": 1}
        assert store.search(("A",)) == store.search(("a%",)) == store.search(("*",)) == []


def test_two_different_keys_in_one_request_are_refused(sqlite_service: Server) -> None:
    """A proxy before the server may have read the other one."""
    tenant, other = sqlite_service.new_tenant(), sqlite_service.new_tenant()
    for key, status in ((tenant.key, 200), (other.key, 401)):
        answer = tenant.admin.request(
            "POST", "/langgraph/store/namespaces", json={"limit": 5}, headers={"X-Api-Key": key}
        )
        assert answer.status_code == status
