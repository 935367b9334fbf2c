"""Filters over HTTP (MEM-14): what is outside is neither found nor counted, and what is wrong is refused with its path."""

import json
import re
from typing import Any

import pytest

from support.servers.http_server import Caller, Server, Tenant

QUERY = "Which lamp does the kitchen need?"
LABELS: dict[str, Any] = {"categories": ["secret"], "metadata": {"code": "only theirs"}, "author": "Their Author"}
FOREIGN: list[dict[str, Any]] = [
    {"session_id": "theirs"},
    {"user_id": "bo"},
    {"category": "secret"},
    {"metadata": {"code": "only theirs"}},
    {"author": "Their Author"},
    {"role": "tool"},
    {"created_after": "2030-01-01T00:00:00Z"},
    {"or": [{"session_id": "theirs"}, {"not": {"not": {"category": "secret"}}}]},
]
NOTHING = {"session_id": "never made"}


@pytest.fixture
def home(either_server: Server) -> Tenant:
    return either_server.new_tenant()


def confide(tenant: Tenant) -> None:
    said = [
        {"role": "tool", "content": f"The kitchen needs lamp {number}.", "created_at": "2031-01-01T00:00:00Z", **LABELS}
        for number in range(20)
    ]
    tenant.admin.made("/v1/sessions/theirs/messages/batch", {"messages": said})


# A receipt says when it was made.
_MADE_AT = re.compile(rb'(?<="created_at":")[^"]*(?=","pool":)')


def answers(caller: Caller, wanted: dict[str, Any]) -> list[tuple[int, bytes]]:
    """Everything that a filter can ask for, as it is answered."""
    text = json.dumps(wanted)
    asked = [
        caller.post("/v1/context", {"session_id": "asks", "query": QUERY, "min_relevance": 0, "filter": wanted}),
        caller.post("/v1/search", {"session_id": "asks", "query": QUERY, "min_relevance": 0, "filter": wanted}),
        caller.get("/v1/sessions/ours/messages", params={"filter": text}),
        caller.get("/v1/sessions/ours/memories", params={"filter": text}),
        caller.get("/v1/sessions/ours/observations", params={"filter": text}),
    ]
    return [(answer.status_code, _MADE_AT.sub(b"", answer.content)) for answer in asked]


@pytest.mark.parametrize("outside", ["another tenant", "another project", "another user"])
def test_mem_14_a_filter_cannot_find_or_count_what_is_outside(
    home: Tenant, either_server: Server, outside: str
) -> None:
    """ISO-3, ISO-4, ISO-10: byte for byte the answers to a filter that nothing matches, for every kind of key."""
    garden = home.new_project("Garden")
    for name in ("ours", "asks"):
        home.new_session(name, project_id=garden, user_id="ada")
    home.say("ours", "The lamp of our kitchen is green.")
    home.admin.made("/v1/memories", {"session_id": "ours", "contents": ["Ada likes lamps."]})
    whose = either_server.new_tenant() if outside == "another tenant" else home
    project = {"another user": garden}.get(outside) or whose.new_project("Theirs")
    whose.new_session("theirs", project_id=project, user_id="bo")
    confide(whose)
    callers = [
        home.admin,
        home.with_key("read"),
        home.with_key("read", project_id=garden, confined=True),
        home.with_key("read", user_id="ada"),
    ]
    for caller in callers:
        expected = answers(caller, NOTHING)
        assert {status for status, _ in expected} == {200}
        assert json.loads(expected[0][1])["relevant_history"] == [] and json.loads(expected[1][1])["data"] == []
        for wanted in FOREIGN:
            assert answers(caller, wanted) == expected
    (found,) = home.admin.post(
        "/v1/search", {"session_id": "asks", "query": QUERY, "filter": {"kind": "episode"}}
    ).json()["data"]
    assert found["content"] == "The lamp of our kitchen is green."


def test_mem_14_a_filter_by_a_session_that_was_deleted_or_moved_answers_as_by_one_that_never_was(home: Tenant) -> None:
    garden, kitchen = home.new_project("Garden"), home.new_project("Kitchen")
    for name in ("ours", "asks", "gone", "moved"):
        home.new_session(name, project_id=garden)
        home.say(name, f"The kitchen of {name} needs a lamp.")
    assert answers(home.admin, {"session_id": "gone"}) != answers(home.admin, NOTHING)
    home.admin.delete("/v1/sessions/gone")
    home.admin.patch("/v1/sessions/moved", {"project_id": kitchen})
    for name in ("gone", "moved"):
        assert answers(home.admin, {"session_id": name}) == answers(home.admin, NOTHING)


WRONG: list[tuple[Any, str]] = [
    ({"colour": "green"}, "filter.colour"),
    ({"and": [{"role": "user"}, {"not": {"kind": "thing"}}]}, "filter.and[1].not.kind"),
    ({}, "filter"),
    ({"not": {"not": {"not": {"not": {"not": {"role": "user"}}}}}}, "filter.not.not.not.not.not"),
    ({"or": [{"role": "user"}] * 51}, "filter.or"),
    ({"created_after": "soon"}, "filter.created_after"),
]


@pytest.mark.parametrize(("wanted", "field"), WRONG)
def test_mem_14_a_wrong_filter_is_refused_alike_everywhere(home: Tenant, wanted: Any, field: str) -> None:
    for name in ("ours", "asks"):
        home.new_session(name)
    for status, body in answers(home.admin, wanted):
        problem = json.loads(body)
        assert (status, problem["code"]) == (422, "invalid_request")
        assert [each["field"] for each in problem["errors"]] == [field]


@pytest.mark.parametrize("text", ["", "green", "[]", '"role"', "[" * 2_000, '{"role": "user", "role": "tool"}', "null"])
def test_mem_14_what_is_no_filter_in_a_query_is_refused(home: Tenant, text: str) -> None:
    home.new_session("ours")
    for path in ("/v1/sessions/ours/messages", "/v1/sessions/ours/memories", "/v1/users/ada/memories"):
        answer = home.admin.get(path, params={"filter": text})
        assert answer.status_code == 422 and answer.json()["errors"][0]["field"] == "filter"


@pytest.mark.parametrize("wanted", ["role", 5, [], [{"role": "user"}]])
def test_mem_14_what_is_no_object_in_a_body_is_refused(home: Tenant, wanted: Any) -> None:
    home.new_session("asks")
    for path in ("/v1/context", "/v1/search"):
        answer = home.admin.post(path, {"session_id": "asks", "query": QUERY, "filter": wanted})
        assert answer.status_code == 422 and "filter" in answer.json()["errors"][0]["field"]


def test_mem_14_pages_of_a_filtered_list_are_whole(home: Tenant) -> None:
    home.new_session("ours")
    drafts = [
        {"role": "user", "content": f"Message {number}.", "metadata": {"odd": bool(number % 2)}} for number in range(25)
    ]
    home.admin.made("/v1/sessions/ours/messages/batch", {"messages": drafts})
    wanted = json.dumps({"metadata": {"odd": True}})
    pages = list(home.admin.pages("/v1/sessions/ours/messages", 5, filter=wanted))
    assert [len(page) for page in pages] == [5, 5, 2]
    assert [message["content"] for page in pages for message in page] == [f"Message {at}." for at in range(1, 25, 2)]
