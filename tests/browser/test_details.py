"""Details that were wrong: the picker of models, badges without a receipt, chips of memories, warnings, and deleting a version."""

import json
import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, Locator, expect

from support.clients.browser import NARROW, WIDE, Desk, Tab
from support.clients.chat_client import messages, words
from support.databases.engines import sqlite_engine
from support.databases.folders import quick_folder
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import serving

# Not before the message is where it will stay.
SCROLL_AWAY = """list => new Promise((done) => setTimeout(() => {
    list.scrollTo({top: list.scrollHeight});
    done();
}, 300))"""
DROPPED = """() => {
    const data = new DataTransfer();
    data.items.add(new File(["The gate code is 4417."], "notes.txt", {type: "text/plain"}));
    return data;
}"""
DROP = """(element, dataTransfer) =>
    !element.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}))"""


def furnish(desk: Desk) -> str:
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("cello", project_id=garden, title="The cello")
    desk.tenant.say("cello", "My neighbour Anna plays the cello.")
    desk.tenant.admin.post("/v1/sessions/cello/extract")
    return garden


def ask(tab: Tab, question: str) -> Locator:
    tab.choose_place("Garden")
    tab.converse(question, "Noted.")
    tab.replies.last.locator(".recalled-button").click()
    return tab.page.get_by_role("complementary", name="Recalled")


def test_the_picker_lists_chat_models_only(desk: Desk) -> None:
    """The embedder was among them."""
    tab = desk.sign_in()
    tab.page.get_by_role("button", name="Model:").click()
    options = tab.page.get_by_role("dialog").locator("select option")
    expect(options).to_have_text(["Server’s default: fake", "fake", "other"])


@pytest.fixture
def bare_desk(browser: Browser) -> Generator[Desk]:
    """A browser in front of a server that has no model."""
    with quick_folder() as folder:
        engine = sqlite_engine(folder / "data")
        with engine.closing, serving(engine.services()) as server:
            tenant = server.new_tenant()
            context = browser.new_context(viewport=WIDE, base_url=tenant.address)
            made = Desk(context=context, tenant=tenant)
            yield made
            context.close()
            assert (made.strayed, made.trouble) == ([], [])


def test_without_a_model_the_picker_says_so(bare_desk: Desk) -> None:
    """It said “Default” and the name of the embedder."""
    tab = bare_desk.sign_in()
    tab.page.get_by_role("button", name="Model:").click()
    options = tab.page.get_by_role("dialog").locator("select option")
    expect(options).to_have_text(["No model connected"])


def test_a_reply_without_a_receipt_has_no_badge(desk: Desk) -> None:
    """It said “Recalled”, and its drawer was an error."""
    desk.tenant.new_session("old", title="Imported")
    desk.tenant.say("old", "What is a cello?")
    desk.tenant.admin.post("/v1/sessions/old/messages", {"role": "assistant", "content": "A low fiddle."})
    tab = desk.sign_in()
    tab.open("Imported")
    expect(tab.replies.last).to_contain_text("A low fiddle.")
    expect(tab.replies.last.get_by_role("button", name="Copy the reply")).to_have_count(1)
    expect(tab.page.locator(".recalled-button")).to_have_count(0)


def test_the_chip_of_a_memory_opens_at_the_message_it_came_from(desk: Desk) -> None:
    furnish(desk)
    (said,) = messages(desk.tenant, "cello")
    tab = desk.sign_in()
    card = ask(tab, "What does Anna play?").get_by_role("listitem").filter(has_text="memory").first
    card.get_by_role("link", name="The cello").click()
    expect(tab.page.locator(f"#{said['id']}.found")).to_be_visible()


def test_a_card_that_was_pinned_offers_to_unpin_it(desk: Desk) -> None:
    furnish(desk)
    tab = desk.sign_in()
    card = ask(tab, "What does Anna play?").get_by_role("listitem").filter(has_text="memory").first
    card.get_by_role("button", name="Actions").click()
    tab.page.get_by_role("menuitem", name="Pin", exact=True).click()
    expect(tab.page.get_by_text("Pinned. The model is given it with every question.")).to_be_visible()
    card.get_by_role("button", name="Actions").click()
    expect(tab.page.get_by_role("menuitem", name="Unpin", exact=True)).to_be_visible()


def test_saving_a_prompt_of_a_project_without_placeholders_warns(desk: Desk) -> None:
    furnish(desk)
    tab = desk.sign_in()
    tab.page.goto(f"{desk.tenant.address}/settings/projects")
    tab.page.get_by_role("listitem").filter(has_text="Garden").get_by_role("button", name="Edit").click()
    dialog = tab.page.get_by_role("dialog", name="Edit project")
    dialog.get_by_label("System prompt").fill("You are a gardener.")
    expect(dialog).to_contain_text("in this project the model will receive no memory")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(tab.page.locator(".toast")).to_contain_text("has no placeholder")


def test_a_hit_in_a_reply_opens_at_the_reply(desk: Desk) -> None:
    """It opened at the question."""
    desk.tenant.new_session("stars", title="The sky")
    desk.tenant.say("stars", "Which star is the brightest?")
    desk.tenant.admin.post(
        "/v1/sessions/stars/messages", {"role": "assistant", "content": "Sirius, in the Greater Dog."}
    )
    reply = messages(desk.tenant, "stars")[-1]["id"]
    tab = desk.sign_in()
    tab.page.get_by_label("Search conversations").fill("Sirius Greater Dog")
    tab.page.get_by_role("region", name="Search results").get_by_role("link", name="Sirius").click()
    expect(tab.page.locator(f"#{reply}.found")).to_be_visible()


def test_a_file_that_could_not_be_stored_is_still_attached(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.page.route("**/messages/batch", lambda route: route.abort())
    field = tab.page.locator("input[type=file]")
    field.set_input_files([{"name": "notes.txt", "mimeType": "text/plain", "buffer": b"The gate code is 4417."}])
    attached = tab.page.get_by_role("list", name="Attachments")
    expect(attached).to_contain_text("notes.txt")
    tab.say("What does it say?")
    expect(tab.page.get_by_role("alert")).to_be_visible()
    expect(tab.composer).to_have_value("What does it say?")
    expect(attached).to_contain_text("notes.txt")
    tab.page.unroute("**/messages/batch")
    tab.composer.press("Enter")
    expect(tab.replies.last).to_contain_text("Noted.")
    expect(attached).to_have_count(0)


def test_a_version_is_deleted_with_what_followed_it_and_the_other_is_shown(desk: Desk, model: FakeEndpoint) -> None:
    """There was no way to delete one."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    model.answers(words("Corrected."))
    first = tab.page.get_by_role("article", name="You said").first
    first.hover()
    first.get_by_role("button", name="Edit").click()
    tab.page.get_by_label("Edit your message").fill("The gate code is 5528.")
    tab.page.get_by_label("Edit your message").press("Enter")
    expect(tab.replies.last).to_contain_text("Corrected.")
    tab.is_idle()
    first.hover()
    first.get_by_role("button", name="Delete").click()
    dialog = tab.page.get_by_role("dialog", name="Delete this version")
    expect(dialog).to_contain_text("with the 1 message that followed it")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog).to_have_count(0)
    expect(tab.questions).to_have_text(["The gate code is 4417."])
    expect(first.get_by_role("group", name="Versions")).to_have_count(0)
    every = desk.tenant.admin.everything(f"/v1/sessions/{tab.session}/messages?branch=all")
    assert [each["content"] for each in every] == ["The gate code is 4417.", "Noted."]


def test_one_message_is_deleted_and_the_rest_stays(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.converse("The cellar's is 9.", "Noted.")
    tab.replies.first.hover()
    tab.replies.first.get_by_role("button", name="Delete").click()
    tab.page.get_by_role("dialog", name="Delete this message").get_by_role("button", name="Delete").click()
    expect(tab.replies).to_have_count(1)
    expect(tab.questions).to_have_count(2)
    said = json.dumps([each["content"] for each in messages(desk.tenant, tab.session)])
    assert said == json.dumps(["The gate code is 4417.", "The cellar's is 9.", "Noted."])


def long_talk(desk: Desk, pairs: int, session: str = "long") -> list[str]:
    """A conversation of so many questions and replies; the ids of its messages."""
    desk.tenant.admin.post("/v1/sessions", {"external_id": session, "title": "A long one"})
    batch = [
        {"role": role, "content": f"{role} line number {number} of this talk."}
        for number in range(pairs)
        for role in ("user", "assistant")
    ]
    for first in range(0, len(batch), 50):
        desk.tenant.admin.made(f"/v1/sessions/{session}/messages/batch", {"messages": batch[first : first + 50]})
    return [each["id"] for each in messages(desk.tenant, session)]


def test_an_old_message_that_is_deleted_leaves_the_screen(desk: Desk) -> None:
    """What was loaded before the last page stayed, whoever deleted it."""
    ids = long_talk(desk, 50)
    tab = desk.sign_in()
    tab.open("A long one")
    said = tab.page.locator("article.message")
    expect(said).to_have_count(100)
    old = tab.page.locator(f"#{ids[4]}")
    old.hover()
    old.get_by_role("button", name="Delete").click()
    tab.page.get_by_role("dialog", name="Delete this message").get_by_role("button", name="Delete").click()
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    expect(old).to_have_count(0)
    expect(said).to_have_count(99)
    assert desk.tenant.admin.delete(f"/v1/messages/{ids[7]}").status_code == 200
    expect(tab.page.locator(f"#{ids[7]}")).to_have_count(0)
    expect(said).to_have_count(98)


def test_what_is_edited_in_the_middle_of_a_conversation_shows_its_new_branch(desk: Desk) -> None:
    """The old branch stayed on the screen, as its end was not loaded."""
    ids = long_talk(desk, 400)
    tab = desk.sign_in()
    # Newer messages are loaded while the page is idle: they are kept away.
    tab.page.route(re.compile("/messages\\?cursor="), lambda route: route.abort())
    tab.page.goto(f"/c/long#{ids[200]}")
    question = tab.page.locator(f"#{ids[200]}")
    expect(question).to_be_visible()
    question.hover()
    question.get_by_role("button", name="Edit").click()
    tab.page.get_by_label("Edit your message").fill("Said in other words.")
    tab.page.get_by_label("Edit your message").press("Enter")
    expect(tab.replies.last).to_contain_text("Noted.")
    tab.is_idle()
    expect(tab.questions.last).to_have_text("Said in other words.")
    expect(tab.replies.last).to_contain_text("Noted.")
    expect(question).to_have_count(0)


def test_a_click_outside_a_dialog_loses_nothing_that_was_typed(desk: Desk) -> None:
    """It closed, also when a selection was only dragged out of a field."""
    tab = desk.sign_in()
    tab.page.goto("/settings")
    tab.page.get_by_role("button", name="New project").click()
    dialog = tab.page.get_by_role("dialog", name="New project")
    name = dialog.get_by_label("Name")
    box = name.bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + 20, box["y"] + 5)
    tab.page.mouse.down()
    tab.page.mouse.move(5, 5)
    tab.page.mouse.up()
    expect(dialog).to_be_visible()
    name.fill("Garden")
    tab.page.mouse.click(5, 5)
    expect(name).to_have_value("Garden")
    tab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    tab.page.get_by_role("button", name="New project").click()
    expect(dialog).to_be_visible()
    tab.page.mouse.click(5, 5)
    expect(dialog).to_have_count(0)

    tab.page.goto("/settings/keys")
    tab.page.get_by_role("button", name="New key").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("backup")
    dialog.get_by_role("button", name="Create").click()
    dialog = tab.page.get_by_role("dialog", name="Your new key")
    expect(dialog).to_be_visible()
    tab.page.mouse.click(5, 5)
    expect(dialog).to_be_visible()


def test_a_file_that_is_dropped_anywhere_in_a_conversation_is_attached(desk: Desk) -> None:
    """Next to the field the browser opened it, and the console was gone."""
    tab = desk.sign_in()
    for target, attached in ((".messages", 1), (".sidebar", 1), (".composer", 2)):
        dropped = tab.page.evaluate_handle(DROPPED)
        is_kept = tab.page.locator(target).evaluate(DROP, dropped)
        assert is_kept, f"the browser would open a file that is dropped on {target}"
        expect(tab.page.get_by_role("list", name="Attachments").get_by_role("listitem")).to_have_count(attached)


def test_the_same_hit_leads_to_its_message_again(desk: Desk) -> None:
    """It worked once."""
    ids = long_talk(desk, 50)
    tab = desk.sign_in()
    for _ in range(2):
        tab.page.get_by_label("Search conversations").fill("line number 3")
        tab.page.get_by_role("region", name="Search results").get_by_role("link", name="line number 3 of").first.click()
        expect(tab.page.locator(f"#{ids[6]}")).to_be_in_viewport()
        tab.page.locator(".messages").evaluate(SCROLL_AWAY)
        expect(tab.page.locator(f"#{ids[6]}")).not_to_be_in_viewport()


def test_on_a_phone_a_chip_of_the_same_conversation_closes_the_drawer(desk: Desk) -> None:
    """It stayed open over the message that the chip had opened."""
    desk.tenant.new_session("long", title="A long one")
    desk.tenant.say("long", "The gate code is 4417.")
    long_talk(desk, 60)
    tab = desk.sign_in()
    tab.open("A long one")
    tab.say("What is the gate code?")
    expect(tab.replies.last).to_contain_text("Noted.")
    tab.is_idle()
    tab.page.set_viewport_size(NARROW)
    tab.replies.last.locator(".recalled-button").click()
    drawer = tab.page.get_by_role("complementary", name="Recalled")
    drawer.locator("a.source").first.click()
    expect(drawer).to_have_count(0)
    expect(tab.questions.first).to_be_in_viewport()


def test_back_leads_to_a_new_chat_that_was_entered_by_the_name_of_the_product(desk: Desk) -> None:
    """That entry of the history did not say which new chat it was."""
    desk.tenant.new_session("gate", title="The gate")
    tab = desk.sign_in()
    tab.page.get_by_role("link", name="Settings").click()
    tab.page.get_by_role("link", name="Cloister").click()
    tab.composer.fill("Half a thought")
    new = tab.session
    tab.open("The gate")
    expect(tab.composer).to_have_value("")
    tab.page.go_back()
    expect(tab.composer).to_have_value("Half a thought")
    assert tab.session == new


def test_escape_leaves_the_editor_and_not_the_window_around_it(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.page.get_by_role("link", name="Settings").click()
    tab.page.get_by_role("button", name="Conversation", exact=True).click()
    window = tab.page.get_by_role("dialog", name="Conversation")
    question = window.get_by_role("article", name="You said")
    question.hover()
    question.get_by_role("button", name="Edit").click()
    tab.page.get_by_label("Edit your message").press("Escape")
    expect(question).to_be_visible()
    expect(window).to_be_visible()
