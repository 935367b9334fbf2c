"""Projects and quotas over HTTP: one default always, nothing lost when a project goes, and a clear end when a tenant is full."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cloister.bootstrap import wire
from cloister.domain.usage import Limits
from support.databases.engines import EMBEDDER, Engine, exact_index
from support.servers.http_server import Caller, Server, Tenant, serving


def hits(caller: Caller, session: str, query: str = "roses") -> set[str]:
    return {hit["content"] for hit in caller.made("/v1/search", {"session_id": session, "query": query})["data"]}


def test_a_tenant_starts_with_one_default_project(tenant: Tenant) -> None:
    """ORG-1, ORG-2, ORG-6."""
    (project,) = tenant.admin.everything("/org/projects")
    assert project["project_id"] == tenant.default_project_id
    assert project["tenant_id"] == tenant.tenant_id
    assert (project["is_default"], project["isolated"], project["memory_count"]) == (True, True, 0)
    assert project["project_id"].removeprefix("proj_").isalnum()


def test_a_project_has_what_the_contract_says(tenant: Tenant) -> None:
    """ORG-1, ORG-6, ISO-2."""
    made = tenant.admin.made("/org/projects", {"name": "Garden", "member_visibility": "private"})
    assert list(made) == [
        *("project_id", "tenant_id", "name", "is_default", "isolated", "member_visibility"),
        *("memory_count", "settings", "created_at", "warnings"),
    ]
    assert (made["name"], made["is_default"], made["member_visibility"]) == ("Garden", False, "private")
    assert made["warnings"] == []
    path = f"/org/projects/{made['project_id']}"
    assert tenant.admin.patch(path, {"isolated": False}).status_code == 422
    settings = {"observation_scope": "user", "pending_message_count": 6, "system_prompt": "Be brief."}
    settings |= {"min_relevance": 0.35, "history_tokens": 500}
    changed = tenant.admin.patch(path, {"name": "Orchard", "settings": settings}).json()
    warning = (
        "system_prompt has no placeholder, such as {MEMORY.CONTEXT} or {RELEVANT.HISTORY}: replies are given nothing that is "
        "remembered."
    )
    assert changed == {**made, "name": "Orchard", "settings": settings, "warnings": [warning]}
    assert tenant.admin.get(path).json() == changed


def test_another_default_takes_the_place_of_the_first(tenant: Tenant) -> None:
    """ORG-2, ORG-5, ORG-6: the default project cannot be deleted while it is the default."""
    garden = tenant.new_project("Garden")
    refused = tenant.admin.delete(f"/org/projects/{tenant.default_project_id}")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert tenant.admin.patch(f"/org/projects/{garden}", {"is_default": True}).json()["is_default"] is True
    assert tenant.admin.made("/v1/sessions", {})["project_id"] == garden
    assert tenant.admin.delete(f"/org/projects/{tenant.default_project_id}").status_code == 200
    assert [project["project_id"] for project in tenant.admin.everything("/org/projects")] == [garden]


def test_there_is_always_exactly_one_default_however_many_change_it_at_once(either_server: Server) -> None:
    """ORG-2: projects are made the default and deleted by many at once; a list never shows none or two."""
    tenant = either_server.new_tenant()
    projects = [tenant.new_project(f"Project {number}") for number in range(8)]
    chosen = random.Random(7)
    acts: list[Callable[[], int]] = []
    for project in projects * 3:
        path = f"/org/projects/{project}"
        acts.append(lambda path=path: tenant.admin.patch(path, {"is_default": True}).status_code)
        if chosen.random() < 0.5:
            acts.append(lambda path=path: tenant.admin.delete(path).status_code)
    acts += [lambda: defaults(tenant) * 1_000] * 12
    chosen.shuffle(acts)

    with ThreadPoolExecutor(8) as pool:
        answers = [asked.result() for asked in [pool.submit(act) for act in acts]]

    assert set(answers) <= {200, 404, 409, 1_000}
    assert answers.count(1_000) == 12
    assert defaults(tenant) == 1


def defaults(tenant: Tenant) -> int:
    return [project["is_default"] for project in tenant.admin.everything("/org/projects")].count(True)


def test_sessions_of_a_deleted_project_go_to_the_shared_pool_and_can_be_assigned_again(either_server: Server) -> None:
    """ORG-5, ISO-3, ISO-5."""
    tenant = either_server.new_tenant()
    garden = tenant.new_project("Garden")
    for name, project in (("first", garden), ("second", garden), ("outside", None)):
        tenant.new_session(name, project_id=project)
        tenant.say(name, f"The roses of the {name} session.")
    everything = {f"The roses of the {name} session." for name in ("first", "second", "outside")}
    assert hits(tenant.admin, "outside") == {"The roses of the outside session."}

    answer = tenant.admin.delete(f"/org/projects/{garden}")

    assert answer.status_code == 200
    deleted = answer.json()
    assert {check["passed"] for check in deleted.pop("certificate")["checks"]} == {True}
    assert (deleted.pop("would_remove"), deleted.pop("visible_to")) == (None, None)
    assert deleted == {"sessions_moved": 2, "memories_moved": 0, "files_moved": 0, "entries_moved": 0, "deleted": None}
    assert hits(tenant.admin, "outside") == hits(tenant.admin, "first") == everything
    assert tenant.admin.get("/v1/sessions/first").json()["project_id"] is None
    assert {session["external_id"] for session in tenant.admin.everything("/v1/sessions", project_id="none")} == {
        *("first", "second", "outside")
    }
    assert tenant.admin.get(f"/org/projects/{garden}").status_code == 404
    assert tenant.admin.delete(f"/org/projects/{garden}").status_code == 404

    orchard = tenant.new_project("Orchard")
    assert tenant.admin.patch("/v1/sessions/first", {"project_id": orchard}).json()["project_id"] == orchard
    assert hits(tenant.admin, "first") == {"The roses of the first session."}
    assert hits(tenant.admin, "outside") == everything - {"The roses of the first session."}
    assert [entry["content"] for entry in tenant.admin.everything("/v1/sessions/first/messages")] == [
        "The roses of the first session."
    ]


@pytest.fixture
def small(engine: Engine) -> Any:
    """A server whose tenants may keep little."""
    limits = Limits(messages=10, sessions=3, projects=2)
    services = wire(engine.database(), index=exact_index(), embedder=EMBEDDER, limits=limits)
    with serving(services) as server:
        yield server


def test_over_quota_is_a_clear_429_and_nothing_is_lost(small: Server) -> None:
    """ORG-7."""
    tenant = small.new_tenant()
    for number in range(3):
        tenant.new_session(f"session-{number}")
    for number in range(8):
        tenant.say(f"session-{number % 2}", f"Message {number}.")
    tenant.new_project("Garden")
    one = {"role": "user", "content": "One too many."}

    refusals = [
        tenant.admin.post("/v1/sessions", {"external_id": "fourth"}),
        tenant.admin.post("/v1/sessions/session-0/messages/batch", {"messages": [one] * 3}),
        tenant.admin.post("/org/projects", {"name": "Cellar"}),
    ]

    for answer, kind in zip(refusals, ("3 sessions", "10 messages", "2 projects"), strict=True):
        assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
        assert kind in answer.json()["detail"]
        assert "retry-after" not in answer.headers
    usage = tenant.admin.get("/org/usage").json()
    assert (usage["messages"], usage["sessions"], usage["projects"]) == (8, 3, 2)
    assert usage["limits"] == {"messages": 10, "sessions": 3, "projects": 2, "files": 10, "entries": 10}

    turn = {"session_id": "session-2", "user_message": "Nine.", "ai_response": "Ten."}
    tenant.admin.made("/v1/episodes", turn)
    assert tenant.admin.post("/v1/sessions/session-0/messages", one).status_code == 429
    assert tenant.new_session("session-0")["message_count"] == 4, "what is there can be named again"
    tenant.admin.delete("/v1/sessions/session-1")
    assert tenant.say("session-0", "There is room again.")["seq"] == 5
    assert len(tenant.admin.everything("/v1/sessions/session-0/messages")) == 5


def test_one_tenant_at_its_limit_keeps_no_other_from_writing(small: Server) -> None:
    """ORG-7: a quota is a tenant's, and the writes of many at once are counted one by one."""
    full, other = small.new_tenant(), small.new_tenant()
    for tenant in (full, other):
        tenant.new_session("roses")
    one = {"role": "user", "content": "Water."}

    def say(_: int) -> int:
        return full.admin.post("/v1/sessions/roses/messages", one).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(say, range(30)))
    assert (answers.count(201), answers.count(429)) == (10, 20)
    assert full.admin.get("/org/usage").json()["messages"] == 10
    assert other.say("roses", "Water.")["seq"] == 1
