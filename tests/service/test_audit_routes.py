"""The audit asks every route that reads (PRF-3): a new route is asked for by the audit, or is named here with the reason."""

import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import unquote

import pytest

from cloister.interfaces.audit.app_client import AppAnswer, AppClient
from cloister.interfaces.audit.audit import AuditRun
from cloister.interfaces.audit.local_app import running_app
from cloister.interfaces.http.app import create_app
from cloister.interfaces.mcp.tools import TOOLS
from support.databases.engines import Engine

Route = tuple[str, str]
WRITES = (
    "It changes what it names: `test_callers.py` has the status for every kind of caller, and that nothing is changed."
)
NO_WORDS = (
    "Its answer has no words and no ids of what was said: names, settings and counts of the tenant or the project."
)
NOT_STORED = "Its answer is made of the request, or of the model's server: nothing that was stored is in it."
SIGN_IN = "It is how the browser of the audit signs in and out, or shows its own key."
OPERATOR = "It is the operator's, who reaches all tenants and sees no words."
NOT_ASKED: Mapping[str, tuple[Route, ...]] = {
    WRITES: (
        ("POST", "/org/projects"),
        ("PATCH", "/org/projects/{project_id}"),
        ("DELETE", "/org/projects/{project_id}"),
        ("POST", "/org/api-keys"),
        ("DELETE", "/org/api-keys/{key_id}"),
        ("PATCH", "/org/settings"),
        ("POST", "/org/retention"),
        ("POST", "/org/projects/{project_id}/retention"),
        ("POST", "/v1/sessions"),
        ("PATCH", "/v1/sessions/{external_id}"),
        ("DELETE", "/v1/sessions/{external_id}"),
        ("POST", "/v1/sessions/{external_id}/branch"),
        ("POST", "/v1/sessions/{external_id}/clear"),
        ("POST", "/v1/sessions/{external_id}/exclusions"),
        ("DELETE", "/v1/sessions/{external_id}/exclusions/{item_id}"),
        ("POST", "/v1/sessions/{external_id}/extract"),
        ("POST", "/v1/sessions/{external_id}/files"),
        ("POST", "/v1/sessions/{external_id}/items"),
        ("DELETE", "/v1/sessions/{external_id}/items/{item_id}"),
        ("POST", "/v1/sessions/{external_id}/title"),
        ("POST", "/v1/sessions/{external_id}/messages"),
        ("POST", "/v1/sessions/{external_id}/messages/batch"),
        ("DELETE", "/v1/messages/{message_id}"),
        ("POST", "/v1/episodes"),
        ("POST", "/v1/memories"),
        ("PATCH", "/v1/memories/{memory_id}"),
        ("DELETE", "/v1/memories/{memory_id}"),
        ("POST", "/v1/memories/{memory_id}/retract"),
        ("POST", "/v1/memories/{memory_id}/restore"),
        ("DELETE", "/v1/users/{user_id}"),
        ("POST", "/v1/import"),
        ("POST", "/v1/import/file"),
        ("PATCH", "/v1/entities/{entity_id}"),
        ("DELETE", "/v1/entities/{entity_id}"),
        ("POST", "/v1/entities/{entity_id}/merge"),
        ("POST", "/v1/entities/{entity_id}/split"),
        ("POST", "/v1/entities/{entity_id}/restore"),
        ("POST", "/v1/entries/write"),
        ("POST", "/v1/chat/{external_id}/stop"),
        ("DELETE", "/v1/responses/{response_id}"),
        ("POST", "/v1/conversations"),
        ("POST", "/v1/conversations/{external_id}"),
        ("DELETE", "/v1/conversations/{external_id}"),
        ("POST", "/v1/conversations/{external_id}/items"),
        ("DELETE", "/v1/conversations/{external_id}/items/{item_id}"),
        ("PUT", "/langgraph/store/items"),
        ("DELETE", "/langgraph/store/items"),
        ("POST", "/mem0/v3/memories/add/"),
        ("DELETE", "/mem0/v1/memories/"),
        ("PUT", "/mem0/v1/memories/{memory_id}/"),
        ("DELETE", "/mem0/v1/memories/{memory_id}/"),
        ("PUT", "/mem0/v1/batch/"),
        ("DELETE", "/mem0/v1/batch/"),
        ("DELETE", "/mem0/v1/entities/{type}/{name}/"),
        ("DELETE", "/mem0/v2/entities/{type}/{name}/"),
    ),
    NO_WORDS: (
        ("GET", "/org/projects"),
        ("GET", "/org/projects/{project_id}"),
        ("GET", "/org/projects/{project_id}/activity"),
        ("GET", "/v1/users/{user_id}/activity"),
        ("GET", "/org/api-keys"),
        ("GET", "/org/settings"),
        ("GET", "/org/usage"),
        ("GET", "/mem0/v1/ping/"),
        ("POST", "/v1/memory-tool"),
    ),
    NOT_STORED: (
        ("POST", "/org/model/test"),
        ("POST", "/v1/extract/preview"),
        ("POST", "/v1/embeddings"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{model_id}"),
        ("GET", "/anthropic/v1/models"),
        ("GET", "/anthropic/v1/models/{model_id}"),
        ("POST", "/anthropic/v1/messages/count_tokens"),
        ("GET", "/openapi.json"),
        ("GET", "/docs"),
    ),
    SIGN_IN: (
        ("GET", "/console/session"),
        ("POST", "/console/links"),
        ("POST", "/console/sign-in"),
        ("POST", "/console/sign-out"),
    ),
    OPERATOR: (
        ("GET", "/operator/tenants"),
        ("POST", "/operator/tenants"),
        ("DELETE", "/operator/tenants/{tenant_id}"),
        ("POST", "/operator/tenants/{tenant_id}/keys"),
    ),
    "It is the audit itself.": (("POST", "/v1/audit"), ("POST", "/operator/audit")),
}


def test_prf_3_every_route_is_asked_by_the_audit_or_named_with_a_reason(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ISO-4. So is every tool of MCP that reads."""
    services = engine.services()
    routes = {
        (method, cast(Any, route).path): cast(Any, route).path_regex
        for route in create_app(services).routes
        for method in cast(Any, route).methods
    }
    asked: set[Route] = set()
    tools: set[str] = set()
    answered = AppClient.ask

    def ask(self: AppClient, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> AppAnswer:
        asked.update(route for route, regex in routes.items() if is_of(route, regex, method, path))
        if path == "/mcp" and body["method"] == "tools/call":
            tools.add(body["params"]["name"])
        return answered(self, method, path, headers, body)

    monkeypatch.setattr(AppClient, "ask", ask)
    with running_app(services) as client:
        assert AuditRun(services, client, None).run().passed
    asked.add(("GET", "/v1/events"))  # it is followed as a stream
    excepted = [route for named in NOT_ASKED.values() for route in named]
    assert len(excepted) == len(set(excepted))
    assert routes.keys() - asked == set(excepted) - asked, "a route that no audit asks, and that is not named above"
    assert asked & set(excepted) <= set(NOT_ASKED[SIGN_IN])
    assert tools == {tool.name for tool in TOOLS.values() if not tool.writes}


def is_of(route: Route, regex: re.Pattern[str], method: str, path: str) -> bool:
    return route[0] == method and regex.match(unquote(path.partition("?")[0])) is not None
