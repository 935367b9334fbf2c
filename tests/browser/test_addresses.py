"""Every page has an address: Back and Forward lead to where one was, and an address that leads nowhere says so."""

import re

from playwright.sync_api import expect

from support.clients.browser import Desk, Tab
from support.clients.chat_client import words
from support.servers.fake_endpoint import FakeEndpoint


def address(tab: Tab) -> str:
    return str(tab.page.evaluate("location.pathname + location.hash"))


def test_back_and_forward_lead_through_conversations(desk: Desk) -> None:
    """Every conversation was at `/`, and Back left the console."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    first = tab.session
    assert address(tab) == f"/c/{first}"
    tab.new_chat()
    expect(tab.questions).to_have_count(0)
    assert address(tab) == "/"
    tab.converse("Roses need water.", "Noted.")
    second = tab.session
    assert address(tab) == f"/c/{second}"
    tab.page.get_by_role("link", name="Settings").click()
    expect(tab.page.get_by_role("heading", name="Settings")).to_be_visible()
    tab.page.go_back()
    expect(tab.questions).to_have_text(["Roses need water."])
    assert tab.session == second
    tab.page.go_back()
    expect(tab.questions).to_have_text(["The gate code is 4417."])
    assert tab.session == first
    tab.page.go_forward()
    expect(tab.questions).to_have_text(["Roses need water."])
    tab.page.reload()
    expect(tab.questions).to_have_text(["Roses need water."])
    assert tab.session == second


def test_back_leads_to_a_new_chat_that_was_left_with_what_was_typed_in_it(desk: Desk) -> None:
    desk.tenant.new_session("gate", title="The gate")
    tab = desk.sign_in()
    tab.composer.fill("Half a thought")
    new = tab.session
    tab.open("The gate")
    expect(tab.composer).to_have_value("")
    tab.page.go_back()
    expect(tab.composer).to_have_value("Half a thought")
    assert tab.session == new


def test_a_missing_conversation_says_so_and_is_not_begun_under_that_id(desk: Desk) -> None:
    """It opened a blank new chat under the id that was asked for."""
    desk.sign_in()
    for path in ("/c/no-such-chat", "/?session=no-such-chat"):
        tab = desk.tab(path)
        expect(tab.page.get_by_text("There is no conversation at this address.")).to_be_visible()
        expect(tab.composer).to_be_disabled()
        tab.page.get_by_role("main").get_by_role("button", name="New chat").click()
        expect(tab.composer).to_be_enabled()
        assert tab.session != "no-such-chat"


def test_iso_4_the_address_of_anothers_conversation_is_like_a_missing_one(desk: Desk) -> None:
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("diary", project_id=None, title="Rain")
    desk.tenant.say("diary", "It rained all day.")
    reader = desk.tenant.new_key("read", "write", project_id=garden, confined=True)
    desk.sign_in(reader)
    tab = desk.tab("/c/diary")
    expect(tab.page.get_by_text("There is no conversation at this address.")).to_be_visible()
    expect(tab.page.get_by_text("It rained")).to_have_count(0)


def test_an_unknown_page_says_so(desk: Desk) -> None:
    desk.sign_in()
    tab = desk.tab("/p/proj_1/nonsense")
    expect(tab.page.get_by_role("heading", name="Page not found")).to_be_visible()
    tab.page.get_by_role("button", name="Back to the chat").click()
    expect(tab.composer).to_be_enabled()


def test_ids_of_programs_are_addresses_too(desk: Desk) -> None:
    desk.tenant.new_session("a b/c?d#e", title="Odd")
    desk.tenant.say("a b/c?d#e", "Odd words.")
    tab = desk.sign_in()
    tab.open("Odd")
    expect(tab.questions).to_have_text(["Odd words."])
    tab.page.reload()
    expect(tab.questions).to_have_text(["Odd words."])
    assert tab.session == "a b/c?d#e"


def test_a_new_tab_logs_no_error_in_the_browsers_console(desk: Desk, model: FakeEndpoint) -> None:
    """A 404 for every new tab."""
    model.title = words("The gate")
    errors: list[str] = []
    desk.context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    expect(desk.tab("/c/no-such-chat").page.get_by_text("There is no conversation")).to_be_visible()
    assert errors == []


def test_a_search_hit_opens_at_its_message(desk: Desk) -> None:
    """Hits did not scroll to the message, and projects beyond twelve were not searched."""
    for number in range(13):
        desk.tenant.new_project(f"Project {number}")
    last = desk.tenant.new_project("The last one")
    desk.tenant.new_session("long", project_id=last, title="A long one")
    for number in range(30):
        desk.tenant.say("long", f"Line {number} is of no interest whatsoever, but it fills the page with its words.")
    desk.tenant.say("long", "The gate code is 4417.")
    for number in range(60):
        desk.tenant.say("long", f"Then line {number} says nothing either, and goes on to fill the page with words.")
    tab = desk.sign_in()
    tab.page.get_by_label("Search conversations").fill("gate code")
    hit = tab.page.get_by_role("region", name="Search results").get_by_role("link").filter(has_text="4417")
    hit.click()
    expect(tab.questions.filter(has_text="4417")).to_be_in_viewport()
    expect(tab.page).to_have_url(re.compile(r"/c/long#msg_"))
    tab.page.reload()
    expect(tab.questions.filter(has_text="4417")).to_be_in_viewport()


def test_nonsense_finds_nothing_strong(desk: Desk) -> None:
    desk.tenant.new_session("gate", title="The gate")
    desk.tenant.say("gate", "The gate code is 4417.")
    tab = desk.sign_in()
    tab.page.get_by_label("Search conversations").fill("zxqv nonsense 8812")
    expect(tab.page.get_by_role("region", name="Search results")).to_contain_text("Nothing found.")
