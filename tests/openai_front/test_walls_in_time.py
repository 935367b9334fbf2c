"""ISO-12 at the fronts for OpenAI's and Anthropic's clients: a reply, streamed or not, goes on only while its key may read it."""

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from support.clients.anthropic_client import blocks
from support.clients.chat_client import Gate, words
from support.clients.openai_client import Front, user
from support.servers.fake_endpoint import Answer
from support.servers.http_server import Tenant
from support.waiting import eventually

SECRET = "The safe of the captain opens with 4711."
ASK = "How does the safe of the captain open?"
PIECES = ("It is", " what", " it is.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Door:
    """An interface that answers with a reply: its path, the body of a request, and its words for two of our errors. `first` is how
    many pieces a model sends until it has said a word."""

    path: str
    body: dict[str, Any]
    conflict: str
    unauthenticated: str
    first: int = 1

    def reply(self, gate: Gate) -> Answer:
        if self.path != ANTHROPIC:
            return words(*PIECES, gate=gate)
        answer = blocks(({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in PIECES]))
        events = [event + b"\n\n" for event in answer.body.split(b"\n\n") if event]
        return Answer(pieces=events, headers=answer.headers, pause=gate.wait)

    def too_long(self, gate: Gate) -> Answer:
        error = {"message": "context_length", "code": "context_length_exceeded", "type": "invalid_request_error"}
        return Answer(status=400, body=json.dumps({"type": "error", "error": error}).encode(), pause=gate.wait)


ANTHROPIC = "/anthropic/v1/messages"
DOORS = {
    "completion": Door(
        path="/v1/chat/completions",
        body={"messages": [user(ASK)]},
        conflict="conflict",
        unauthenticated="unauthenticated",
    ),
    "response": Door(path="/v1/responses", body={"input": ASK}, conflict="conflict", unauthenticated="unauthenticated"),
    "message": Door(
        path=ANTHROPIC,
        body={"model": "m", "max_tokens": 50, "messages": [user(ASK)]},
        conflict="conflict",
        unauthenticated="authentication_error",
        first=4,
    ),
}


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest) -> Door:
    return DOORS[request.param]


@pytest.fixture
def gate(front: Front, door: Door) -> Generator[Gate]:
    made = Gate()
    front.model.answers(door.reply(made))
    yield made
    made.open()


def asked(tenant: Tenant, door: Door, key: str, *, stream: bool) -> tuple[int, str]:
    """Status and body of a reply in the session, read to its end."""
    with tenant.client(key, **{"X-Session-ID": "here"}) as http:
        answer = http.post(door.path, json={**door.body, "stream": stream})
        return answer.status_code, answer.text


def error_in(body: str) -> Any:
    """The error of an answer, or of the last event of a stream."""
    lines = [line for line in body.strip().splitlines() if line.startswith("data: ")]
    said = json.loads(lines[-1].removeprefix("data: ") if lines else body)
    return said.get("response", said).get("error") or said


@pytest.mark.parametrize("change", ["move", "revoke", "delete", "divide"])
@pytest.mark.parametrize("stream", [False, True])
def test_iso_12_a_reply_ends_when_its_key_may_not_read_it_any_more(
    front: Front, door: Door, gate: Gate, stream: bool, change: str
) -> None:
    """Without a word more of the model's; a reply that is not streamed is refused as a whole."""
    tenant = front.tenant()
    sea, land = tenant.new_project("Sea", member_visibility="shared"), tenant.new_project("Land")
    tenant.new_session("keeper", project_id=sea, user_id="bob")
    tenant.say("keeper", SECRET)
    tenant.new_session("here", project_id=sea, user_id="ada")
    fields: dict[str, Any] = {"name": "k", "permissions": ["read", "write"]}
    bound = {"user_id": "ada"} if change == "divide" else {"project_id": sea, "confined": True}
    made = tenant.admin.made("/org/api-keys", {**fields, **bound})
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(asked, tenant, door, made["key"], stream=stream)
        eventually(lambda: front.model.asked)
        assert SECRET in json.dumps(front.model.asked[-1].body)
        gate.let(door.first)
        match change:
            case "move":
                tenant.admin.patch("/v1/sessions/here", {"project_id": land})
            case "revoke":
                tenant.admin.delete(f"/org/api-keys/{made['key_id']}")
            case "delete":
                tenant.admin.delete("/v1/sessions/here")
            case _:
                tenant.admin.patch(f"/org/projects/{sea}", {"member_visibility": "private"})
        status, body = asking.result(30)
    revoked = change == "revoke" and not stream
    error = error_in(body)
    assert (door.unauthenticated if revoked else door.conflict) in (error.get("code"), error.get("type")), body
    assert " it is." not in body and "4711" not in body
    if not stream:
        assert status == (401 if revoked else 409)


def test_iso_12_a_reply_whose_prompt_must_be_shortened_after_a_move_is_refused(
    front: Front, door: Door, gate: Gate
) -> None:
    """ISO-12: the second recall would be of another pool."""
    tenant = front.tenant()
    sea, land = tenant.new_project("Sea"), tenant.new_project("Land")
    for name, project, text in (("keeper", sea, SECRET), ("other", land, "The safe of the captain has a hole: 99.")):
        tenant.new_session(name, project_id=project)
        tenant.say(name, text)
    tenant.new_session("here", project_id=sea)
    front.model.answers(door.too_long(gate), door.reply(gate))
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(asked, tenant, door, tenant.key, stream=False)
        eventually(lambda: front.model.asked)
        tenant.admin.patch("/v1/sessions/here", {"project_id": land})
        gate.open()
        status, body = asking.result(30)
    error = error_in(body)
    assert status == 409 and door.conflict in (error.get("code"), error.get("type"))
    assert "was moved" in body and len(front.model.asked) == 1
