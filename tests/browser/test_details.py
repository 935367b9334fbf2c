"""Details that were wrong: the picker of models, badges without a receipt, chips of memories, warnings, and deleting a version."""

import json
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, Locator, expect

from support.clients.browser import WIDE, Desk, Tab
from support.clients.chat_client import messages, words
from support.databases.engines import sqlite_engine
from support.databases.folders import quick_folder
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import serving


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
    expect(options).to_have_text(["Default (fake)", "fake", "other"])


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
    expect(tab.page.get_by_text("Pinned: it is recalled every time.")).to_be_visible()
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
