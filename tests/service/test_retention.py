"""Retention over HTTP, in the libraries and on the command line (MEM-18)."""

import json
from typing import Any

import pytest

from cloister.domain.identifiers import parse_project_id
from support.servers.http_server import Server, Tenant

OLD, NEW = "2019-05-02T09:30:00Z", "2999-05-02T09:30:00Z"


@pytest.fixture
def project(tenant: Tenant) -> str:
    """With a session in which something was said in 2019, and something that will never be old."""
    made = tenant.admin.post("/org/projects", {"name": "Garden"}).json()["project_id"]
    tenant.admin.post("/v1/sessions", {"external_id": "s", "project_id": made, "user_id": "ada"})
    for content, moment in (("My brother Quill works at Brambleworks.", OLD), ("The roses need water.", NEW)):
        body = {"role": "user", "content": content, "created_at": moment}
        tenant.admin.post("/v1/sessions/s/messages", body)
    tenant.admin.post("/v1/sessions/s/extract")
    return made


def messages(tenant: Tenant) -> list[str]:
    return [message["content"] for message in tenant.admin.get("/v1/sessions/s/messages").json()["data"]]


def test_mem_18_a_dry_run_counts_and_the_run_forgets(tenant: Tenant, project: str) -> None:
    path = f"/org/projects/{project}/retention"
    nothing: dict[str, Any] = {"sessions": 0, "messages": 0, "memories": 0, "observations": 0, "complete": True}
    nothing |= {"files": 0, "entities": 0, "receipts": 0, "certificate": None}
    assert tenant.admin.post(f"{path}?dry_run=true").json() == nothing
    tried = tenant.admin.post(f"{path}?dry_run=true&retention_days=30")
    assert tried.status_code == 200
    assert tried.json() == {
        **nothing,
        "sessions": 1,
        "messages": 1,
        "memories": tried.json()["memories"],
        "entities": 2,
    }
    assert tried.json()["memories"] > 0
    change = {"settings": {"retention_days": 30}}
    assert tenant.admin.patch(f"/org/projects/{project}?dry_run=true", change).json() == tried.json()
    assert len(messages(tenant)) == 2

    changed = tenant.admin.patch(f"/org/projects/{project}", change)

    assert changed.json()["settings"] == {"retention_days": 30}
    assert tenant.admin.post("/org/retention?dry_run=true").json() == tried.json()
    done = tenant.admin.post(path).json()
    certificate = done.pop("certificate")
    assert {**done, "certificate": None} == tried.json()
    assert len(certificate["removed"]["messages"]) == 1, "PRF-4"
    assert {check["passed"] for check in certificate["checks"]} == {True}
    assert messages(tenant) == ["The roses need water."]
    assert tenant.admin.get("/v1/sessions/s/memories").json()["data"] == []


def test_mem_18_the_setting_of_the_tenant(tenant: Tenant, project: str) -> None:
    unset = {"retention_days": None, "receipt_days": None}
    assert tenant.admin.get("/org/settings").json() == unset
    assert tenant.admin.patch("/org/settings", {"retention_days": 365}).json() == {**unset, "retention_days": 365}
    assert tenant.admin.patch("/org/settings", {}).json() == {**unset, "retention_days": 365}
    assert tenant.admin.post("/org/retention").json()["messages"] == 1
    for nothing in (0, None):
        assert tenant.admin.patch("/org/settings", {"retention_days": nothing}).json() == unset
    assert messages(tenant) == ["The roses need water."]


@pytest.mark.parametrize(
    "method, path, body, field",
    [
        ("PATCH", "/org/settings", {"retention_days": -1}, "retention_days"),
        ("PATCH", "/org/settings", {"retention_days": 36_501}, "retention_days"),
        ("PATCH", "/org/settings", {"retention_days": "30"}, "retention_days"),
        ("PATCH", "/org/settings", {"retention": 30}, "retention"),
        ("PATCH", "/org/settings?dry_run=true", {"retention_days": 30}, "dry_run"),
        ("POST", "/org/retention?retention_days=30", None, "retention_days"),
        ("POST", "/org/retention?dry_run=true&retention_days=-1", None, "retention_days"),
        ("POST", "/org/retention?days=30", None, "days"),
        ("POST", "/org/retention", {"retention_days": 30}, "retention_days"),
        ("PATCH", "/org/projects/{project}", {"settings": {"retention_days": -1}}, "settings.retention_days"),
        (
            "PATCH",
            "/org/projects/{project}?dry_run=true",
            {"settings": {"retention_days": 3}, "member_visibility": "shared"},
            "settings.retention_days",
        ),
    ],
)
def test_mem_18_what_is_wrong_is_refused_and_changes_nothing(
    tenant: Tenant, project: str, method: str, path: str, body: Any, field: str
) -> None:
    refused = tenant.admin.request(method, path.format(project=project), json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert field in [error["field"] for error in refused.json()["errors"]]
    assert len(messages(tenant)) == 2


def test_mem_18_what_was_forgotten_is_counted_without_naming_anybody(
    server: Server, tenant: Tenant, project: str
) -> None:
    def counted() -> float:
        lines = server.nobody.get("/metrics").text.splitlines()
        return sum(float(line.split()[1]) for line in lines if 'retention_forgotten_total{kind="messages"}' in line)

    before = counted()
    tenant.admin.patch("/org/settings", {"retention_days": 365})
    tenant.admin.post("/org/retention")
    assert counted() == before + 1
    assert format(parse_project_id(project)) not in server.nobody.get("/metrics").text
    assert json.dumps(project) not in server.nobody.get("/metrics").text
