"""Branches of a conversation: editing and regenerating destroy nothing, and what is not on the current branch can be chosen."""

from typing import Any

import pytest

from support.clients.chat_client import Gate, asking, messages, say, shown, streaming, told, words
from support.servers.fake_endpoint import FakeEndpoint, refusal
from support.servers.http_server import Tenant, segment


def contents(tenant: Tenant, session: str, branch: str = "current") -> list[str]:
    return [message["content"] for message in messages(tenant, session, branch=branch)]


def tree(tenant: Tenant, session: str) -> list[tuple[str, str | None, bool]]:
    """The words of each message, those of its parent, and whether it is current."""
    found = messages(tenant, session, branch="all")
    by_id = {message["id"]: message["content"] for message in found}
    return [(each["content"], by_id.get(each["parent_id"]), each["is_current"]) for each in found]


def id_of(tenant: Tenant, session: str, content: str) -> str:
    return next(each["id"] for each in messages(tenant, session, branch="all") if each["content"] == content)


def session_of(tenant: Tenant, session: str) -> Any:
    return tenant.admin.get(f"/v1/sessions/{segment(session)}").json()


def choose(tenant: Tenant, session: str, content: str) -> Any:
    body = {"message_id": id_of(tenant, session, content)}
    answer = tenant.admin.post(f"/v1/sessions/{segment(session)}/branch", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def regenerate(tenant: Tenant, session: str, message_id: str | None = None) -> Any:
    named = {} if message_id is None else {"messageId": message_id}
    body = {**asking(session, "ignored"), "trigger": "regenerate-message", **named}
    answer = tenant.admin.post("/v1/chat/stream", body)
    assert answer.status_code == 200, answer.text
    return told(answer.text)


def edit(tenant: Tenant, session: str, content: str, text: str) -> Any:
    return say(tenant.admin, session, text, messageId=id_of(tenant, session, content))


def test_a_reply_that_is_made_again_is_a_sibling_of_the_old_one(tenant: Tenant, model: FakeEndpoint) -> None:
    model.answers(words("Blue."), words("Green."))
    first = say(tenant.admin, "tab", "Which colour?")
    assert session_of(tenant, "tab")["is_forked"] is False
    again = regenerate(tenant, "tab")
    assert contents(tenant, "tab") == ["Which colour?", "Green."]
    assert tree(tenant, "tab") == [
        ("Which colour?", None, True),
        ("Blue.", "Which colour?", False),
        ("Green.", "Which colour?", True),
    ]
    session = session_of(tenant, "tab")
    assert (session["current_leaf_id"], session["is_forked"]) == (again.metadata["message_id"], True)
    assert session["message_count"] == 3
    assert again.metadata["question_id"] == first.metadata["question_id"] == id_of(tenant, "tab", "Which colour?")
    assert again.metadata["is_current"] is True
    assert "Blue" not in shown(model.asked[-1].body)


def test_an_edited_message_is_a_sibling_and_the_old_one_can_be_chosen(tenant: Tenant, model: FakeEndpoint) -> None:
    model.answers(words("Hello Ada."), words("Fine."), words("Hello Eve."), words("Ok."))
    say(tenant.admin, "tab", "I am Ada.")
    say(tenant.admin, "tab", "How are you?")
    edit(tenant, "tab", "I am Ada.", "I am Eve.")
    assert contents(tenant, "tab") == ["I am Eve.", "Hello Eve."]
    assert "Ada" not in shown(model.asked[-1].body)
    chosen = choose(tenant, "tab", "I am Ada.")
    assert contents(tenant, "tab") == ["I am Ada.", "Hello Ada.", "How are you?", "Fine."]
    assert chosen["current_leaf_id"] == id_of(tenant, "tab", "Fine.")
    say(tenant.admin, "tab", "Good.")
    assert contents(tenant, "tab")[-2:] == ["Good.", "Ok."]
    assert "Eve" not in shown(model.asked[-1].body)
    assert tree(tenant, "tab") == [
        ("I am Ada.", None, True),
        ("Hello Ada.", "I am Ada.", True),
        ("How are you?", "Hello Ada.", True),
        ("Fine.", "How are you?", True),
        ("I am Eve.", None, False),
        ("Hello Eve.", "I am Eve.", False),
        ("Good.", "Fine.", True),
        ("Ok.", "Good.", True),
    ]


def test_choosing_what_is_current_changes_nothing(tenant: Tenant, model: FakeEndpoint) -> None:
    model.answers(words("Blue."), words("Green."))
    say(tenant.admin, "tab", "Which colour?")
    regenerate(tenant, "tab")
    before = session_of(tenant, "tab")
    assert choose(tenant, "tab", "Which colour?") == before
    assert contents(tenant, "tab") == ["Which colour?", "Green."]


def test_a_reply_in_the_middle_can_be_made_again(tenant: Tenant, model: FakeEndpoint) -> None:
    """The model is not shown what came after it; that stays on the old branch, and the new reply is current."""
    model.answers(words("One."), words("Two."), words("Uno."))
    say(tenant.admin, "tab", "First?")
    say(tenant.admin, "tab", "Second, the zebra?")
    regenerate(tenant, "tab", id_of(tenant, "tab", "One."))
    assert "zebra" not in shown(model.asked[-1].body)
    assert contents(tenant, "tab") == ["First?", "Uno."]
    choose(tenant, "tab", "One.")
    assert contents(tenant, "tab") == ["First?", "One.", "Second, the zebra?", "Two."]


def test_the_reply_to_a_named_question_can_be_made_again(tenant: Tenant, model: FakeEndpoint) -> None:
    model.answers(words("One."), words("Two."), words("Uno."))
    say(tenant.admin, "tab", "First?")
    say(tenant.admin, "tab", "Second?")
    assert regenerate(tenant, "tab", id_of(tenant, "tab", "First?")).metadata["question_id"] == id_of(
        tenant, "tab", "First?"
    )
    assert contents(tenant, "tab") == ["First?", "Uno."]


def test_a_message_of_another_branch_can_be_answered_again(tenant: Tenant, model: FakeEndpoint) -> None:
    """That branch is chosen with it."""
    model.answers(words("Hello Ada."), words("Hello Eve."), words("Welcome Ada."))
    say(tenant.admin, "tab", "I am Ada.")
    edit(tenant, "tab", "I am Ada.", "I am Eve.")
    regenerate(tenant, "tab", id_of(tenant, "tab", "Hello Ada."))
    assert contents(tenant, "tab") == ["I am Ada.", "Welcome Ada."]


def test_a_failed_regeneration_leaves_the_old_branch_current(tenant: Tenant, model: FakeEndpoint) -> None:
    """The failed reply is kept aside until the question is answered."""
    model.answers(words("Blue."), words("Fine."), refusal(401, "no"), words("Green."))
    say(tenant.admin, "tab", "Which colour?")
    say(tenant.admin, "tab", "Thanks.")
    failed = regenerate(tenant, "tab", id_of(tenant, "tab", "Blue."))
    assert (failed.metadata["status"], failed.metadata["is_current"]) == ("failed", False)
    assert contents(tenant, "tab") == ["Which colour?", "Blue.", "Thanks.", "Fine."]
    (aside,) = [each for each in messages(tenant, "tab", branch="all") if not each["is_current"]]
    assert (aside["status"], aside["parent_id"]) == ("failed", id_of(tenant, "tab", "Which colour?"))
    regenerate(tenant, "tab", id_of(tenant, "tab", "Blue."))
    assert contents(tenant, "tab") == ["Which colour?", "Green."]
    assert "failed" not in [each["status"] for each in messages(tenant, "tab", branch="all")]


def test_a_failed_reply_is_replaced_by_the_next_one(tenant: Tenant, model: FakeEndpoint) -> None:
    model.answers(refusal(401, "no"), refusal(401, "no"), words("Green."))
    say(tenant.admin, "tab", "Which colour?")
    regenerate(tenant, "tab")
    assert [each["status"] for each in messages(tenant, "tab", branch="all")] == ["completed", "failed"]
    regenerate(tenant, "tab")
    assert tree(tenant, "tab") == [("Which colour?", None, True), ("Green.", "Which colour?", True)]
    assert session_of(tenant, "tab")["is_forked"] is False


def test_a_refused_edit_changes_nothing(tenant: Tenant, model: FakeEndpoint) -> None:
    model.answers(words("Blue."), words("Other."))
    say(tenant.admin, "tab", "Which colour?")
    say(tenant.admin, "other", "Something else.")
    before = (tree(tenant, "tab"), session_of(tenant, "tab"))
    question, reply = id_of(tenant, "tab", "Which colour?"), id_of(tenant, "tab", "Blue.")
    foreign = id_of(tenant, "other", "Something else.")
    for body, status in (
        (asking("tab", "x", messageId=reply), 422),
        (asking("tab", "x", messageId=foreign), 404),
        (asking("tab", "x", messageId="msg_00000000000000ff"), 404),
        (asking("tab", "x", messageId="client-made"), 404),
        (asking("tab", "   ", messageId=question), 422),
        (asking("no such session", "x", messageId=question), 404),
    ):
        answer = tenant.admin.post("/v1/chat/stream", body)
        assert answer.status_code == status, (body, answer.text)
    assert (tree(tenant, "tab"), session_of(tenant, "tab")) == before
    assert tenant.admin.get("/v1/sessions/no%20such%20session").status_code == 404


def test_a_branch_cannot_be_chosen_while_a_reply_is_made(tenant: Tenant, model: FakeEndpoint) -> None:
    gate = Gate()
    model.answers(words("Blue."), words("Green."), words("La ", "la.", gate=gate))
    say(tenant.admin, "tab", "Which colour?")
    regenerate(tenant, "tab")
    body = {"message_id": id_of(tenant, "tab", "Blue.")}
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Sing.")) as reader:
        reader.until("data-context")
        refused = tenant.admin.post("/v1/sessions/tab/branch", body)
        assert (refused.status_code, refused.json()["code"]) == (409, "turn_in_progress")
        gate.open()
        reader.rest()
    assert tenant.admin.post("/v1/sessions/tab/branch", body).status_code == 200
    assert contents(tenant, "tab") == ["Which colour?", "Blue."]


def test_what_others_record_while_a_reply_is_made_again_stays_current(tenant: Tenant, model: FakeEndpoint) -> None:
    """The new reply is stored aside, and can be chosen."""
    gate = Gate()
    model.answers(words("Blue."), words("Green.", gate=gate))
    say(tenant.admin, "tab", "Which colour?")
    body = {**asking("tab", "x"), "trigger": "regenerate-message"}
    with streaming(tenant, "POST", "/v1/chat/stream", body) as reader:
        reader.until("data-context")
        tenant.say("tab", "By the way, it rains.")
        gate.open()
        assert reader.rest().metadata["is_current"] is False
    assert contents(tenant, "tab") == ["Which colour?", "Blue.", "By the way, it rains."]
    choose(tenant, "tab", "Green.")
    assert contents(tenant, "tab") == ["Which colour?", "Green."]


def test_stopping_twice_does_not_stack_two_replies(tenant: Tenant, model: FakeEndpoint) -> None:
    """Fault 12: the second reply that was cut off is a sibling of the first."""
    for number, piece in enumerate(("La la", "Do re")):
        gate = Gate()
        model.answers(words(piece, " and more", gate=gate))
        body = asking("tab", "Sing.") if not number else {**asking("tab", "x"), "trigger": "regenerate-message"}
        with streaming(tenant, "POST", "/v1/chat/stream", body) as reader:
            gate.let(1)
            reader.until("text-delta")
            tenant.admin.post("/v1/chat/tab/stop")
            gate.open()
            reader.rest()
    assert [(each["content"], each["status"]) for each in messages(tenant, "tab")] == [
        ("Sing.", "completed"),
        ("Do re", "partial"),
    ]
    assert tree(tenant, "tab")[1] == ("La la", "Sing.", False)


def test_after_a_stop_the_model_is_shown_what_it_had_said(tenant: Tenant, model: FakeEndpoint) -> None:
    """Fault 12: "continue" means something. A partial reply is still no memory."""
    gate = Gate()
    model.answers(words("Once upon a time", " there was", gate=gate), words("there was a fox."))
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell a story.")) as reader:
        gate.let(1)
        reader.until("text-delta")
        tenant.admin.post("/v1/chat/tab/stop")
        gate.open()
        reader.rest()
    say(tenant.admin, "tab", "Continue.")
    assert model.asked[-1].body["messages"][1:] == [
        {"role": "user", "content": "Tell a story."},
        {"role": "assistant", "content": "Once upon a time"},
        {"role": "user", "content": "Continue."},
    ]
    found = tenant.admin.post("/v1/search", {"query": "Once upon a time", "session_id": "tab"}).json()["data"]
    assert "Once upon a time" not in [hit["content"] for hit in found]


@pytest.mark.parametrize("deleted", ["Hello Ada.", "I am Ada."])
def test_what_follows_a_deleted_message_follows_its_parent(tenant: Tenant, model: FakeEndpoint, deleted: str) -> None:
    model.answers(words("Hello Ada."), words("Fine."), words("Well."), words("Hello Eve."))
    say(tenant.admin, "tab", "I am Ada.")
    say(tenant.admin, "tab", "How are you?")
    regenerate(tenant, "tab")
    edit(tenant, "tab", "I am Ada.", "I am Eve.")
    before = {content: parent for content, parent, _ in tree(tenant, "tab")}
    tenant.admin.delete(f"/v1/messages/{id_of(tenant, 'tab', deleted)}")
    after = {content: parent for content, parent, _ in tree(tenant, "tab")}
    expected = {
        content: before[deleted] if parent == deleted else parent
        for content, parent in before.items()
        if content != deleted
    }
    assert after == expected
    assert contents(tenant, "tab") == ["I am Eve.", "Hello Eve."]
    choose(tenant, "tab", "Fine.")
    expected_path = [each for each in ("I am Ada.", "Hello Ada.", "How are you?", "Fine.") if each != deleted]
    assert contents(tenant, "tab") == expected_path


def test_deleting_the_last_message_makes_its_parent_the_last(tenant: Tenant, model: FakeEndpoint) -> None:
    """No other branch becomes current by that, and when there is no other left the session is not forked any more."""
    model.answers(words("Blue."), words("Green."), words("Red."))
    say(tenant.admin, "tab", "Which colour?")
    regenerate(tenant, "tab")
    question = id_of(tenant, "tab", "Which colour?")
    tenant.admin.delete(f"/v1/messages/{id_of(tenant, 'tab', 'Green.')}")
    session = session_of(tenant, "tab")
    assert (session["current_leaf_id"], session["is_forked"]) == (question, True)
    assert contents(tenant, "tab") == ["Which colour?"]
    tenant.admin.delete(f"/v1/messages/{id_of(tenant, 'tab', 'Blue.')}")
    assert session_of(tenant, "tab")["is_forked"] is False
    regenerate(tenant, "tab")
    assert tree(tenant, "tab") == [("Which colour?", None, True), ("Red.", "Which colour?", True)]
    tenant.admin.post("/v1/sessions/tab/clear")
    session = session_of(tenant, "tab")
    assert (session["current_leaf_id"], session["is_forked"]) == (None, False)
