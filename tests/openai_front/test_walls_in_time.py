"""ISO-12 at OpenAI's front: a completion, streamed or not, goes on only while its key may read it."""

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.clients.chat_client import Gate, words
from support.clients.openai_client import Front, user
from support.servers.http_server import Tenant
from support.waiting import eventually

SECRET = "The safe of the captain opens with 4711."
ASK = "How does the safe of the captain open?"


@pytest.fixture
def gate(front: Front) -> Generator[Gate]:
    made = Gate()
    front.model.answers(words("It is", " what", " it is.", gate=made))
    yield made
    made.open()


def asked(tenant: Tenant, key: str, *, stream: bool) -> tuple[int, str]:
    """Status and body of a completion in the session, read to its end."""
    body = {"messages": [user(ASK)], "stream": stream}
    with tenant.client(key, **{"X-Session-ID": "here"}) as http:
        answer = http.post("/v1/chat/completions", json=body)
        return answer.status_code, answer.text


def error_in(body: str) -> Any:
    text = body.strip().splitlines()[-1].removeprefix("data: ") if body.startswith("data: ") else body
    return json.loads(text)["error"]


@pytest.mark.parametrize("change", ["move", "revoke", "delete", "divide"])
@pytest.mark.parametrize("stream", [False, True])
def test_iso_12_a_completion_ends_when_its_key_may_not_read_it_any_more(
    front: Front, gate: Gate, stream: bool, change: str
) -> None:
    """Without a word more of the model's; a completion that is not streamed is refused as a whole."""
    tenant = front.tenant()
    sea, land = tenant.new_project("Sea", member_visibility="shared"), tenant.new_project("Land")
    tenant.new_session("keeper", project_id=sea, user_id="bob")
    tenant.say("keeper", SECRET)
    tenant.new_session("here", project_id=sea, user_id="ada")
    fields: dict[str, Any] = {"name": "k", "permissions": ["read", "write"]}
    bound = {"user_id": "ada"} if change == "divide" else {"project_id": sea, "confined": True}
    made = tenant.admin.made("/org/api-keys", {**fields, **bound})
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(asked, tenant, made["key"], stream=stream)
        eventually(lambda: front.model.asked)
        assert SECRET in front.system
        gate.let(1)
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
    assert error_in(body)["code"] == ("unauthenticated" if revoked else "conflict")
    assert " it is." not in body and "4711" not in body
    if not stream:
        assert status == (401 if revoked else 409)


def test_iso_12_a_completion_whose_prompt_must_be_shortened_after_a_move_is_refused(front: Front, gate: Gate) -> None:
    """ISO-12: the second recall would be of another pool."""
    tenant = front.tenant()
    sea, land = tenant.new_project("Sea"), tenant.new_project("Land")
    for name, project, text in (("keeper", sea, SECRET), ("other", land, "The safe of the captain has a hole: 99.")):
        tenant.new_session(name, project_id=project)
        tenant.say(name, text)
    tenant.new_session("here", project_id=sea)
    refused = json.dumps({"error": {"message": "context_length", "code": "context_length_exceeded"}}).encode()
    too_long = words("x", gate=gate)
    front.model.answers(type(too_long)(status=400, body=refused, pause=gate.wait), words("Unreachable."))
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(asked, tenant, tenant.key, stream=False)
        eventually(lambda: front.model.asked)
        tenant.admin.patch("/v1/sessions/here", {"project_id": land})
        gate.open()
        status, body = asking.result(30)
    assert (status, error_in(body)["code"]) == (409, "conflict")
    assert "was moved" in body and len(front.model.asked) == 1
