"""The five steps of document 002's test, and the six checks of document 003's plan, over the chat route: a tab is whoever holds a
session's id.
"""

from support.clients.chat_client import Gate, asking, messages, say, shown, streaming, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant


def current(tenant: Tenant, session: str) -> list[str]:
    """What a tab shows: the conversation of its session."""
    context = tenant.admin.made("/v1/context", {"session_id": session})
    return [item["content"] for item in context["current_conversation"]]


def test_ctx_4_what_did_i_say_shows_only_what_was_said_here(tenant: Tenant, model: FakeEndpoint) -> None:
    """CTX-4, CTX-1, document 002: the current conversation is this session's; what is related is told apart from it."""
    model.answers(words("Hello."))
    tenant.admin.patch(f"/org/projects/{tenant.default_project_id}", {"settings": {"min_relevance": 0}})
    say(tenant.admin, "session 1", "Hello session 1")
    say(tenant.admin, "session 2", "Hello session 2")
    reply = say(tenant.admin, "session 1", "What did I say?")
    assert current(tenant, "session 1") == ["Hello session 1", "Hello.", "What did I say?", "Hello."]
    spoken = [entry["content"] for entry in model.asked[-1].body["messages"] if entry["role"] == "user"]
    assert spoken == ["Hello session 1", "What did I say?"]
    assert {item["session_id"] for item in reply.context["relevant_history"]} == {"session 2"}
    assert {item["source"] for item in reply.context["relevant_history"]} == {"semantic"}


def test_tab_1_two_tabs_do_not_bleed_into_each_other(tenant: Tenant, model: FakeEndpoint) -> None:
    """TAB-1, check 1: two tabs at once, in two projects, even while both are being answered."""
    one, two = tenant.new_project("Notion"), tenant.new_project("Mail")
    gates = [Gate(), Gate()]
    model.answers(words("The backlog is here.", gate=gates[0]), words("No such mail.", gate=gates[1]))
    backlog = asking("tab 1", "Fetch the backlog.", project_id=one)
    mail = asking("tab 2", "Find the mail of the hub.", project_id=two)
    with streaming(tenant, "POST", "/v1/chat/stream", backlog) as first:
        first.until("data-context")
        with streaming(tenant, "POST", "/v1/chat/stream", mail) as second:
            second.until("data-context")
            for gate in gates:
                gate.open()
            assert first.rest().text == "The backlog is here."
            assert second.rest().text == "No such mail."
    assert "mail" not in shown(model.asked[0].body) and "backlog" not in shown(model.asked[1].body)
    assert current(tenant, "tab 1") == ["Fetch the backlog.", "The backlog is here."]
    assert current(tenant, "tab 2") == ["Find the mail of the hub.", "No such mail."]


def test_tab_2_leaving_the_page_and_coming_back_keeps_the_conversation(tenant: Tenant, model: FakeEndpoint) -> None:
    """TAB-2, checks 2 and 5: the reply goes on without the page; a refresh finds it running, and later whole."""
    gate = Gate()
    model.answers(words("First ", "half.", gate=gate))
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Tell me.")) as page:
        gate.let(1)
        page.until("text-delta")
    assert current(tenant, "tab") == ["Tell me."]
    with streaming(tenant, "GET", "/v1/chat/tab/stream") as refreshed:
        gate.open()
        assert refreshed.rest().text == "First half."
    assert current(tenant, "tab") == ["Tell me.", "First half."]
    assert tenant.admin.get("/v1/chat/tab/stream").status_code == 204


def test_tab_3_a_new_chat_knows_nothing_of_the_old_conversation(tenant: Tenant, model: FakeEndpoint) -> None:
    """TAB-3, check 3: a new id is a new session with an empty conversation; in another project it recalls nothing either."""
    old, fresh = tenant.new_project("Old"), tenant.new_project("Fresh")
    model.answers(words("Noted."))
    say(tenant.admin, "before", "My cat is called Tom.", project_id=old)
    reply = say(tenant.admin, "after", "What is my cat called?", project_id=fresh)
    assert reply.recalled == set()
    assert [entry["role"] for entry in model.asked[-1].body["messages"]] == ["system", "user"]
    assert "Tom" not in shown(model.asked[-1].body)


def test_tab_4_a_past_session_is_opened_in_this_tab_only(tenant: Tenant, model: FakeEndpoint) -> None:
    """TAB-4, check 4: it goes on where it was, and the session of the other tab is as it was."""
    model.answers(words("Noted."))
    say(tenant.admin, "past", "The plumber comes on Monday.")
    say(tenant.admin, "other tab", "The baker is closed.")
    before = messages(tenant, "other tab")
    say(tenant.admin, "past", "When did I say he comes?")
    assert [entry["content"] for entry in model.asked[-1].body["messages"]][1:] == [
        "The plumber comes on Monday.",
        "Noted.",
        "When did I say he comes?",
    ]
    assert messages(tenant, "other tab") == before


def test_tab_5_a_duplicated_tab_stays_in_step_and_cannot_interleave(tenant: Tenant, model: FakeEndpoint) -> None:
    """TAB-5: both follow one turn, the second cannot begin another, and leaves with a new chat."""
    gate = Gate()
    model.answers(words("Both see this.", gate=gate), words("A new one."))
    with streaming(tenant, "POST", "/v1/chat/stream", asking("tab", "Hello.")) as first:
        first.until("data-context")
        with streaming(tenant, "GET", "/v1/chat/tab/stream") as duplicate:
            refused = tenant.admin.post("/v1/chat/stream", asking("tab", "Me too."))
            assert (refused.status_code, refused.json()["code"]) == (409, "turn_in_progress")
            gate.open()
            assert first.rest() == duplicate.rest()
    assert current(tenant, "tab") == ["Hello.", "Both see this."]
    say(tenant.admin, "new chat", "On my own.")
    assert current(tenant, "tab") == ["Hello.", "Both see this."]


def test_tab_6_a_fresh_tab_has_nothing_left_behind(tenant: Tenant, model: FakeEndpoint) -> None:
    """TAB-6, check 6: a session nobody has used is not there, shows nothing, and has an id of its own once it is used."""
    model.answers(words("Noted."))
    say(tenant.admin, "tab 1", "Left behind.")
    assert tenant.admin.get("/v1/sessions/tab 2/messages").status_code == 404
    assert tenant.admin.get("/v1/chat/tab 2/stream").status_code == 404
    say(tenant.admin, "tab 2", "Fresh.")
    assert current(tenant, "tab 2") == ["Fresh.", "Noted."]
    sessions = {entry["session_id"] for tab in ("tab 1", "tab 2") for entry in messages(tenant, tab)}
    assert sessions == {"tab 1", "tab 2"}
