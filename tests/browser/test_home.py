"""The home of a project and of a user: what is remembered is listed, searched, corrected, undone, and seen as it changed."""

import re

import pytest
from playwright.sync_api import Page, expect

from cloister.domain.extraction import ExtractedEntity, ExtractedRelation
from cloister.domain.identifiers import parse_message_id, parse_project_id, parse_tenant_id, session_of
from cloister.domain.scope import Reach
from cloister.storage.interface import Transaction
from cloister.storage.stores.tenants import ProjectStore
from support.clients.browser import NARROW, PICTURES, Desk
from support.servers.http_server import Server, Tenant


def furnish(tenant: Tenant) -> str:
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    for session, project, user, said in (
        ("home", garden, "ada", ("I live in Rome.", "I moved to Oslo.")),
        ("anna", garden, "ada", ("My neighbour Anna plays the cello. Anna works at Acme Corp.",)),
        ("bread", kitchen, "ada", ("I am allergic to walnuts.",)),
    ):
        tenant.new_session(session, project_id=project, title=f"About {session}", user_id=user)
        for words in said:
            tenant.say(session, words)
            tenant.say(session, "Noted.", role="assistant")
            tenant.admin.post(f"/v1/sessions/{session}/extract")
    return garden


def act(page: Page, memory: str, choice: str) -> None:
    page.get_by_role("listitem").filter(has_text=memory).get_by_role("button", name="Options for").click()
    page.get_by_role("menuitem", name=choice).click()


def test_memories_of_a_project_are_searched_added_corrected_pinned_and_undone(desk: Desk) -> None:
    """ISO-4 in the console: nothing of the kitchen is in the garden."""
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto(f"/p/{garden}")
    listed = tab.page.get_by_role("list", name="Memories")
    expect(listed).to_contain_text("Oslo")
    expect(listed).to_contain_text("cello")
    expect(listed).not_to_contain_text("walnuts")
    expect(listed).not_to_contain_text("Rome")
    tab.page.get_by_label("Show").select_option(label="no longer true: replaced")
    expect(listed).to_contain_text("Rome")
    tab.page.get_by_label("Show").select_option(label="current memories")
    tab.page.get_by_label("Search memories").fill("CELLO anna")
    expect(listed.get_by_role("listitem")).to_have_count(1)
    tab.page.get_by_label("Search memories").fill("walnuts")
    expect(tab.page.get_by_role("main")).to_contain_text("No memories match.")
    tab.page.get_by_label("Search memories").fill("")

    tab.page.get_by_role("button", name="Add a memory").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Memory").fill("The roses need water.")
    dialog.get_by_role("button", name="Add").click()
    expect(listed).to_contain_text("The roses need water.")
    act(tab.page, "roses", "Correct…")
    dialog.get_by_label("Memory").fill("The beans need water.")
    dialog.get_by_role("button", name="Save").click()
    expect(listed).to_contain_text("The beans need water.")
    act(tab.page, "beans", "Pin")
    expect(listed.get_by_role("listitem").filter(has_text="beans")).to_contain_text("pinned")
    tab.page.get_by_role("button", name="Undo").click()
    expect(listed.get_by_role("listitem").filter(has_text="beans")).not_to_contain_text("pinned")
    act(tab.page, "beans", "History")
    expect(dialog).to_contain_text("Before: The roses need water.")
    dialog.get_by_role("button", name="Undo the last change").click()
    expect(listed).to_contain_text("The roses need water.")
    act(tab.page, "roses", "Mark as untrue")
    expect(listed).not_to_contain_text("roses")
    tab.page.get_by_role("button", name="Undo").click()
    expect(listed).to_contain_text("The roses need water.")


def test_the_timeline_says_rome_became_oslo_and_conversations_and_settings_are_there(desk: Desk) -> None:
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto(f"/p/{garden}")
    tab.page.get_by_role("link", name="Timeline").click()
    changed = tab.page.get_by_role("list", name="Timeline").get_by_role("listitem").filter(has_text="Changed")
    expect(changed).to_have_text(re.compile("Rome.*→.*Oslo"))
    tab.page.get_by_role("main").get_by_role("link", name="Conversations").click()
    expect(tab.page.get_by_role("list", name="Conversations")).to_contain_text("About home")
    tab.page.get_by_role("main").get_by_role("link", name="Settings").click()
    expect(tab.page.get_by_role("main")).to_contain_text("private: each person has their own")
    tab.page.go_back()
    expect(tab.page.get_by_role("list", name="Conversations")).to_be_visible()


def test_entities_are_moved_through_by_their_relations_and_merged_with_undo(desk: Desk) -> None:
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto(f"/p/{garden}/entities")
    listed = tab.page.get_by_role("list", name="Entities")
    listed.get_by_role("button", name="Anna").click()
    detail = tab.page.get_by_role("region", name="Anna")
    expect(detail.get_by_role("list", name="Mentions")).to_contain_text("plays the cello")
    detail.get_by_role("button", name="Delete").click()
    expect(listed.get_by_role("button", name="Anna")).to_have_count(0)
    tab.page.get_by_role("button", name="Undo").click()
    expect(listed.get_by_role("button", name="Anna")).to_be_visible()


def relate(server: Server, tenant: Tenant, garden: str) -> None:
    """As a model extracts it from one message: Anna, and what she is to others."""
    said = tenant.say("anna", "Anna plays the cello in the Oslo Quartet, and is married to Ben.")
    source = (parse_message_id(said["id"]),)
    others = [
        ("Ben", "married to"),
        ("Oslo Quartet", "plays in"),
        ("Acme Corporation of the Northern Lights", "works at"),
    ]
    others += [(f"Pupil {number}", "teaches") for number in range(6)]
    relations = tuple(ExtractedRelation(relation=word, other=name, sources=source) for name, word in others)
    found = [ExtractedEntity(name="Anna", type="person", notes="", sources=source, relations=relations)]
    found += [ExtractedEntity(name=name, type="other", notes="", sources=source) for name, _ in others]
    services = server.services
    assert services is not None

    def work(transaction: Transaction) -> None:
        project = ProjectStore(transaction).get(parse_project_id(garden))
        services.entities.mention(transaction, project, "ada", session_of(source[0]), found)

    services.database.write(Reach(tenant=parse_tenant_id(tenant.tenant_id)), work)


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_a_click_in_the_graph_and_a_button_in_the_list_move_through_relations(
    desk: Desk, server: Server, width: str
) -> None:
    """MEM-17."""
    garden = furnish(desk.tenant)
    relate(server, desk.tenant, garden)
    tab = desk.sign_in()
    if width == "narrow":
        tab.page.set_viewport_size(NARROW)
    tab.page.goto(f"/p/{garden}/entities")
    tab.page.get_by_role("list", name="Entities").get_by_role("button", name="Anna").click()
    anna = tab.page.get_by_role("region", name="Anna")
    expect(anna.get_by_role("list", name="Relations")).to_contain_text("married to: Ben")
    expect(anna.locator(".graph .neighbour")).to_have_count(10)
    PICTURES.mkdir(exist_ok=True)
    tab.page.screenshot(path=PICTURES / f"home-graph-{width}-light.png")
    anna.locator(".graph .neighbour").filter(has_text="Oslo Quartet").locator("circle").click()
    quartet = tab.page.get_by_role("region", name="Oslo Quartet")
    quartet.get_by_role("list", name="Relations").get_by_role("button", name="Anna").press("Enter")
    expect(anna).to_be_visible()
    assert not tab.page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_a_home_shows_how_much_was_stored_on_each_day_and_nothing_of_other_projects(desk: Desk) -> None:
    """ISO-4: the chart counts its own project only."""
    garden, kitchen = desk.tenant.new_project("Garden"), desk.tenant.new_project("Kitchen")
    for name, project, messages in (("beans", garden, 3), ("soup", kitchen, 1)):
        desk.tenant.new_session(name, project_id=project, user_id="ann")
        for number in range(messages):
            desk.tenant.say(name, f"Number {number}.")
    tab = desk.sign_in()
    tab.page.goto(f"/p/{garden}")
    chart = tab.page.get_by_role("img", name="Last 30 days: 3 messages, 0 memories")
    expect(chart).to_be_visible()
    expect(chart.locator("g")).to_have_count(30)
    tab.page.goto(f"/p/{kitchen}")
    expect(tab.page.get_by_role("img", name="Last 30 days: 1 message, 0 memories")).to_be_visible()
    tab.page.goto("/u/ann")
    expect(tab.page.get_by_role("img", name="Last 30 days: 4 messages, 0 memories")).to_be_visible()


def test_a_user_has_a_home_and_can_be_erased(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto("/u/ada")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("Oslo")
    main.get_by_role("link", name="Memories").click()
    listed = main.get_by_role("list", name="Memories")
    expect(listed).to_contain_text("walnuts")
    expect(listed).not_to_contain_text("Rome")
    main.get_by_label("Search memories").fill("CELLO anna")
    expect(listed.get_by_role("listitem")).to_have_count(1)
    main.get_by_label("Search memories").fill("")
    main.get_by_label("Project").select_option(label="Kitchen")
    expect(listed).to_contain_text("walnuts")
    expect(listed).not_to_contain_text("cello")
    main.get_by_label("Project").select_option(label="all projects")
    main.get_by_label("Show").select_option(label="no longer true: replaced")
    expect(listed).to_contain_text("Rome")
    main.get_by_role("link", name="Timeline").click()
    expect(main).to_contain_text("→")
    # Each part has an address.
    tab.page.go_back()
    expect(listed).to_contain_text("walnuts")
    tab.page.goto("/u/ada/timeline")
    expect(main).to_contain_text("→")
    main.get_by_role("button", name="Erase everything of this user…").click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("3 conversations")
    dialog.get_by_role("button", name="Forget").click()
    expect(tab.page.locator(".toasts")).to_contain_text("Erased ada.")
    assert desk.tenant.admin.get("/v1/users/ada/memories").json()["data"] == []


def test_settings_count_what_was_remembered_since_the_page_was_opened(desk: Desk) -> None:
    """Fault 17: "0 memories" while there were two."""
    garden = desk.tenant.new_project("Garden")
    tab = desk.sign_in()
    desk.tenant.new_session("late", project_id=garden)
    desk.tenant.say("late", "My neighbour Anna plays the cello.")
    desk.tenant.admin.post("/v1/sessions/late/extract")
    tab.page.get_by_role("link", name="Settings").click()
    card = tab.page.get_by_role("listitem").filter(has_text="Garden").filter(has=tab.page.locator("code"))
    expect(card).to_contain_text("1 memory")
    desk.tenant.say("late", "I live in Oslo.")
    desk.tenant.admin.post("/v1/sessions/late/extract")
    expect(card).to_contain_text("2 memories")


@pytest.mark.parametrize("part", ["", "/entities", "/timeline", "/conversations", "/settings"])
def test_a_home_fits_a_phone(desk: Desk, part: str) -> None:
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.set_viewport_size({**NARROW, "width": 360})
    tab.page.goto(f"/p/{garden}{part}")
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text("Garden")
    assert tab.page.evaluate(
        "document.querySelector('.page').scrollWidth <= document.querySelector('.page').clientWidth"
    )
