"""The drawer of a reply: what its receipt says, the same after a refresh, and what can be done about each item."""

from playwright.sync_api import Locator, expect

from support.clients.browser import Desk, Tab
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Tenant


def furnish(tenant: Tenant) -> str:
    garden = tenant.new_project("Garden")
    tenant.new_session("gate", project_id=garden, title="The gate")
    tenant.say("gate", "The gate code is 4417.")
    tenant.new_session("cello", project_id=garden, title="The cello")
    tenant.say("cello", "My neighbour Anna plays the cello.")
    tenant.admin.post("/v1/sessions/cello/extract")
    return garden


def ask(tab: Tab, question: str) -> Locator:
    tab.choose_place("Garden")
    tab.converse(question, "Noted.")
    return tab.page.get_by_role("complementary", name="Recalled")


def badge(tab: Tab) -> Locator:
    return tab.replies.last.locator(".recalled-button")


def test_the_drawer_closes_with_escape_and_gives_the_focus_back(desk: Desk) -> None:
    """Escape did nothing, and closing dropped the focus to the page."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    drawer = ask(tab, "What is the gate code?")
    badge(tab).focus()
    badge(tab).press("Enter")
    expect(drawer.get_by_role("button", name="Close")).to_be_focused()
    tab.page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(badge(tab)).to_be_focused()
    badge(tab).press("Enter")
    drawer.get_by_role("button", name="Close").click()
    expect(badge(tab)).to_be_focused()


def test_a_prompt_without_a_place_for_memory_is_not_said_to_have_been_given_any(desk: Desk) -> None:
    """The badge said “Recalled 2” although the model was given nothing."""
    garden = furnish(desk.tenant)
    settings = {"settings": {"system_prompt": "You are a gardener."}}
    assert desk.tenant.admin.patch(f"/org/projects/{garden}", settings).status_code == 200
    tab = desk.sign_in()
    drawer = ask(tab, "What is the gate code?")
    expect(badge(tab)).to_have_text("No memory given")
    badge(tab).click()
    expect(drawer).to_contain_text("Nothing was given to the model: the prompt of Garden has no place for memory.")
    expect(drawer).not_to_contain_text("4417")


def test_the_prompt_that_has_no_place_for_memory_is_the_one_that_is_named(desk: Desk) -> None:
    """The prompt of the project was blamed for that of the conversation."""
    garden = furnish(desk.tenant)
    desk.tenant.new_session("own", project_id=garden, title="Of its own", system_prompt="You are a gardener.")
    tab = desk.sign_in()
    tab.open("Of its own")
    tab.converse("What is the gate code?", "Noted.")
    badge(tab).click()
    drawer = tab.page.get_by_role("complementary", name="Recalled")
    expect(drawer).to_contain_text("the prompt of this conversation has no place for memory.")
    expect(drawer).not_to_contain_text("Garden")
    drawer.get_by_role("button", name="Edit the prompt").click()
    expect(tab.page.get_by_role("dialog").get_by_label("System prompt")).to_have_value("You are a gardener.")


def test_a_card_says_that_its_memory_was_corrected_since(desk: Desk) -> None:
    """The new words were shown as those that the model had been given."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    drawer = ask(tab, "What does Anna play?")
    (memory,) = desk.tenant.admin.everything("/v1/sessions/cello/memories")
    corrected = {"content": "The user's neighbour Anna plays the viola."}
    badge(tab).click()
    card = drawer.get_by_role("listitem").filter(has_text="memory").first
    expect(card).to_contain_text("cello")
    expect(card).not_to_contain_text("Corrected since")
    assert desk.tenant.admin.patch(f"/v1/memories/{memory['id']}", corrected).status_code == 200
    tab.page.reload()
    badge(tab).click()
    card = drawer.get_by_role("listitem").filter(has_text="viola").first
    expect(card).to_contain_text("Corrected since: the model was given other words.")
    tab.converse("And what does my neighbour Anna play?", "Noted.")
    expect(drawer).to_contain_text("Reply to “And what does my neighbour Anna play?”")
    card = drawer.get_by_role("listitem").filter(has_text="viola").first
    expect(card).to_be_visible()
    expect(card).not_to_contain_text("Corrected since")


def test_badge_drawer_and_receipt_are_one_thing_and_the_same_after_a_refresh(desk: Desk, model: FakeEndpoint) -> None:
    """What was recalled was not stored, and asked for again after a refresh."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    drawer = ask(tab, "What is the gate code?")
    expect(badge(tab)).to_have_text("Recalled 1")
    reply = str(tab.replies.last.get_attribute("id"))
    receipt = desk.tenant.admin.get(f"/v1/receipts/{reply.replace('msg_', 'rcpt_')}").json()
    assert receipt["given"] == 1
    assert [item["content"] for item in receipt["items"]] == ["The gate code is 4417."]
    assert "4417" in str(model.asked[-1].body)
    desk.tenant.say("gate", "The gate code is now 5528.")
    tab.page.reload()
    expect(badge(tab)).to_have_text("Recalled 1")
    badge(tab).click()
    expect(drawer).to_contain_text("4417")
    expect(drawer).not_to_contain_text("5528")


def test_the_exact_prompt_is_one_click_away(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    drawer = ask(tab, "What is the gate code?")
    badge(tab).click()
    drawer.get_by_role("button", name="Show the exact prompt").click()
    dialog = tab.page.get_by_role("dialog", name="The prompt of this reply")
    expect(dialog.get_by_role("region", name="system")).to_contain_text("The gate code is 4417.")
    expect(dialog.get_by_role("region", name="user").last).to_contain_text("What is the gate code?")
    tab.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(drawer).to_be_visible()


def test_a_memory_is_corrected_pinned_hidden_here_and_forgotten_from_its_card(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    drawer = ask(tab, "What does Anna play?")
    badge(tab).click()
    card = drawer.get_by_role("listitem").filter(has_text="memory").first
    menu(tab, card, "Correct…")
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("Memory").fill("The user's neighbour Anna plays the viola.")
    dialog.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("viola")
    menu(tab, card, "Pin")
    expect(tab.page.get_by_text("Pinned. The model is given it with every question.")).to_be_visible()
    (memory,) = desk.tenant.admin.everything("/v1/sessions/cello/memories")
    assert (memory["content"], memory["pinned"]) == ("The user's neighbour Anna plays the viola.", True)
    menu(tab, card, "Not relevant here")
    expect(tab.page.get_by_text("This chat no longer recalls it.")).to_be_visible()
    excluded = desk.tenant.admin.everything(f"/v1/sessions/{tab.session}/exclusions")
    assert [each["id"] for each in excluded] == [memory["id"]]
    hidden = drawer.get_by_role("list", name="Hidden here")
    drawer.get_by_text("Hidden here (1)").click()
    expect(hidden).to_contain_text("viola")
    hidden.get_by_role("button", name="Recall again").click()
    expect(hidden).to_have_count(0)
    assert desk.tenant.admin.everything(f"/v1/sessions/{tab.session}/exclusions") == []
    menu(tab, card, "Not relevant here")
    tab.page.get_by_role("button", name="Model:").click()
    dialog.get_by_text("Hidden here (1)").click()
    expect(dialog.get_by_role("list", name="Hidden here")).to_contain_text("viola")
    tab.page.keyboard.press("Escape")
    menu(tab, card, "Forget…")
    dialog.get_by_role("button", name="Forget").click()
    expect(drawer.get_by_role("listitem").filter(has_text="viola")).to_have_count(0)
    assert desk.tenant.admin.everything("/v1/sessions/cello/memories") == []


def menu(tab: Tab, card: Locator, choice: str) -> None:
    card.get_by_role("button", name="Actions").click()
    tab.page.get_by_role("menuitem", name=choice, exact=True).click()


def test_unrelated_words_recall_nothing_and_the_badge_says_so(desk: Desk) -> None:
    """“Hello, how are you today?” recalled six."""
    garden = furnish(desk.tenant)
    for number in range(5):
        desk.tenant.new_session(f"more-{number}", project_id=garden, title=f"More {number}")
        desk.tenant.say(f"more-{number}", f"The bean number {number} grows along the south wall.")
    tab = desk.sign_in()
    ask(tab, "Hello, how are you today?")
    expect(badge(tab)).to_have_text("Nothing recalled")
