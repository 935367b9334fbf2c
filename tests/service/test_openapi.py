"""The OpenAPI document is complete: every route, who may call it, what it is sent and answers, what can go wrong, with examples.

That the server does what the document says is shown by `test_schemathesis.py`. The page at `/docs` is made of the document, and
needs nothing from elsewhere.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import jsonschema_rs
import pytest
from fastapi.routing import APIRoute

from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.dispatch.callers import need_of
from cloister.interfaces.http.openapi.error_formats import error_format
from cloister.interfaces.http.problems import STATUS
from support.servers.http_server import Server, routes_of

Node = dict[str, Any]
OF_TENANTS = {400, 401, 403, 404, 413, 429, 500, 503}


@pytest.fixture(scope="module")
def app(server: Server) -> Any:
    assert server.services is not None
    return create_app(server.services)


@pytest.fixture(scope="module")
def document(server: Server) -> Node:
    """As it is served."""
    answer = server.nobody.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def operations(document: Node) -> Iterator[tuple[str, str, Node]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def resolved(document: Node, node: Node) -> Node:
    if "$ref" not in node:
        return node
    found = document
    for part in node["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return found


def parameters(document: Node, operation: Node) -> list[Node]:
    return [resolved(document, parameter) for parameter in operation["parameters"]]


def responses(document: Node, operation: Node) -> dict[int, Node]:
    return {int(status): resolved(document, said) for status, said in operation["responses"].items()}


def codes_of(schema: Node) -> list[str]:
    """The codes that an error can have; none where it is no error."""
    properties = schema.get("properties", {})
    said = properties.get("error", {}).get("properties", properties)
    return said.get("code", {}).get("enum", [])


def complaints(document: Node, schema: Node, example: Any) -> list[str]:
    whole = {**schema, "components": document["components"]}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [error.message for error in validator.iter_errors(example)]


def needs(app: Any) -> dict[tuple[str, str], str]:
    return {
        (method, route.path): need_of(route.endpoint)
        for route in app.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }


# Another protocol, which describes itself to its clients. The document names it.
LANGGRAPH = "/langgraph/store"
NOT_DESCRIBED = {
    ("POST", "/mcp"),
    *((method, f"{LANGGRAPH}/items") for method in ("PUT", "GET", "DELETE")),
    *(("POST", f"{LANGGRAPH}/{path}") for path in ("items/search", "namespaces")),
    ("GET", "/mem0/v1/ping/"),
    *(("POST", f"/mem0/v3/memories/{path}") for path in ("", "add/", "search/")),
    ("DELETE", "/mem0/v1/memories/"),
    *((method, "/mem0/v1/memories/{memory_id}/") for method in ("GET", "PUT", "DELETE")),
    ("GET", "/mem0/v1/memories/{memory_id}/history/"),
    *((method, "/mem0/v1/batch/") for method in ("PUT", "DELETE")),
    ("GET", "/mem0/v1/entities/"),
    *(("DELETE", f"/mem0/{version}/entities/{{type}}/{{name}}/") for version in ("v1", "v2")),
}


def test_every_route_is_in_the_document_and_nothing_else(app: Any, document: Node) -> None:
    assert {(method, path) for method, path, _ in operations(document)} == routes_of(app) - NOT_DESCRIBED
    said: str = document["info"]["description"]
    prefixes = (LANGGRAPH, "/mem0")
    for method, path in NOT_DESCRIBED:
        prefix = next((each for each in prefixes if path.startswith(f"{each}/")), f"{method} {path}")
        assert f"`{prefix}`" in said


def test_an_operation_is_known_by_a_name_that_people_can_read(app: Any, document: Node) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(names)) == len(names)
    hidden = {path for _, path in NOT_DESCRIBED}
    assert set(names) == {route.endpoint.__name__ for route in app.routes if route.path not in hidden}
    assert all(operation["summary"] and operation["description"] for _, _, operation in operations(document))


def test_each_operation_says_who_may_call_it(app: Any, document: Node) -> None:
    for method, path, operation in operations(document):
        need = needs(app)[method, path]
        schemes = [] if need == "nothing" else ["operator_key"] if need == "operator" else ["api_key"]
        assert [name for alternative in operation["security"] for name in alternative] == schemes, path
        for scheme in schemes:
            assert document["components"]["securitySchemes"][scheme]["scheme"] == "bearer"


def test_tenants_may_name_a_project_in_the_header_and_nobody_else(app: Any, document: Node) -> None:
    """ORG-3."""
    for method, path, operation in operations(document):
        named = any(parameter["name"] == "X-Project-ID" for parameter in parameters(document, operation))
        # A user is erased in all projects, an archive says itself where everything goes, and an audit makes its own projects.
        narrowed = needs(app)[method, path] in ("read", "write", "admin") and (method, path) not in (
            ("DELETE", "/v1/users/{user_id}"),
            ("POST", "/v1/import"),
            ("POST", "/v1/import/file"),
            ("POST", "/v1/audit"),
        )
        assert named == narrowed, path


def test_creating_posts_take_an_idempotency_key_and_nothing_else_does(document: Node) -> None:
    """Conversations and items are created too: OpenAI's interface answers 200."""
    items = {"add_items", "add_conversation_items", "create_conversation"}
    for method, path, operation in operations(document):
        takes_one = any(parameter["name"] == "Idempotency-Key" for parameter in parameters(document, operation))
        creates = method == "POST" and ("201" in operation["responses"] or operation["operationId"] in items)
        assert takes_one == creates, path


# Open to all, and yet refused: a code that is none, and a page of somebody else.
OF_SIGNING = {"/console/sign-in": {401, 403}, "/console/sign-out": {403}}


def test_what_can_go_wrong_is_said_by_status_and_code(app: Any, document: Node) -> None:
    for method, path, operation in operations(document):
        need, said = needs(app)[method, path], responses(document, operation)
        errors = {status for status in said if status >= 400}
        wanted = (set[int]() if need == "nothing" else {401, 403, 429, 503} if need == "operator" else OF_TENANTS) | {
            413,
            421,
            422,
            500,
        }
        if "{tenant_id}" in path:
            wanted = wanted | {404}
        wanted = wanted | OF_SIGNING.get(path, set())
        if need in ("write", "admin", "operator") or path == "/readyz":
            wanted = wanted | {507}
        assert errors >= wanted, path
        assert errors - wanted <= {400, 409, 422, 503}, path
        for status in errors:
            (media_type,) = said[status]["content"]
            schema = said[status]["content"][media_type]["schema"]
            if (form := error_format(path)) is not None:
                assert media_type == "application/json"
                assert schema["$ref"] == f"#/components/schemas/{form.prefix}Error"
            else:
                assert media_type == "application/problem+json"
                assert schema["$ref"] == "#/components/schemas/Problem"
            assert {STATUS[code] for code in codes_of(schema)} == {status}


def test_what_a_conflict_a_quota_or_a_missing_project_can_refuse_says_so(document: Node) -> None:
    """What the services raise, by the routes that call them."""

    def with_code(code: str) -> set[str]:
        return {
            operation["operationId"]
            for _, _, operation in operations(document)
            for said in responses(document, operation).values()
            for content in said.get("content", {}).values()
            if code in content.get("examples", {})
        }

    writing = {"create_session", "record_message", "record_messages", "record_episode"}
    memories = {"add_memories", "correct_memory", "restore_memory"}
    others = {"create_tenant", "revoke_api_key", "sign_in", "erase_tenant", *memories}
    projects = {"create_project", "change_project", "delete_project"}
    turns = {"chat", "complete_chat", "create_response", "create_message"}
    items = {"add_items", "add_conversation_items", "create_conversation"}
    files = {"view_files", "change_files"}
    expecting = {"list_items", "forget_item", "clear_session"}
    imports = {"import_archive", "import_file"}
    named = {"extract", "title_session"}
    conflicts = {*writing, *others, *projects, *items, *turns, *files, *expecting, *imports, *named}
    assert with_code("conflict") == conflicts
    assert with_code("turn_in_progress") == turns
    limited = {*writing, *items, *turns, *imports, "create_project", "write_entries", "change_files"}
    assert with_code("quota_exceeded") == {*limited, "audit_tenant"}
    assert with_code("project_required") == {"search", "list_entities", "export_archive"}
    models = {*named, "preview_extraction", "complete_chat", "create_response", "create_message"}
    assert with_code("model_unavailable") == models


def test_nothing_of_the_framework_is_left(document: Node) -> None:
    assert "ValidationError" not in str(document)


def test_every_answer_says_its_headers(document: Node) -> None:
    for _, path, operation in operations(document):
        for status, said in responses(document, operation).items():
            assert "X-Request-ID" in said["headers"], path
            assert ("WWW-Authenticate" in said["headers"]) == (status == 401), path
            assert ("Retry-After" in said["headers"]) == (status == 429 or "outcome_unknown" in str(said)), path


def test_every_parameter_has_an_example_that_its_schema_allows(document: Node) -> None:
    for _, path, operation in operations(document):
        for parameter in parameters(document, operation):
            assert parameter["description"], (path, parameter["name"])
            assert complaints(document, parameter["schema"], parameter["example"]) == [], (path, parameter["name"])


def test_every_body_has_an_example_that_its_schema_allows(document: Node) -> None:
    for _, path, operation in operations(document):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert content["example"], path
            assert complaints(document, content["schema"], content["example"]) == [], path


def test_every_answer_has_examples_that_its_schema_allows(document: Node) -> None:
    for _, path, operation in operations(document):
        for status, said in responses(document, operation).items():
            contents = said.get("content", {})
            assert bool(contents) == (status not in (204, 307)), (path, status)
            for content in contents.values():
                codes = codes_of(content["schema"])
                examples = [content["examples"][code]["value"] for code in codes] or [content["example"]]
                for example in examples:
                    assert example, (path, status)
                    assert complaints(document, content["schema"], example) == [], (path, status)


def test_every_example_of_an_answer_holds_every_field(document: Node) -> None:
    """A field that an example leaves out is one that readers do not expect."""
    for _, path, operation in operations(document):
        for status, said in responses(document, operation).items():
            example = said.get("content", {}).get("application/json", {}).get("example")
            schema = resolved(document, said["content"]["application/json"]["schema"]) if example else {}
            if "properties" in schema:
                # `stale` is only there while something is.
                assert set(example) == set(schema["properties"]) - {"stale"}, (path, status)


def test_every_reference_leads_somewhere(document: Node) -> None:
    for reference in set(re.findall(r"'\$ref': '([^']+)'", str(document))):
        assert resolved(document, {"$ref": reference}), reference


def test_what_is_too_long_is_said_before_it_is_refused(document: Node) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["Content"]["maxLength"] == 65_536
    assert schemas["Name"]["maxLength"] == 255
    assert schemas["NewMessages"]["properties"]["messages"]["maxItems"] == 1_000
    assert schemas["NewSession"]["additionalProperties"] is False


class Page(HTMLParser):
    """The tags of a page: what it loads, where it leads, and what can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = {name: value or "" for name, value in attrs}
        assert not {name for name in given if name.startswith("on")} and "style" not in given
        self.ids |= {given["id"]} if "id" in given else set()
        self.links |= {given["href"]} if "href" in given else set()
        self.loads |= {given["src"]} if "src" in given else set()


def test_the_page_shows_every_route_shape_and_error(server: Server, document: Node) -> None:
    answer = server.nobody.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Page(answer.text)
    assert {operation["operationId"] for _, _, operation in operations(document)} <= page.ids
    assert {f"shape-{name}" for name in document["components"]["schemas"]} <= page.ids
    assert {link.removeprefix("#") for link in page.links if link.startswith("#")} <= page.ids
    assert page.links - {f"#{name}" for name in page.ids} == {"/openapi.json"}


def test_the_page_needs_nothing_from_elsewhere_and_its_policy_forbids_it(server: Server) -> None:
    answer = server.nobody.get("/docs")
    page = Page(answer.text)
    assert not page.loads
    assert not {"script", "link", "img", "iframe", "form"} & set(page.tags)
    assert "http" not in answer.text.partition("<style>")[2].partition("</style>")[0]
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    style = answer.text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("path", ["/redoc", "/docs/oauth2-redirect"])
def test_the_pages_of_the_framework_are_gone(server: Server, path: str) -> None:
    assert server.nobody.get(path).status_code == 404
