"""When things go wrong: links used up, cookies expired, servers restarted, networks cut. Nothing that was typed is lost."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Route, expect

from cloister.services.tenancy.sign_ins import IDLE_SECONDS
from support.clients.browser import Desk, Slow, Tab, console_link
from support.clients.chat_client import Gate, said, words
from support.servers.fake_endpoint import FakeEndpoint, refusal
from support.servers.http_server import Server, ServerProcess, Tenant, Watch
from support.servers.pairs import one_process


def test_a_link_works_once_and_leaves_no_code_behind(desk: Desk) -> None:
    link = console_link(desk.tenant)
    tab = desk.tab(link)
    expect(tab.composer).to_be_enabled()
    assert "#" not in tab.page.url
    code = link.partition("#")[2]
    stored = str(
        tab.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    )
    assert code not in stored
    assert desk.tenant.key not in stored
    (cookie,) = desk.context.cookies()
    assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")
    assert cookie.get("expires", -1) > 0, "it is gone when the browser is closed"
    used = desk.tab(link)
    expect(used.composer).to_be_enabled()
    assert "#" not in used.page.url
    desk.context.clear_cookies()
    again = desk.tab(link)
    expect(again.page.get_by_role("alert")).to_contain_text("has been used already, or is too old")
    expect(again.page.get_by_role("main")).to_contain_text("cloister console")


def test_iso_4_a_link_of_another_tenant_asks_before_it_signs_this_browser_in(desk: Desk, server: Server) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    other = server.new_tenant("Neighbours")
    link = console_link(other)
    opened = desk.tab(link)
    expect(opened.page.get_by_role("alert")).to_contain_text(desk.tenant.tenant_id)
    expect(opened.page.get_by_role("alert")).to_contain_text(other.tenant_id)
    tab.converse("Still me.", "Noted.")
    opened.page.get_by_role("button", name="Stay signed in").click()
    expect(opened.composer).to_be_enabled()
    expect(opened.sidebar).to_contain_text("The gate code")
    opened.page.close()

    again = desk.tab(link)
    again.page.get_by_role("button", name="Sign in with the link").click()
    expect(again.composer).to_be_enabled()
    expect(again.sidebar).not_to_contain_text("The gate code")


def test_signing_out_signs_out_every_tab(desk: Desk) -> None:
    one, other = desk.sign_in(), desk.tab()
    expect(other.composer).to_be_enabled()
    other.composer.fill("Is anybody there?")
    one.page.goto("/settings/browser")
    one.page.get_by_role("button", name="Sign out").click()
    expect(one.page.get_by_text("You’re signed out")).to_be_visible()
    # Not the composer's own key: it may have noticed by itself already.
    other.page.keyboard.press("Enter")
    expect(other.page.get_by_text("You’re signed out")).to_be_visible()


@one_process
@pytest.mark.parametrize("noticed", ["when something is sent", "by itself"])
def test_an_expired_cookie_asks_to_sign_in_again_and_what_was_typed_is_still_there(
    desk: Desk, watch: Watch, noticed: str
) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.composer.fill("Still here?")
    watch.seconds += IDLE_SECONDS
    if noticed == "by itself":
        desk.tenant.new_session("from-afar", project_id=None)
    else:
        # Not the composer's own key: it may have been noticed by itself already.
        tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("You’re signed out")).to_be_visible()
    expect(tab.page.get_by_text("What you typed is still here")).to_be_visible()
    expect(tab.page.get_by_text("4417")).to_have_count(0)
    desk.sign_in()
    expect(tab.questions).to_have_text(["The gate code is 4417."])
    expect(tab.composer).to_have_value("Still here?")
    tab.composer.press("Enter")
    expect(tab.questions).to_have_text(["The gate code is 4417.", "Still here?"])
    tab.is_idle()
    expect(tab.composer).to_have_value("")


def test_whoever_signs_in_next_sees_nothing_of_who_was_here(desk: Desk, server: Server) -> None:
    """ISO-4, also between the tabs of one browser."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.composer.fill("And the cellar's is 9.")
    desk.tab(console_link(server.new_tenant())).page.get_by_role("button", name="Sign in with the link").click()
    expect(tab.questions).to_have_count(0)
    expect(tab.composer).to_be_enabled()
    expect(tab.composer).to_have_value("")
    expect(tab.sidebar.get_by_role("link", name="The gate code is 4417.")).to_have_count(0)


def test_unsent_words_are_not_shown_to_another_key_of_the_same_name(desk: Desk) -> None:
    """ISO-4: two people may have keys that look alike."""
    one, other = (desk.tenant.new_key("read", "write") for _ in range(2))
    tab = desk.sign_in(one)
    tab.composer.fill("And the cellar's is 9.")
    desk.sign_in(one)
    expect(tab.composer).to_have_value("And the cellar's is 9.")
    desk.tab(console_link(desk.tenant, other)).page.get_by_role("button", name="Sign in with the link").click()
    expect(tab.composer).to_have_value("")


def test_a_cut_network_gives_back_what_was_typed(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.page.route("**/v1/chat/stream", lambda route: route.abort("connectionfailed"))
    tab.say("Not lost.")
    expect(tab.page.get_by_role("alert")).to_contain_text("The server can’t be reached")
    expect(tab.composer).to_have_value("Not lost.")
    expect(tab.questions).to_have_count(1)
    tab.page.unroute("**/v1/chat/stream")
    # What is stored is asked for first.
    tab.is_idle()
    tab.composer.press("Enter")
    expect(tab.questions).to_have_text(["The gate code is 4417.", "Not lost."])
    tab.is_idle()
    assert len(said(desk.tenant, tab.session)) == 4


def test_a_failed_send_is_a_draft_and_not_a_sent_bubble(desk: Desk) -> None:
    """It was both, and stayed so as long as the server could not be reached."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    desk.context.set_offline(True)
    tab.say("Not lost.")
    expect(tab.page.get_by_role("alert")).to_have_count(1)
    expect(tab.composer).to_have_value("Not lost.")
    expect(tab.questions).to_have_text(["The gate code is 4417."])
    desk.context.set_offline(False)
    tab.composer.press("Enter")
    expect(tab.questions).to_have_text(["The gate code is 4417.", "Not lost."])
    tab.is_idle()
    assert len(said(desk.tenant, tab.session)) == 4


def test_words_whose_answer_was_lost_are_not_said_twice(desk: Desk) -> None:
    """The server has stored them, and the connection broke before it could say so."""
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")

    def lose(route: Route) -> None:
        route.fetch()
        route.abort("connectionfailed")

    tab.page.route("**/v1/chat/stream", lose)
    tab.say("Said once.")
    # Only the server knows the reply: it is shown once the console has asked for what was stored.
    expect(tab.replies).to_have_count(2)
    tab.is_idle()
    expect(tab.questions).to_have_text(["The gate code is 4417.", "Said once."])
    expect(tab.composer).to_have_value("")
    assert len(said(desk.tenant, tab.session)) == 4


def test_the_draft_outlives_a_refresh_and_is_this_tabs_only(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.composer.fill("Half a thought")
    tab.page.reload()
    expect(tab.composer).to_have_value("Half a thought")
    other = desk.tab()
    expect(other.composer).to_have_value("")
    tab.converse("A whole thought.", "Noted.")
    tab.page.reload()
    expect(tab.questions).to_have_text(["A whole thought."])
    expect(tab.composer).to_have_value("")


def test_an_error_of_the_model_is_shown_once_and_again_after_a_refresh(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(refusal(500, "the graphics card is on fire"))
    tab.say("Hello?")
    expect(tab.page.get_by_role("alert")).to_have_count(1)
    expect(tab.replies.last.locator(".failed")).to_be_visible()
    tab.is_idle()
    expect(tab.page.locator(".notice")).to_have_count(0)
    tab.page.reload()
    expect(tab.replies.last.locator(".failed")).to_be_visible()
    model.answers(words("Here."))
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(tab.replies.last).to_contain_text("Here.")
    expect(tab.replies).to_have_count(1)


def test_a_tab_whose_process_was_killed_is_not_open_any_more(desk: Desk) -> None:
    """TAB-8: it never said that it ended."""
    tab, other = desk.sign_in(), desk.tab()
    expect(other.composer).to_be_enabled()
    other.converse("The gate code is 4417.", "Noted.")
    mark = tab.row("The gate code is 4417.").get_by_text("Open in another tab")
    expect(mark).to_be_attached()
    with suppress(Error):
        other.page.goto("chrome://crash", timeout=5_000)
    expect(mark).not_to_be_attached()
    expect(tab.composer).to_be_enabled()


def test_a_reply_goes_on_while_its_page_is_loaded_again_and_is_followed_there(desk: Desk, model: FakeEndpoint) -> None:
    """TAB-2: the connection of the first page is cut in the middle of the reply."""
    tab = desk.sign_in()
    gate = Gate()
    model.answers(words("All ", "of ", "it.", gate=gate))
    model.title = words("Everything")
    tab.say("Say all of it.")
    gate.let(1)
    expect(tab.replies.last).to_contain_text("All")
    expect(tab.row("Say all of it.")).to_be_visible()
    tab.page.reload()
    expect(tab.replies.last).to_contain_text("All")
    expect(tab.questions).to_have_text(["Say all of it."])
    gate.let(1)
    expect(tab.replies.last).to_contain_text("All of")
    gate.open()
    expect(tab.replies.last).to_contain_text("All of it.")
    tab.is_idle()
    expect(tab.replies).to_have_count(1)
    # The page that had given it its first title is gone.
    expect(tab.row("Everything")).to_be_visible()


def test_a_slow_network_is_waited_for(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    slow = Slow()
    tab.page.route("**/messages?*", slow.hold)
    tab.page.reload()
    expect(tab.page.locator(".conversation")).to_be_visible()
    expect(tab.composer).to_be_disabled()
    slow.let_go()
    expect(tab.composer).to_be_enabled()


def test_a_key_that_may_only_read_is_shown_only_what_it_may_do(desk: Desk) -> None:
    """ORG-4, ORG-8."""
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("gate", project_id=garden, title="The gate")
    desk.tenant.say("gate", "The gate code is 4417.")
    desk.tenant.new_session("diary", project_id=None, title="Rain")
    reader = desk.tenant.new_key("read", project_id=garden, confined=True)
    tab = desk.tab(console_link(desk.tenant, reader))
    expect(tab.row("The gate")).to_be_visible()
    expect(tab.row("Rain")).to_have_count(0)
    expect(tab.sidebar.get_by_role("region", name="No project")).to_have_count(0)
    tab.open("The gate")
    expect(tab.questions).to_have_text(["The gate code is 4417."])
    expect(tab.composer).to_be_disabled()
    tab.page.goto("/settings/keys")
    expect(tab.page.get_by_role("main")).to_contain_text("Only an admin key")


def test_a_restarted_server_signs_nobody_out(browser: Browser, tmp_path: Path) -> None:
    """Also: from the link that `serve` prints to a conversation, with no model at all."""
    data = tmp_path / "data"
    with ServerProcess(data, terminal=True) as first:
        link, key = printed_link(first), (data / "local.key").read_text().strip()
        context = browser.new_context()
        tenant = Tenant(tenant_id="", default_project_id="", key=key, address=first.address, http=first.server.http)
        desk = Desk(context=context, tenant=tenant)
        tab = desk.tab(link)
        tab.converse("The gate code is 4417.", "I found nothing related in Default.")
        stored = tab.session
        port = first.address.rpartition(":")[2]
        assert first.stop() == 0
    expect(tab.page.get_by_text("Not connected. Trying again…")).to_be_visible()
    with ServerProcess(data, options=("--port", port), terminal=True) as second:
        expect(tab.page.get_by_text("Not connected. Trying again…")).to_be_hidden()
        tab.page.reload()
        expect(tab.questions).to_have_text(["The gate code is 4417."])
        assert printed_link(second) != link
        assert tab.session == stored
        context.close()
        assert second.stop() == 0


def printed_link(server: ServerProcess) -> str:
    found = re.search(r"http://\S+/sign-in#\S+", server.printed)
    assert found is not None
    return found[0]


def test_tabs_of_two_servers_on_one_machine_do_not_sign_each_other_out(desk: Desk, tmp_path: Path) -> None:
    tab = desk.sign_in()
    with ServerProcess(tmp_path / "data", terminal=True) as other:
        page = desk.context.new_page()
        page.goto(printed_link(other))
        expect(Tab(page=page).composer).to_be_enabled()
        page.close()
        tab.converse("Still here.", "Noted.")
        desk.strayed.clear()
