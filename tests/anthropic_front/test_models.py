"""Models and token counts at Anthropic's front, with the unmodified client: passed to the model's server, nothing recalled, nothing
recorded (DOOR-3)."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import httpx2
import pytest

from support.clients.anthropic_client import MODEL, AnthropicFront
from support.clients.chat_client import Gate
from support.servers.fake_endpoint import Answer, refusal
from support.waiting import eventually

FERRY = "The ferry to Grado leaves at ten past."
ASK: Any = {"model": "org/another-model", "messages": [{"role": "user", "content": "When does the ferry leave?"}]}


def test_tokens_are_counted_by_the_models_server_of_what_was_sent(quick_front: AnthropicFront) -> None:
    """Of what a pool remembers nothing is added, and no session is made."""
    tenant = quick_front.tenant()
    quick_front.say(tenant.key, FERRY, "before")
    quick_front.model.answers(Answer(body=b'{"input_tokens": 17}'))
    reader = tenant.new_key("read")
    tools: Any = [{"name": "clock", "input_schema": {"type": "object"}}]
    counted = quick_front.client(reader).messages.count_tokens(**ASK, system="Be brief.", tools=tools)
    assert counted.input_tokens == 17
    assert quick_front.model.asked[-1].path.endswith("/v1/messages/count_tokens")
    assert quick_front.shown == {**ASK, "system": "Be brief.", "tools": tools}
    assert [session["external_id"] for session in tenant.admin.everything("/v1/sessions")] == ["before"]
    for fields, says in (({"max_tokens": 5}, "max_tokens"), ({"container": "c"}, "all its users share")):
        refused = quick_front.server.caller(reader).post("/anthropic/v1/messages/count_tokens", {**ASK, **fields})
        assert refused.status_code == 422 and says in refused.json()["error"]["message"]


@pytest.mark.parametrize("answer", [refusal(404, "File Not Found"), Answer(body=b'{"tokens": []}'), Answer(body=b"[]")])
def test_a_server_that_counts_no_tokens_is_said_so(quick_front: AnthropicFront, answer: Answer) -> None:
    quick_front.model.answers(answer)
    with pytest.raises(anthropic.NotFoundError, match="count_tokens") as refused:
        quick_front.client(quick_front.tenant().key).messages.count_tokens(**ASK)
    assert refused.value.body["type"] == "error"  # pyright: ignore


def test_a_failing_server_is_unavailable_for_a_count_too(quick_front: AnthropicFront) -> None:
    quick_front.model.answers(refusal(500, "out of order"))
    with pytest.raises(anthropic.APIStatusError) as refused:
        quick_front.client(quick_front.tenant().key).messages.count_tokens(**ASK)
    assert refused.value.status_code == 503


def test_the_models_of_the_server_are_listed_in_anthropics_format(quick_front: AnthropicFront) -> None:
    """Without the embedder, in pages; one that is not listed is not found."""
    client = quick_front.client(quick_front.tenant().new_key("read"))
    assert [model.id for model in client.models.list()] == [MODEL, "org/another-model"]
    assert [model.id for model in client.models.list(limit=1)] == [MODEL, "org/another-model"], (
        "the client turns the page"
    )
    page = client.models.list(limit=1)
    assert (page.has_more, page.first_id, page.last_id) == (True, MODEL, MODEL)
    assert [model.id for model in client.models.list(before_id="org/another-model").data] == [MODEL]
    assert client.models.list(after_id="unknown").data == []
    found = client.models.retrieve("org/another-model")
    assert (found.type, found.display_name) == ("model", "org/another-model")
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("unknown")
    assert quick_front.model.asked == []


def test_what_names_something_in_the_providers_account_is_refused_with_the_reason(quick_front: AnthropicFront) -> None:
    """ISO-4: all tenants share that account."""
    tenant = quick_front.tenant()
    body = {**ASK, "max_tokens": 5}
    caller = quick_front.server.caller(tenant.key)
    for name in ("container", "diagnostics", "user_profile_id"):
        refused = caller.post("/anthropic/v1/messages", {**body, name: "of another"}).json()["error"]
        assert refused["param"] == name and "account of this server's key" in refused["message"]
    workspace = {"anthropic-workspace-id": "wrkspc_1"}
    for answer in (
        httpx2.post(
            f"{quick_front.server.address}{path}",
            json=fields,
            headers={"Authorization": f"Bearer {tenant.key}", **workspace},
        )
        for path, fields in (("/anthropic/v1/messages", body), ("/anthropic/v1/messages/count_tokens", ASK))
    ):
        assert answer.status_code == 422
        assert (answer.json()["error"]["param"], quick_front.model.asked) == ("anthropic-workspace-id", [])


@pytest.mark.parametrize("stream", [False, True])
def test_iso_12_a_key_that_is_revoked_during_a_message_is_answered_with_401(
    quick_front: AnthropicFront, stream: bool
) -> None:
    """ISO-12, ORG-8: in Anthropic's format, and without what the model said."""
    tenant, gate = quick_front.tenant(), Gate()
    made = tenant.admin.made("/org/api-keys", {"name": "k", "permissions": ["read", "write"]})
    quick_front.model.answers(Answer(pieces=(b"",), pause=gate.wait))
    body = {**ASK, "max_tokens": 5, "stream": stream}
    try:
        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(quick_front.server.caller(made["key"]).post, "/anthropic/v1/messages", body)
            eventually(lambda: quick_front.model.asked)
            tenant.admin.delete(f"/org/api-keys/{made['key_id']}")
            answer = asking.result(30)
    finally:
        gate.open()
    error = json.loads(
        answer.text.splitlines()[-1].removeprefix("data: ") if stream and answer.status_code == 200 else answer.text
    )
    assert error["error"]["type"] == "authentication_error"
    assert stream or answer.status_code == 401


def test_org_10_a_header_and_a_body_that_name_two_users_are_said_to(quick_front: AnthropicFront) -> None:
    """ORG-10: the key is bound to nobody, and the error does not say that it is."""
    tenant = quick_front.tenant()
    refused = httpx2.post(
        f"{quick_front.server.address}/v1/sessions",
        json={"user_id": "bob"},
        headers={"Authorization": f"Bearer {tenant.key}", "X-User-ID": "ada"},
    )
    assert refused.status_code == 403
    assert "X-User-ID" in refused.json()["detail"] and "is bound" not in refused.json()["detail"]
