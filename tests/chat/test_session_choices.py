"""The system prompt and the model of one conversation, over HTTP."""

from collections.abc import Generator

import pytest

from support.clients.chat_client import asking, shown, told, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
PIRATE = "You are a pirate."


@pytest.fixture
def listing(model: FakeEndpoint) -> Generator[FakeEndpoint]:
    """The endpoint lists its models for the time of a test: first only one."""
    model.models = ("fake",)
    yield model
    model.models = None


def prompt_of(model: FakeEndpoint) -> str:
    return shown(model.asked[-1].body)


def test_the_prompt_of_a_session_replaces_that_of_its_project(tenant: Tenant, model: FakeEndpoint) -> None:
    project = f"/org/projects/{tenant.default_project_id}"
    assert tenant.admin.patch(project, {"settings": {"system_prompt": "Be formal. {RELEVANT.HISTORY}"}}).is_success
    tenant.new_session("tells")
    tenant.say("tells", GATE)
    made = tenant.new_session("asks", system_prompt=f"{PIRATE} {{RELEVANT.HISTORY}}")
    assert made["warnings"] == []
    model.answers(words("Arr."))
    reply = told(tenant.admin.post("/v1/chat/stream", asking("asks", QUESTION)).text)
    assert PIRATE in prompt_of(model) and GATE in prompt_of(model) and "Be formal" not in prompt_of(model)
    receipt = tenant.admin.get(f"/v1/receipts/{reply.metadata['receipt_id']}").json()
    assert (receipt["sent"]["prompt"], receipt["sent"]["placeholders"]) == ("session", ["{RELEVANT.HISTORY}"])
    assert tenant.admin.patch("/v1/sessions/asks", {"system_prompt": None}).json()["system_prompt"] is None
    tenant.admin.post("/v1/chat/stream", asking("asks", QUESTION))
    assert "Be formal" in prompt_of(model) and PIRATE not in prompt_of(model)


def test_a_prompt_without_placeholders_warns_and_gives_nothing(tenant: Tenant, model: FakeEndpoint) -> None:
    tenant.new_session("tells")
    tenant.say("tells", GATE)
    tenant.new_session("asks")
    changed = tenant.admin.patch("/v1/sessions/asks", {"system_prompt": PIRATE}).json()
    assert len(changed["warnings"]) == 1 and "placeholder" in changed["warnings"][0]
    model.answers(words("Arr."))
    reply = told(tenant.admin.post("/v1/chat/stream", asking("asks", QUESTION)).text)
    assert reply.context["relevant_history"] == [] and "4417" not in prompt_of(model)


def test_the_model_of_a_session_answers_if_the_endpoint_lists_it(tenant: Tenant, listing: FakeEndpoint) -> None:
    """Also if the server read a shorter list of models a moment ago."""
    listing.answers(words("Hello."))
    project = f"/org/projects/{tenant.default_project_id}"
    assert tenant.admin.patch(project, {"settings": {"model": "listed-nowhere"}}).is_success
    tenant.admin.post("/v1/chat/stream", asking("before", "Hello there."))
    listing.models = ("fake", "large", "small")
    assert tenant.new_session("large one", model="large")["model"] == "large"
    tenant.new_session("plain")
    for session, model in (("large one", "large"), ("plain", "fake")):
        tenant.admin.post("/v1/chat/stream", asking(session, "Hello there."))
        assert listing.asked[-1].body["model"] == model
    for request in (("PATCH", "/v1/sessions/plain"), ("POST", "/v1/sessions")):
        refused = tenant.admin.request(*request, json={"model": "unheard-of"})
        assert refused.status_code == 422 and refused.json()["errors"][0]["field"] == "model"
        assert "fake, large, small" in refused.text
    tried = tenant.admin.patch("/v1/sessions/plain?dry_run=true", {"model": "unheard-of", "project_id": None})
    assert tried.status_code == 422
    assert tenant.admin.patch("/v1/sessions/plain", {"model": "small"}).json()["model"] == "small"


def test_lists_over_http_ask_for_pinned_archived_and_one_id(tenant: Tenant) -> None:
    """Fault 22: a tab asks for a session that may not exist without an error."""
    for name in ("a", "b", "c"):
        tenant.new_session(name)
    tenant.admin.patch("/v1/sessions/a", {"pinned": True})
    tenant.admin.patch("/v1/sessions/b", {"archived": True})

    def names(**conditions: str) -> list[str]:
        return [each["external_id"] for each in tenant.admin.everything("/v1/sessions", limit=1, **conditions)]

    assert names(archived="false") == ["c", "a"] and names(archived="true") == ["b"] and names(pinned="true") == ["a"]
    project = f"/org/projects/{tenant.default_project_id}/sessions"
    assert [each["external_id"] for each in tenant.admin.everything(project, archived="true")] == ["b"]
    assert names(external_id="b") == ["b"] and names(external_id="nobody's") == []
    assert tenant.admin.get("/v1/sessions", params={"archived": "maybe"}).status_code == 422
    first = tenant.admin.get("/v1/sessions", params={"archived": "false", "limit": 1}).json()["next_cursor"]
    assert tenant.admin.get("/v1/sessions", params={"pinned": "false", "cursor": first}).status_code == 422


def test_a_key_that_may_only_write_learns_nothing_of_what_was_chosen(tenant: Tenant) -> None:
    tenant.new_session("asks", pinned=True, archived=True, system_prompt=PIRATE)
    writer = tenant.with_key("write")
    changed = writer.patch("/v1/sessions/asks", {"archived": False}).json()
    hidden: dict[str, object] = {
        "pinned": False,
        "archived": False,
        "system_prompt": None,
        "warnings": [],
        "memory_count": 0,
    }
    assert {name: changed[name] for name in hidden} == hidden
    kept = tenant.admin.get("/v1/sessions/asks").json()
    assert (kept["pinned"], kept["archived"], kept["system_prompt"]) == (True, False, PIRATE)
