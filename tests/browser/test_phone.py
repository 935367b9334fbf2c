"""On a phone: Enter begins a line, everything can be hit with a finger, and nothing is wider than the screen."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, expect

from support.clients.browser import NARROW, SMALL, WIDE, Desk, Tab
from support.clients.chat_client import words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant

TOO_WIDE = "document.documentElement.scrollWidth > innerWidth"


@pytest.fixture
def phone(browser: Browser, tenant: Tenant, model: FakeEndpoint) -> Generator[Desk]:
    context = browser.new_context(viewport=NARROW, base_url=tenant.address, has_touch=True, is_mobile=True)
    desk = Desk(context=context, tenant=tenant)
    yield desk
    context.close()
    assert (desk.strayed, desk.trouble) == ([], [])


def test_enter_begins_a_line_and_the_button_sends(phone: Desk) -> None:
    tab = phone.sign_in()
    tab.composer.press_sequentially("One")
    tab.composer.press("Enter")
    tab.composer.press_sequentially("two")
    expect(tab.composer).to_have_value("One\ntwo")
    expect(tab.questions).to_have_count(0)
    tab.page.get_by_role("button", name="Send", exact=True).tap()
    expect(tab.questions).to_have_text(["One two"])


def test_everything_can_be_hit_with_a_finger(phone: Desk, model: FakeEndpoint) -> None:
    garden = phone.tenant.new_project("Garden")
    phone.tenant.new_session("gate", project_id=garden, title="The gate")
    phone.tenant.say("gate", "The gate code is 4417.")
    tab = phone.sign_in()
    found = {"new": tab.page.evaluate(SMALL)}
    model.answers(words("Look:\n\n```python\nprint(1)\n```"))
    send(tab, "What is the gate code?")
    found["chat"] = tab.page.evaluate(SMALL)
    tab.page.get_by_role("button", name="Recalled").tap()
    expect(tab.page.get_by_role("complementary", name="Recalled")).to_be_visible()
    found["recalled"] = tab.page.evaluate(SMALL)
    tab.page.get_by_role("complementary", name="Recalled").get_by_role("button", name="Close").tap()
    tab.page.get_by_role("button", name="Conversations", exact=True).tap()
    expect(tab.sidebar).to_be_visible()
    found["sidebar"] = tab.page.evaluate(SMALL)
    assert {name: small for name, small in found.items() if small} == {}


def send(tab: Tab, text: str) -> None:
    tab.composer.fill(text)
    tab.page.get_by_role("button", name="Send", exact=True).tap()
    expect(tab.replies.last).to_be_visible()
    tab.is_idle()


@pytest.mark.parametrize("length", [40, 200])
@pytest.mark.parametrize("width", [360, 390, 1_440])
def test_long_names_never_break_the_layout(desk: Desk, length: int, width: int) -> None:
    name = "Verwaltungsgemeinschaft" * 20
    garden = desk.tenant.new_project(name[:length])
    desk.tenant.new_session("gate", project_id=garden, title=("Donaudampfschifffahrt" * 12)[:length])
    desk.tenant.say("gate", "The gate code is 4417.")
    tab = desk.sign_in()
    tab.page.set_viewport_size({"width": width, "height": 800})
    assert not tab.page.evaluate(TOO_WIDE)
    tab.choose_place(name[:length])
    assert not tab.page.evaluate(TOO_WIDE)
    tab.page.goto("/c/gate")
    expect(tab.questions).to_have_count(1)
    assert not tab.page.evaluate(TOO_WIDE)
    # The menu, and with it everything else in the head, is still in sight.
    menu = tab.page.get_by_role("main").get_by_role("button", name="Options for")
    expect(menu).to_be_in_viewport(ratio=1)
    expect(tab.composer).to_be_in_viewport(ratio=1)
    menu.click()
    tab.page.get_by_role("menuitem", name="Move…").click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Move", exact=True)).to_be_in_viewport(ratio=1)
    assert not tab.page.evaluate(
        "(() => { const d = document.querySelector('dialog'); return d.scrollWidth > d.clientWidth })()"
    )


def test_fault_22_a_title_that_is_cut_off_is_whole_when_the_pointer_rests_on_it(desk: Desk) -> None:
    title = "A conversation about everything that grows along the wall by the gate, " * 2
    desk.tenant.new_session("long-title", title=title.strip())
    tab = desk.sign_in()
    shown = tab.row(title.strip()).locator(".session-title")
    expect(shown).to_have_attribute("title", title.strip())
    assert shown.evaluate("each => each.scrollWidth > each.clientWidth")


SPILLS = """() => [...document.querySelectorAll("html, main, .page, .messages, .places, .recalled, dialog, .toast")]
    .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.className || each.tagName)"""


def test_names_of_200_unbroken_characters_fit_every_page(desk: Desk) -> None:
    """Fault 9: the button to undo a deletion was as narrow as a letter."""
    name, user = "x" * 200, "u" * 200
    project = desk.tenant.new_project(name)
    desk.tenant.new_session("long", project_id=project, title=name, user_id=user)
    desk.tenant.say("long", "I live in Rome.")
    desk.tenant.admin.made("/v1/memories", {"session_id": "long", "contents": [name]})
    desk.tenant.new_key("read", name=name, project_id=project, user_id=user)
    tab = desk.sign_in()
    home = f"/p/{project}"
    for size in (NARROW, WIDE):
        tab.page.set_viewport_size(size)
        for path in (home, f"{home}/conversations", "/settings", "/settings/keys", f"/u/{user}", "/c/long"):
            tab.page.goto(path)
            expect(tab.page.locator("main").get_by_text("xxxx").first).to_be_visible()
            assert tab.page.evaluate(SPILLS) == [], f"{path} at {size}"
        tab.page.goto(f"{home}/settings")
        tab.page.get_by_role("button", name="Delete project…").click()
        tab.page.get_by_label("delete them for good").check()
        expect(tab.page.get_by_role("dialog")).to_contain_text("1 conversation with 1 message")
        assert tab.page.evaluate(SPILLS) == []
        tab.page.keyboard.press("Escape")
    tab.page.set_viewport_size(NARROW)
    tab.page.goto("/c/long")
    tab.page.locator(".chat-head").get_by_role("button", name="Options for").click()
    tab.page.get_by_role("menuitem", name="Delete").click()
    undo = tab.page.get_by_role("button", name="Undo")
    box = undo.bounding_box()
    assert box is not None
    assert box["width"] > box["height"]
    undo.click()
    assert tab.page.evaluate(SPILLS) == []


def test_a_project_is_added_from_the_list_and_talked_in_from_its_home(desk: Desk) -> None:
    """The way to it was in the settings only, which nobody looked for."""
    tab = desk.sign_in()
    tab.sidebar.get_by_role("button", name="Add a project").click()
    dialog = tab.page.get_by_role("dialog", name="New project")
    dialog.get_by_label("Name").fill("Garden")
    dialog.get_by_role("button", name="Create").click()
    expect(tab.page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
    tab.page.get_by_role("button", name="New chat here").click()
    tab.converse("The beans go along the south wall.", "Noted.")
    expect(tab.place("Garden").get_by_role("link", name="The beans")).to_be_visible()
