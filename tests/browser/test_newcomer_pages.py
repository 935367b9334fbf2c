"""What people who had read nothing stumbled over on the pages besides the chat."""

import json
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, expect

from support.clients.browser import NARROW, Desk, Tab
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant

SAID = "My neighbour Anna plays the cello."
# Whether the lower edge of a field is in sight, and not behind something else.
IS_HIT = """each => {
    const box = each.getBoundingClientRect();
    return document.elementFromPoint(box.x + 9, box.bottom - 3) === each;
}"""
KNOWN = "The user's neighbour Anna plays the cello."


@pytest.fixture
def phone(browser: Browser, tenant: Tenant, model: FakeEndpoint) -> Generator[Desk]:
    context = browser.new_context(viewport=NARROW, base_url=tenant.address, has_touch=True, is_mobile=True)
    desk = Desk(context=context, tenant=tenant)
    yield desk
    context.close()
    assert (desk.strayed, desk.trouble) == ([], [])


def garden_with_memory(tenant: Tenant) -> str:
    garden = tenant.new_project("Garden")
    tenant.new_session("gate", project_id=garden, title="The gate")
    tenant.say("gate", SAID)
    tenant.admin.made("/v1/memories", {"session_id": "gate", "contents": [KNOWN]})
    return garden


def options(tab: Tab, words: str) -> Locator:
    tab.page.get_by_role("main").get_by_role("button", name=f"Options for “{words}").click()
    return tab.page.get_by_role("menuitem")


def toasts(tab: Tab) -> Locator:
    return tab.page.locator(".toasts")


def test_a_project_made_on_a_phone_is_shown_and_the_drawer_is_closed(phone: Desk) -> None:
    tab = phone.sign_in()
    tab.page.get_by_role("button", name="Conversations", exact=True).tap()
    tab.page.get_by_role("button", name="Add a project").tap()
    tab.page.get_by_role("dialog").get_by_label("Name").fill("Garden")
    tab.page.get_by_role("button", name="Create").tap()
    expect(tab.page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
    expect(tab.sidebar).to_be_hidden()
    expect(tab.page.locator("#main")).to_be_focused()


def test_a_new_project_has_the_focus_and_is_marked_in_the_sidebar(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.page.get_by_role("button", name="Add a project").click()
    tab.page.get_by_role("dialog").get_by_label("Name").fill("Garden")
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
    expect(tab.page.locator("#main")).to_be_focused()
    expect(tab.sidebar.locator(".place-home[aria-current=page]")).to_have_text("Garden0")


@pytest.mark.parametrize("path", ["/memory", "/p/{project}"])
def test_a_memory_can_be_mended_wherever_it_is_listed(desk: Desk, path: str) -> None:
    garden = garden_with_memory(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto(path.format(project=garden))
    expect(options(tab, KNOWN)).to_have_text(["Correct…", "Pin", "History", "Mark as untrue", "Forget…"])
    tab.page.get_by_role("menuitem", name="Pin").click()
    expect(tab.page.get_by_role("main").get_by_text("pinned", exact=True)).to_be_visible()
    options(tab, KNOWN).filter(has_text="Correct…").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Memory").fill("Anna plays the viola.")
    dialog.get_by_role("button", name="Save").click()
    options(tab, "Anna plays the viola.").filter(has_text="History").click()
    expect(dialog.get_by_role("listitem").locator("footer > span:first-child")).to_have_text(
        ["Corrected", "Pinned", "Learned"]
    )
    # What was only pinned reads as it did.
    expect(dialog.get_by_role("listitem").get_by_text("Before:")).to_have_count(1)


def test_a_failed_extraction_says_why_and_what_to_do(phone: Desk) -> None:
    phone.tenant.new_session("gate", title="The gate")
    phone.tenant.say("gate", SAID)
    tab = phone.sign_in()
    tab.page.goto("/memory")
    refuse_extraction(tab, 502, "The model returned an error (400): this model is tired.")
    tab.page.get_by_role("button", name="Extract memories now").tap()
    failed = tab.page.get_by_role("alert")
    expect(failed).to_contain_text("this model is tired")
    expect(failed).to_contain_text("the server tries again by itself")
    expect(failed.get_by_role("link", name="the model answers")).to_be_visible()
    expect(tab.page.get_by_role("main")).to_contain_text("No memories yet: the extraction failed.")
    expect(toasts(tab)).to_have_text("")


def refuse_extraction(tab: Tab, status: int, detail: str) -> None:
    tab.page.route(
        "**/extract", lambda route: route.fulfill(status=status, json={"code": "upstream_error", "detail": detail})
    )


def test_a_failure_of_the_servers_own_extraction_is_shown(desk: Desk) -> None:
    desk.tenant.new_session("gate", title="The gate")
    desk.tenant.say("gate", SAID)
    tab = desk.sign_in()
    noted = {"memory_job_pending": True, "last_extraction_error": "The model returned an error (500): out of tea."}
    session = desk.tenant.admin.get("/v1/sessions/gate").json() | noted
    tab.page.route("**/v1/sessions/gate", lambda route: route.fulfill(json=session))
    tab.page.get_by_role("link", name="Memory").click()
    expect(tab.page.get_by_role("alert")).to_contain_text("out of tea")


def test_an_extraction_that_runs_already_is_no_error(desk: Desk) -> None:
    desk.tenant.new_session("gate", title="The gate")
    desk.tenant.say("gate", SAID)
    tab = desk.sign_in()
    tab.page.goto("/memory")
    refuse_extraction(tab, 409, "An extraction of this session is running already. Try again later.")
    tab.page.get_by_role("button", name="Extract memories now").click()
    expect(toasts(tab)).to_contain_text("being extracted already")
    expect(tab.page.get_by_role("alert")).to_have_count(0)


def test_an_extraction_without_anything_new_says_so(desk: Desk) -> None:
    garden_with_memory(desk.tenant)
    desk.tenant.admin.post("/v1/sessions/gate/extract")
    tab = desk.sign_in()
    tab.page.goto("/memory")
    tab.page.get_by_role("button", name="Extract memories now").click()
    expect(toasts(tab)).to_contain_text("Nothing new to read")


def test_archiving_says_so_and_can_be_undone(desk: Desk) -> None:
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("gate", project_id=garden, title="The gate")
    tab = desk.sign_in()
    tab.menu("The gate", "Archive")
    expect(toasts(tab)).to_contain_text("Archived “The gate”")
    expect(tab.place("Garden")).not_to_contain_text("No conversations yet")
    expect(tab.place("Garden")).to_contain_text("All pinned or archived: 1 conversation")
    toasts(tab).get_by_role("button", name="Undo").click()
    expect(tab.place("Garden").get_by_role("link", name="The gate")).to_be_visible()
    tab.menu("The gate", "Archive")
    tab.place("Garden").get_by_role("link", name="1 conversation").click()
    expect(tab.page.get_by_role("main").get_by_role("link", name="The gate")).to_be_visible()


def test_a_memory_written_by_hand_belongs_to_notes(desk: Desk) -> None:
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("gate", project_id=garden, title="The gate")
    tab = desk.sign_in()
    tab.page.goto(f"/p/{garden}")
    for text in ("Anna is allergic to walnuts.", "The shed is green."):
        tab.page.get_by_role("button", name="Add a memory").click()
        tab.page.get_by_role("dialog").get_by_label("Memory").fill(text)
        tab.page.get_by_role("button", name="Add", exact=True).click()
        expect(tab.page.get_by_role("main").get_by_role("list", name="Memories")).to_contain_text(text)
    notes = [each for each in desk.tenant.admin.everything("/v1/sessions") if each["title"] == "Notes"]
    assert [each["memory_count"] for each in notes] == [2]


def test_all_conversations_can_be_selected(desk: Desk) -> None:
    for number in range(15):
        desk.tenant.new_session(f"chat-{number}", title=f"Chat {number}")
    tab = desk.sign_in()
    tab.page.set_viewport_size({"width": 1_280, "height": 800})
    tab.page.get_by_role("button", name="Select conversations").click()
    bar = tab.page.get_by_role("toolbar", name="Selected conversations")
    bar.get_by_role("button", name="Select all").click()
    expect(bar).to_contain_text("15 selected")
    tops = [bar.get_by_role("button", name=name).bounding_box() for name in ("Archive", "Delete", "Cancel")]
    assert len({box["y"] for box in tops if box}) == 1
    bar.get_by_role("button", name="Select none").click()
    expect(bar).to_contain_text("0 selected")


def test_conversations_cannot_be_selected_while_others_are_shown_that_were_searched_for(desk: Desk) -> None:
    """“Select all” chose all that were not shown, with “Delete” beside it."""
    for name in ("gate", "cello"):
        desk.tenant.new_session(name, title=f"The {name}")
    tab = desk.sign_in()
    select = tab.page.get_by_role("button", name="Select conversations")
    bar = tab.page.get_by_role("toolbar", name="Selected conversations")
    search = tab.page.get_by_label("Search conversations")
    search.fill("gate")
    expect(select).to_be_disabled()
    search.fill("")
    select.click()
    tab.sidebar.get_by_label("The gate").check()
    expect(bar).to_contain_text("1 selected")
    search.fill("cello")
    expect(bar).to_have_count(0)
    search.fill("")
    expect(bar).to_contain_text("1 selected")


def test_nothing_floats_over_a_page_on_a_phone(phone: Desk) -> None:
    garden_with_memory(phone.tenant)
    tab = phone.sign_in()
    tab.page.goto("/memory")
    button = tab.page.get_by_role("button", name="Conversation", exact=True)
    box, bar = button.bounding_box(), tab.page.locator(".bar").bounding_box()
    assert box and bar and box["y"] + box["height"] <= bar["y"] + bar["height"] + 1
    assert min(box["width"], box["height"]) >= 44
    button.tap()
    expect(tab.page.get_by_role("dialog", name="Conversation")).to_be_visible()


def test_the_name_that_confirms_a_deletion_is_not_covered(phone: Desk) -> None:
    garden = garden_with_memory(phone.tenant)
    tab = phone.sign_in()
    tab.page.goto(f"/p/{garden}/settings")
    tab.page.get_by_role("button", name="Delete project…").tap()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("delete them for good").check()
    expect(dialog.locator(".final")).to_contain_text("1 conversation with 1 message")
    field = dialog.get_by_label("Type Garden to confirm")
    field.scroll_into_view_if_needed()
    assert field.evaluate(IS_HIT)


def importing(desk: Desk, name: str, text: str) -> Tab:
    tab = desk.sign_in()
    tab.page.goto("/import")
    chosen = FilePayload(name=name, mimeType="application/json", buffer=text.encode())
    tab.page.locator("main input[type=file]").set_input_files([chosen])
    return tab


def test_a_file_of_no_known_format_can_be_read_as_one(desk: Desk) -> None:
    facts = [{"exported_by": "a program of mine"}, {"memory": "Anna plays the cello.", "created_at": "2026-05-02"}]
    tab = importing(desk, "facts.json", json.dumps(facts))
    alert = tab.page.get_by_role("alert")
    expect(alert).to_have_text(
        "“facts.json” is of no format that is known here; if you know which it is, choose it as the format below."
    )
    tab.page.get_by_label("Format").select_option(label="mem0")
    tab.page.get_by_role("button", name="Read “facts.json” again").click()
    expect(tab.page.get_by_role("region", name="Preview")).to_contain_text("1 memory")
    expect(alert).to_have_count(0)


def test_a_file_that_is_no_json_is_refused_with_the_place(desk: Desk) -> None:
    tab = importing(desk, "broken.json", '[{"role": "user", oops]')
    expect(tab.page.get_by_role("alert")).to_have_text(
        "“broken.json” is not valid JSON at line 1, column 19: get an undamaged copy."
    )


def test_a_log_is_previewed_in_plain_words_and_called_by_its_first_words(desk: Desk) -> None:
    said = [{"role": "user", "content": "How do I feed a sourdough?"}, {"role": "assistant", "content": "With flour."}]
    kitchen = desk.tenant.new_project("Kitchen")
    tab = importing(desk, "log.json", json.dumps(said))
    main, preview = tab.page.get_by_role("main"), tab.page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("2 messages without a date, which get the date of the file")
    expect(preview.locator("time")).to_have_count(1)  # one day is not written as two
    tab.page.get_by_label("Project of the import").select_option(label="Kitchen")
    tab.page.get_by_role("button", name="Import into Kitchen").click()
    expect(main).to_contain_text("Imported 1 conversation, 2 messages.")
    expect(tab.place("Kitchen").get_by_role("link", name="How do I feed a sourdough?")).to_be_visible()
    tab.page.get_by_role("button", name="Import another file").click()
    chosen = FilePayload(name="log.json", mimeType="application/json", buffer=json.dumps(said).encode())
    tab.page.locator("main input[type=file]").set_input_files([chosen])
    # The project of the import before is not taken for the next one.
    expect(tab.page.get_by_role("button", name="Import into Default", exact=True)).to_be_visible()
    assert desk.tenant.admin.everything("/v1/sessions")[0]["project_id"] == kitchen


def test_settings_say_nothing_that_has_to_be_guessed(desk: Desk) -> None:
    garden_with_memory(desk.tenant)
    tab = desk.sign_in()
    main = tab.page.get_by_role("main")
    tab.page.goto("/settings")
    expect(main.get_by_role("heading", name="Default", exact=False)).to_have_text("Defaultnew chats go here")
    expect(main).to_contain_text("Id, for programs: proj_")
    main.get_by_role("button", name="New project").click()
    expect(tab.page.get_by_role("dialog")).not_to_contain_text("member")
    tab.page.keyboard.press("Escape")
    tab.page.goto("/memory")
    expect(main.get_by_role("link", name="Entities")).to_be_visible()
    expect(main.get_by_role("link", name="By user")).to_have_count(0)
    tab.page.goto("/start")
    expect(main).to_contain_text("Connected: fake. A chat can use another one: press the model’s name at its top.")
    main.get_by_role("link", name="How to connect another model").click()
    expect(main).to_contain_text("Also there: other.")


def test_a_project_says_that_memories_could_not_be_extracted(desk: Desk) -> None:
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("gate", project_id=garden, title="The gate")
    failed = desk.tenant.admin.get("/v1/sessions/gate").json() | {"last_extraction_error": "Out of tea."}
    listed = {"data": [failed], "next_cursor": None}
    tab = desk.sign_in()
    tab.page.route("**/v1/sessions?*", lambda route: route.fulfill(json=listed))
    tab.page.route("**/v1/sessions/gate", lambda route: route.fulfill(json=failed))
    tab.page.goto(f"/p/{garden}")
    alert = tab.page.get_by_role("alert")
    expect(alert).to_have_text("New memories of “The gate” could not be extracted: Out of tea. What to do")
    alert.get_by_role("link", name="What to do").click()
    expect(alert).to_contain_text("the server tries again by itself")


def test_the_chart_counts_a_memory_that_was_just_added(desk: Desk) -> None:
    garden = garden_with_memory(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto(f"/p/{garden}")
    expect(tab.page.locator("figure.activity")).to_contain_text("1 memory")
    tab.page.get_by_role("button", name="Add a memory").click()
    tab.page.get_by_role("dialog").get_by_label("Memory").fill("The shed is green.")
    tab.page.get_by_role("button", name="Add", exact=True).click()
    expect(tab.page.locator("figure.activity")).to_contain_text("2 memories")
