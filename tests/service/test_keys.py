"""API keys over HTTP (ORG-8): shown once, kept as a hash, over when they expire, and gone at once when revoked."""

import pytest

from cloister.domain.timestamps import iso, now
from support.databases.engines import Engine
from support.servers.http_server import Caller, Server, Tenant, serving
from support.waiting import eventually

DAY = 24 * 3_600 * 1_000_000


class Time:
    """A clock that goes on by itself, and jumps when told to."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return now() + self.ahead


def test_a_key_has_what_the_contract_says_and_its_text_is_shown_once(server: Server, shared_engine: Engine) -> None:
    """ORG-6, ORG-8."""
    tenant = server.new_tenant()
    garden = tenant.new_project("Garden")
    fields = {"name": "laptop", "project_id": garden, "permissions": ["write", "read"], "expires_at": iso(now() + DAY)}
    answer = tenant.admin.post("/org/api-keys", fields)

    made = answer.json()
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert list(made) == [
        *("key_id", "name", "project_id", "confined", "user_id", "permissions", "expires_at", "created_at", "key")
    ]
    text = made.pop("key")
    assert made | {"permissions": ["read", "write"]} | fields == made | {"permissions": ["write", "read"]}
    assert text.startswith("clo_")
    assert made in tenant.admin.everything("/org/api-keys")
    assert text not in tenant.admin.get("/org/api-keys").text
    kept = repr(shared_engine.dump())
    secret = text[len("clo_") + 22 : -6]
    assert made["name"] in kept
    assert secret not in kept and tenant.key[len("clo_") + 22 : -6] not in kept


def test_a_key_may_read_and_write_unless_told_otherwise(tenant: Tenant) -> None:
    made = tenant.admin.made("/org/api-keys", {"name": "k"})
    assert (made["permissions"], made["project_id"], made["confined"], made["expires_at"]) == (
        *(["read", "write"], None, False, None),
    )
    asking = tenant.caller(made["key"])
    assert asking.post("/v1/sessions", {"external_id": "roses"}).status_code == 201
    assert asking.get("/v1/sessions/roses").status_code == 200
    assert asking.get("/org/api-keys").status_code == 403


def test_an_expired_key_opens_nothing(engine: Engine) -> None:
    time = Time()
    with serving(engine.services(clock=time)) as server:
        tenant = server.new_tenant()
        asking = tenant.with_key("read", expires_at=iso(now() + DAY))
        assert asking.get("/v1/sessions").status_code == 200
        time.ahead = DAY - 60_000_000
        assert asking.get("/v1/sessions").status_code == 200
        time.ahead = DAY
        answers = [asking.get("/v1/sessions"), tenant.caller("clo_nonsense").get("/v1/sessions")]
        assert [answer.status_code for answer in answers] == [401, 401]
        assert answers[0].content == answers[1].content
        assert tenant.admin.get("/v1/sessions").status_code == 200


def test_a_revoked_key_is_gone_at_once_everywhere(either_server: Server) -> None:
    """ORG-6, ORG-8."""
    tenant = either_server.new_tenant()
    made = tenant.admin.made("/org/api-keys", {"name": "lost"})
    asking, path = tenant.caller(made["key"]), f"/org/api-keys/{made['key_id']}"
    assert asking.get("/v1/sessions").status_code == 200

    assert (tenant.admin.delete(path).status_code, tenant.admin.delete(path).status_code) == (204, 404)

    assert asking.get("/v1/sessions").status_code == 401
    assert [key["name"] for key in tenant.admin.everything("/org/api-keys")] == ["admin"]


def test_another_server_on_the_same_data_refuses_a_revoked_key_at_its_next_request(engine: Engine) -> None:
    with serving(engine.services()) as first, serving(engine.services()) as second:
        tenant = first.new_tenant()
        made = tenant.admin.made("/org/api-keys", {"name": "lost"})
        assert second.caller(made["key"]).get("/v1/sessions").status_code == 200
        assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
        assert second.caller(made["key"]).get("/v1/sessions").status_code == 401


def test_a_key_can_revoke_itself_and_then_nothing_more(tenant: Tenant) -> None:
    made = tenant.admin.made("/org/api-keys", {"name": "fleeting", "permissions": ["admin"]})
    asking = tenant.caller(made["key"])
    assert asking.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
    assert asking.get("/org/api-keys").status_code == 401


def test_org_9_the_last_admin_key_stays_and_the_answer_says_what_to_do(either_server: Server) -> None:
    """It may not even revoke itself, whatever other keys there are that cannot make keys for good."""
    tenant = either_server.new_tenant()
    (last,) = tenant.admin.everything("/org/api-keys")
    tenant.admin.made("/org/api-keys", {"name": "phone"})
    soon = {"name": "until then", "permissions": ["admin"], "expires_at": "2099-01-01T00:00:00Z"}
    tenant.admin.made("/org/api-keys", soon)
    refused = tenant.admin.delete(f"/org/api-keys/{last['key_id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert "Make a new admin key without expires_at first" in refused.json()["detail"]
    second = tenant.caller(tenant.admin.made("/org/api-keys", {"name": "next", "permissions": ["admin"]})["key"])
    assert second.delete(f"/org/api-keys/{last['key_id']}").status_code == 204
    assert (tenant.admin.get("/v1/sessions").status_code, second.get("/v1/sessions").status_code) == (401, 200)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(tenant: Tenant, scheme: str) -> None:
    asking = Caller(http=tenant.http, headers={"Authorization": f"{scheme}  {tenant.key}"})
    assert asking.get("/v1/sessions").status_code == 200


def test_no_change_to_a_key_leaves_it_valid(tenant: Tenant) -> None:
    """Cut, stretched, in another case, with one character changed anywhere, under another scheme."""
    key = tenant.key
    changed = [key[:place] + ("0" if key[place] != "0" else "1") + key[place + 1 :] for place in range(len(key))]
    headers = [f"Bearer {text}" for text in (*changed, key[:-1], key + "0", key.swapcase(), key * 2, f"{key} {key}")]
    headers += [key, f"Basic {key}", f"Token {key}", f"Bearer{key}"]
    for header in headers:
        answer = tenant.http.get("/v1/sessions", headers={"Authorization": header})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), header


RATE = 10


def test_too_many_requests_with_one_key_wait_and_the_others_do_not(engine: Engine) -> None:
    """A burst of twice the rate, then 429 with Retry-After; nothing of a refused request is done, and it recovers."""
    with serving(engine.services(), requests_per_second=RATE) as server:
        tenant = server.new_tenant()
        hasty, calm = tenant.with_key(), tenant.with_key()
        answers = [hasty.post("/v1/sessions", {"external_id": f"session-{number}"}) for number in range(20 * RATE)]
        made = [answer.json()["external_id"] for answer in answers if answer.status_code == 201]
        answer = next(answer for answer in answers if answer.status_code != 201)

        assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
        assert answer.headers["retry-after"] == "1"
        assert len(made) >= 2 * RATE
        assert {session["external_id"] for session in calm.everything("/v1/sessions")} == {*made}
        assert server.nobody.get("/livez").status_code == 200
        eventually(lambda: hasty.get("/v1/sessions").status_code == 200, seconds=2)


def test_org_10_the_user_header_narrows_a_request_on_every_route(tenant: Tenant) -> None:
    """A request with X-User-ID is made as by a key that is bound to that user."""
    for user in ("ada", "bob"):
        tenant.admin.made("/v1/sessions", {"external_id": f"s-{user}", "user_id": user})
        tenant.admin.made(f"/v1/sessions/s-{user}/messages", {"role": "user", "content": f"The locker of {user}."})
    as_ada = {"X-User-ID": "ada"}
    said = {"messages": [{"role": "user", "content": "Hello there."}]}
    for asking, headers in ((tenant.admin, as_ada), (tenant.with_key("read", "write", user_id="ada"), {})):
        found = asking.get("/v1/sessions", headers=headers).json()["data"]
        assert {one["user_id"] for one in found} == {"ada"}
        assert asking.get("/v1/sessions/s-bob", headers=headers).status_code == 404
        assert (
            asking.post("/v1/context", {"session_id": "s-bob", "query": "locker"}, headers=headers).status_code == 404
        )
        assert asking.post("/v1/sessions", {"user_id": "bob"}, headers=headers).status_code == 403
        assert asking.post("/v1/chat/completions", {**said, "user": "bob"}, headers=headers).status_code == 403
        assert asking.post("/v1/sessions", {}, headers=headers).json()["user_id"] == "ada"
        answered = asking.post("/v1/chat/completions", said, headers=headers).headers["x-session-id"]
        assert tenant.admin.get(f"/v1/sessions/{answered}").json()["user_id"] == "ada"
        assert asking.post("/org/projects", {"name": "P"}, headers=headers).status_code == 403
    bound = tenant.with_key("read", "write", user_id="bob")
    assert bound.get("/v1/sessions", headers=as_ada).status_code == 403
    assert bound.get("/v1/sessions/s-bob", headers={"X-User-ID": "bob"}).status_code == 200
    assert tenant.admin.get("/v1/sessions", headers={"X-User-ID": ""}).status_code == 422


@pytest.mark.parametrize("joined", ["ada, bob", "ada,bob", "ada,", ","])
def test_org_10_two_user_headers_that_a_proxy_has_joined_are_no_third_user(tenant: Tenant, joined: str) -> None:
    """A user whose id has a comma is named in a body, or by a key that is bound to them."""
    refused = tenant.admin.post("/v1/sessions", {"external_id": "s"}, headers={"X-User-ID": joined})
    assert refused.status_code == 422
    assert refused.json()["errors"] == [
        {
            "field": "X-User-ID",
            "message": "must be one name without a comma: proxies join repeated headers by commas.",
        }
    ]
    project = f"{tenant.default_project_id}, {tenant.default_project_id}"
    assert tenant.admin.post("/v1/sessions", {}, headers={"X-Project-ID": project}).status_code == 400
    assert tenant.admin.everything("/v1/sessions") == []
    assert tenant.admin.made("/v1/sessions", {"user_id": joined})["user_id"] == joined
    bound = tenant.with_key("read", "write", user_id=joined)
    assert [session["user_id"] for session in bound.everything("/v1/sessions")] == [joined]
