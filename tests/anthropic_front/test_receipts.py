"""Replies through Anthropic's interface keep receipts as all others do (PRF-1)."""

from support.clients.anthropic_client import MODEL, AnthropicFront
from support.clients.openai_client import said_in
from support.servers.http_server import segment

FERRY, ASK = "The ferry to Grado leaves at ten past.", "When does the ferry to Grado leave?"


def test_prf_1_a_reply_has_a_receipt_with_what_it_was_given(front: AnthropicFront) -> None:
    tenant = front.tenant()
    front.say(tenant.key, FERRY, "before")
    front.say(tenant.key, ASK, "now", system="Be brief.")
    assert said_in(tenant, "now")[-1] == ("assistant", "Understood.")
    told, asked = (tenant.admin.everything(f"/v1/sessions/{segment(name)}/messages") for name in ("before", "now"))
    receipt = tenant.admin.get(f"/v1/receipts/{asked[-1]['id'].replace('msg_', 'rcpt_')}").json()
    assert (receipt["kind"], receipt["session_id"], receipt["question_id"]) == ("reply", "now", asked[0]["id"])
    assert [item["id"] for item in receipt["items"] if item["content"] == FERRY] == [told[0]["id"]]
    reply, parts = receipt["reply"], receipt["sent"]["parts"]
    assert (reply["model"], reply["status"], reply["completion_tokens"]) == (MODEL, "completed", 9)
    assert reply["prompt_tokens"] >= 12 and reply["recall_ms"] <= reply["first_token_ms"] <= reply["total_ms"]
    assert [(part["role"], part["kind"]) for part in parts] == [("system", "system_prompt"), ("user", "question")]
    assert parts[0]["characters"] > len("Be brief.") and parts[1]["characters"] == len(ASK)
    assert FERRY not in str(receipt["sent"]) and receipt["key_id"].startswith("key_")
    prompt = tenant.admin.get(f"/v1/receipts/{receipt['id']}/prompt").json()
    assert prompt["is_exact"] is False and FERRY in prompt["messages"][0]["content"]


def test_prf_1_the_prompt_of_a_project_without_placeholders_gives_nothing_and_the_receipt_says_so(
    front: AnthropicFront,
) -> None:
    tenant = front.tenant()
    project = tenant.new_project("Ferries")
    for session in ("before", "now"):
        tenant.new_session(session, project_id=project)
    front.say(tenant.key, FERRY, "before")
    tenant.admin.patch(f"/org/projects/{project}", {"settings": {"system_prompt": "You are a pirate."}})
    front.say(tenant.key, ASK, "now")
    last = tenant.admin.everything("/v1/sessions/now/messages")[-1]["id"]
    receipt = tenant.admin.get(f"/v1/receipts/{last.replace('msg_', 'rcpt_')}").json()
    assert (receipt["given"], receipt["items"], receipt["sent"]["placeholders"]) == (0, [], [])
    assert FERRY not in str(front.model.asked[-1].body)
