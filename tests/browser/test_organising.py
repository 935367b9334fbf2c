"""Keeping order among many conversations: days, pins, the archive, many at once; a conversation's own model and prompt; exports."""

import json
from pathlib import Path

from playwright.sync_api import expect

from support.clients.browser import Desk, Tab
from support.clients.chat_client import Gate, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant
from support.waiting import eventually


def furnish(tenant: Tenant) -> str:
    garden = tenant.new_project("Garden")
    for name in ("gate", "beans", "roses"):
        tenant.new_session(name, project_id=garden, title=f"The {name}")
        tenant.say(name, f"Words about the {name}.")
    return garden


def test_conversations_stand_under_their_days(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    expect(tab.place("Garden").get_by_role("heading", name="Today")).to_be_visible()
    title = tab.row("The gate").locator(".session-title")
    expect(title).to_have_attribute("title", "The gate")


def test_a_pinned_conversation_is_on_top_in_every_tab(desk: Desk) -> None:
    furnish(desk.tenant)
    tab, other = desk.sign_in(), desk.tab()
    tab.menu("The gate", "Pin")
    for each in (tab, other):
        expect(each.place("Pinned").get_by_role("link", name="The gate")).to_be_visible()
        expect(each.place("Garden").get_by_role("link", name="The gate")).to_have_count(0)
    tab.menu("The gate", "Unpin")
    expect(other.place("Garden").get_by_role("link", name="The gate")).to_be_visible()


def test_an_archived_conversation_is_out_of_the_way_and_still_recalled(desk: Desk, model: FakeEndpoint) -> None:
    furnish(desk.tenant)
    desk.tenant.say("gate", "To get in, the code is 4417.")
    tab = desk.sign_in()
    tab.menu("The gate", "Archive")
    expect(tab.place("Garden").get_by_role("link", name="The gate")).to_have_count(0)
    tab.place("Archived").get_by_role("button", name="Archived").click()
    expect(tab.place("Archived")).to_contain_text("still remembered")
    expect(tab.place("Archived").get_by_role("link", name="The gate")).to_be_visible()
    tab.choose_place("Garden")
    tab.converse("What is the code to get in?", "Noted.")
    assert "4417" in str(model.asked[-1].body)
    tab.menu("The gate", "Unarchive")
    expect(tab.place("Garden").get_by_role("link", name="The gate")).to_be_visible()


def test_many_conversations_are_deleted_at_once_and_brought_back(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    select(tab, "The gate", "The beans")
    bar = tab.page.get_by_role("toolbar", name="Selected conversations")
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Delete").click()
    expect(tab.row("The gate")).to_have_count(0)
    tab.page.get_by_role("button", name="Undo").click()
    expect(tab.row("The gate")).to_be_visible()
    expect(tab.row("The beans")).to_be_visible()
    select(tab, "The gate", "The beans")
    bar.get_by_role("button", name="Delete").click()
    expect(tab.page.get_by_role("button", name="Undo")).to_have_count(0)
    expect(tab.row("The roses")).to_be_visible()
    # One request for each: the toast goes with the first answer.
    sessions = desk.tenant.admin
    eventually(lambda: [each["external_id"] for each in sessions.everything("/v1/sessions")] == ["roses"], seconds=10)


def select(tab: Tab, *titles: str) -> None:
    tab.page.get_by_role("button", name="Select conversations").click()
    for title in titles:
        tab.sidebar.get_by_label(title).check()


def test_a_conversation_has_its_own_model_and_prompt(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    tab.page.get_by_role("button", name="Model: fake").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Model").select_option("other")
    dialog.get_by_label("System prompt").fill("You are a gardener.")
    expect(dialog).to_contain_text("in this conversation the model will receive no memory")
    dialog.get_by_label("System prompt").fill("You are a gardener. {MEMORY.CONTEXT}")
    expect(dialog).not_to_contain_text("will receive no memory.")
    dialog.get_by_role("button", name="Save").click()
    expect(tab.page.get_by_role("button", name="Model: other")).to_be_visible()
    tab.converse("How do roses grow?", "Noted.")
    asked = next(each for each in model.asked if "How do roses grow?" in str(each.body))
    assert asked.body["model"] == "other"
    assert "You are a gardener." in asked.instructions
    tab.new_chat()
    expect(tab.page.get_by_role("button", name="Model: fake")).to_be_visible()


def test_a_conversation_that_was_set_up_first_gets_its_title_with_its_first_message(desk: Desk) -> None:
    """It stayed “Untitled chat”: it existed already, so its first message was not taken for the first."""
    tab = desk.sign_in()
    set_prompt(tab, "You are a gardener. {MEMORY.CONTEXT}")
    expect(tab.row("Untitled chat")).to_be_visible()
    tab.converse("How do roses grow?", "Noted.")
    expect(tab.row("How do roses grow?")).to_be_visible()
    tab.converse("And beans?", "Noted.")
    stored = desk.tenant.admin.get(f"/v1/sessions/{tab.session}").json()
    assert stored["title"] == "How do roses grow?"


def test_a_title_given_before_the_first_message_stays(desk: Desk) -> None:
    tab = desk.sign_in()
    set_prompt(tab, "You are a gardener. {MEMORY.CONTEXT}")
    tab.menu("Untitled chat", "Rename")
    tab.page.get_by_role("textbox", name="Title").fill("The garden")
    tab.page.keyboard.press("Enter")
    expect(tab.row("The garden")).to_be_visible()
    tab.converse("How do roses grow?", "Noted.")
    expect(tab.row("The garden")).to_be_visible()
    assert desk.tenant.admin.get(f"/v1/sessions/{tab.session}").json()["title"] == "The garden"


def test_the_model_names_a_conversation_after_its_first_reply(desk: Desk, model: FakeEndpoint) -> None:
    gate = Gate()
    model.title = words("“Roses that climb”", gate=gate)
    tab, other = desk.sign_in(), desk.tab()
    tab.converse("How do roses grow up a wall?", "Noted.")
    for each in (tab, other):
        expect(each.row("How do roses grow up a wall?")).to_be_visible()
    gate.open()
    for each in (tab, other):
        expect(each.row("Roses that climb")).to_be_visible()
    tab.converse("And beans?", "Noted.")
    assert len(model.titled) == 1
    assert "How do roses grow up a wall?" in model.titled[0].question


def test_a_model_without_a_title_leaves_the_first_words(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    tab.converse("How do roses grow up a wall?", "Noted.")
    tab.converse("And beans?", "Noted.")
    assert len(model.titled) == 1
    expect(tab.row("How do roses grow up a wall?")).to_be_visible()
    expect(tab.page.get_by_role("alert")).to_have_count(0)


def test_a_title_that_a_person_gives_meanwhile_stays(desk: Desk, model: FakeEndpoint) -> None:
    gate = Gate()
    model.title = words("Roses that climb", gate=gate)
    tab = desk.sign_in()
    tab.converse("How do roses grow up a wall?", "Noted.")
    tab.menu("How do roses grow up a wall?", "Rename")
    tab.page.get_by_role("textbox", name="Title").fill("The garden")
    with tab.page.expect_response(lambda answer: answer.url.endswith("/title")):
        tab.page.keyboard.press("Enter")
        expect(tab.row("The garden")).to_be_visible()
        gate.open()
    expect(tab.row("The garden")).to_be_visible()
    assert desk.tenant.admin.get(f"/v1/sessions/{tab.session}").json()["title"] == "The garden"


def set_prompt(tab: Tab, prompt: str) -> None:
    tab.page.get_by_role("button", name="Model: fake").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("System prompt").fill(prompt)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)


def test_a_conversation_is_exported_to_read_and_to_work_with(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words("Water **them**."))
    tab.converse("How do roses grow?", "them")
    title = "How do roses grow?"
    expect(tab.row(title)).to_be_visible()
    with tab.page.expect_download() as download:
        tab.menu(title, "Export as Markdown")
    assert download.value.suggested_filename == "How do roses grow.md"
    text = Path(download.value.path()).read_text("utf-8")
    assert text.startswith("# How do roses grow?\n\n## You · ")
    assert "Water **them**." in text
    with tab.page.expect_download() as download:
        tab.menu(title, "Export as JSON")
    exported = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert exported["session"]["external_id"] == tab.session
    assert [each["content"] for each in exported["messages"]] == ["How do roses grow?", "Water **them**."]


def test_the_end_of_a_reply_is_notified_only_where_it_was_asked_for(desk: Desk, model: FakeEndpoint) -> None:
    desk.context.grant_permissions(["notifications"])
    desk.context.add_init_script(
        """window.shown = [];
        window.Notification = class extends EventTarget {
            static permission = "granted";
            static requestPermission = async () => "granted";
            constructor(title, options) { super(); window.shown.push([title, options.body]); }
        };
        Object.defineProperty(document, "hidden", {get: () => true});"""
    )
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    assert tab.page.evaluate("window.shown") == []
    tab.page.goto("/settings/browser")
    tab.page.get_by_label("Notify me when a reply finishes in a hidden tab").check()
    tab.page.get_by_role("link", name="Cloister").click()
    expect(tab.replies).to_have_count(1)
    model.answers(words("The secret reply."))
    tab.converse("And now?", "secret")
    ((title, body),) = tab.page.evaluate("window.shown")
    assert title == "Reply finished"
    assert "secret" not in body
