"""What outsiders found: requests that meant more than they said, and answers that told more than they should."""

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.settings import read_settings
from support.servers.http_server import Tenant


def test_iso_4_a_confined_key_that_asks_for_no_project_does_not_search_its_own(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    tenant.new_session("beds", project_id=garden)
    tenant.say("beds", "The gate code is 4417.")
    confined = tenant.with_key(project_id=garden, confined=True)
    answer = confined.post("/v1/search", {"query": "gate code", "project_id": None})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert confined.made("/v1/search", {"query": "gate code"})["data"]


@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/events", "/v1/entities"])
def test_org_10_a_bound_key_that_names_another_user_is_refused_by_every_list(tenant: Tenant, path: str) -> None:
    bound = tenant.with_key("read", "write", user_id="ann", project_id=tenant.default_project_id)
    answer = bound.get(path, params={"user_id": "bob"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_an_idempotency_key_does_not_acknowledge_a_project_that_was_deleted(tenant: Tenant) -> None:
    headers = {"Idempotency-Key": "once"}
    made = tenant.admin.made("/org/projects", {"name": "Cellar"}, headers=headers)["project_id"]
    assert tenant.admin.made("/org/projects", {"name": "Cellar"}, headers=headers)["project_id"] == made
    assert tenant.admin.delete(f"/org/projects/{made}").status_code == 200
    again = tenant.admin.post("/org/projects", {"name": "Cellar"}, headers=headers)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize("name", ["none", "None", "ＮＵＬＬ", "proj_0123456789abcdef", "no\u200bne"])
def test_a_project_cannot_have_a_name_that_means_something_else(tenant: Tenant, name: str) -> None:
    answer = tenant.admin.post("/org/projects", {"name": name})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "name")


def test_names_that_look_alike_are_one_name(tenant: Tenant) -> None:
    tenant.new_project("Garden")
    for alike in ("garden", " Garden ", "ＧＡＲＤＥＮ", "Gar\u200bden", "GARDEN\u00ad"):
        assert tenant.admin.post("/org/projects", {"name": alike}).status_code == 409, alike


def test_org_8_a_key_that_is_given_for_its_id_is_not_repeated(tenant: Tenant) -> None:
    answer = tenant.admin.delete(f"/org/api-keys/{tenant.key}")
    assert answer.status_code == 422
    assert tenant.key not in answer.text


def test_a_pattern_of_hosts_is_refused_where_it_would_never_match() -> None:
    with pytest.raises(InvalidRequest, match="CLOISTER_ALLOWED_HOSTS"):
        read_settings(environment={"CLOISTER_ALLOWED_HOSTS": "*.example.org"})
