"""What an operator does with tenants over HTTP (list, erase, a new key), and what an admin does with users (erase): ORG-9."""

from typing import Any

import pytest

from cloister.domain.identifiers import LOCAL_TENANT, format_tenant_id, new_tenant_id, parse_tenant_id
from support.clients.event_streams import following
from support.databases.engines import Engine, at_once
from support.servers.http_server import OPERATOR_KEY, Server, Tenant


def talk(tenant: Tenant, session: str = "s", user: str = "ada") -> None:
    tenant.new_session(session, user_id=user)
    tenant.say(session, "My neighbour Rosa plays the cello.")
    tenant.admin.made(f"/v1/sessions/{session}/extract", None)


def test_an_erased_user_is_answered_with_counts(either_server: Server) -> None:
    tenant = either_server.new_tenant()
    talk(tenant)
    tried = tenant.admin.delete("/v1/users/ada?dry_run=true")
    erased = tenant.admin.delete("/v1/users/ada")
    counts = {"sessions": 1, "messages": 1, "episodes": 1, "memories": 1, "observations": 0, "entities": 1}
    counts |= {"entries": 0, "files": 0}
    assert (tried.status_code, erased.status_code) == (200, 200)
    certificate = erased.json()["certificate"]
    rehearsed = {"removed": certificate["removed"], "more": certificate["more"]}
    assert tried.json() == {**counts, "certificate": None, "would_remove": rehearsed}
    assert erased.json() == {**counts, "certificate": certificate, "would_remove": None}
    assert {kind: len(ids) for kind, ids in certificate["removed"].items()} == {
        kind: number for kind, number in counts.items() if number
    }
    assert {check["passed"] for check in certificate["checks"]} == {True}
    again = tenant.admin.delete("/v1/users/ada").json()
    assert again.pop("certificate")["removed"] == {} and again.pop("would_remove") is None
    assert set(again.values()) == {0}
    assert tenant.admin.get("/v1/sessions/s").status_code == 404


def test_a_foreign_user_and_one_that_nobody_has_heard_of_are_alike(
    either_server: Server, either_engine: Engine
) -> None:
    """ISO-4: zeros for both, and the other tenant's user is untouched."""
    ours, theirs = either_server.new_tenant(), either_server.new_tenant()
    talk(theirs, user="their user")
    before = either_engine.dump(parse_tenant_id(theirs.tenant_id))
    for suffix in ("", "?dry_run=true"):
        answers = [ours.admin.delete(f"/v1/users/{user}{suffix}") for user in ("their%20user", "nobody")]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].content == answers[1].content
    assert either_engine.dump(parse_tenant_id(theirs.tenant_id)) == before


def test_a_project_in_the_header_is_refused_because_a_user_is_erased_in_all(tenant: Tenant) -> None:
    talk(tenant)
    answer = tenant.admin.delete("/v1/users/ada", headers={"X-Project-ID": tenant.default_project_id})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "X-Project-ID"
    assert tenant.admin.get("/v1/sessions/s").status_code == 200


@pytest.mark.parametrize("given", ["true", "false", "maybe"])
def test_a_dry_run_is_true_or_false(tenant: Tenant, given: str) -> None:
    talk(tenant)
    status = tenant.admin.delete(f"/v1/users/ada?dry_run={given}").status_code
    assert status == (422 if given == "maybe" else 200)
    assert tenant.admin.get("/v1/sessions/s").status_code == (404 if given == "false" else 200)


def test_a_key_bound_to_the_user_is_refused_and_its_stream_ends(tenant: Tenant) -> None:
    """ORG-10, ISO-12."""
    talk(tenant)
    made = tenant.admin.made("/org/api-keys", {"name": "browser", "permissions": ["read"], "user_id": "ada"})
    with following(tenant, made["key"]) as stream:
        assert tenant.admin.delete("/v1/users/ada").status_code == 200
        stream.until_ended()
    assert tenant.caller(made["key"]).get("/v1/sessions").status_code == 401
    assert made["key_id"] not in [key["key_id"] for key in tenant.admin.everything("/org/api-keys")]


def test_an_erased_tenant_is_answered_with_counts_and_its_keys_are_refused(
    either_server: Server, either_engine: Engine
) -> None:
    doomed, spared = either_server.new_tenant("Doomed"), either_server.new_tenant("Spared")
    for tenant in (doomed, spared):
        talk(tenant)
    before = either_engine.dump(parse_tenant_id(spared.tenant_id))
    path = f"/operator/tenants/{doomed.tenant_id}"
    tried = either_server.operator.delete(f"{path}?dry_run=true")
    assert doomed.admin.get("/v1/sessions").status_code == 200
    with following(doomed) as stream:
        erased = either_server.operator.delete(path)
        stream.until_ended()
    counts: dict[str, Any] = {"projects": 1, "sessions": 1, "messages": 1, "episodes": 1, "memories": 1}
    counts |= {"observations": 0, "entities": 1, "api_keys": 1, "entries": 0, "files": 0}
    assert (tried.status_code, erased.status_code) == (200, 200)
    assert tried.json() == {**counts, "certificate": None}
    certificate = erased.json()["certificate"]
    assert erased.json() == {**counts, "certificate": certificate}
    assert certificate["removed"]["tenants"] == [doomed.tenant_id]
    assert {check["passed"] for check in certificate["checks"]} == {True}
    assert doomed.admin.get("/v1/sessions").status_code == 401
    assert either_engine.dump(parse_tenant_id(spared.tenant_id)) == before
    assert doomed.tenant_id not in [
        each["tenant_id"] for each in either_server.operator.everything("/operator/tenants")
    ]


@pytest.mark.parametrize("method, suffix", [("DELETE", ""), ("DELETE", "?dry_run=true"), ("POST", "/keys")])
def test_an_erased_tenant_and_one_that_never_was_are_alike(server: Server, method: str, suffix: str) -> None:
    gone = server.new_tenant().tenant_id
    assert server.operator.delete(f"/operator/tenants/{gone}").status_code == 200
    told: set[str] = set()
    for tenant in (gone, format_tenant_id(new_tenant_id()), "ten_1", "household"):
        answer = server.operator.request(method, f"/operator/tenants/{tenant}{suffix}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        told.add(answer.text.replace(tenant, "…"))
    assert len(told) == 1


def test_the_tenant_of_the_installation_is_refused(server: Server) -> None:
    assert server.services is not None
    server.services.projects.create_tenant("local", tenant=LOCAL_TENANT)
    answer = server.operator.delete(f"/operator/tenants/{format_tenant_id(LOCAL_TENANT)}")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_a_tenant_gets_a_new_admin_key_that_is_shown_once(server: Server) -> None:
    tenant = server.new_tenant()
    path = f"/operator/tenants/{tenant.tenant_id}/keys"
    answer = server.operator.post(path)
    assert answer.status_code == 201
    assert sorted(answer.json()) == ["key", "key_id"]
    assert tenant.caller(answer.json()["key"]).get("/org/api-keys").status_code == 200
    once = [server.operator.post(path, headers={"Idempotency-Key": "again"}).json() for _ in range(2)]
    assert once[0] == once[1]
    assert server.operator.post(path, {"name": "mine"}).status_code == 422


def test_tenants_are_listed_in_pages(server: Server) -> None:
    made = [server.new_tenant(f"Tenant {number}").tenant_id for number in range(5)]
    talk(Tenant(tenant_id=made[0], default_project_id="", key=key_of(server, made[0]), address="", http=server.http))
    pages = list(server.operator.pages("/operator/tenants", 2))
    listed = [tenant for page in pages for tenant in page]
    assert all(len(page) == 2 for page in pages[:-1])
    assert [tenant["tenant_id"] for tenant in listed][-5:] == made
    first = listed[-5]
    assert (first["name"], first["projects"], first["sessions"], first["messages"]) == ("Tenant 0", 1, 1, 1)
    assert sorted(first) == ["created_at", "messages", "name", "projects", "sessions", "tenant_id"]
    assert server.operator.get("/operator/tenants?cursor=x").status_code == 422
    foreign = server.new_tenant().admin.get("/v1/sessions?limit=1").json()["next_cursor"]
    assert foreign is None


def key_of(server: Server, tenant_id: str) -> str:
    return server.operator.made(f"/operator/tenants/{tenant_id}/keys", None)["key"]


@pytest.mark.parametrize(
    "method, path",
    [
        ("GET", "/operator/tenants"),
        ("DELETE", "/operator/tenants/{tenant}"),
        ("DELETE", "/operator/tenants/{tenant}?dry_run=true"),
        ("POST", "/operator/tenants/{tenant}/keys"),
    ],
)
def test_only_the_operator_may(server: Server, shared_engine: Engine, method: str, path: str) -> None:
    """A tenant's key is 403 whatever the id, its own included; no key, or one that is not valid, is 401."""
    tenant, other = server.new_tenant(), server.new_tenant()
    before = shared_engine.rows("SELECT count(*) FROM tenant"), shared_engine.rows("SELECT count(*) FROM api_key")
    named = [tenant.tenant_id, other.tenant_id, format_tenant_id(new_tenant_id())]
    asked = {path.format(tenant=name) for name in named}
    for each in asked:
        assert tenant.admin.request(method, each).status_code == 403
        assert server.nobody.request(method, each).status_code == 401
        assert server.caller(OPERATOR_KEY[:-1] + "_").request(method, each).status_code == 401
    told = {tenant.admin.request(method, each).content for each in asked}
    assert len(told) == 1
    now = shared_engine.rows("SELECT count(*) FROM tenant"), shared_engine.rows("SELECT count(*) FROM api_key")
    assert now == before


def test_projects_are_found_by_name_and_confined_keys_learn_nothing_of_others(tenant: Tenant) -> None:
    """ISO-4: a caller that is confined to a project can take the name of another, and is not told of it."""
    garden = tenant.admin.made("/org/projects", {"name": "Garden"})["project_id"]
    cellar = tenant.admin.made("/org/projects", {"name": "Cellar"})["project_id"]
    found = tenant.admin.get("/org/projects", params={"name": "garden"}).json()
    assert [project["project_id"] for project in found["data"]] == [garden]
    refused = tenant.admin.post("/org/projects", {"name": "garden"})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    confined = tenant.with_key(project_id=cellar, confined=True)
    assert confined.get("/org/projects", params={"name": "Garden"}).json()["data"] == []
    assert confined.patch(f"/org/projects/{cellar}", {"name": "Garden"}).status_code == 200
    pages = list(tenant.admin.pages("/org/projects", 1, name="GARDEN"))
    assert [[project["project_id"] for project in page] for page in pages] == [[garden], [cellar]]


def test_one_of_many_who_ask_for_a_name_at_once_gets_it(either_server: Server) -> None:
    tenant = either_server.new_tenant()

    def ask(number: int) -> int:
        with tenant.client() as client:
            return client.post("/org/projects", json={"name": f"{'Garden' if number % 2 else 'GARDEN'}"}).status_code

    assert sorted(at_once(ask, 6)) == [201, 409, 409, 409, 409, 409]


def test_the_operator_is_not_narrowed_to_a_user(server: Server) -> None:
    """ISO-10: a header that names a user is refused where no user's data is, and not ignored."""
    answer = server.operator.request("GET", "/operator/tenants", headers={"X-User-ID": "ada"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
