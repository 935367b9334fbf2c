"""Signing in to the console: a link that works once, a cookie that only our own pages can use, and nothing wider than its key."""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.requests import Request

from cloister.domain.errors import Unauthenticated
from cloister.interfaces.http.dispatch.callers import Checked, Gate
from cloister.interfaces.http.dispatch.limits import ConcurrencyLimit, RateLimit
from cloister.services.tenancy.sign_ins import IDLE_SECONDS, LINK_SECONDS, MOST_OF_A_KEY
from support.clients.command_line import CommandLine
from support.databases.engines import Engine
from support.servers.http_server import Server, ServerProcess, Tenant, Watch, new_client, serving, watched_sign_ins


@dataclass(frozen=True, kw_only=True)
class Browser:
    """Keeps its cookies, and says where its pages are from."""

    http: httpx2.Client
    origin: str

    def ask(self, method: str, path: str, json: Any = None, **headers: str) -> httpx2.Response:
        return self.http.request(method, path, json=json, headers={"Origin": self.origin, **headers})

    def sign_in(self, link: str) -> httpx2.Response:
        return self.ask("POST", "/console/sign-in", {"code": link.partition("#")[2]})


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def house(engine: Engine, watch: Watch) -> Generator[Server]:
    with serving(watched_sign_ins(engine.services(), watch)) as running:
        yield running


@pytest.fixture
def browser(house: Server) -> Generator[Browser]:
    with new_client(house.address) as http:
        yield Browser(http=http, origin=house.address)


def link_for(tenant: Tenant, *permissions: str, **fields: Any) -> str:
    return tenant.with_key(*permissions, **fields).post("/console/links").json()["path"]


def test_a_link_works_once_and_its_cookie_stays_out_of_reach_of_scripts(house: Server, browser: Browser) -> None:
    link = link_for(house.new_tenant())
    assert browser.ask("GET", "/v1/sessions").status_code == 401

    answer = browser.sign_in(link)

    assert answer.status_code == 204
    (cookie,) = answer.headers.get_list("set-cookie")
    port = house.address.rpartition(":")[2]
    assert cookie.startswith(f"cloister_{port}=")
    assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
        "httponly",
        "max-age=2592000",
        "path=/",
        "samesite=strict",
    }
    assert browser.ask("GET", "/v1/sessions").status_code == 200
    assert browser.sign_in(link).status_code == 401


def test_a_link_is_good_for_a_quarter_of_an_hour(house: Server, browser: Browser, watch: Watch) -> None:
    tenant = house.new_tenant()
    early, late = link_for(tenant), link_for(tenant)
    watch.seconds += LINK_SECONDS - 1
    assert browser.sign_in(early).status_code == 204
    watch.seconds += 1
    assert browser.sign_in(late).status_code == 401


def test_a_browser_that_is_not_used_is_signed_out(house: Server, browser: Browser, watch: Watch) -> None:
    browser.sign_in(link_for(house.new_tenant()))
    for _ in range(3):
        watch.seconds += IDLE_SECONDS - 1
        assert browser.ask("GET", "/v1/sessions").status_code == 200
    watch.seconds += IDLE_SECONDS
    assert browser.ask("GET", "/v1/sessions").status_code == 401


@pytest.mark.parametrize("code", ["", "x", "sign-in", "é" * 40, "\u0000", "x" * 8_000])
def test_what_is_no_code_signs_nobody_in(browser: Browser, code: str) -> None:
    answer = browser.ask("POST", "/console/sign-in", {"code": code})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_signing_out_ends_it_on_the_server(house: Server, browser: Browser) -> None:
    browser.sign_in(link_for(house.new_tenant()))
    kept = dict(browser.http.cookies)
    assert browser.ask("POST", "/console/sign-out").status_code == 204
    assert dict(browser.http.cookies) == {}
    browser.http.cookies.update(kept)
    assert browser.ask("GET", "/v1/sessions").status_code == 401


def test_a_sign_in_that_was_replaced_has_ended(house: Server, browser: Browser) -> None:
    browser.sign_in(link_for(house.new_tenant()))
    kept = dict(browser.http.cookies)
    code = link_for(house.new_tenant()).partition("#")[2]
    assert browser.ask("POST", "/console/sign-in", {"code": code, "replace": True}).status_code == 204
    assert browser.ask("GET", "/v1/sessions").status_code == 200
    browser.http.cookies.clear()
    browser.http.cookies.update(kept)
    assert browser.ask("GET", "/v1/sessions").status_code == 401


def test_a_link_of_a_key_that_was_revoked_signs_nobody_in(house: Server, browser: Browser) -> None:
    tenant = house.new_tenant()
    made = tenant.admin.made("/org/api-keys", {"name": "gardener"})
    code = house.caller(made["key"]).post("/console/links").json()["path"].partition("#")[2]
    assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
    answer = browser.ask("POST", "/console/sign-in", {"code": code})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/console/links", "/console/sign-out"])
def test_what_is_sent_for_nothing_is_refused(house: Server, path: str) -> None:
    tenant = house.new_tenant()
    refused = tenant.admin.post(path, {"permissions": ["read"]})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert refused.json()["errors"][0]["field"] == "permissions"
    assert tenant.admin.post(path, {}).is_success


def test_org_8_a_browsers_token_is_no_key_even_beside_a_request_that_showed_it_as_a_cookie(house: Server) -> None:
    """Requests that are answered together share what was checked."""
    assert house.services is not None
    tenant, sign_ins = house.new_tenant(), house.services.sign_ins
    gate = Gate(
        services=house.services,
        rate_limit=RateLimit(0),
        concurrency_limit=ConcurrencyLimit(0),
        operator_key=None,
    )
    token = sign_ins.redeem(sign_ins.new_code(house.services.api_keys.authenticate(tenant.key)))
    checked: Checked = {}

    def admit(name: str, value: str) -> None:
        headers = [(b"host", b"here:80"), (name.encode(), value.encode())]
        gate.admit(Request({"type": "http", "method": "GET", "headers": headers}), "read", checked)

    admit("cookie", f"cloister_80={token}")
    admit("authorization", f"Bearer {tenant.key}")
    assert len(checked) == 2
    with pytest.raises(Unauthenticated):
        admit("authorization", f"Bearer {token}")


def test_a_browser_may_do_what_its_key_may_and_only_as_long_as_that_is_valid(house: Server, browser: Browser) -> None:
    """ORG-4, ORG-8, ISO-4: no wider than the key, and gone with it."""
    tenant = house.new_tenant()
    garden = tenant.new_project("Garden")
    tenant.new_session("roses", project_id=garden)
    tenant.new_session("elsewhere", project_id=None)
    made = tenant.admin.made(
        "/org/api-keys", {"name": "gardener", "permissions": ["read"], "project_id": garden, "confined": True}
    )
    browser.sign_in(house.caller(made["key"]).post("/console/links").json()["path"])

    assert browser.ask("GET", "/console/session").json() == {
        "tenant_id": tenant.tenant_id,
        "key_id": made["key_id"],
        "name": "gardener",
        "permissions": ["read"],
        "project_id": garden,
        "confined": True,
        "user_id": None,
    }
    assert [entry["external_id"] for entry in browser.ask("GET", "/v1/sessions").json()["data"]] == ["roses"]
    assert browser.ask("GET", "/v1/sessions/elsewhere").status_code == 404
    assert browser.ask("DELETE", "/v1/sessions/roses").status_code == 403
    assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
    assert browser.ask("GET", "/v1/sessions").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_no_page_of_another_origin_can_use_the_cookie(house: Server, browser: Browser, headers: dict[str, str]) -> None:
    """Not even one on another port of this host, which browsers count as the same site."""
    tenant = house.new_tenant()
    tenant.new_session("roses")
    browser.sign_in(link_for(tenant))
    for method, path in (("DELETE", "/v1/sessions/roses"), ("POST", "/console/sign-out"), ("POST", "/console/links")):
        answer = browser.ask(method, path, **headers)
        assert (path, answer.status_code) == (path, 403)
    if "Sec-Fetch-Site" in headers:
        assert browser.ask("GET", "/v1/sessions", **headers).status_code == 403
    assert browser.ask("GET", "/v1/sessions/roses").status_code == 200


def test_a_key_in_the_request_wins_over_the_cookie(house: Server, browser: Browser) -> None:
    """ISO-4: nobody is answered as somebody else."""
    mine, other = house.new_tenant(), house.new_tenant()
    browser.sign_in(link_for(mine))
    other.new_session("theirs")
    seen = browser.ask("GET", "/v1/sessions", Authorization=f"Bearer {other.key}").json()["data"]
    assert [entry["external_id"] for entry in seen] == ["theirs"]
    assert browser.ask("GET", "/v1/sessions", Authorization="Bearer nonsense").status_code == 401


@pytest.mark.parametrize("cookie", ["", "=", "cloister=", ";;;", "a=b; cloister_1=x", "cloister_{port}=x"])
def test_odd_cookies_are_nobody(house: Server, cookie: str) -> None:
    port = house.address.rpartition(":")[2]
    given = {"Cookie": cookie.replace("{port}", port), "Origin": house.address}
    assert house.nobody.get("/v1/sessions", headers=given).status_code == 401


def test_serve_and_console_print_links_and_a_restart_signs_nobody_out(data: Path) -> None:
    with ServerProcess(data, terminal=True) as first:
        link = first.printed.rpartition(" open ")[2].strip()
        address, _, _ = link.partition("/sign-in#")
        assert address == first.address
        with new_client(first.address) as http:
            browser = Browser(http=http, origin=first.address)
            assert browser.sign_in(link).status_code == 204
            assert browser.ask("GET", "/console/session").json()["name"] == "local admin"
            key = (data / "local.key").read_text().strip()
            assert CommandLine(data=str(data)).json("console")["link"].startswith(f"{first.address}/sign-in#")
            made = CommandLine(data=first.address, key=key).json("console")["link"]
            assert made.startswith(f"{first.address}/sign-in#")
            assert browser.sign_in(made).status_code == 204
            assert key not in first.complaints.replace(key, "", 1)
            cookies = dict(http.cookies)
        assert first.stop() == 0
    with ServerProcess(data, options=("--port", address.rpartition(":")[2]), terminal=True) as second:
        answer = second.server.nobody.get(
            "/v1/sessions", headers={"Cookie": "; ".join(f"{n}={v}" for n, v in cookies.items())}
        )
        assert answer.status_code == 200
        assert "/sign-in#" in second.printed


def test_a_link_does_not_replace_another_keys_sign_in_without_a_word(house: Server, browser: Browser) -> None:
    """ISO-4: a link that somebody sent makes nobody's browser theirs."""
    mine, theirs = house.new_tenant(), house.new_tenant()
    assert browser.sign_in(link_for(mine)).status_code == 204
    before = dict(browser.http.cookies)
    for other in (link_for(theirs), link_for(mine, "read")):
        refused = browser.sign_in(other)
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        signed_in = browser.ask("GET", "/console/session").json()
        named = f"the key 'a key' ({signed_in['key_id']}) of {mine.tenant_id}"
        assert f"This browser is signed in with {named}, and the link is for " in refused.json()["detail"]
        assert dict(browser.http.cookies) == before
        assert browser.ask("GET", "/console/session").json()["tenant_id"] == mine.tenant_id

    code = link_for(theirs).partition("#")[2]
    assert browser.ask("POST", "/console/sign-in", {"code": code}).status_code == 409
    assert browser.ask("POST", "/console/sign-in", {"code": code, "replace": True}).status_code == 204
    assert browser.ask("GET", "/console/session").json()["tenant_id"] == theirs.tenant_id


def test_the_same_key_or_nobody_any_more_is_not_asked(house: Server, browser: Browser) -> None:
    tenant = house.new_tenant()
    made = tenant.admin.made("/org/api-keys", {"name": "mine", "permissions": ["read"]})
    again = house.caller(made["key"])
    for _ in range(2):
        assert browser.sign_in(again.post("/console/links").json()["path"]).status_code == 204
    assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
    assert browser.sign_in(link_for(house.new_tenant())).status_code == 204


def test_links_and_browsers_of_one_key_push_out_nobody_elses(house: Server, browser: Browser) -> None:
    """ISO-4: the oldest of the same key give way."""
    quiet, busy = house.new_tenant(), house.new_tenant()
    kept = link_for(quiet)
    browser.sign_in(link_for(quiet))
    busy_key = busy.with_key()
    links = [busy_key.post("/console/links").json()["path"] for _ in range(MOST_OF_A_KEY + 5)]
    for link in links:
        house.nobody.post("/console/sign-in", {"code": link.partition("#")[2]})
        house.http.cookies.clear()
    assert browser.ask("GET", "/v1/sessions").status_code == 200
    assert house.nobody.post("/console/sign-in", {"code": kept.partition("#")[2]}).status_code == 204
    house.http.cookies.clear()


def test_the_oldest_of_a_key_give_way_and_what_expired_is_not_kept(watch: Watch, house: Server) -> None:
    assert house.services is not None
    key = house.services.api_keys.authenticate(house.new_tenant().key)
    other = house.services.api_keys.authenticate(house.new_tenant().key)
    sign_ins = house.services.sign_ins
    theirs = sign_ins.redeem(sign_ins.new_code(other))
    tokens: list[str] = []
    for _ in range(MOST_OF_A_KEY + 1):
        watch.seconds += 0.001
        tokens.append(sign_ins.redeem(sign_ins.new_code(key)))
    with pytest.raises(Unauthenticated):
        sign_ins.principal(tokens[0])
    assert {sign_ins.principal(token).key for token in tokens[1:]} == {key.id}
    assert sign_ins.principal(theirs).key == other.id
    watch.seconds += IDLE_SECONDS
    sign_ins.redeem(sign_ins.new_code(key))
    for token in (theirs, *tokens):
        with pytest.raises(Unauthenticated):
            sign_ins.principal(token)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_page_of_another_origin_cannot_sign_the_browser_in(
    house: Server, browser: Browser, headers: dict[str, str]
) -> None:
    link = link_for(house.new_tenant())
    answer = browser.ask("POST", "/console/sign-in", {"code": link.partition("#")[2]}, **headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert browser.ask("GET", "/v1/sessions").status_code == 401
    assert browser.sign_in(link).status_code == 204, "the code stays valid"
