"""One conversation per tab: TAB-1 to TAB-6, in real tabs of one browser."""

from playwright.sync_api import expect

from support.clients.browser import Desk, Slow
from support.clients.chat_client import Gate, words
from support.servers.fake_endpoint import FakeEndpoint


def test_tab_1_two_tabs_hold_two_sessions_and_nothing_of_one_shows_in_the_other(desk: Desk) -> None:
    one, other = desk.sign_in(), desk.tab()
    one.converse("The gate code is 4417.", "Noted.")
    other.converse("Roses need water.", "Noted.")
    assert one.session != other.session
    expect(one.questions).to_have_text(["The gate code is 4417."])
    expect(other.questions).to_have_text(["Roses need water."])


def test_tab_2_refresh_navigation_and_the_window_over_a_page_keep_the_tabs_session(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    stored = tab.session
    tab.page.reload()
    expect(tab.questions).to_have_text(["The gate code is 4417."])
    tab.page.get_by_role("link", name="Settings").click()
    tab.page.get_by_role("button", name="Conversation", exact=True).click()
    over = tab.page.get_by_role("dialog", name="Conversation")
    expect(over.locator(".bubble")).to_have_text(["The gate code is 4417."])
    tab.converse("And the cellar's is 9.", "Noted.")
    over.get_by_role("button", name="Close").first.click()
    tab.page.get_by_role("link", name="Cloister").click()
    expect(tab.questions).to_have_text(["The gate code is 4417.", "And the cellar's is 9."])
    tab.page.go_back()
    tab.page.go_forward()
    expect(tab.questions).to_have_count(2)
    assert tab.session == stored


def test_tab_3_new_chat_gives_a_new_session_and_an_empty_context(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    stored = tab.session
    tab.new_chat()
    expect(tab.questions).to_have_count(0)
    assert tab.session != stored
    tab.choose_place("No project")
    model.asked.clear()
    tab.converse("What is the gate code?", "Noted.")
    assert "4417" not in str(model.asked[0].body)


def test_tab_4_opening_a_past_session_makes_it_this_tabs_only(desk: Desk) -> None:
    one = desk.sign_in()
    one.converse("The gate code is 4417.", "Noted.")
    other = desk.tab()
    other.converse("Roses need water.", "Noted.")
    other.open("The gate code is 4417.")
    expect(other.questions).to_have_text(["The gate code is 4417."])
    one.new_chat()
    expect(one.questions).to_have_count(0)
    expect(other.questions).to_have_text(["The gate code is 4417."])
    third = desk.tab()
    expect(third.composer).to_be_enabled()
    assert third.session not in (one.session, other.session)


def test_tab_5_a_duplicated_tab_stays_in_step_and_leaves_with_new_chat(desk: Desk, model: FakeEndpoint) -> None:
    first = desk.sign_in()
    first.converse("The gate code is 4417.", "Noted.")
    second = desk.duplicate(first)
    expect(second.questions).to_have_text(["The gate code is 4417."])
    assert second.session == first.session
    gate = Gate()
    model.answers(words("In ", "step.", gate=gate))
    first.say("Are we in step?")
    gate.let(1)
    expect(second.questions).to_have_count(2)
    expect(second.replies.last).to_contain_text("In")
    second.say("Me too!")
    gate.open()
    expect(second.replies.last).to_contain_text("In step.")
    second.is_idle()
    expect(second.composer).to_have_value("Me too!")
    expect(first.questions).to_have_count(2)
    second.new_chat()
    second.converse("Elsewhere now.", "In step.")
    expect(first.questions).to_have_count(2)


def test_tab_5_two_tabs_cannot_interleave_and_the_second_is_told(desk: Desk, model: FakeEndpoint) -> None:
    first = desk.sign_in()
    first.converse("The gate code is 4417.", "Noted.")
    gate = Gate()
    model.answers(words("One at ", "a time.", gate=gate))
    second = desk.duplicate(first)
    expect(second.questions).to_have_count(1)
    # It hears of the other's turn, but cannot read of it before it has spoken itself.
    slow = Slow()
    second.page.route("**/messages?*", slow.hold)
    first.say("First.")
    gate.let(1)
    expect(first.replies.last).to_contain_text("One at")
    second.say("Second.")
    expect(second.page.get_by_role("alert")).to_contain_text("A reply is already being written here")
    slow.let_go()
    expect(second.composer).to_have_value("Second.")
    expect(second.questions).to_have_text(["The gate code is 4417.", "First."])
    expect(second.replies.last).to_contain_text("One at")
    gate.open()
    expect(second.replies.last).to_contain_text("One at a time.")
    second.is_idle()
    second.composer.press("Enter")
    expect(first.questions).to_have_text(["The gate code is 4417.", "First.", "Second."])
    expect(second.questions).to_have_text(["The gate code is 4417.", "First.", "Second."])


def test_tab_6_a_fresh_tab_shows_nothing_left_by_another(desk: Desk) -> None:
    one = desk.sign_in()
    one.converse("The gate code is 4417.", "Noted.")
    assert one.page.evaluate("JSON.stringify({...localStorage})") == "{}"
    kept = str(one.page.evaluate("JSON.stringify({...sessionStorage})"))
    assert "4417" not in kept
    assert "Noted" not in kept
    fresh = desk.tab()
    expect(fresh.composer).to_be_enabled()
    expect(fresh.questions).to_have_count(0)
    expect(fresh.page.locator(".messages")).not_to_contain_text("4417")
    one.page.close()
    again = desk.tab()
    expect(again.composer).to_be_enabled()
    expect(again.questions).to_have_count(0)


def test_tab_8_the_sidebar_is_live_and_marks_what_other_tabs_hold(desk: Desk) -> None:
    one, other = desk.sign_in(), desk.tab()
    expect(other.composer).to_be_enabled()
    one.converse("The gate code is 4417.", "Noted.")
    row = other.row("The gate code is 4417.")
    expect(row).to_be_visible()
    expect(row.get_by_text("Open in another tab")).to_be_attached()
    one.new_chat()
    expect(row.get_by_text("Open in another tab")).not_to_be_attached()
    desk.tenant.new_session("from-afar", title="Made by a program", project_id=None)
    expect(one.place("No project").get_by_role("link", name="Made by a program")).to_be_visible()
    desk.tenant.admin.patch("/v1/sessions/from-afar", {"title": "Renamed by a program"})
    expect(one.row("Renamed by a program")).to_be_visible()
    desk.tenant.admin.delete("/v1/sessions/from-afar")
    expect(one.row("Renamed by a program")).to_have_count(0)


def test_many_tabs_share_one_stream_of_events_and_survive_the_one_that_listens(desk: Desk) -> None:
    """TAB-8. A browser has six connections to a server: a stream for each tab would starve the seventh."""
    tabs = [desk.sign_in(), *(desk.tab() for _ in range(8))]
    for tab in tabs:
        expect(tab.composer).to_be_enabled()
    tabs[-1].converse("The gate code is 4417.", "Noted.")
    for tab in tabs:
        expect(tab.row("The gate code is 4417.")).to_be_visible()
    tabs[0].page.close()
    desk.tenant.new_session("from-afar", title="Made by a program", project_id=None)
    for tab in tabs[1:]:
        expect(tab.row("Made by a program")).to_be_visible()
