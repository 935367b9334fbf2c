"""The same request under the same `Idempotency-Key` is done once and answered alike; a secret is kept only sealed, for an hour."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import httpx2
import pytest

from cloister.domain.timestamps import now
from cloister.interfaces.http.app import create_app
from support.databases.engines import Engine
from support.servers.http_server import Caller, Server, Tenant, operations_of, serving

HOUR = 3_600 * 1_000_000
MESSAGES, MEMORIES = "/v1/sessions/{external_id}/messages", "/v1/sessions/roses/memories"


class Creation(NamedTuple):
    path: str
    body: dict[str, Any]
    other: dict[str, Any]
    makes: int = 1
    """How many things of the tenant itself."""
    status: int = 201

    def ask(self, caller: Caller, key: str, body: dict[str, Any] | None = None) -> httpx2.Response:
        path = self.path.replace("{external_id}", "roses")
        return caller.post(path, self.body if body is None else body, headers={"Idempotency-Key": key})


ONE = {"role": "user", "content": "The roses need water.", "metadata": {"from": "garden"}}
TURN = {"session_id": "roses", "user_message": "And the beans?", "ai_response": "Those too."}
ITEMS = {"items": [{"role": "user", "content": "The roses need water."}, {"type": "function_call", "call_id": "c"}]}
FEWER = {"items": ITEMS["items"][:1]}
FACTS = {"session_id": "roses", "contents": ["The roses need water.", "the roses need water"]}
CREATIONS = (
    Creation("/operator/tenants", {"name": "Household"}, {"name": "Neighbours"}, makes=0),
    Creation(
        "/org/projects",
        {"name": "Garden", "allow_duplicate_name": True},
        {"name": "Garden", "member_visibility": "shared", "allow_duplicate_name": True},
    ),
    Creation("/org/projects", {"name": "Cellar"}, {"name": "Cellar", "member_visibility": "shared"}),
    Creation("/org/api-keys", {"name": "laptop"}, {"name": "laptop", "permissions": ["read"]}),
    Creation("/v1/sessions", {"title": "Roses"}, {"title": "Roses", "user_id": "ann"}),
    Creation("/v1/sessions", {"external_id": "beans", "tags": ["a"]}, {"external_id": "beans", "tags": ["b"]}),
    Creation(MESSAGES, ONE, {**ONE, "metadata": {}}),
    Creation(f"{MESSAGES}/batch", {"messages": [ONE, ONE]}, {"messages": [ONE]}, makes=2),
    Creation("/v1/memories", FACTS, {**FACTS, "contents": ["Ann likes tea."]}),
    Creation("/v1/episodes", TURN, {**TURN, "ai_response": "Not those."}, makes=2),
    Creation("/v1/sessions/{external_id}/items", ITEMS, FEWER, status=200),
    Creation("/v1/conversations/{external_id}/items", ITEMS, FEWER, status=200),
    Creation("/v1/conversations", {**ITEMS, "metadata": {"a": "b"}}, {**FEWER, "metadata": {"a": "b"}}, status=200),
    Creation("/v1/conversations", {}, {"metadata": {"a": "b"}}, status=200),
)
NEW = [
    creation for creation in CREATIONS[1:] if "external_id" not in creation.body and creation.body != {"name": "Cellar"}
]
"""Those of a tenant that make something new each time."""
every_creation = pytest.mark.parametrize(
    "creation", CREATIONS, ids=lambda creation: f"{creation.path} {[*creation.body]}"
)


@pytest.fixture
def home(either_server: Server) -> Tenant:
    tenant = either_server.new_tenant()
    tenant.new_session("roses")
    return tenant


def asking(server: Server, tenant: Tenant, creation: Creation) -> Caller:
    return server.operator if creation.path.startswith("/operator") else tenant.admin


def holdings(tenant: Tenant) -> list[Any]:
    lists = ("/org/projects", "/org/api-keys", "/v1/sessions", "/v1/sessions/roses/messages", MEMORIES)
    return [tenant.admin.everything(path) for path in lists]


def test_every_route_that_creates_takes_an_idempotency_key(server: Server) -> None:
    assert server.services is not None
    creating: set[str] = set()
    taking: set[str] = set()
    for _, path, operation, parameters in operations_of(create_app(server.services)):
        if "201" in operation["responses"]:
            creating.add(path)
        if "Idempotency-Key" in [parameter["name"] for parameter in parameters]:
            taking.add(path)
    # `test_operator` shows it of the new key of a tenant, which has no body that could be another.
    made = {creation.path for creation in CREATIONS} | {"/operator/tenants/{tenant_id}/keys"}
    assert creating | {creation.path for creation in CREATIONS if creation.status == 200} == taking == made


@every_creation
def test_the_same_request_again_is_answered_alike_and_done_once(
    either_server: Server, home: Tenant, creation: Creation
) -> None:
    caller = asking(either_server, home, creation)
    first = creation.ask(caller, f"once {home.tenant_id}")
    stored = holdings(home)
    again = [creation.ask(caller, f"once {home.tenant_id}") for _ in range(2)]

    assert first.status_code == creation.status, first.text
    assert [(answer.status_code, answer.content) for answer in again] == [(creation.status, first.content)] * 2
    assert holdings(home) == stored
    another = creation.ask(caller, f"twice {home.tenant_id}")
    assert another.content != first.content or creation.body.get("external_id")


@every_creation
def test_another_request_under_the_same_key_is_refused(either_server: Server, home: Tenant, creation: Creation) -> None:
    caller = asking(either_server, home, creation)
    first = creation.ask(caller, f"once {home.tenant_id}")
    stored = holdings(home)
    refused = creation.ask(caller, f"once {home.tenant_id}", creation.other)

    assert refused.status_code == 422
    if creation.path.startswith("/v1/conversations"):
        error = refused.json()["error"]
        assert (error["code"], error["param"]) == ("idempotency_mismatch", "idempotency_key")
    else:
        assert refused.json()["code"] == "idempotency_mismatch"
        assert refused.json()["errors"][0]["field"] == "idempotency_key"
    assert holdings(home) == stored
    assert creation.ask(caller, f"once {home.tenant_id}").content == first.content


@every_creation
def test_many_at_once_make_one(either_server: Server, home: Tenant, creation: Creation) -> None:
    caller = asking(either_server, home, creation)

    def ask(_: int) -> bytes:
        answer = creation.ask(caller, f"once {home.tenant_id}")
        assert answer.status_code == creation.status, answer.text
        return answer.content

    before = [len(stored) for stored in holdings(home)]
    with ThreadPoolExecutor(8) as pool:
        assert len({*pool.map(ask, range(16))}) == 1
    more = sum(len(stored) for stored in holdings(home)) - sum(before)
    assert more == creation.makes


@pytest.mark.parametrize("creation", CREATIONS[1:], ids=lambda creation: f"{creation.path} {[*creation.body]}")
def test_a_key_is_a_tenants_own(either_server: Server, home: Tenant, creation: Creation) -> None:
    """ISO-4: another tenant's request under the same key is another request."""
    other = either_server.new_tenant()
    other.new_session("roses")
    first = creation.ask(home.admin, "the same")
    second = creation.ask(other.admin, "the same", creation.other)
    assert (first.status_code, second.status_code) == (creation.status, creation.status)
    assert creation.ask(home.admin, "the same").content == first.content


def test_a_confined_caller_learns_nothing_of_a_key_that_was_used_outside(home: Tenant) -> None:
    """ISO-4, ORG-4."""
    garden = home.new_project("Garden")
    confined = home.with_key(project_id=garden, confined=True)
    first = home.admin.post("/v1/sessions", {"title": "Roses"}, headers={"Idempotency-Key": "the same"})
    second = confined.post("/v1/sessions", {"title": "Beans"}, headers={"Idempotency-Key": "the same"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json()["project_id"] == garden


def test_iso_4_a_key_of_a_new_conversation_is_its_callers_own(home: Tenant) -> None:
    """ORG-4, ORG-10: neither refused nor answered by what somebody did whom the caller does not reach."""
    garden = home.new_project("Garden")
    callers = [
        home.with_key("read", "write", user_id="ann"),
        home.with_key("read", "write", user_id="bob"),
        home.with_key("read", "write", project_id=garden, confined=True),
    ]
    made = [caller.post("/v1/conversations", {}, headers={"Idempotency-Key": "the same"}) for caller in callers]
    assert [answer.status_code for answer in made] == [200] * 3
    assert len({answer.json()["id"] for answer in made}) == 3


@pytest.mark.parametrize(
    "path", [MESSAGES.replace("{external_id}", "beans"), "/v1/sessions/beans/items", "/v1/memories"]
)
def test_a_key_of_a_session_is_its_own_whoever_asks(home: Tenant, path: str) -> None:
    """What a session gets is stored once, and all callers that reach the session are answered alike."""
    garden = home.new_project("Garden")
    home.new_session("beans", project_id=garden, user_id="ada")
    body = {**FACTS, "session_id": "beans"} if path == "/v1/memories" else ITEMS if "items" in path else ONE
    answers: set[bytes] = set()
    for fields in ({}, {"project_id": garden, "confined": True}, {"user_id": "ada"}, {"project_id": garden}):
        caller = home.with_key("read", "write", **fields)
        for headers in ({}, {"X-User-ID": "ada"}):
            answer = caller.post(path, body, headers={"Idempotency-Key": "the same", **headers})
            assert answer.is_success
            answers.add(answer.content)
    assert len(answers) == 1
    bob = home.with_key("read", "write", project_id=garden, confined=True, user_id="bob")
    assert bob.post(path, body, headers={"Idempotency-Key": "the same"}).status_code == 404
    other = home.with_key("read", "write", user_id="ada").post(
        path, {**body, **({"items": ITEMS["items"][:1]} if "items" in body else {"metadata": {"k": 1}})},
        headers={"Idempotency-Key": "the same"},
    )  # fmt: skip
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


def test_secrets_are_answered_again_and_never_kept_in_the_open(engine: Engine) -> None:
    """ORG-8. Another server with the same operator key can answer too."""
    with serving(engine.services()) as first, serving(engine.services()) as second:
        made = first.operator.post("/operator/tenants", {"name": "Home"}, headers={"Idempotency-Key": "t"}).json()
        admins = [server.caller(made["admin_key"]) for server in (first, second)]
        keys = [
            admin.post("/org/api-keys", {"name": "k"}, headers={"Idempotency-Key": "k"}).json()["key"]
            for admin in (*admins, *admins)
        ]
        tenants = [
            server.operator.post("/operator/tenants", {"name": "Home"}, headers={"Idempotency-Key": "t"}).json()
            for server in (first, second)
        ]
        assert tenants == [made, made]
        assert len({*keys}) == 1
        assert second.caller(keys[0]).get("/v1/sessions").status_code == 200
    kept = repr(engine.dump())
    for text in (made["admin_key"], keys[0]):
        assert text not in kept
        assert text[len("clo_") + 22 : -6] not in kept


def test_another_admin_key_is_refused_under_an_idempotency_key_that_made_a_secret(home: Tenant) -> None:
    """ORG-8: neither is a second key made, nor is the secret shown to another caller; nor after a revocation."""
    other = home.with_key("admin")
    headers = {"Idempotency-Key": "k"}
    made = home.admin.post("/org/api-keys", {"name": "k"}, headers=headers)
    stored = holdings(home)
    refused = other.post("/org/api-keys", {"name": "k"}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert other.post("/org/api-keys", {"name": "l"}, headers=headers).status_code == 422
    assert home.admin.post("/org/api-keys", {"name": "k"}, headers=headers).content == made.content
    assert holdings(home) == stored
    assert home.admin.delete(f"/org/api-keys/{made.json()['key_id']}").status_code == 204
    stored = holdings(home)
    for caller in (home.admin, other):
        again = caller.post("/org/api-keys", {"name": "k"}, headers=headers)
        assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert holdings(home) == stored


def test_what_was_refused_is_not_remembered(home: Tenant) -> None:
    """A request that failed may be corrected and sent again under its key."""
    headers = {"Idempotency-Key": "try"}
    assert home.admin.post("/v1/sessions/beans/messages", ONE, headers=headers).status_code == 404
    home.new_session("beans")
    assert home.admin.post("/v1/sessions/beans/messages", {**ONE, "content": " "}, headers=headers).status_code == 422
    assert home.admin.post("/v1/sessions/beans/messages", ONE, headers=headers).status_code == 201


@pytest.mark.parametrize("creation", NEW, ids=lambda creation: creation.path)
def test_a_key_is_forgotten_after_a_day(engine: Engine, creation: Creation) -> None:
    """Of a key, whose secret is kept sealed, after an hour."""
    ahead, kept_hours = 0, 1 if "key" in creation.path else 24
    with serving(engine.services(clock=lambda: now() + ahead)) as server:
        tenant = server.new_tenant()
        tenant.new_session("roses")
        first = creation.ask(tenant.admin, "once")
        ahead = (kept_hours - 1) * HOUR + HOUR // 2
        assert creation.ask(tenant.admin, "once").content == first.content
        ahead = (kept_hours + 1) * HOUR
        later = creation.ask(tenant.admin, "once")
        assert (later.status_code, later.content == first.content) == (creation.status, False)
        assert creation.ask(tenant.admin, "once", creation.other).status_code == 422


CHANGES: dict[str, Callable[[Caller], httpx2.Response]] = {
    "spoken in": lambda admin: admin.post("/v1/sessions/roses/messages", ONE),
    "renamed": lambda admin: admin.patch("/v1/sessions/roses", {"title": "Beans", "tags": ["b"]}),
    "taken out of its project": lambda admin: admin.patch("/v1/sessions/roses", {"project_id": None}),
    "cleared": lambda admin: admin.post("/v1/sessions/roses/clear"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_session_is_answered_again_as_it_was_made(tenant: Tenant, change: str) -> None:
    body, headers = {"external_id": "roses"}, {"Idempotency-Key": "once"}
    first = tenant.admin.post("/v1/sessions", body, headers=headers)
    assert CHANGES[change](tenant.admin).status_code < 300
    again = tenant.admin.post("/v1/sessions", body, headers=headers)
    assert (again.status_code, again.content) == (201, first.content)


def test_a_session_that_was_deleted_is_made_anew_and_takes_what_is_said_again(tenant: Tenant) -> None:
    """ISO-1: the same script, run twice under the same keys, with a deletion between, stores what it is told is stored."""
    path, headers = "/v1/sessions/roses/messages", {"Idempotency-Key": "once"}
    for _ in range(2):
        made = tenant.admin.post("/v1/sessions", {"external_id": "roses"}, headers=headers)
        said = tenant.admin.post(path, ONE, headers=headers)
        assert (made.status_code, said.status_code) == (201, 201)
        assert [entry["id"] for entry in tenant.admin.everything(path)] == [said.json()["id"]]
        assert tenant.admin.delete("/v1/sessions/roses").status_code == 200


def test_two_keys_of_one_request_are_refused(tenant: Tenant) -> None:
    """A proxy that adds its own must not decide which of them counts; a repetition under the other one would store it again."""
    tenant.new_session("roses")
    keys = [("Authorization", f"Bearer {tenant.key}"), ("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    refused = tenant.http.post("/v1/sessions/roses/messages", json=ONE, headers=keys)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert refused.json()["errors"] == [{"field": "Idempotency-Key", "message": "must come once."}]
    assert tenant.admin.everything("/v1/sessions/roses/messages") == []


def test_a_message_that_was_deleted_is_not_brought_back_by_its_key(tenant: Tenant) -> None:
    """MEM-9: and no message is acknowledged that is not stored."""
    tenant.new_session("roses")
    path, headers = "/v1/sessions/roses/messages", {"Idempotency-Key": "once"}
    first = tenant.admin.post(path, ONE, headers=headers)
    tenant.say("roses", "And the beans.")
    assert tenant.admin.post(path, ONE, headers=headers).content == first.content
    gone = tenant.admin.delete(f"/v1/messages/{first.json()['id']}")
    assert gone.status_code == 200
    assert gone.json()["certificate"]["removed"] == {"messages": [first.json()["id"]]}
    again = tenant.admin.post(path, ONE, headers=headers)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert again.json()["detail"].endswith("To store it again, use a new key.")
    assert [entry["seq"] for entry in tenant.admin.everything(path)] == [2], "what was forgotten stays forgotten"


def test_a_memory_is_answered_again_as_it_was_added(tenant: Tenant) -> None:
    """MEM-2. That it was known by then does not change the first answer; a forgotten one is not brought back."""
    tenant.new_session("roses")
    headers = {"Idempotency-Key": "once"}
    first = tenant.admin.post("/v1/memories", FACTS, headers=headers)
    assert (len(first.json()["appended"]), first.json()["duplicates"]) == (1, 1)
    assert tenant.admin.post("/v1/memories", FACTS).json() == {"appended": [], "duplicates": 2}
    assert tenant.admin.post("/v1/memories", FACTS, headers=headers).content == first.content
    memory = first.json()["appended"][0]["id"]
    gone = tenant.admin.delete(f"/v1/memories/{memory}")
    assert gone.status_code == 200
    assert gone.json()["certificate"]["removed"] == {"memories": [memory]}
    assert tenant.admin.post("/v1/memories", FACTS, headers=headers).status_code == 409
    assert tenant.admin.everything(MEMORIES) == [], "what was forgotten stays forgotten"
