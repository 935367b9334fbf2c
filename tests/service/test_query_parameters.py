"""Query parameters that a route does not know, or is given twice: refused on every route, and nothing is changed."""

import re
from typing import Any, cast

import pytest

from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.mcp.errors import PATH as MCP
from cloister.interfaces.http.mem0.errors import is_mem0
from cloister.interfaces.http.openapi.error_formats import error_format
from support.databases.engines import Engine
from support.servers.http_server import Server, Tenant, operations_of

UNKNOWN = "certainly_unknown"


def settled(tenant: Tenant) -> dict[str, str]:
    """A tenant with one of everything, and the id of each, by the name that routes have for it."""
    garden = tenant.new_project("Garden")
    tenant.new_session("roses", project_id=garden, user_id="ada")
    message = tenant.say("roses", "My neighbour Anna plays the cello.")["id"]
    tenant.admin.made("/v1/sessions/roses/extract", None)
    return {
        "project_id": garden,
        "external_id": "roses",
        "user_id": "ada",
        "message_id": message,
        "memory_id": tenant.admin.get("/v1/sessions/roses/memories").json()["data"][0]["id"],
        "entity_id": tenant.admin.get(f"/v1/entities?project_id={garden}&user_id=ada").json()["data"][0]["id"],
        "key_id": tenant.admin.made("/org/api-keys", {"name": "spare"})["key_id"],
        "tenant_id": tenant.tenant_id,
    }


def refused(server: Server, tenant: Tenant, method: str, path: str, query: str) -> tuple[int, list[str]]:
    """The status, and the fields that the answer says are wrong, of a request by whoever may make it."""
    asking = server.operator if path.startswith("/operator") else tenant.admin
    answer = asking.begun(method, f"{path}?{query}")
    if answer.status_code < 400:
        return answer.status_code, []
    if error_format(path) is not None:
        assert answer.headers["content-type"] == "application/json"
        return answer.status_code, [answer.json()["error"]["param"]]
    if path == MCP:
        assert answer.headers["content-type"] == "application/json"
        return answer.status_code, [each["field"] for each in answer.json()["error"]["data"]["errors"]]
    kind = "application/json" if is_mem0(path) else "application/problem+json"
    assert answer.headers["content-type"] == kind
    assert answer.json()["code"] == "invalid_request", answer.text
    return answer.status_code, [each["field"] for each in answer.json()["errors"]]


def test_no_route_takes_a_parameter_that_it_does_not_know_and_nothing_is_changed(
    server: Server, shared_engine: Engine, tenant: Tenant
) -> None:
    """ISO-4, PRF-5: `DELETE …?dry_run=true` on a route that does not know it deletes nothing."""
    assert server.services is not None
    ids = settled(tenant)
    tenants = shared_engine.rows("SELECT count(*) FROM tenant")
    before = shared_engine.dump(int(tenant.tenant_id.removeprefix("ten_"), 16))
    walked, parameters = 0, parameters_of(server)
    for route in create_app(server.services).routes:
        assert isinstance(route, GuardedRoute), route
        described = parameters[route.path_format] if route.include_in_schema else set[tuple[str, str]]()
        known = {name for name, place in described if place == "query"}
        path = re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], "x"), route.path_format)
        for method in route.methods or ():
            for name in {UNKNOWN, "dry_run"} - known:
                assert refused(server, tenant, method, path, f"{name}=true") == (422, [name]), (method, path)
                walked += 1
    assert walked >= 90
    assert shared_engine.dump(int(tenant.tenant_id.removeprefix("ten_"), 16)) == before
    assert shared_engine.rows("SELECT count(*) FROM tenant") == tenants


def parameters_of(server: Server) -> dict[str, set[tuple[str, str]]]:
    """Of each path, what its methods take, as the OpenAPI document has it."""
    assert server.services is not None
    found: dict[str, set[tuple[str, str]]] = {}
    for _, path, _, parameters in operations_of(create_app(server.services)):
        found.setdefault(path, set()).update((each["name"], each["in"]) for each in parameters)
    return found


def test_what_the_document_calls_a_query_parameter_is_what_a_route_takes(server: Server) -> None:
    assert server.services is not None
    app = create_app(server.services)
    routes = {
        (method, cast(Any, route).path): cast(Any, route)
        for route in app.routes
        for method in cast(GuardedRoute, route).methods or ()
    }
    for method, path, operation, parameters in operations_of(app):
        said = {each["name"] for each in parameters if each["in"] == "query"}
        assert said == routes[method, path].query_names, path
        assert "422" in operation["responses"], path


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/sessions?limit=1&limit=2", "limit"),
        ("/v1/sessions?limit=1&limit=1", "limit"),
        ("/v1/sessions?user_id=ada&limit=1&user_id=ben", "user_id"),
        ("/v1/sessions?project_id=none&project_id=", "project_id"),
        ("/v1/sessions?Limit=1", "Limit"),
        ("/v1/sessions?=1", "query"),
        ("/v1/sessions?%00=1", "\0"),
        (f"/v1/sessions?{'x' * 5_000}", "x" * 64),
        ("/livez?x", "x"),
        ("/readyz?x", "x"),
        ("/metrics?x=1&x=2", "x"),
        ("/openapi.json?x", "x"),
        ("/docs?x", "x"),
    ],
)
def test_a_parameter_given_twice_or_misspelt_is_named(tenant: Tenant, path: str, field: str) -> None:
    answer = tenant.admin.get(path)
    assert answer.status_code == 422, answer.text
    assert [each["field"] for each in answer.json()["errors"]] == [field]


def test_what_a_route_knows_is_said_to_who_misspells_it(tenant: Tenant) -> None:
    detail = tenant.admin.get("/v1/sessions?users=ada").json()["detail"]
    known = "archived, cursor, external_id, limit, pinned, project_id, user_id"
    assert f"users: is not a query parameter of this request, which knows {known}." in detail


def test_who_has_no_key_is_not_told_which_parameters_there_are(server: Server) -> None:
    assert server.nobody.get("/v1/sessions?x=1").status_code == 401


@pytest.mark.parametrize("path", ["/?utm_source=x", "/memory?x=1&x=2", "/favicon.svg?v=2"])
def test_pages_of_the_console_are_no_routes_and_take_any(server: Server, path: str) -> None:
    assert server.nobody.get(path).status_code in (200, 503)


@pytest.mark.parametrize("query", ["", "&", "&&"])
def test_an_empty_query_is_none(tenant: Tenant, query: str) -> None:
    assert tenant.admin.get(f"/v1/sessions?{query}").status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (
            "/org/projects/{project_id}",
            {"member_visibility": "shared", "settings": {"system_prompt": "x" * 70_000}},
            "",
        ),
        ("/org/projects/{project_id}", {"member_visibility": "shared", "name": ""}, "name"),
        ("/org/projects/{project_id}", {"member_visibility": "shared", "is_default": False}, "is_default"),
        ("/v1/sessions/{external_id}", {"project_id": None, "tags": ["x" * 5_000]}, ""),
        ("/v1/sessions/{external_id}", {"project_id": None, "title": ""}, "title"),
    ],
)
def test_prf_5_a_dry_run_refuses_what_the_change_itself_would(
    tenant: Tenant, path: str, body: dict[str, Any], field: str
) -> None:
    """And in the same words."""
    where = path.format(**settled(tenant))
    tried, done = (tenant.admin.patch(f"{where}{query}", body) for query in ("?dry_run=true", ""))
    assert tried.status_code >= 400, tried.text
    assert (tried.status_code, tried.json()) == (done.status_code, done.json())
    assert tried.json()["errors"][0]["field"].startswith(field)
