"""A key that may write and not read gets ids back, and what it sent itself; nothing that was stored before.

Every route that needs `write` has a row: what is sent to it, and what its answer may hold besides ids, times and the request's own
words. A route without a row fails the first test here.
"""

import json
import re
from typing import Any, NamedTuple, cast

import pytest

from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.dispatch.callers import need_of
from support.servers.http_server import Caller, Server, Tenant

SECRETS = ("Peonies", "aubergine", "The gate code is 4417", "Anna", "cello", "told-nobody")
ASK = {"id": "roses", "messages": [{"role": "user", "parts": [{"type": "text", "text": "And the beans?"}]}]}
ID = re.compile(r"(?:proj|msg|ep|mem|ent|key)_[0-9a-f]{16}|\d{4}-\d\d-\d\dT[\d:.]+Z")
ADDED = "Beans need water."


class Row(NamedTuple):
    method: str
    path: str
    status: int
    body: Any = None
    counts: tuple[str, ...] = ()
    """Fields that hold a number or a yes that is not the request's own."""


NAMED_BY_MESSAGE = re.compile(r"/(items|exclusions)/\{message_id\}")
# Of a certificate: which checks were made, with what result, and why others were not; what went is not named.
CHECKS = ("checks", "not_made", "would_remove")
COUNTS = ("messages", "episodes", "memories", "observations", "files", *CHECKS)
ROWS = (
    Row("POST", "/v1/sessions", 201, {"external_id": "new", "title": "Mine", "metadata": {"a": 1}}),
    Row("POST", "/v1/sessions", 200, {"external_id": "beans", "user_id": "ada", "project_id": "{project_id}"}),
    Row("POST", "/v1/sessions", 409, {"external_id": "roses", "user_id": "ada", "project_id": "{project_id}"}),
    Row("PATCH", "/v1/sessions/{external_id}", 200, {"project_id": None}),
    Row("PATCH", "/v1/sessions/{external_id}", 200, {"title": "Mine"}),
    Row("PATCH", "/v1/sessions/{external_id}", 200, {"metadata": {"mine": True}}),
    Row("DELETE", "/v1/sessions/{external_id}", 200, None, COUNTS),
    Row("POST", "/v1/sessions/{external_id}/clear", 200, None, COUNTS),
    Row("POST", "/v1/sessions/{external_id}/messages", 201, {"role": "user", "content": ADDED}),
    Row("POST", "/v1/sessions/{external_id}/messages", 201, {"role": "assistant", "content": ADDED}),
    Row("POST", "/v1/sessions/{external_id}/messages/batch", 201, {"messages": [{"role": "user", "content": ADDED}]}),
    Row("POST", "/v1/sessions/{external_id}/title", 403, {"replaces": "Peonies"}),
    Row("POST", "/v1/sessions/{external_id}/branch", 403, {"message_id": "{message_id}"}),
    Row("POST", "/v1/sessions/{external_id}/exclusions", 403, {"kind": "message", "id": "{message_id}"}),
    Row("DELETE", "/v1/sessions/{external_id}/exclusions/{message_id}", 403),
    Row("DELETE", "/v1/messages/{message_id}", 200, None, CHECKS),
    Row("POST", "/v1/episodes", 201, {"session_id": "roses", "user_message": ADDED, "ai_response": "Noted."}),
    Row("POST", "/v1/memories", 201, {"session_id": "roses", "contents": [ADDED]}),
    Row("PATCH", "/v1/memories/{memory_id}", 403, {"pinned": True}),
    Row("POST", "/v1/memories/{memory_id}/retract", 403),
    Row("POST", "/v1/memories/{memory_id}/restore", 403),
    Row("DELETE", "/v1/memories/{memory_id}", 200, None, CHECKS),
    Row("PATCH", "/v1/entities/{entity_id}", 403, {"project_id": "{project_id}"}),
    Row("PATCH", "/v1/entities/{entity_id}", 403, {"name": "Anna Berg"}),
    Row("DELETE", "/v1/entities/{entity_id}", 200, None, CHECKS),
    Row("POST", "/v1/entities/{entity_id}/merge", 403, {"into": "{entity_id}"}),
    Row("POST", "/v1/entities/{entity_id}/split", 403, {"aliases": ["Annie"]}),
    Row("POST", "/v1/entities/{entity_id}/restore", 403),
    Row("POST", "/v1/extract/preview", 403, {"messages": [{"role": "user", "content": ADDED}]}),
    Row("POST", "/v1/sessions/{external_id}/extract", 200, None, ("appended", "checked_messages")),
    Row("POST", "/v1/chat/stream", 403, ASK),
    Row("POST", "/v1/chat/{external_id}/stop", 403),
    Row("POST", "/v1/responses", 403, {"input": ADDED}),
    Row("DELETE", "/v1/responses/{response_id}", 200, None, ("id", "object", "deleted")),
    Row("POST", "/v1/conversations", 200, {"metadata": {"mine": "x"}}, ("id", "object", "created_at")),
    Row("POST", "/v1/conversations/{external_id}", 200, {"metadata": {"mine": "x"}}, ("object", "created_at")),
    Row("DELETE", "/v1/conversations/{external_id}", 200, None, ("object", "deleted")),
    Row(
        "POST",
        "/v1/conversations/{external_id}/items",
        200,
        {"items": [{"role": "user", "content": ADDED}]},
        ("object", "type", "has_more"),
    ),
    Row("DELETE", "/v1/conversations/{external_id}/items/{message_id}", 200, None, ("object", "created_at")),
    Row("POST", "/v1/sessions/{external_id}/items", 200, {"items": [{"role": "user", "content": ADDED}]}),
    Row("DELETE", "/v1/sessions/{external_id}/items/{message_id}", 204),
    Row("POST", "/v1/sessions/{external_id}/files", 403, {"command": "clear"}),
    Row(
        "POST",
        "/anthropic/v1/messages",
        403,
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": ADDED}]},
    ),
    Row("PUT", "/langgraph/store/items", 204, {"namespace": ["notes"], "key": "beans", "value": {"text": ADDED}}),
    Row("DELETE", "/langgraph/store/items", 204, {"namespace": ["notes"], "key": "beans"}),
    Row("POST", "/v1/entries/write", 200, {"operations": [{"op": "delete_expired"}]}, ("data",)),
    Row("POST", "/v1/entries/write", 403, {"operations": [{"op": "get", "namespace": ["notes"], "key": "beans"}]}),
    Row(
        "POST",
        "/v1/entries/write",
        403,
        {"operations": [{"op": "expect", "namespace": ["notes"], "key": "beans", "value": None}]},
    ),
    Row("POST", "/v1/chat/completions", 403, {"messages": [{"role": "user", "content": ADDED}]}),
    Row(
        "POST",
        "/mem0/v3/memories/add/",
        200,
        {"messages": ADDED, "user_id": "ada", "infer": False},
        ("message", "status"),
    ),
    Row("POST", "/mem0/v3/memories/add/", 200, {"messages": ADDED, "user_id": "ada"}, ("message", "status")),
    Row("PUT", "/mem0/v1/memories/{memory_id}/", 403, {"text": ADDED}),
    Row("DELETE", "/mem0/v1/memories/{memory_id}/", 404),
    Row("DELETE", "/mem0/v1/memories/", 422),
    Row("PUT", "/mem0/v1/batch/", 403, {"memories": [{"memory_id": "mem_1", "text": ADDED}]}),
    Row("DELETE", "/mem0/v1/batch/", 404, {"memories": [{"memory_id": "mem_0000000000000001"}]}),
    *(
        Row("DELETE", f"/mem0/{version}/entities/{{type}}/{{name}}/", 200, None, ("message", "sessions", "memories"))
        for version in ("v1", "v2")
    ),
)
# Said of every new message, and of every session that is answered without being read.
ALWAYS: dict[str, object] = {
    "message_count": 0,
    "current_leaf_id": None,
    "is_forked": False,
    "parent_id": None,
    "is_current": True,
    "seq": 0,
    "memory_job_pending": False,
    "last_extraction_error": None,
    "status": "completed",
    "is_memory_checked": False,
    "role": "user",
    "duplicates": 0,
    "author": None,
    "title": None,
    "memory_count": 0,
    "pinned": False,
    "archived": False,
    "system_prompt": None,
    "model": None,
    "warnings": [],
}


class House(NamedTuple):
    tenant: Tenant
    names: dict[str, str]
    writer: Caller


@pytest.fixture
def house(server: Server) -> House:
    tenant = server.new_tenant()
    garden = tenant.new_project("Peonies")
    tenant.new_session(
        "roses", project_id=garden, user_id="ada", title="Peonies", tags=["aubergine"], metadata={"told-nobody": 1}
    )
    tenant.admin.patch(
        "/v1/sessions/roses", {"pinned": True, "archived": True, "system_prompt": "Peonies and told-nobody"}
    )
    tenant.new_session("beans", project_id=garden, user_id="ada")
    tenant.say("beans", "The gate code is 4417.")
    message = tenant.say("roses", "The gate code is 4417. My neighbour Anna plays the cello.")["id"]
    tenant.admin.made("/v1/sessions/roses/extract", None)
    answered = tenant.admin.post("/v1/responses", {"input": "Peonies?"}).json()
    names = {
        "response_id": answered["id"],
        "project_id": garden,
        "external_id": "roses",
        "type": "user",
        "name": "ada",
        "message_id": message,
        "memory_id": tenant.admin.get("/v1/sessions/roses/memories").json()["data"][0]["id"],
        "entity_id": tenant.admin.get(f"/v1/entities?project_id={garden}&user_id=ada").json()["data"][0]["id"],
    }
    return House(tenant, names, tenant.with_key("write"))


def test_every_route_that_writes_has_its_row(server: Server) -> None:
    assert server.services is not None
    writing = {
        (method, cast(Any, route).path)
        for route in create_app(server.services).routes
        for method in cast(Any, route).methods
        if need_of(cast(Any, route).endpoint) == "write"
    }
    rows = {(row.method, NAMED_BY_MESSAGE.sub(r"/\1/{item_id}", row.path)) for row in ROWS}
    assert rows == writing


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path} {sorted(row.body or ())}")
def test_a_key_without_read_gets_nothing_back_that_it_did_not_send(house: House, row: Row) -> None:
    """ORG-8, ISO-4."""
    body = filled(row.body, house.names)
    answer = house.writer.request(row.method, row.path.format(**house.names), json=body)
    assert answer.status_code == row.status, answer.text
    assert [secret for secret in SECRETS if secret in answer.text] == []
    if answer.is_success and answer.content:
        named = [value for name, value in house.names.items() if f"{{{name}}}" in row.path]
        sent = {json.dumps(value) for value in [*values_of(body), *named]}
        assert unexplained(answer.json(), sent, row.counts) == []
        stored = [value for name, value in house.names.items() if name.endswith("_id") or name == "name"]
        assert [value for value in stored if json.dumps(value) not in sent and json.dumps(value) in answer.text] == []


def filled(body: Any, names: dict[str, str]) -> Any:
    if body is None:
        return None
    return {name: value.format(**names) if isinstance(value, str) else value for name, value in body.items()}


def values_of(node: Any) -> list[Any]:
    """A value, and all that it holds."""
    if isinstance(node, dict):
        return [node, *(each for value in cast(dict[str, Any], node).values() for each in values_of(value))]
    if isinstance(node, list):
        return [node, *(each for value in cast(list[Any], node) for each in values_of(value))]
    return [node]


def unexplained(said: Any, sent: set[str], counts: tuple[str, ...], field: str = "") -> list[Any]:
    """What in an answer is no id, no time, nothing of the request, and nothing that every answer says."""
    if json.dumps(said) in sent or said in ([], {}) or field in counts:
        return []
    if isinstance(said, dict):
        inside = cast(dict[str, Any], said)
        return [each for name, value in inside.items() for each in unexplained(value, sent, counts, name)]
    if isinstance(said, list):
        return [each for value in cast(list[Any], said) for each in unexplained(value, sent, counts, field)]
    if field in ALWAYS and said == ALWAYS[field]:
        return []
    if isinstance(said, str) and ID.fullmatch(said):
        return []
    return [] if said is None and field.endswith("_id") else [(field, said)]


def test_whether_a_memory_is_known_already_is_not_told_to_who_may_not_read(house: House) -> None:
    """Else a guess could be tried."""
    known = house.tenant.admin.get("/v1/sessions/roses/memories").json()["data"][0]["content"]
    answers = {
        house.writer.post("/v1/memories", {"session_id": "roses", "contents": [guess]}).text
        for guess in (known, "Nobody ever said this.")
    }
    assert len(answers) == 1


def test_a_repeated_request_says_no_more_than_the_first(house: House) -> None:
    once = {"Idempotency-Key": "once"}
    body = {"external_id": "beans", "user_id": "ada", "project_id": house.names["project_id"]}
    answers = [house.writer.post("/v1/sessions", body, headers=once) for _ in range(2)]
    assert answers[0].text == answers[1].text
    assert [secret for secret in SECRETS if secret in answers[0].text] == []


def test_a_key_that_may_read_too_is_told_everything(house: House) -> None:
    found = house.tenant.with_key("read", "write").patch("/v1/sessions/roses", {"metadata": {"more": 1}}).json()
    assert (found["title"], found["tags"], found["message_count"]) == ("Peonies", ["aubergine"], 1)


def test_a_key_without_read_is_not_told_which_field_of_a_session_is_another_one(house: House) -> None:
    """ORG-8: else a user, a title and metadata could be guessed one after the other."""
    session = {"external_id": "roses", "project_id": house.names["project_id"]}
    guesses = ({"user_id": "bob"}, {"user_id": "ada"}, {"user_id": "ada", "title": "Peonies"})
    answers = [house.writer.post("/v1/sessions", {**session, **guess}) for guess in guesses]
    assert {answer.status_code for answer in answers} == {409}
    assert {answer.json()["detail"] for answer in answers} == {"The session 'roses' exists already with other fields."}
