"""Replies through OpenAI's interface keep receipts as all others do, and replays know that the client sent its own history."""

from typing import Any

from support.clients.openai_client import MODEL, Front, assistant, user
from support.servers.http_server import Tenant

BOAT, ASK = "My boat is called Albatross and lies in the harbour of Piran.", "What is my boat called?"


def messages_of(tenant: Tenant, session: str) -> list[dict[str, Any]]:
    return tenant.admin.everything(f"/v1/sessions/{session}/messages")


def receipt_of(tenant: Tenant, session: str) -> str:
    """The id of the receipt of the session's last reply."""
    return messages_of(tenant, session)[-1]["id"].replace("msg_", "rcpt_")


def test_prf_2_what_the_client_sent_itself_is_a_duplicate_in_a_replay(front: Front) -> None:
    """It was one when the reply was made, and nothing has changed since."""
    tenant = front.tenant()
    front.client(tenant.key, "first").chat.completions.create(model=MODEL, messages=[user(BOAT)])
    client, history = front.client(tenant.key, "second"), [user(BOAT)]
    client.chat.completions.create(model=MODEL, messages=history)
    history += [assistant("Understood."), user(ASK)]
    client.chat.completions.create(model=MODEL, messages=history)
    receipt = receipt_of(tenant, "second")
    assert tenant.admin.get(f"/v1/receipts/{receipt}").json()["given"] == 0
    asked = {"receipt_id": receipt, "message_id": messages_of(tenant, "first")[0]["id"]}
    found = tenant.admin.post("/v1/explain", asked).json()
    assert (found["reason"], found["changed"]) == ("duplicate", None)
    assert "What the client sent itself is not stored" in found["detail"]


def test_prf_1_the_prompt_of_a_project_without_placeholders_gives_nothing_and_the_receipt_says_so(front: Front) -> None:
    tenant = front.tenant()
    sea = tenant.new_project("Sea")
    front.client(tenant.key, "first", sea).chat.completions.create(model=MODEL, messages=[user(BOAT)])
    saved = tenant.admin.patch(f"/org/projects/{sea}", {"settings": {"system_prompt": "You are a pirate."}})
    assert saved.json()["warnings"]
    front.client(tenant.key, "second", sea).chat.completions.create(model=MODEL, messages=[user(ASK)])
    receipt = tenant.admin.get(f"/v1/receipts/{receipt_of(tenant, 'second')}").json()
    assert (receipt["given"], receipt["items"], receipt["sent"]["placeholders"]) == (0, [], [])
    assert BOAT not in str(front.model.asked[-1].body)
