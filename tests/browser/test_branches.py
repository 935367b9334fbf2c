"""Nothing is destroyed before it succeeds: editing and regenerating make a branch, and the old one stays until it is deleted."""

from playwright.sync_api import Locator, expect

from support.clients.browser import Desk, Tab
from support.clients.chat_client import Gate, messages, said, words
from support.servers.fake_endpoint import FakeEndpoint, refusal


def versions(of: Locator) -> Locator:
    return of.get_by_role("group", name="Versions")


def edit(tab: Tab, question: int, text: str) -> None:
    article = tab.page.get_by_role("article", name="You said").nth(question)
    article.hover()
    article.get_by_role("button", name="Edit").click()
    field = tab.page.get_by_label("Edit your message")
    field.fill(text)
    field.press("Enter")


def test_an_edited_message_is_a_new_branch_and_the_old_one_can_be_chosen_again(desk: Desk, model: FakeEndpoint) -> None:
    """The message and everything after it were deleted, one request each, before the new one was sent."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    model.answers(words("Noted, too."))
    tab.converse("And the cellar's is 9.", "Noted, too.")
    model.answers(words("Corrected."))
    edit(tab, 0, "The gate code is 5528.")
    expect(tab.questions).to_have_text(["The gate code is 5528."])
    expect(tab.replies.last).to_contain_text("Corrected.")
    tab.is_idle()
    first = tab.page.get_by_role("article", name="You said").first
    expect(versions(first)).to_contain_text("2 / 2")
    first.hover()
    versions(first).get_by_role("button", name="Previous version").click()
    expect(tab.questions).to_have_text(["The gate code is 4417.", "And the cellar's is 9."])
    expect(versions(first)).to_contain_text("1 / 2")
    expect(tab.replies).to_have_count(2)
    tab.page.reload()
    expect(tab.questions).to_have_text(["The gate code is 4417.", "And the cellar's is 9."])
    assert [entry["content"] for entry in messages(desk.tenant, tab.session)] == [
        "The gate code is 4417.",
        "Noted.",
        "And the cellar's is 9.",
        "Noted, too.",
    ]


def test_the_up_arrow_edits_the_last_message_and_escape_leaves_it(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.composer.press("ArrowUp")
    field = tab.page.get_by_label("Edit your message")
    expect(field).to_have_value("The gate code is 4417.")
    field.press("Escape")
    expect(field).to_have_count(0)
    expect(tab.composer).to_be_focused()


def test_a_regenerated_reply_is_a_version_beside_the_old_one(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words("One way."))
    tab.converse("Which way?", "One way.")
    model.answers(words("Another way."))
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(tab.replies).to_have_count(1)
    expect(tab.replies.last).to_contain_text("Another way.")
    tab.is_idle()
    expect(versions(tab.replies.last)).to_contain_text("2 / 2")
    versions(tab.replies.last).get_by_role("button", name="Previous version").click()
    expect(tab.replies.last).to_contain_text("One way.")
    expect(tab.replies.last).not_to_contain_text("Another")


def test_an_edit_that_fails_destroys_nothing_and_keeps_its_words(desk: Desk) -> None:
    """A cut network left an empty conversation under “nothing you typed is lost”."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.converse("And the cellar's is 9.", "Noted.")
    tab.page.route("**/v1/chat/stream", lambda route: route.abort("connectionfailed"))
    edit(tab, 0, "The gate code is 5528.")
    expect(tab.page.get_by_role("alert")).to_contain_text("can’t be reached")
    expect(tab.page.get_by_label("Edit your message")).to_have_value("The gate code is 5528.")
    assert len(said(desk.tenant, tab.session)) == 4
    tab.page.unroute("**/v1/chat/stream")
    tab.page.get_by_label("Edit your message").press("Enter")
    expect(tab.questions).to_have_text(["The gate code is 5528."])
    tab.is_idle()


def test_a_regeneration_that_the_model_refuses_leaves_the_old_reply(desk: Desk, model: FakeEndpoint) -> None:
    """A model error lost five later messages."""
    tab = desk.sign_in()
    model.answers(words("One way."))
    tab.converse("Which way?", "One way.")
    model.answers(refusal(500, "the graphics card is on fire"))
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(tab.page.get_by_role("alert")).to_have_count(1)
    tab.is_idle()
    expect(tab.replies).to_have_count(1)
    expect(tab.replies.last).to_contain_text("One way.")
    expect(versions(tab.replies.last)).to_have_count(0)


def test_stop_and_continue_gives_the_model_its_partial_reply(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    gate = Gate()
    model.answers(words("One, two, ", "three.", gate=gate))
    tab.say("Count.")
    gate.let(1)
    expect(tab.replies.last).to_contain_text("One, two,")
    tab.page.get_by_role("button", name="Stop", exact=True).click()
    tab.is_idle()
    gate.open()
    expect(tab.replies.last).to_contain_text("Stopped.")
    model.answers(words("three, four."))
    tab.converse("Continue.", "three, four.")
    sent = next(each.body["messages"] for each in model.asked if "Continue." in str(each.body))
    assert [(each["role"], each["content"].strip()) for each in sent if each["role"] == "assistant"] == [
        ("assistant", "One, two,")
    ]


def test_stopping_twice_makes_versions_and_no_second_bubble(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    for text in ("First try ", "Second try "):
        gate = Gate()
        model.answers(words(text, "and its end.", gate=gate))
        if text.startswith("First"):
            tab.say("Speak.")
        else:
            tab.page.get_by_role("button", name="Regenerate").click()
        gate.let(1)
        expect(tab.replies.last).to_contain_text(text.strip())
        tab.page.get_by_role("button", name="Stop", exact=True).click()
        tab.is_idle()
        gate.open()
    expect(tab.replies).to_have_count(1)
    expect(tab.page.get_by_text("Stopped.")).to_have_count(1)
    expect(versions(tab.replies.last)).to_contain_text("2 / 2")


def test_another_tab_follows_when_a_branch_is_chosen(desk: Desk, model: FakeEndpoint) -> None:
    """TAB-5."""
    tab = desk.sign_in()
    model.answers(words("One way."))
    tab.converse("Which way?", "One way.")
    other = desk.duplicate(tab)
    expect(other.replies.last).to_contain_text("One way.")
    model.answers(words("Another way."))
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(other.replies.last).to_contain_text("Another way.")
    other.is_idle()
    expect(other.replies).to_have_count(1)
    expect(versions(other.replies.last)).to_contain_text("2 / 2")
    versions(other.replies.last).get_by_role("button", name="Previous version").click()
    expect(tab.replies.last).to_contain_text("One way.")


def test_iso_4_what_is_not_on_the_current_branch_is_not_recalled(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    edit(tab, 0, "Roses need water.")
    expect(tab.questions).to_have_text(["Roses need water."])
    tab.is_idle()
    tab.new_chat()
    model.asked.clear()
    tab.converse("What is the gate code?", "Noted.")
    assert "4417" not in str(model.asked[0].body)
