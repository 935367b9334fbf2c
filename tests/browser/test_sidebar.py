"""The sidebar: found, renamed, moved, deleted; by hand and by keyboard."""

import json
from typing import Any

from playwright.sync_api import expect

from support.clients.browser import Desk, Tab
from support.servers.http_server import Tenant


def furnish(tenant: Tenant) -> str:
    garden = tenant.new_project("Garden")
    tenant.new_session("gate", project_id=garden, title="The gate")
    tenant.say("gate", "The gate code is 4417.")
    tenant.new_session("diary", project_id=None, title="Rain")
    tenant.say("diary", "It rained on the gate all day.")
    return garden


def project_of(tenant: Tenant, session: str) -> str | None:
    return tenant.admin.get(f"/v1/sessions/{session}").json()["project_id"]


def test_conversations_are_found_by_title_and_by_what_was_said_place_by_place(desk: Desk) -> None:
    """ISO-4: each place is searched for itself, and its finds are shown under its name."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.keyboard.press("Control+k")
    tab.page.keyboard.type("gate")
    results = tab.page.get_by_role("region", name="Search results")
    expect(results).to_contain_text("By title")
    expect(results.locator("section").filter(has_text="Said in Garden")).to_contain_text("The gate code is 4417.")
    expect(results.locator("section").filter(has_text="Said in No project")).to_contain_text(
        "It rained on the gate all day."
    )
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("heading", name="The gate", level=1)).to_be_visible()


def test_the_conversations_of_every_user_are_found_by_a_search_of_their_own(desk: Desk) -> None:
    """ISO-4, ISO-10: only the conversations without a user were searched where users are apart."""
    garden = desk.tenant.new_project("Garden")
    for session, project, user, said in (
        ("gate", garden, "ann", "The gate code is 4417."),
        ("shed", garden, "ben", "The gate code of the shed is 5528."),
        ("door", None, "ann", "The gate code of the door is 9062."),
    ):
        desk.tenant.new_session(session, project_id=project, user_id=user, title=session.title())
        desk.tenant.say(session, said)
    tab = desk.sign_in()
    asked: list[Any] = []
    tab.page.on("request", lambda request: asked.append(request) if request.url.endswith("/v1/search") else None)
    tab.page.get_by_label("Search conversations").fill("gate code")
    results = tab.page.get_by_role("region", name="Search results")
    inside = results.locator("section").filter(has_text="Said in Garden")
    expect(inside.get_by_role("listitem").filter(has_text="4417")).to_contain_text("ann")
    expect(inside.get_by_role("listitem").filter(has_text="5528")).to_contain_text("ben")
    outside = results.locator("section").filter(has_text="Said in No project")
    expect(outside.get_by_role("listitem").filter(has_text="9062")).to_contain_text("ann")
    bodies = [json.loads(request.post_data) for request in asked]
    parts = [(body["project_id"], body.get("user_id")) for body in bodies]
    assert len(parts) == len(set(parts))
    assert {(garden, "ann"), (garden, "ben"), (None, "ann"), (garden, None), (None, None)} <= set(parts)


def test_a_conversation_is_renamed_in_every_tab(desk: Desk) -> None:
    furnish(desk.tenant)
    tab, other = desk.sign_in(), desk.tab()
    tab.menu("Rain", "Rename")
    tab.page.get_by_label("Title").fill("Rain, all day")
    tab.page.keyboard.press("Enter")
    for each in (tab, other):
        expect(each.row("Rain, all day")).to_be_visible()


def test_a_move_by_menu_says_first_what_becomes_visible_where(desk: Desk) -> None:
    """ISO-5."""
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.menu("Rain", "Move…")
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Garden").check()
    expect(dialog).to_contain_text(
        "After the move, chats in Garden can recall its 1 message. Chats in no project no longer can."
    )
    assert project_of(desk.tenant, "diary") is None
    dialog.get_by_role("button", name="Move").click()
    expect(tab.place("Garden").get_by_role("link", name="Rain")).to_be_visible()
    assert project_of(desk.tenant, "diary") == garden


def test_a_move_by_drag_asks_the_same_and_can_be_left(desk: Desk) -> None:
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    drag(tab, "The gate", "No project")
    dialog = tab.page.get_by_role("dialog")
    expect(dialog).to_contain_text(
        "After the move, chats in no project can recall its 1 message. Chats in Garden no longer can."
    )
    expect(dialog).to_contain_text("Entities learned from it stay in Garden.")
    tab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert project_of(desk.tenant, "gate") == garden
    drag(tab, "The gate", "No project")
    dialog.get_by_role("button", name="Move").click()
    expect(tab.place("No project").get_by_role("link", name="The gate")).to_be_visible()
    assert project_of(desk.tenant, "gate") is None


def drag(tab: Tab, title: str, place: str) -> None:
    tab.sidebar.get_by_role("link", name=title).drag_to(tab.place(place).locator(".place-home"))


def test_a_deleted_conversation_can_be_brought_back_and_is_then_forgotten(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.menu("Rain", "Delete")
    expect(tab.row("Rain")).to_have_count(0)
    assert desk.tenant.admin.get("/v1/sessions/diary").status_code == 200
    tab.page.get_by_role("button", name="Undo").click()
    expect(tab.row("Rain")).to_be_visible()
    tab.sidebar.get_by_role("link", name="Rain").focus()
    tab.page.keyboard.press("Delete")
    expect(tab.row("Rain")).to_have_count(0)
    expect(tab.page.get_by_role("status").filter(has_text="is gone: 1 message")).to_be_visible()
    assert desk.tenant.admin.get("/v1/sessions/diary").status_code == 404


def test_a_deletion_is_done_when_the_tab_is_closed_before_its_time(desk: Desk) -> None:
    furnish(desk.tenant)
    tab, other = desk.sign_in(), desk.tab()
    expect(other.row("Rain")).to_be_visible()
    tab.menu("Rain", "Delete")
    expect(tab.row("Rain")).to_have_count(0)
    tab.page.close(run_before_unload=False)
    expect(other.row("Rain")).to_have_count(0)


def test_a_conversation_that_another_tab_deletes_says_so(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.open("Rain")
    expect(tab.questions).to_have_count(1)
    desk.tenant.admin.delete("/v1/sessions/diary")
    expect(tab.page.get_by_text("This conversation was deleted.")).to_be_visible()
    tab.page.get_by_role("main").get_by_role("button", name="New chat").click()
    tab.converse("Here again.", "Noted.")


def test_iso_7_a_new_chat_in_a_place_is_in_it_from_its_first_message(desk: Desk) -> None:
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.sidebar.get_by_role("button", name="New chat in Garden").click()
    tab.converse("Plant the beans.", "Noted.")
    assert project_of(desk.tenant, tab.session) == garden
    expect(tab.place("Garden").get_by_role("link", name="Plant the beans.")).to_be_visible()
    tab.sidebar.get_by_role("button", name="New chat in No project").click()
    tab.converse("Nothing special.", "Noted.")
    assert project_of(desk.tenant, tab.session) is None


def test_a_link_of_the_sidebar_opens_in_a_new_tab_with_its_own_session(desk: Desk) -> None:
    """TAB-4."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    stored = tab.session
    with desk.context.expect_page() as opened:
        tab.sidebar.get_by_role("link", name="The gate").click(modifiers=["ControlOrMeta"])
    other = Tab(page=opened.value)
    expect(other.questions).to_have_text(["The gate code is 4417."])
    assert tab.session == stored
    assert "session=" not in other.page.url
