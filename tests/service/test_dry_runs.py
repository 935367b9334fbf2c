"""A dry run answers what would happen to whoever may do it and may read, and changes nothing."""

from typing import Any

import pytest

from support.servers.http_server import Tenant

PATH = "/v1/sessions/tab?dry_run=true"
CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "right": ({}, 200, 200),
    "read only": ({"permissions": ["read"]}, 403, 403),
    "write only": ({"permissions": ["write"]}, 403, 403),
    "confined here": ({"project_id": "here", "confined": True}, 404, 403),
    "confined there": ({"project_id": "there", "confined": True}, 404, 404),
    "bound to the user": ({"user_id": "ada"}, 200, 200),
    "bound to another": ({"user_id": "bob"}, 404, 404),
}


@pytest.mark.parametrize("case", CASES)
def test_a_dry_run_of_a_move_is_for_who_may_move_and_read(tenant: Tenant, case: str) -> None:
    """ISO-12, PRF-5: into another project, and out of all."""
    projects = {"here": tenant.new_project("Here"), "there": tenant.new_project("There")}
    tenant.new_session("tab", project_id=projects["here"], user_id="ada")
    tenant.say("tab", "Which roses?")
    fields, into, out = CASES[case]
    named = {name: projects.get(str(value), value) for name, value in fields.items()}
    key = tenant.admin.made("/org/api-keys", {"name": "a key", "permissions": ["read", "write"], **named})["key"]
    before = tenant.admin.get("/v1/sessions/tab").json()
    for project, status in ((projects["there"], into), (None, out)):
        answer = tenant.caller(key).patch(PATH, {"project_id": project})
        assert answer.status_code == status, answer.text
        if status == 200:
            counts = {"messages": 1, "memories": 0, "observations": 0, "replies_given_recalled_text": 0}
            others = None if "user_id" in fields else 0
            assert answer.json() == {**counts, "sessions": others, "users": others, "user_ids": None}
    assert tenant.admin.get("/v1/sessions/tab").json() == before


def test_a_dry_run_of_a_move_says_to_whom_it_would_become_visible(tenant: Tenant) -> None:
    """PRF-5: in a shared project to all, in a divided one to the user's own sessions; a bound key is not told about others."""
    divided = tenant.new_project("Divided")
    shared = tenant.admin.made("/org/projects", {"name": "Shared", "member_visibility": "shared"})["project_id"]
    for project in (divided, shared):
        for user in ("ada", "bob", "bob"):
            tenant.admin.made("/v1/sessions", {"project_id": project, "user_id": user})
    tenant.new_session("tab", project_id=None, user_id="ada")
    seen = {project: tenant.admin.patch(PATH, {"project_id": project}).json() for project in (divided, shared)}
    assert [(one["sessions"], one["users"]) for one in seen.values()] == [(1, 1), (3, 2)]
    assert [one["user_ids"] for one in seen.values()] == [["ada"], ["ada", "bob"]]
    writer = tenant.caller(tenant.admin.made("/org/api-keys", {"name": "k", "permissions": ["read", "write"]})["key"])
    answer = writer.patch(PATH, {"project_id": shared}).json()
    assert (answer["sessions"], answer["users"], answer["user_ids"]) == (3, 2, None), "users are for admins"
    bound = tenant.caller(tenant.admin.made("/org/api-keys", {"name": "k", "user_id": "ada"})["key"])
    answer = bound.patch(PATH, {"project_id": shared}).json()
    assert (answer["sessions"], answer["users"], answer["user_ids"]) == (None, None, None)


def test_a_dry_run_of_a_visibility_change_names_the_users(tenant: Tenant) -> None:
    """PRF-5: at most 100 of them; nobody for a change that lets nobody see more."""
    divided = tenant.new_project("Divided")
    for number in range(101):
        tenant.admin.made("/v1/sessions", {"project_id": divided, "user_id": f"user {number:03}"})
    tried = tenant.admin.patch(f"/org/projects/{divided}?dry_run=true", {"member_visibility": "shared"}).json()
    assert (tried["sessions"], tried["users"]) == (101, 101)
    assert tried["user_ids"] == [f"user {number:03}" for number in range(100)]
    nobody: dict[str, Any] = {"sessions": 0, "users": 0, "user_ids": []}
    path = f"/org/projects/{divided}?dry_run=true"
    assert tenant.admin.patch(path, {"member_visibility": "private"}).json() == nobody


def test_a_dry_run_of_deleting_a_project_says_what_moves_and_who_would_recall_it(tenant: Tenant) -> None:
    """PRF-5, ORG-5: other sessions of the same users that are in no project. Only for an admin of the whole tenant."""
    garden = tenant.admin.made("/org/projects", {"name": "Garden", "member_visibility": "shared"})["project_id"]
    for user in ("ada", "bob", None):
        tenant.admin.made("/v1/sessions", {"project_id": garden, "user_id": user})
    tenant.new_session("tab", project_id=garden, user_id="ada")
    memory = {"session_id": "tab", "contents": ["Roses need water."]}
    tenant.admin.made("/v1/memories", memory)
    for user in ("ada", "ada", "cleo", None):
        tenant.admin.made("/v1/sessions", {"project_id": None, "user_id": user})
    path = f"/org/projects/{garden}"
    before = tenant.admin.get(path).json()
    tried = tenant.admin.request("DELETE", f"{path}?dry_run=true")
    assert tried.status_code == 200, tried.text
    counts = {"sessions_moved": 4, "memories_moved": 1, "files_moved": 0, "entries_moved": 0, "deleted": None}
    assert tried.json() == {
        **counts,
        "certificate": None,
        "would_remove": {"removed": {"projects": [garden]}, "more": {}},
        "visible_to": {"sessions": 3, "users": 2, "user_ids": ["ada"]},
    }
    assert tenant.admin.get(path).json() == before
    assert tenant.admin.get("/v1/sessions/tab").json()["project_id"] == garden
    for fields in ({"permissions": ["read", "write"]}, {"project_id": garden, "confined": True}, {"user_id": "ada"}):
        key = tenant.admin.made("/org/api-keys", {"name": "k", **fields})["key"]
        assert tenant.caller(key).request("DELETE", f"{path}?dry_run=true").status_code == 403
    default = f"/org/projects/{tenant.default_project_id}?dry_run=true"
    assert tenant.admin.request("DELETE", default).status_code == 409, "a dry run refuses what the deletion would"
    missing = tenant.admin.request("DELETE", "/org/projects/proj_0000000000000001?dry_run=true")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    done = tenant.admin.request("DELETE", path).json()
    assert {name: done[name] for name in counts} == counts


@pytest.mark.parametrize(
    "method, path",
    [
        ("DELETE", "/v1/sessions/tab"),
        ("POST", "/v1/sessions/tab/clear"),
        ("DELETE", "/v1/messages/{message}"),
        ("DELETE", "/v1/memories/{memory}"),
    ],
)
def test_a_dry_run_of_a_deletion_is_for_who_may_delete_and_read(tenant: Tenant, method: str, path: str) -> None:
    """PRF-4, PRF-5, ISO-4: the same rows as the certificate of the deletion; not for keys that may not read, or not reach it."""
    here = tenant.new_project("Here")
    tenant.new_session("tab", project_id=here, user_id="ada")
    message = tenant.say("tab", "Which roses?")["id"]
    memory = tenant.admin.made("/v1/memories", {"session_id": "tab", "contents": ["Roses."]})["appended"][0]["id"]
    path = path.format(message=message, memory=memory)
    tried = tenant.admin.request(method, f"{path}?dry_run=true")
    assert tried.status_code == 200, tried.text
    assert tried.json()["certificate"] is None
    expected = {"read": 403, "write": 403}
    for permission, status in expected.items():
        key = tenant.admin.made("/org/api-keys", {"name": "k", "permissions": [permission]})["key"]
        assert tenant.caller(key).request(method, f"{path}?dry_run=true").status_code == status
    other = tenant.caller(tenant.admin.made("/org/api-keys", {"name": "k", "user_id": "bob"})["key"])
    assert other.request(method, f"{path}?dry_run=true").status_code == 404
    assert tenant.admin.get("/v1/sessions/tab").json()["message_count"] == 1
    done = tenant.admin.request(method, path).json()
    assert done["would_remove"] is None
    certificate = done["certificate"]
    assert tried.json()["would_remove"] == {"removed": certificate["removed"], "more": certificate["more"]}
    assert {check["passed"] for check in certificate["checks"]} == {True}


@pytest.mark.parametrize("body", [{}, {"title": "Roses"}])
def test_a_dry_run_that_moves_nothing_answers_zeros(tenant: Tenant, body: dict[str, str]) -> None:
    tenant.new_session("tab")
    answer = tenant.admin.patch(PATH, body)
    assert (answer.status_code, {*answer.json().values()}) == (200, {0, None})
    assert tenant.admin.get("/v1/sessions/tab").json()["title"] is None


@pytest.mark.parametrize(
    "path", ["/v1/users/ed", "/v1/sessions/diary", "/org/projects/{project}", "/v1/messages/{message}"]
)
def test_a_body_with_delete_is_refused_and_nothing_is_deleted(tenant: Tenant, path: str) -> None:
    """`{"dry_run": true}` where only a query parameter means it would delete for real."""
    project = tenant.new_project("Garden")
    tenant.new_session("diary", user_id="ed", project_id=project)
    message = tenant.admin.made("/v1/sessions/diary/messages", {"role": "user", "content": "Roses."})["id"]
    path = path.format(project=project, message=message)
    refused = tenant.admin.request("DELETE", path, json={"dry_run": True})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert tenant.admin.get("/v1/sessions/diary").json()["message_count"] == 1


def test_a_dry_run_of_a_rename_refuses_what_the_rename_would(tenant: Tenant) -> None:
    """ORG-9: a name that is taken, and a project that is not there."""
    taken, other = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    attempts: list[tuple[str, dict[str, Any]]] = [
        (other, {"name": "garden"}),
        (other, {"name": "garden", "settings": {"retention_days": 3}}),
        ("proj_0000000000000001", {"name": "Attic"}),
    ]
    for project, body in attempts:
        tried = tenant.admin.patch(f"/org/projects/{project}?dry_run=true", body)
        done = tenant.admin.patch(f"/org/projects/{project}", body)
        assert tried.status_code == done.status_code in {404, 409}
        assert tried.json()["detail"] == done.json()["detail"]
    assert tenant.admin.patch(f"/org/projects/{taken}?dry_run=true", {"name": "GARDEN"}).status_code == 200
