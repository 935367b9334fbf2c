"""What receipts, exclusions and edits show to callers who may see less: as an outsider found them."""

from support.clients.chat_client import asking, say, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant

PROMPT = "Speak like the house of Zephyrine. {MEMORY.CONTEXT} {RELEVANT.HISTORY}"


def test_org_10_a_key_of_one_user_is_not_shown_the_prompt_of_its_project(tenant: Tenant, model: FakeEndpoint) -> None:
    garden = tenant.new_project("Garden")
    changed = tenant.admin.patch(f"/org/projects/{garden}", {"settings": {"system_prompt": PROMPT}})
    assert changed.status_code == 200
    tenant.new_session("ann", project_id=garden, user_id="ann")
    model.answers(words("Roses."))
    receipt = say(tenant.admin, "ann", "What grows here?").metadata["receipt_id"]
    path = f"/v1/receipts/{receipt}/prompt"
    assert "Zephyrine" in tenant.admin.get(path).text
    ann = tenant.caller(tenant.new_key("read", "write", user_id="ann"))
    bound = ann.get(path)
    assert bound.status_code == 200
    edited = tenant.admin.patch(
        f"/org/projects/{garden}", {"settings": {"system_prompt": "Be plain. {RELEVANT.HISTORY}"}}
    )
    assert edited.status_code == 200
    assert ann.get(path).text == bound.text
    assert tenant.admin.get(path).json()["is_exact"] and "Zephyrine" in tenant.admin.get(path).text
    assert "Zephyrine" not in bound.text
    assert not bound.json()["is_exact"]
    for caller, is_shown in ((tenant.admin, True), (ann, False)):
        sent = caller.get(f"/v1/receipts/{receipt}").json()["sent"]
        lengths = [part["characters"] for part in sent["parts"] if part["kind"] == "system_prompt"]
        assert (sent["template_sha256"] is not None, lengths != [None]) == (is_shown, is_shown)
        assert sent["placeholders"] == ["{MEMORY.CONTEXT}", "{RELEVANT.HISTORY}"]


def test_prf_1_the_receipt_of_a_moved_session_says_nothing_of_the_old_prompt(
    tenant: Tenant, model: FakeEndpoint
) -> None:
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    tenant.admin.patch(f"/org/projects/{garden}", {"settings": {"system_prompt": PROMPT}})
    tenant.new_session("s", project_id=garden)
    model.answers(words("Roses."))
    path = f"/v1/receipts/{say(tenant.admin, 's', 'What grows here?').metadata['receipt_id']}"
    before = tenant.admin.get(path).json()["sent"]
    assert before["template_sha256"] is not None and before["parts"][0]["characters"]
    assert tenant.admin.patch("/v1/sessions/s", {"project_id": kitchen}).status_code == 200
    cook = tenant.caller(tenant.new_key("read", project_id=kitchen, confined=True))
    for edited in ("Be plain.", PROMPT):
        for project in (garden, kitchen):
            tenant.admin.patch(f"/org/projects/{project}", {"settings": {"system_prompt": edited}})
        assert "Zephyrine" not in cook.get(f"{path}/prompt").text
    receipt = cook.get(path).json()
    after = receipt["sent"]
    assert (after["template_sha256"], after["placeholders"]) == (None, None)
    assert (receipt["tokens"], receipt["reply"]["prompt_tokens"]) == (None, None)
    assert [part["characters"] for part in after["parts"] if part["kind"] == "system_prompt"] == [None]


def test_mem_11_an_excluded_memory_of_a_shared_project_names_its_user(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden", member_visibility="shared")
    for user in ("ann", "bob"):
        tenant.new_session(user, project_id=garden, user_id=user)
    added = tenant.admin.made("/v1/memories", {"session_id": "ann", "contents": ["The user is allergic to nuts."]})
    excluded = {"kind": "memory", "id": added["appended"][0]["id"]}
    shown = tenant.admin.made("/v1/sessions/bob/exclusions", excluded)
    assert (shown["user_id"], "The user" in shown["content"], '"ann"' in shown["content"]) == ("ann", False, True)
    assert tenant.admin.get("/v1/sessions/bob/exclusions").json()["data"] == [shown]


def test_iso_4_an_edit_in_a_foreign_session_is_answered_as_in_a_missing_one(tenant: Tenant) -> None:
    tenant.new_session("bobs", user_id="bob")
    said = tenant.say("bobs", "The gate code is 4417.")["id"]
    ann = tenant.caller(tenant.new_key("read", "write", user_id="ann"))
    foreign, missing = (
        ann.post("/v1/chat/stream", {**asking(session, "x"), "trigger": "submit-message", "messageId": said})
        for session in ("bobs", "nobody")
    )
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert foreign.text.replace("bobs", "nobody") == missing.text
    assert tenant.admin.get("/v1/sessions/nobody").status_code == 404
