"""`Host` is looked at before anything else (DNS rebinding), and the refusal says what to do."""

from collections.abc import Generator

import httpx2
import pytest

from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.hosts import AllowedHosts
from support.databases.engines import Engine
from support.servers.http_server import Server, routes_of, serving

EVIL = {"Host": "evil.example:8420"}


@pytest.fixture
def reachable(engine: Engine) -> Generator[Server]:
    """As if it were bound to all addresses."""
    with serving(engine.services(), hosts=AllowedHosts("0.0.0.0")) as running:
        yield running


def is_refused(answer: httpx2.Response) -> bool:
    if answer.status_code != 421:
        return False
    said = answer.json().get("error") or answer.json()
    said = said.get("data") or said
    assert said["code"] == "wrong_host"
    assert "CLOISTER_ALLOWED_HOSTS" in answer.text
    assert "set-cookie" not in answer.headers
    return True


def test_every_route_and_page_is_refused_under_a_strange_name_whoever_asks(server: Server) -> None:
    """ISO-4, ISO-13."""
    assert server.services is not None
    tenant = server.new_tenant()
    tenant.new_session("roses")
    paths = {
        (method, path.replace("{external_id}", "roses")) for method, path in routes_of(create_app(server.services))
    }
    for method, path in sorted(paths | {("GET", "/"), ("GET", "/sign-in"), ("GET", "/nowhere")}):
        assert is_refused(tenant.admin.request(method, path, headers=EVIL)), path
    assert tenant.admin.get("/v1/sessions/roses").status_code == 200


def test_an_openai_client_is_refused_in_its_own_words(server: Server) -> None:
    answer = server.nobody.get("/v1/models", headers=EVIL)
    assert answer.json()["error"]["code"] == "wrong_host"


def test_where_others_can_reach_it_a_key_is_answered_under_any_name_and_a_browser_is_not(reachable: Server) -> None:
    """No page that was rebound has a key; the console, its cookie and its sign-in are for names that are known."""
    tenant = reachable.new_tenant()
    assert tenant.admin.get("/v1/sessions", headers={"Host": "cloister"}).status_code == 200
    link = tenant.admin.post("/console/links", headers=EVIL).json()["path"]
    code = {"code": link.partition("#")[2]}
    origin = {"Origin": "http://evil.example:8420", **EVIL}
    assert is_refused(reachable.nobody.post("/console/sign-in", code, headers=origin))
    for path in ("/", "/sign-in", "/console/session", "/metrics", "/docs"):
        assert is_refused(reachable.nobody.get(path, headers=EVIL)), path
    signed_in = reachable.nobody.post("/console/sign-in", code, headers={"Host": "10.1.2.3:8420"})
    assert signed_in.status_code == 204, "an address cannot be rebound"
    cookie = signed_in.headers["set-cookie"].partition(";")[0]
    assert is_refused(reachable.nobody.get("/v1/sessions", headers={"Cookie": cookie, **EVIL}))


def test_names_that_were_set_are_answered_and_then_no_others_even_with_a_key(engine: Engine) -> None:
    with serving(engine.services(), hosts=AllowedHosts("0.0.0.0", ["memory.example"])) as server:
        tenant = server.new_tenant()
        assert tenant.admin.get("/v1/sessions", headers={"Host": "memory.example"}).status_code == 200
        assert server.nobody.get("/livez", headers={"Host": "memory.example:443"}).status_code == 200
        assert server.nobody.get("/livez", headers={"Host": "10.0.0.7:8420"}).status_code == 200
        assert is_refused(tenant.admin.get("/v1/sessions", headers=EVIL))
