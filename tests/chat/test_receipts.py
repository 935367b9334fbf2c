"""Receipts of replies over HTTP (PRF-1): of the console's stream and of OpenAI's interfaces, with key, model and tokens."""

from support.clients.chat_client import asking, messages, told, words
from support.servers.fake_endpoint import FakeEndpoint, refusal
from support.servers.http_server import Tenant

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"


def test_prf_1_every_reply_has_a_receipt_through_every_door(tenant: Tenant, model: FakeEndpoint) -> None:
    tenant.new_session("tells")
    said = tenant.say("tells", GATE)["id"]
    for number, path in enumerate(("/v1/chat/stream", "/v1/chat/completions", "/v1/responses")):
        model.answers(words("It is ", "4417."))
        session = f"asks {number}"
        body = {
            "/v1/chat/stream": asking(session, QUESTION),
            "/v1/chat/completions": {"model": "m", "messages": [{"role": "user", "content": QUESTION}]},
            "/v1/responses": {"input": QUESTION},
        }[path]
        answer = tenant.admin.request("POST", path, json=body, headers={"X-Session-ID": session})
        assert answer.status_code == 200, answer.text
        stored = messages(tenant, session)[-1]
        receipt = tenant.admin.get(f"/v1/receipts/{stored['id'].replace('msg_', 'rcpt_')}").json()
        assert (receipt["kind"], receipt["session_id"], receipt["message_id"]) == ("reply", session, stored["id"])
        assert [item["id"] for item in receipt["items"] if item["content"] == GATE] == [said]
        assert receipt["key_id"].startswith("key_") and receipt["reply"]["model"]
        assert receipt["reply"]["status"] == "completed"
        assert receipt["sent"]["parts"][-1]["kind"] == "question"
        assert GATE not in str(receipt["sent"])


def test_prf_1_the_prompt_is_what_the_model_got(tenant: Tenant, model: FakeEndpoint) -> None:
    """Byte for byte for the console's chat; of a client with a prompt of its own what was added, and that the rest is missing."""
    tenant.new_session("tells")
    tenant.say("tells", GATE)
    model.answers(words("It is ", "4417."))
    reply = told(tenant.admin.post("/v1/chat/stream", asking("asks", QUESTION)).text)
    path = f"/v1/receipts/{reply.metadata['receipt_id']}/prompt"
    got = [(message["role"], message["content"]) for message in model.asked[-1].body["messages"]]
    shown = tenant.admin.get(path).json()
    assert [(message["role"], message["content"]) for message in shown["messages"]] == got
    assert (shown["is_exact"], shown["missing"]) == (True, [])
    own = [{"role": "system", "content": "You are a pirate."}, {"role": "user", "content": QUESTION}]
    body = {"model": "m", "messages": own}
    tenant.admin.request("POST", "/v1/chat/completions", json=body, headers={"X-Session-ID": "mine"})
    receipt = messages(tenant, "mine")[-1]["id"].replace("msg_", "rcpt_")
    of_client = tenant.admin.get(f"/v1/receipts/{receipt}/prompt").json()
    assert of_client["is_exact"] is False and "What the client sent itself is not stored" in of_client["missing"][0]
    assert GATE in of_client["messages"][0]["content"] and "pirate" not in str(of_client)


def test_prf_1_what_is_announced_is_what_was_given(tenant: Tenant, model: FakeEndpoint) -> None:
    """With a prompt without placeholders the stream says that nothing was recalled, and so does the receipt; saving it warns."""
    path = f"/org/projects/{tenant.default_project_id}"
    changed = tenant.admin.request("PATCH", path, json={"settings": {"system_prompt": "You are a pirate."}}).json()
    assert len(changed["warnings"]) == 1 and "placeholder" in changed["warnings"][0]
    tenant.new_session("tells")
    tenant.say("tells", GATE)
    model.answers(words("Arr."))
    reply = told(tenant.admin.post("/v1/chat/stream", asking("asks", QUESTION)).text)
    assert reply.context["relevant_history"] == [] and "4417" not in str(model.asked)
    receipt = tenant.admin.get(f"/v1/receipts/{reply.metadata['receipt_id']}").json()
    assert (receipt["given"], receipt["items"], receipt["sent"]["placeholders"]) == (0, [], [])


def test_prf_1_the_items_of_a_receipt_come_with_their_words_in_one_request(tenant: Tenant, model: FakeEndpoint) -> None:
    """Fault 3: after a reload, what a reply was given is shown from its receipt: words, speaker, time and session of each item."""
    tenant.new_session("tells", user_id="ann")
    said = tenant.admin.made("/v1/sessions/tells/messages", {"role": "user", "content": GATE, "author": "Ann"})
    tenant.admin.made("/v1/memories", {"session_id": "tells", "contents": ["The gate code is 4417."]})
    tenant.new_session("asks", user_id="ann")
    model.answers(words("It is 4417."))
    reply = told(tenant.admin.post("/v1/chat/stream", asking("asks", QUESTION)).text)
    receipt = tenant.admin.get(f"/v1/receipts/{reply.metadata['receipt_id']}").json()
    by_kind = {item["kind"]: item for item in receipt["items"]}
    message, memory = by_kind["message"], by_kind["memory"]
    assert (message["content"], message["role"], message["author"], message["user_id"]) == (GATE, "user", "Ann", "ann")
    assert (message["created_at"], message["session_id"], message["same_session"]) == (
        said["created_at"],
        "tells",
        False,
    )
    assert (memory["status"], memory["session_id"], memory["role"]) == ("active", "tells", None)
    given = [*reply.context["relevant_history"], *reply.context["memories"], *reply.context["entities"]]
    assert {item["id"] for item in given} == {item["id"] for item in receipt["items"]}


def test_the_models_own_message_is_told_if_it_repeats_nothing_of_the_request(
    tenant: Tenant, model: FakeEndpoint
) -> None:
    """The error is bounded, and what was said is in no error."""
    for number, (message, told_as) in enumerate(
        (
            ("CUDA out of memory", "The model returned an error (500): CUDA out of memory"),
            (f"cannot read {QUESTION}", "returned an error (HTTP 500). The log of its server may say why."),
        )
    ):
        model.answers(refusal(500, message))
        session = f"asks {number}"
        reply = told(tenant.admin.post("/v1/chat/stream", asking(session, QUESTION)).text)
        assert reply.error.endswith(told_as) or told_as in reply.error
        stored = messages(tenant, session)[-1]
        assert (stored["status"], stored["content"]) == ("failed", reply.error)
