"""What somebody who used the console without having read of it ran into, in the chat, its panel, dialogs and toasts."""

import re

from playwright.sync_api import FilePayload, Locator, expect

from support.clients.browser import NARROW, Desk, Slow, Tab
from support.clients.chat_client import Gate, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant

CUT_OFF = """() => [...document.querySelectorAll(".threshold *")]
    .map((each) => each.getBoundingClientRect()).filter((box) => box.right > innerWidth || box.left < 0).length"""
SHOWN = "each => each.checkVisibility({opacityProperty: true})"


def furnish(tenant: Tenant) -> str:
    garden = tenant.new_project("Garden")
    tenant.new_session("gate", project_id=garden, title="The gate")
    tenant.say("gate", "The gate code is 4417.")
    tenant.new_session("cello", project_id=garden, title="The cello")
    tenant.say("cello", "My neighbour Anna plays the cello.")
    tenant.admin.post("/v1/sessions/cello/extract")
    return garden


def panel(tab: Tab) -> Locator:
    return tab.page.get_by_role("complementary", name="Recalled")


def badge(tab: Tab, reply: int = -1) -> Locator:
    return tab.replies.nth(reply).locator(".recalled-button")


def stopped(tab: Tab, model: FakeEndpoint) -> None:
    """A reply is being written, and stopped after its first words."""
    gate = Gate()
    model.answers(words("One, two, ", "three.", gate=gate))
    tab.say("Count.")
    gate.let(1)
    expect(tab.replies.last).to_contain_text("One, two,")
    tab.page.get_by_role("button", name="Stop", exact=True).click()
    tab.is_idle()
    gate.open()
    expect(tab.replies.last).to_contain_text("Stopped.")


def test_a_long_name_of_a_project_does_not_cut_off_a_new_chat_on_a_phone(desk: Desk) -> None:
    """Not even one that is not chosen: the list of projects was as wide as the longest of them."""
    desk.tenant.new_project("Garden with a really long project name for phones")
    tab = desk.sign_in()
    tab.page.set_viewport_size(NARROW)
    tab.new_chat()
    expect(tab.page.get_by_text("This conversation stays in")).to_be_visible()
    assert tab.page.evaluate(CUT_OFF) == 0
    tab.choose_place("Garden with a really long project name for phones")
    expect(tab.page.get_by_text("Remembers other chats in Garden with")).to_be_visible()
    assert tab.page.evaluate(CUT_OFF) == 0


def test_a_dialog_begins_at_its_first_field_or_at_a_button_that_changes_nothing(desk: Desk) -> None:
    """It began at its Close button: what was typed was lost, and the first space closed it."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto(f"{desk.tenant.address}/settings/projects")
    tab.page.get_by_role("button", name="New project").click()
    tab.page.keyboard.type("The old orchard")
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("The old orchard")
    tab.page.keyboard.press("Escape")
    tab.menu("The gate", "Move")
    expect(dialog.get_by_role("radio", checked=True)).to_be_focused()
    tab.page.keyboard.press("Escape")
    tab.open("The gate")
    question = tab.page.get_by_role("article", name="You said").first
    question.hover()
    question.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()


def test_two_clicks_on_the_badge_of_a_reply_open_what_was_recalled_and_nothing_else(desk: Desk) -> None:
    """The panel moved the button that deletes the reply under the pointer."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.set_viewport_size({"width": 1_280, "height": 800})
    tab.choose_place("Garden")
    tab.converse("What is the gate code?", "Noted.")
    box = badge(tab).bounding_box()
    assert box is not None
    for x in range(int(box["x"]) + 4, int(box["x"] + box["width"]), 12):
        tab.page.mouse.dblclick(x, box["y"] + box["height"] / 2)
        expect(panel(tab)).to_be_visible()
        expect(tab.page.get_by_role("dialog")).to_have_count(0)
        tab.page.keyboard.press("Escape")
        expect(panel(tab)).to_have_count(0)


def test_a_stopped_reply_can_be_continued_also_after_a_reload(desk: Desk, model: FakeEndpoint) -> None:
    """Nothing said how."""
    tab = desk.sign_in()
    stopped(tab, model)
    tab.page.reload()
    model.answers(words("three, four."))
    tab.replies.last.get_by_role("button", name="Continue").click()
    expect(tab.replies).to_have_count(2)
    expect(tab.replies.last).to_contain_text("three, four.")
    tab.is_idle()
    expect(tab.questions).to_have_text(["Count.", "Continue."])
    sent = next(each.body["messages"] for each in model.asked if "Continue." in str(each.body))
    assert [each["content"].strip() for each in sent if each["role"] == "assistant"] == ["One, two,"]
    expect(tab.page.get_by_role("button", name="Continue")).to_have_count(0)


def test_a_stopped_reply_in_the_middle_of_what_is_loaded_cannot_be_continued(desk: Desk, model: FakeEndpoint) -> None:
    """What was sent for it came at the end of the conversation, under another reply."""
    desk.tenant.new_session("long", title="The long one")
    record(desk.tenant, "long", 60)
    tab = desk.sign_in()
    tab.open("The long one")
    stopped(tab, model)
    expect(tab.page.get_by_role("button", name="Continue")).to_have_count(1)
    record(desk.tenant, "long", 100)
    ids = [each["id"] for each in desk.tenant.admin.everything("/v1/sessions/long/messages")]
    page = desk.tenant.admin.get("/v1/sessions/long/messages", params={"around": ids[61], "limit": 60}).json()["data"]
    anchor = ids[61 - (ids.index(page[-1]["id"]) - 61)]  # what is loaded around it ends with the stopped reply
    network = Slow()
    tab.page.route("**/messages?*cursor=*", network.hold)
    tab.page.goto(f"/c/long#{anchor}")
    tab.page.reload()
    expect(tab.replies.last).to_contain_text("Stopped.")
    expect(tab.page.get_by_role("button", name="Continue")).to_have_count(0)
    network.let_go()


def record(tenant: Tenant, session: str, messages: int) -> None:
    said = [{"role": ("user", "assistant")[number % 2], "content": f"Message {number}."} for number in range(messages)]
    tenant.admin.made(f"/v1/sessions/{session}/messages/batch", {"messages": said})


def test_the_versions_of_an_edited_message_are_shown_without_a_pointer_on_it(desk: Desk) -> None:
    """The number and its arrows had no colour until the pointer was there."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.composer.press("ArrowUp")
    field = tab.page.get_by_label("Edit your message")
    field.fill("The gate code is 5528.")
    field.press("Enter")
    tab.is_idle()
    tab.composer.focus()
    tab.page.mouse.move(5, 5)
    shown = tab.page.get_by_role("article", name="You said").first
    expect(shown.get_by_role("group", name="Versions")).to_contain_text("2 / 2")
    assert shown.get_by_role("group", name="Versions").evaluate(SHOWN)
    assert tab.page.wait_for_function(
        "!document.querySelector('.question [aria-label=Edit]').checkVisibility({opacityProperty: true})"
    )


def test_the_panel_names_its_reply_and_follows_the_newest_unless_another_was_chosen(desk: Desk) -> None:
    """It still said that nothing was found while newer replies said what they were given."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.choose_place("Garden")
    tab.converse("Hello, how are you today?", "Noted.")
    badge(tab).click()
    expect(panel(tab)).to_contain_text("Reply to “Hello, how are you today?”")
    expect(panel(tab)).to_contain_text("Nothing related was found")
    tab.composer.focus()
    tab.converse("What is the gate code?", "Noted.")
    expect(panel(tab)).to_contain_text("Reply to “What is the gate code?”")
    expect(panel(tab)).to_contain_text("The gate code is 4417.")
    expect(tab.composer).to_be_focused()
    badge(tab, 0).click()
    expect(panel(tab)).to_contain_text("Nothing related was found")
    tab.converse("What does Anna play?", "Noted.")
    expect(panel(tab)).to_contain_text("Reply to “Hello, how are you today?”")
    badge(tab, 0).click()
    expect(panel(tab)).to_have_count(0)


def test_a_prompt_without_a_place_for_memory_is_warned_of_in_plain_words_that_fit(desk: Desk) -> None:
    """The server's own words, across the whole window."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.open("The gate")
    tab.page.get_by_role("button", name="Model:").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("System prompt").fill("You are a gardener.")
    dialog.get_by_role("button", name="Save").click()
    shown = tab.page.locator(".toast")
    expect(shown).to_contain_text("This prompt has no placeholder for memory")
    expect(shown).not_to_contain_text("system_prompt")
    box = shown.bounding_box()
    assert box is not None and box["width"] <= 36 * 16


def test_toasts_are_as_wide_as_their_words_and_leave_attachments_in_sight(desk: Desk) -> None:
    """Each was as wide as the widest, and they lay over the names of the files."""
    tab = desk.sign_in()
    notes = FilePayload(name="notes.txt", mimeType="text/plain", buffer=b"The gate code is 4417.")
    long, short = (
        FilePayload(name=name, mimeType="", buffer=b"\0\1")
        for name in ("a-long-name-of-a-file-that-is-no-text.bin", "b.bin")
    )
    tab.page.locator("input[type=file]").set_input_files([notes, long, short])
    toasts = tab.page.locator(".toast")
    expect(toasts).to_have_count(2)
    one, other = (toasts.nth(each).bounding_box() for each in range(2))
    chips = tab.page.get_by_role("list", name="Attachments").bounding_box()
    assert one and other and chips
    assert one["width"] > other["width"] + 50
    assert other["y"] + other["height"] <= chips["y"]


def test_pinning_says_what_it_does(desk: Desk) -> None:
    """“It is recalled every time” was not true of replies without a model."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.choose_place("Garden")
    tab.converse("What does Anna play?", "Noted.")
    badge(tab).click()
    card = panel(tab).get_by_role("listitem").filter(has_text="memory").first
    card.get_by_role("button", name="Actions").click()
    tab.page.get_by_role("menuitem", name="Pin", exact=True).click()
    expect(tab.page.locator(".toast")).to_contain_text("Pinned. The model is given it with every question.")


def test_who_spoke_is_whole_on_a_card_beside_a_long_title(desk: Desk) -> None:
    """The label “reply” was squeezed to “r…”."""
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("long", project_id=garden, title="A conversation of a very long name about the garden gate")
    desk.tenant.admin.post(
        "/v1/sessions/long/messages",
        {"role": "assistant", "content": "The gate code is 4417.", "created_at": "2023-11-14T12:00:00Z"},
    )
    tab = desk.sign_in()
    tab.choose_place("Garden")
    tab.converse("What is the gate code?", "Noted.")
    badge(tab).click()
    label = panel(tab).get_by_text("reply", exact=True).first
    expect(label).to_be_visible()
    assert label.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_an_open_chat_that_is_deleted_offers_nothing_and_keeps_no_id_as_its_title(desk: Desk) -> None:
    """Its messages could be edited while the deletion could be undone, and its raw id became its title."""
    garden = furnish(desk.tenant)
    desk.tenant.new_session("log:2026-11-19", project_id=garden, title="Of a log")
    desk.tenant.say("log:2026-11-19", "Hello.")
    tab = desk.sign_in()
    tab.open("Of a log")
    question = tab.page.get_by_role("article", name="You said").first
    expect(question).to_be_visible()
    tab.menu("Of a log", "Delete")
    expect(question.get_by_role("button", name="Edit")).to_be_disabled()
    expect(tab.composer).to_be_disabled()
    expect(tab.page.get_by_text("This conversation was deleted.")).to_be_visible()
    expect(tab.page).to_have_title(re.compile("^Deleted chat"))


def test_the_version_of_a_reply_that_was_chosen_is_shown_again_with_its_question(
    desk: Desk, model: FakeEndpoint
) -> None:
    """The newest one was shown instead."""
    tab = desk.sign_in()
    model.answers(words("One way."))
    tab.converse("Which way?", "One way.")
    model.answers(words("Another way."))
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(tab.replies.last).to_contain_text("Another way.")
    tab.is_idle()
    tab.replies.last.get_by_role("button", name="Previous version").click()
    expect(tab.replies.last).to_contain_text("One way.")
    tab.composer.press("ArrowUp")
    field = tab.page.get_by_label("Edit your message")
    field.fill("Where to?")
    model.answers(words("Home."))
    field.press("Enter")
    expect(tab.replies.last).to_contain_text("Home.")
    tab.is_idle()
    tab.page.get_by_role("article", name="You said").get_by_role("button", name="Previous version").click()
    expect(tab.questions).to_have_text(["Which way?"])
    expect(tab.replies.last).to_contain_text("One way.")
    expect(tab.replies.last.get_by_role("group", name="Versions")).to_contain_text("1 / 2")


def test_what_was_recalled_in_a_project_that_was_deleted_is_not_called_another_projects(desk: Desk) -> None:
    """“3 items from another project”, although all of it is in no project now."""
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.choose_place("Garden")
    tab.converse("What is the gate code?", "Noted.")
    assert desk.tenant.admin.patch(f"/v1/sessions/{tab.session}", {"project_id": None}).is_success
    assert desk.tenant.admin.patch("/v1/sessions/gate", {"project_id": None}).is_success
    assert desk.tenant.admin.patch("/v1/sessions/cello", {"project_id": None}).is_success
    assert desk.tenant.admin.delete(f"/org/projects/{garden}").is_success
    badge(tab).click()
    expect(panel(tab)).to_contain_text("This chat was moved since, or its project was changed or deleted.")
    expect(panel(tab)).not_to_contain_text("another project")


def test_images_are_not_offered_where_the_model_takes_none(desk: Desk) -> None:
    tab = desk.sign_in()
    expect(tab.page.get_by_title("Attach a text or PDF file")).to_be_visible()
    assert "image" not in (tab.page.locator("input[type=file]").get_attribute("accept") or "")
