"""ISO-12: asking, asking again, following and stopping make the same checks. Every entry of the chat, by every kind of caller, with
the exact status; what is refused changes nothing and asks no model.

The session is in the garden, and ada's. A column is a caller, a row an entry with what the request says of the session.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from cloister.domain.identifiers import parse_tenant_id
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.services.tenancy.api_keys import ApiKeys, KeyFields
from support.clients.anthropic_client import message
from support.clients.chat_client import Gate, asking, messages, streaming, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, Tenant

DAY = 24 * 3_600 * 1_000_000
CALLERS = (
    "right",
    "read only",
    "write only",
    "confined to the garden",
    "confined to the kitchen",
    "bound to ada",
    "bound to bob",
    "another tenant",
    "revoked",
    "expired",
)
GARDEN, KITCHEN = "{garden}", "{kitchen}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """`says` is what the request says of the session; `expected` has a status for each caller, in order."""

    entry: str
    expected: str
    says: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        return f"{self.entry} {' '.join(f'{key}={value}' for key, value in self.says.items())}".strip()


ROWS = [
    Row(entry="ask", expected="200 403 403 200 404 200 404 200 401 401"),
    Row(entry="ask", expected="200 403 403 200 404 200 403 200 401 401", says={"user_id": "ada"}),
    Row(entry="ask", expected="409 403 403 409 404 403 404 200 401 401", says={"user_id": "bob"}),
    Row(entry="ask", expected="200 403 403 200 404 200 404 404 401 401", says={"project_id": GARDEN}),
    Row(entry="ask", expected="409 403 403 409 404 409 404 404 401 401", says={"project_id": KITCHEN}),
    Row(entry="ask", expected="409 403 403 409 403 409 404 200 401 401", says={"project_id": None}),
    Row(entry="ask again", expected="200 403 403 200 404 200 404 404 401 401"),
    Row(entry="ask again", expected="200 403 403 200 404 200 403 404 401 401", says={"user_id": "ada"}),
    Row(entry="ask again", expected="409 403 403 409 404 403 404 404 401 401", says={"user_id": "bob"}),
    Row(entry="ask again", expected="200 403 403 200 404 200 404 404 401 401", says={"project_id": GARDEN}),
    Row(entry="ask again", expected="409 403 403 409 404 409 404 404 401 401", says={"project_id": KITCHEN}),
    Row(entry="ask again", expected="409 403 403 409 404 409 404 404 401 401", says={"project_id": None}),
    Row(entry="edit", expected="200 403 403 200 404 200 404 404 401 401"),
    Row(entry="edit", expected="409 403 403 409 404 403 404 404 401 401", says={"user_id": "bob"}),
    Row(entry="edit", expected="409 403 403 409 404 409 404 404 401 401", says={"project_id": KITCHEN}),
    Row(entry="ask again of a reply", expected="200 403 403 200 404 200 404 404 401 401"),
    Row(entry="ask again of a reply", expected="409 403 403 409 404 403 404 404 401 401", says={"user_id": "bob"}),
    Row(entry="ask again of a reply", expected="409 403 403 409 404 409 404 404 401 401", says={"project_id": KITCHEN}),
    Row(entry="follow", expected="200 200 403 200 404 200 404 404 401 401"),
    Row(entry="resume", expected="204 204 403 204 404 204 404 404 401 401"),
    Row(entry="stop", expected="200 403 403 200 404 200 404 404 401 401"),
    Row(entry="stop nothing", expected="200 403 403 200 404 200 404 404 401 401"),
    Row(entry="complete", expected="200 403 403 200 404 200 404 200 401 401"),
    Row(entry="complete", expected="200 403 403 200 404 200 403 200 401 401", says={"user": "ada"}),
    Row(entry="complete", expected="409 403 403 409 404 403 404 200 401 401", says={"user": "bob"}),
    Row(entry="complete", expected="200 403 403 200 403 200 404 404 401 401", says={"X-Project-ID": GARDEN}),
    Row(entry="complete", expected="409 403 403 403 404 409 404 404 401 401", says={"X-Project-ID": KITCHEN}),
    Row(entry="respond", expected="200 403 403 200 404 200 404 200 401 401"),
    Row(entry="respond", expected="200 403 403 200 404 200 403 200 401 401", says={"user": "ada"}),
    Row(entry="respond", expected="409 403 403 409 404 403 404 200 401 401", says={"user": "bob"}),
    Row(entry="respond", expected="200 403 403 200 403 200 404 404 401 401", says={"X-Project-ID": GARDEN}),
    Row(entry="respond", expected="409 403 403 403 404 409 404 404 401 401", says={"X-Project-ID": KITCHEN}),
    Row(entry="message", expected="200 403 403 200 404 200 404 200 401 401"),
    # Anthropic's clients send an id of their own as the user: that of a bound key counts instead.
    Row(entry="message", expected="200 403 403 200 404 200 404 200 401 401", says={"metadata": {"user_id": "ada"}}),
    Row(entry="message", expected="409 403 403 409 404 200 404 200 401 401", says={"metadata": {"user_id": "bob"}}),
    Row(entry="message", expected="200 403 403 200 403 200 404 404 401 401", says={"X-Project-ID": GARDEN}),
    Row(entry="message", expected="409 403 403 403 404 409 404 404 401 401", says={"X-Project-ID": KITCHEN}),
    # What is not stored creates no session: one that the key does not reach is like one that is not there, and not read.
    Row(entry="complete", expected="200 403 403 200 200 200 200 200 401 401", says={"store": False}),
    Row(entry="complete", expected="409 403 403 409 200 403 200 200 401 401", says={"store": False, "user": "bob"}),
    Row(
        entry="complete",
        expected="409 403 403 403 200 409 200 404 401 401",
        says={"store": False, "X-Project-ID": KITCHEN},
    ),
    Row(entry="complete", expected="409 403 403 403 403 409 404 200 401 401", says={"X-Project-ID": "none"}),
    Row(entry="respond", expected="200 403 403 200 200 200 200 200 401 401", says={"store": False}),
    Row(entry="respond", expected="409 403 403 409 200 403 200 200 401 401", says={"store": False, "user": "bob"}),
    Row(
        entry="respond",
        expected="409 403 403 403 200 409 200 404 401 401",
        says={"store": False, "X-Project-ID": KITCHEN},
    ),
    Row(entry="respond to", expected="200 403 403 200 404 200 404 404 401 401"),
    Row(entry="respond to", expected="409 403 403 409 404 403 404 404 401 401", says={"user": "bob"}),
    Row(entry="respond to", expected="200 403 403 200 404 200 404 404 401 401", says={"store": False}),
    Row(entry="respond to", expected="409 403 403 403 404 409 404 404 401 401", says={"X-Project-ID": KITCHEN}),
    Row(entry="continue", expected="200 403 403 200 404 200 404 404 401 401"),
    Row(entry="continue", expected="200 403 403 200 404 200 404 404 401 401", says={"user": "ada"}),
    Row(entry="continue", expected="409 403 403 409 404 403 404 404 401 401", says={"user": "bob"}),
    Row(entry="continue", expected="409 403 403 403 404 409 404 404 401 401", says={"X-Project-ID": KITCHEN}),
]


NOW = "And now?"
SAID = {"messages": [{"role": "user", "content": NOW}]}
FRONTS: dict[str, tuple[str, dict[str, Any]]] = {
    "complete": ("/v1/chat/completions", SAID),
    "respond": ("/v1/responses", {"input": NOW}),
    "continue": ("/v1/responses", {"input": NOW}),
    "respond to": ("/v1/responses", {"input": NOW}),
    "message": ("/anthropic/v1/messages", {"model": "m", "max_tokens": 50, **SAID}),
}


class House:
    def __init__(self, server: Server) -> None:
        self.tenant, other = server.new_tenant(), server.new_tenant()
        self.garden, self.kitchen = self.tenant.new_project("Garden"), self.tenant.new_project("Kitchen")
        key = self.tenant.new_key
        revoked = self.tenant.admin.made("/org/api-keys", {"name": "revoked", "permissions": ["read", "write"]})
        self.tenant.admin.delete(f"/org/api-keys/{revoked['key_id']}")
        self.keys = dict(
            zip(
                CALLERS,
                (
                    key("read", "write"),
                    key("read"),
                    key("write"),
                    key("read", "write", project_id=self.garden, confined=True),
                    key("read", "write", project_id=self.kitchen, confined=True),
                    key("read", "write", user_id="ada"),
                    key("read", "write", user_id="bob"),
                    other.key,
                    revoked["key"],
                    expired(server, self.tenant),
                ),
                strict=True,
            )
        )
        self.strangers = {self.keys[name] for name in ("confined to the kitchen", "bound to bob", "another tenant")}
        self.sessions = 0

    def new_session(self) -> str:
        self.sessions += 1
        name = f"tab {self.sessions}"
        self.tenant.new_session(name, project_id=self.garden, user_id="ada")
        self.tenant.say(name, "Which roses?")
        self.tenant.say(name, "Red ones.", "assistant")
        return name


def expired(server: Server, tenant: Tenant) -> str:
    assert server.services is not None
    services = server.services
    then = ApiKeys(services.database, services.projects, lambda: now() - 2 * DAY)
    fields = KeyFields(name="expired", permissions=("read", "write"), expires_at=now() - DAY)
    return then.create(Reach(tenant=parse_tenant_id(tenant.tenant_id)), fields).text


@pytest.fixture(scope="module")
def house(server: Server) -> House:
    return House(server)


@pytest.fixture
def gate() -> Generator[Gate]:
    made = Gate()
    yield made
    made.open()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_iso_12_every_entry_of_the_chat_makes_the_same_checks(
    house: House, model: FakeEndpoint, gate: Gate, row: Row
) -> None:
    statuses = {caller: asked(house, model, gate, row, key) for caller, key in house.keys.items()}
    assert statuses == dict(zip(CALLERS, map(int, row.expected.split()), strict=True))


def asked(house: House, model: FakeEndpoint, gate: Gate, row: Row, key: str) -> int:
    """By one caller, in a session of its own; who is refused has changed nothing of it, and asked no model."""
    session = house.new_session()
    model.answers(message("Noted.") if row.entry == "message" else words("Noted."))
    if row.entry in ("follow", "stop"):
        return of_running_turn(house, model, gate, row.entry, session, key)
    named = named_by(house, row.entry, session)
    before, asked_before = messages(house.tenant, session), len(model.asked)
    status = sent(house, row, session, key, named)
    if row.says.get("store") is False:
        assert messages(house.tenant, session) == before
        if key in house.strangers and status == 200:
            assert "roses" not in repr(model.asked[-1])
    if status >= 400 or row.entry in ("resume", "stop nothing"):
        assert messages(house.tenant, session) == before and len(model.asked) == asked_before
    return status


def named_by(house: House, entry: str, session: str) -> dict[str, Any]:
    """What a request names besides its session, or instead of it: a message to edit or to answer again, or a response."""
    match entry:
        case "edit":
            return {"messageId": messages(house.tenant, session)[0]["id"]}
        case "ask again of a reply":
            return {"messageId": messages(house.tenant, session)[1]["id"]}
        case "continue":
            return {"conversation": session}
        case "respond to":
            first = house.tenant.caller(house.keys["right"]).post(
                "/v1/responses", {"input": "Hello."}, headers={"X-Session-ID": session}
            )
            return {"previous_response_id": first.json()["id"]}
        case _:
            return {}


def sent(house: House, row: Row, session: str, key: str, named: dict[str, Any]) -> int:
    caller = house.tenant.caller(key)
    projects = {GARDEN: house.garden, KITCHEN: house.kitchen}
    says = {name: projects.get(value, value) if isinstance(value, str) else value for name, value in row.says.items()}
    match row.entry:
        case "resume":
            return caller.get(f"/v1/chat/{session}/stream").status_code
        case "stop nothing":
            return caller.post(f"/v1/chat/{session}/stop").status_code
        case "complete" | "respond" | "respond to" | "continue" | "message":
            headers = {} if row.entry in ("continue", "respond to") else {"X-Session-ID": session}
            headers |= {name: says.pop(name) for name in list(says) if name.startswith("X-")}
            path, body = FRONTS[row.entry]
            return caller.post(path, {**body, **named, **says}, headers=headers).status_code
        case _:
            trigger = "regenerate-message" if row.entry.startswith("ask again") else "submit-message"
            return caller.post(
                "/v1/chat/stream", {**asking(session, "And now?", **says), "trigger": trigger, **named}
            ).status_code


def of_running_turn(house: House, model: FakeEndpoint, gate: Gate, entry: str, session: str, key: str) -> int:
    model.answers(words("Noted.", gate=gate))
    with streaming(house.tenant, "POST", "/v1/chat/stream", asking(session, "And now?")) as reader:
        reader.until("data-context")
        if entry == "follow":
            with streaming(house.tenant, "GET", f"/v1/chat/{session}/stream", key=key) as follower:
                status = follower.response.status_code
        else:
            answer = house.tenant.caller(key).post(f"/v1/chat/{session}/stop")
            status = answer.status_code
            assert status != 200 or answer.json() == {"stopped": True}
        house.tenant.admin.post(f"/v1/chat/{session}/stop")
        reader.rest()
    return status


def test_a_null_user_is_not_the_user_of_the_session(tenant: Tenant) -> None:
    """An application that sends null for a visitor does not get the memory of whose session it names."""
    tenant.new_session("of ana", user_id="ana")
    tenant.new_session("of nobody")
    for session, status in (("of ana", 409), ("of nobody", 200)):
        body = {**asking(session, "Hello."), "user_id": None}
        assert tenant.admin.post("/v1/chat/stream", body).status_code == status
    key = tenant.admin.made("/org/api-keys", {"name": "ana", "permissions": ["read", "write"], "user_id": "ana"})["key"]
    body = {**asking("of ana", "Hello."), "user_id": None}
    assert tenant.caller(key).post("/v1/chat/stream", body).status_code == 200
