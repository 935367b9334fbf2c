"""`/mcp` before the protocol begins: methods, keys, origins, hosts, sizes, and bodies that are no messages."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.hosts import AllowedHosts
from cloister.interfaces.http.mcp import routes
from support.clients.mcp_client import over_http
from support.databases.engines import sqlite_engine
from support.servers.http_server import OPERATOR_KEY, Server, ServerProcess, Tenant, new_client, running, serving

ACCEPT = {"Accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_there_is_nothing_to_read_and_no_session_to_delete(tenant: Tenant) -> None:
    """DOOR-1: a probe with GET is answered at once, instead of a stream that never says anything."""
    for method in ("GET", "DELETE", "PUT", "PATCH"):
        answer = tenant.admin.request(method, "/mcp", headers=ACCEPT)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert answer.json()["error"]["data"]["code"] == "method_not_allowed"


def test_a_key_is_needed_and_oauth_is_not_offered(server: Server) -> None:
    """DOOR-1: a bare challenge. A client that is offered OAuth would ignore the key it was given."""
    for headers in ({}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer nonsense"}):
        answer = server.nobody.post("/mcp", PING, headers={**ACCEPT, **headers})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json() == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {
                "code": -31000,
                "message": "A valid API key is needed: Authorization: Bearer <key>.",
                "data": {"code": "unauthenticated", "status": 401},
            },
        }
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        assert server.nobody.get(path).status_code == 404


def test_an_issuer_is_named_only_where_one_is_configured(tmp_path: Path) -> None:
    """DOOR-1: RFC 9728. What it gives out are API keys, and a key works as before."""
    engine = sqlite_engine(tmp_path / "data")
    app = create_app(engine.services(), operator_key=OPERATOR_KEY, mcp_issuer="https://auth.example")
    with engine.closing, running(app) as address, new_client(address) as http:
        answer = http.post("/mcp", json=PING, headers=ACCEPT)
        metadata = f"{address}/.well-known/oauth-protected-resource/mcp"
        assert (answer.status_code, answer.headers["www-authenticate"]) == (
            401,
            f'Bearer resource_metadata="{metadata}"',
        )
        assert http.get(metadata).json() == {
            "resource": f"{address}/mcp",
            "resource_name": "Cloister",
            "authorization_servers": ["https://auth.example"],
            "bearer_methods_supported": ["header"],
        }
        # Of a proxy on the same machine, which terminates TLS.
        proxied = http.get(metadata, headers={"X-Forwarded-Proto": "https"}).json()["resource"]
        assert proxied == f"{address}/mcp".replace("http://", "https://")
        tenant = Server(address=address, http=http).new_tenant()
        assert tenant.admin.post("/mcp", PING, headers=ACCEPT).status_code == 200


def test_a_signed_in_browser_does_not_open_the_door(server: Server, tenant: Tenant) -> None:
    """A cookie is sent with requests of any page; only a key counts here."""
    link = tenant.admin.made("/console/links", None)["path"]
    with tenant.client() as browser:
        del browser.headers["Authorization"]
        origin = {"Origin": tenant.address}
        assert browser.post("/console/sign-in", json={"code": link.rpartition("#")[2]}, headers=origin).is_success
        assert browser.get("/v1/sessions").status_code == 200
        assert browser.post("/mcp", json=PING, headers={**ACCEPT, **origin}).status_code == 401


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://127.0.0.1:{port}", 200),
        ("http://localhost:3000", 200),
        ("https://evil.example", 403),
        ("http://127.0.0.1.evil.example", 403),
        ("http://localhost.evil.example:{port}", 403),
        ("null", 403),
        ("", 403),
        ("http://127.0.0.1@evil.example", 403),
    ],
)
def test_pages_of_other_origins_are_refused(tenant: Tenant, origin: str | None, status: int) -> None:
    """The specification requires it: a page that a browser shows must not reach a server on the same machine."""
    sent = {} if origin is None else {"Origin": origin.format(port=tenant.address.rpartition(":")[2])}
    answer = tenant.admin.post("/mcp", PING, headers={**ACCEPT, **sent})
    assert answer.status_code == status
    if status == 403:
        assert "CLOISTER_ALLOWED_HOSTS" in answer.json()["error"]["message"]


def test_only_the_names_of_this_server_are_hosts_and_origins(tmp_path: Path) -> None:
    engine = sqlite_engine(tmp_path / "data")
    with engine.closing, serving(engine.services(), hosts=AllowedHosts(allowed=["memory.example"])) as server:
        tenant = server.new_tenant()
        for host, origin, status in (
            ("memory.example", "https://memory.example", 200),
            ("memory.example", "https://evil.example", 403),
            ("evil.example", "https://memory.example", 421),
        ):
            answer = tenant.admin.post("/mcp", PING, headers={**ACCEPT, "Host": host, "Origin": origin})
            assert answer.status_code == status
            assert "error" in answer.json() or status == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"[" * 100_000, 400),
        (b"7", 400),
        (b"[" + b"{}," * 100_000 + b"{}]", 413),
        (b'{"jsonrpc": "2.0", "id": 1}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}', 200),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "ping"}', 400),
        (b"\xff\xfe", 400),
        (b" " * (1 << 20), 400),
        (b" " * ((1 << 20) + 1), 413),
    ],
)
def test_a_body_that_is_no_message_is_refused(tenant: Tenant, body: bytes, status: int) -> None:
    """ISO-13: by a JSON-RPC error, whatever it is, and the server goes on."""
    headers = {**ACCEPT, "Content-Type": "application/json"}
    answer = tenant.admin.request("POST", "/mcp", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["message"]
    assert tenant.admin.post("/mcp", PING, headers=ACCEPT).status_code == 200


@pytest.mark.parametrize("id", [1.5, 1.0, None, True, [], {}])
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_request_whose_id_is_no_string_or_integer_is_refused(
    sqlite_service: Server, id: object, version: str
) -> None:
    """DOOR-1: as JSON-RPC says, instead of taking it for a notification; and nothing is stored."""
    tenant = sqlite_service.new_tenant()
    params = {"name": "remember", "arguments": {"contents": ["The bike is green."]}}
    call = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    answer = tenant.admin.post("/mcp", call, headers={**ACCEPT, "MCP-Protocol-Version": version})
    assert (answer.status_code, answer.json()["error"]["code"], answer.json()["id"]) == (400, -32600, None)
    assert tenant.admin.everything("/v1/sessions") == []
    assert tenant.admin.post("/mcp", {**PING, "id": "x"}, headers=ACCEPT).json()["id"] == "x"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("text/plain", 415),
        ("", 415),
        ("application/jsonp", 415),
        ("application/json, text/plain", 415),
        ("Application/JSON; charset=utf-8", 200),
    ],
)
def test_a_body_of_another_type_is_refused_in_json(sqlite_service: Server, given: str, status: int) -> None:
    """DOOR-1: every answer is one JSON document."""
    tenant = sqlite_service.new_tenant()
    answer = tenant.admin.request("POST", "/mcp", content=json.dumps(PING), headers={**ACCEPT, "Content-Type": given})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert "result" in answer.json() if status == 200 else answer.json()["error"]["data"]["status"] == status


def test_a_scope_that_is_named_twice_is_refused(tenant: Tenant) -> None:
    """A proxy before this server may have read the other one."""
    for name in ("X-User-ID", "X-Session-ID", "X-Project-ID", "Authorization"):
        value = {"X-Project-ID": tenant.default_project_id, "Authorization": f"Bearer {tenant.key}"}.get(name, "ada")
        headers = [*ACCEPT.items(), ("Authorization", f"Bearer {tenant.key}"), (name, value)]
        if name != "Authorization":
            headers.append((name, value))
        answer = tenant.http.post("/mcp", json=PING, headers=headers)
        assert answer.status_code in (400, 401, 422), (name, answer.text)
        if name != "X-Session-ID":  # two sessions that a proxy joined are one new session of the same scope
            joined = {**ACCEPT, "Authorization": f"Bearer {tenant.key}", name: f"{value}, {value}"}
            answer = tenant.http.post("/mcp", json=PING, headers=joined)
            assert answer.status_code in (400, 401, 422), (name, answer.text)


def test_without_the_extra_the_answer_says_how_to_install_it(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_installed() -> bool:
        return False

    monkeypatch.setattr(routes, "is_installed", is_installed)
    answer = tenant.admin.post("/mcp", PING, headers=ACCEPT)
    assert answer.status_code == 501
    assert "pip install 'cloister[mcp]'" in answer.json()["error"]["message"]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_crash_keeps_its_text_to_itself(
    sqlite_service: Server, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """The SDK would send the text of the exception to older clients."""
    tenant = sqlite_service.new_tenant()
    assert sqlite_service.services is not None

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("SELECT secret FROM table")

    monkeypatch.setattr(type(sqlite_service.services.search), "search", crash)
    params: dict[str, Any] = {"name": "search", "arguments": {"query": "x"}}
    headers = {**ACCEPT, "MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "search"}
    if version == "2026-07-28":
        meta = "io.modelcontextprotocol/"
        params["_meta"] = {f"{meta}protocolVersion": version, f"{meta}clientCapabilities": {}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = tenant.admin.post("/mcp", call, headers=headers)
    assert "secret" not in answer.text
    assert answer.json()["error"]["message"].startswith("Something broke in the memory server.")


def test_requests_of_one_client_may_go_to_any_process(tmp_path: Path) -> None:
    """OPS-4, DOOR-1: nothing is remembered between two requests, and the server stops as it does without MCP."""
    with ServerProcess(tmp_path / "data") as first, ServerProcess(tmp_path / "data") as second:
        tenant = first.server.new_tenant()
        with over_http(first.address, tenant.key) as one, over_http(second.address, tenant.key) as other:
            one.call("remember", contents=["The bike is green."])
            assert "The bike is green." in json.dumps(other.call("list_memories"))
        assert (first.stop(), second.stop()) == (0, 0)
        assert "mcp" not in first.complaints.replace('"route": "/mcp"', "")


def test_a_server_without_mcp_clients_loads_nothing_of_the_sdk() -> None:
    """DOOR-1: nor does the command line."""
    wanted = "import sys, cloister.interfaces.http.app, cloister.interfaces.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", wanted], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "cloister" in loaded
    assert not loaded & {"mcp", "mcp_types", "sse_starlette", "jsonschema", "jwt"}
