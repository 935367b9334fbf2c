"""An `Idempotency-Key` on conversations and items: done once, answered alike, forgotten with what was stored, inside the walls."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openai
import pytest

from support.clients.openai_client import Front, said_in, user
from support.servers.fake_endpoint import completion, event, stream
from support.servers.http_server import Caller, Tenant

SAID: Any = user("The safe of the captain opens with 4711.")
CALL: Any = {"type": "function_call", "call_id": "call_7", "name": "weather", "arguments": '{"town":"Graz"}'}
OUTPUT: Any = {"type": "function_call_output", "call_id": "call_7", "output": "sunny"}
ONCE = {"Idempotency-Key": "once"}
BOTH_DOORS = pytest.mark.parametrize("door", ["/v1/conversations/roses/items", "/v1/sessions/roses/items"])


def add(caller: Caller, path: str = "/v1/sessions/roses/items", *items: Any) -> httpx2.Response:
    return caller.post(path, {"items": [*(items or (SAID, CALL, OUTPUT))]}, headers=ONCE)


def code_of(answer: httpx2.Response) -> str:
    body = answer.json()
    return body.get("error", body)["code"]


def ids_in(tenant: Tenant) -> list[str]:
    return [entry["id"] for entry in tenant.admin.everything("/v1/sessions/roses/items")]


@pytest.fixture
def home(front: Front) -> Tenant:
    tenant = front.tenant()
    tenant.new_session("roses")
    return tenant


def test_the_unmodified_client_sends_no_key_of_its_own(front: Front, home: Tenant) -> None:
    """If a new version does, its two additions of the same words would become one, and the documents have to say so."""
    client = front.client(home.key)
    for _ in range(2):
        client.conversations.items.create("roses", items=[SAID])
    assert len(said_in(home, "roses")) == 2


class LosesAnswers(httpx2.HTTPTransport):
    """Sends every request, and loses the first answer to each address."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: set[str] = set()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = super().handle_request(request)
        if str(request.url) in self.lost:
            return answer
        self.lost.add(str(request.url))
        answer.read()
        raise httpx2.ReadError("the answer was lost")


def test_a_client_that_repeats_what_was_lost_stores_it_once(front: Front, home: Tenant) -> None:
    with httpx2.Client(transport=LosesAnswers()) as http:
        client = openai.OpenAI(base_url=f"{front.server.address}/v1", api_key=home.key, max_retries=1, http_client=http)
        made = client.conversations.create(items=[SAID], extra_headers=ONCE)
        added = client.conversations.items.create(made.id, items=[CALL, user("Noted?")], extra_headers=ONCE)
    sessions = {session["external_id"] for session in home.admin.everything("/v1/sessions")}
    stored = home.admin.everything(f"/v1/sessions/{made.id}/items")
    assert sessions == {"roses", made.id}
    assert [entry["id"] for entry in stored][1:] == [item.id for item in added.data] and len(stored) == 3


@BOTH_DOORS
def test_items_are_answered_again_in_the_form_of_each_interface(home: Tenant, door: str) -> None:
    """They are one kind of request: a key that was used at one interface is known at the other."""
    first = add(home.admin, door)
    stored = ids_in(home)
    assert add(home.admin, door).content == first.content
    for other in ("/v1/conversations/roses/items", "/v1/sessions/roses/items"):
        again = add(home.admin, other)
        assert [entry["id"] for entry in again.json()["data"]] == stored
    assert ids_in(home) == stored


@pytest.mark.parametrize(
    "other",
    [
        [SAID, CALL],
        [SAID, OUTPUT, CALL],
        [SAID, CALL, {**OUTPUT, "output": "rain"}],
        [user("The safe of the captain opens with 4712."), CALL, OUTPUT],
        [{**SAID, "name": "Ann"}, CALL, OUTPUT],
    ],
)
@BOTH_DOORS
def test_other_items_under_the_same_key_are_refused(home: Tenant, door: str, other: list[Any]) -> None:
    first = add(home.admin, door)
    stored = ids_in(home)
    refused = add(home.admin, door, *other)
    assert (refused.status_code, code_of(refused)) == (422, "idempotency_mismatch")
    assert (ids_in(home), add(home.admin, door).content) == (stored, first.content)


def test_a_conversation_with_other_items_id_or_metadata_is_refused(home: Tenant) -> None:
    def ask(session: str | None = None, **body: Any) -> httpx2.Response:
        headers = {**ONCE, **({} if session is None else {"X-Session-ID": session})}
        return home.admin.post("/v1/conversations", body, headers=headers)

    first = ask(items=[SAID], metadata={"a": "b"})
    refused = [
        ask(items=[SAID, CALL], metadata={"a": "b"}),
        ask(metadata={"a": "b"}),
        ask(items=[SAID], metadata={"a": "c"}),
        ask("beans", items=[SAID], metadata={"a": "b"}),
    ]
    assert [(each.status_code, code_of(each)) for each in refused] == [(422, "idempotency_mismatch")] * 4
    assert refused[0].json()["error"]["param"] == "idempotency_key"
    assert ask(items=[SAID], metadata={"a": "b"}).content == first.content


@pytest.mark.parametrize("named", [{}, {"X-Session-ID": "beans"}])
def test_many_conversations_at_once_are_one(home: Tenant, named: dict[str, str]) -> None:
    """Also where the id is the request's own, and is taken by the first of them."""

    def ask(_: int) -> tuple[int, str]:
        answer = home.admin.post("/v1/conversations", {"items": [SAID, CALL]}, headers={**ONCE, **named})
        return answer.status_code, answer.text

    # The tenant's first request with a key makes its secret, for which others wait: the next ones do not wait for each other.
    assert add(home.admin).status_code == 200
    with ThreadPoolExecutor(8) as pool:
        ((status, _),) = {*pool.map(ask, range(16))}
    assert status == 200
    assert len(home.admin.everything("/v1/sessions")) == 2
    other = home.admin.post("/v1/conversations", {}, headers={"Idempotency-Key": "other", **named})
    assert other.status_code == (409 if named else 200), "another key does not take over what exists"


@pytest.mark.parametrize("key", ["", "x" * 256])
@pytest.mark.parametrize("path", ["/v1/conversations", "/v1/conversations/roses/items", "/v1/sessions/roses/items"])
def test_a_key_that_is_no_key_is_refused(home: Tenant, path: str, key: str) -> None:
    refused = home.admin.post(path, {"items": [SAID]}, headers={"Idempotency-Key": key})
    assert refused.status_code in (413, 422), refused.text
    assert ids_in(home) == []


FORGETTING: dict[str, Callable[[Tenant, list[str]], httpx2.Response]] = {
    "the message": lambda tenant, ids: tenant.admin.delete(f"/v1/messages/{ids[0]}"),
    "the message as an item": lambda tenant, ids: tenant.admin.delete(f"/v1/sessions/roses/items/{ids[0]}"),
    "a call": lambda tenant, ids: tenant.admin.delete(f"/v1/conversations/roses/items/{ids[1]}"),
    "an output": lambda tenant, ids: tenant.admin.delete(f"/v1/sessions/roses/items/{ids[2]}"),
    "everything": lambda tenant, ids: tenant.admin.post("/v1/sessions/roses/clear"),
}


@pytest.mark.parametrize("forget", FORGETTING)
@pytest.mark.parametrize("makes_session", [False, True])
def test_what_was_forgotten_is_not_brought_back_by_its_key(front: Front, forget: str, makes_session: bool) -> None:
    """MEM-9: and no item is acknowledged that is not stored, whatever the repeated request says."""
    tenant, headers = front.tenant(), {"X-Session-ID": "roses", **ONCE}
    if not makes_session:
        tenant.new_session("roses")

    def ask(*items: Any) -> httpx2.Response:
        if makes_session:
            return tenant.admin.post("/v1/conversations", {"items": [*items]}, headers=headers)
        return add(tenant.admin, "/v1/conversations/roses/items", *items)

    assert ask(SAID, CALL, OUTPUT).status_code == 200
    assert FORGETTING[forget](tenant, ids_in(tenant)).status_code < 300
    left = ids_in(tenant)
    for items in ([SAID, CALL, OUTPUT], [user("Something else.")]):
        again = ask(*items)
        assert (again.status_code, code_of(again)) == (409, "conflict"), again.text
        assert again.json()["error"]["message"].endswith("was deleted since. To store it again, use a new key.")
        assert again.headers["x-should-retry"] == "false", "the client would repeat it"
    assert ids_in(tenant) == left


def test_an_item_of_another_request_that_is_forgotten_changes_nothing(home: Tenant) -> None:
    first = add(home.admin)
    second = home.admin.post("/v1/sessions/roses/items", {"items": [{**CALL, "call_id": "call_8"}]})
    said = home.admin.post("/v1/sessions/roses/messages", user("Other words."))
    assert home.admin.delete(f"/v1/sessions/roses/items/{second.json()['data'][0]['id']}").status_code == 204
    assert home.admin.delete(f"/v1/messages/{said.json()['id']}").status_code == 200
    assert add(home.admin).content == first.content


def test_items_before_any_message_are_forgotten_alone_or_with_all(home: Tenant) -> None:
    first = add(home.admin, "/v1/sessions/roses/items", CALL)
    assert add(home.admin, "/v1/sessions/roses/items", CALL).content == first.content
    assert home.admin.delete(f"/v1/sessions/roses/items/{first.json()['data'][0]['id']}").status_code == 204
    assert add(home.admin, "/v1/sessions/roses/items", CALL).status_code == 409


def test_a_conversation_without_items_is_answered_again_after_it_was_cleared(home: Tenant) -> None:
    """As a session is: nothing that it stored was deleted."""
    body = {"metadata": {"a": "b"}}
    first = home.admin.post("/v1/conversations", body, headers=ONCE)
    path = f"/v1/conversations/{first.json()['id']}"
    assert home.admin.post(path, {"metadata": {"c": "d"}}).status_code == 200
    assert home.admin.post(f"/v1/sessions/{first.json()['id']}/clear").status_code == 200
    assert home.admin.post("/v1/conversations", body, headers=ONCE).content == first.content
    assert home.admin.delete(path).status_code == 200
    anew = home.admin.post("/v1/conversations", body, headers=ONCE)
    assert anew.status_code == 200 and anew.json()["id"] != first.json()["id"]


def test_a_session_of_the_same_name_starts_without_the_keys_of_the_one_before(home: Tenant) -> None:
    """ISO-1."""
    first = add(home.admin)
    assert home.admin.delete("/v1/sessions/roses").status_code == 200
    home.new_session("roses")
    second = add(home.admin)
    assert second.status_code == 200 and second.content != first.content
    assert ids_in(home) == [entry["id"] for entry in second.json()["data"]]


def test_a_key_is_unknown_in_another_session_scope_and_to_another_caller(front: Front) -> None:
    """ISO-4, ORG-10: each request is carried out, and none is answered with what another stored."""
    tenant, stranger = front.tenant(), front.tenant()
    sea, land = tenant.new_project("Sea"), tenant.new_project("Land")
    rights = ["read", "write"]
    callers = [
        tenant.admin,
        stranger.admin,
        *(tenant.with_key(*rights, project_id=project, confined=True) for project in (sea, land)),
        *(tenant.with_key(*rights, project_id=sea, confined=True, user_id=name) for name in ("ada", "bob")),
    ]
    names: list[str] = []
    for number, caller in enumerate(callers):
        # Other items each time: a key that was seen by another caller would be refused.
        body = {"items": [user(f"Word {number}")]}
        made = caller.post("/v1/conversations", body, headers=ONCE)
        assert made.status_code == 200, made.text
        names.append(made.json()["id"])
        added = caller.post(f"/v1/conversations/{names[-1]}/items", body, headers=ONCE)
        assert added.status_code == 200, added.text
    assert len({*names}) == len(callers)
    for other in callers[1:]:
        hidden = other.post(f"/v1/conversations/{names[0]}/items", {"items": [user("Word 0")]}, headers=ONCE)
        assert hidden.status_code == 404, "with the body and the key of the first"


def test_a_session_that_moved_is_answered_as_at_first_to_who_reaches_it(home: Tenant) -> None:
    """ISO-12: as messages are: every caller that reaches the session has the first answer, and a confined one that does not reach
    it any more learns nothing."""
    sea, land = home.new_project("Sea"), home.new_project("Land")
    confined = home.with_key("read", "write", project_id=sea, confined=True)
    assert home.admin.patch("/v1/sessions/roses", {"project_id": sea}).status_code == 200
    first = add(home.admin)
    assert add(confined).content == first.content
    assert home.admin.patch("/v1/sessions/roses", {"project_id": land}).status_code == 200
    assert add(home.admin).content == first.content
    assert add(confined).status_code == 404
    expected = home.admin.post(f"/v1/sessions/roses/items?project_id={sea}", {"items": [SAID]}, headers=ONCE)
    assert (expected.status_code, code_of(expected)) == (409, "conflict"), "what the caller expects is checked first"


def call_with(arguments: str) -> Any:
    call = {"index": 0, "id": "call_9", "function": {"name": "save", "arguments": arguments}}
    return stream(
        event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
        b"data: [DONE]\n\n",
    )


COPY: Any = {"type": "function_call", "call_id": "call_9", "name": "save", "arguments": "{}"}
RESULT: Any = {"type": "function_call_output", "call_id": "call_9", "output": "saved"}


def respond(front: Front, home: Tenant) -> None:
    """A response in the session, with a tool call whose arguments the client does not send again."""
    front.model.answers(call_with('{"code": "4711"}'), completion("Saved."))
    front.client(home.key).responses.create(model="m", input="Save the code!", conversation="roses")


@BOTH_DOORS
def test_an_item_that_a_response_made_is_answered_again_as_it_is_stored(front: Front, home: Tenant, door: str) -> None:
    respond(front, home)
    first = add(home.admin, door, COPY, RESULT)
    assert "4711" in first.text
    stored = ids_in(home)
    assert add(home.admin, door, COPY, RESULT).content == first.content
    assert ids_in(home) == stored
    assert home.admin.delete(f"/v1/sessions/roses/items/{stored[1]}").status_code == 204
    assert add(home.admin, door, COPY, RESULT).status_code == 409


def test_an_item_that_a_response_made_is_not_shown_where_its_session_moved(front: Front, home: Tenant) -> None:
    """ISO-12: the repeated request did not send its words, and the session does not show them any more."""
    land = home.new_project("Land")
    respond(front, home)
    first = add(home.admin, "/v1/conversations/roses/items", COPY, RESULT)
    assert home.admin.patch("/v1/sessions/roses", {"project_id": land}).status_code == 200
    again = add(home.admin, "/v1/conversations/roses/items", COPY, RESULT)
    assert (again.status_code, code_of(again)) == (409, "conflict")
    assert "4711" not in again.text
    assert home.admin.patch("/v1/sessions/roses", {"project_id": home.default_project_id}).status_code == 200
    assert add(home.admin, "/v1/conversations/roses/items", COPY, RESULT).content == first.content


@BOTH_DOORS
def test_a_key_that_may_not_read_is_not_answered_what_a_reader_was(front: Front, home: Tenant, door: str) -> None:
    """ORG-8: neither what a response stored, nor that there is such an item."""
    respond(front, home)
    writer = home.with_key("write")
    first = add(home.admin, door, COPY, RESULT)
    written = add(writer, door, COPY, RESULT)
    assert written.status_code == 200 and "4711" not in written.text
    assert {entry["id"] for entry in written.json()["data"]}.isdisjoint(entry["id"] for entry in first.json()["data"])
    assert add(writer, door, COPY, RESULT).content == written.content
    assert add(home.admin, door, COPY, RESULT).content == first.content
