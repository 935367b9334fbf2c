"""Memory pages: what is kept, where it came from, and what goes with it. Settings: projects, keys, usage, model."""

from playwright.sync_api import expect

from support.clients.browser import PICTURES, Desk
from support.clients.chat_client import messages
from support.servers.http_server import Tenant, new_client


def furnish(tenant: Tenant) -> str:
    garden = tenant.new_project("Garden")
    tenant.new_session("gate", project_id=garden, title="The gate", user_id="ada")
    tenant.say("gate", "My neighbour Anna plays the cello.")
    tenant.say("gate", "Noted.", role="assistant")
    tenant.admin.post("/v1/sessions/gate/extract")
    return garden


def test_a_memory_has_its_source_one_click_away_and_is_forgotten_alone(desk: Desk) -> None:
    """MEM-1."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.open("The gate")
    tab.page.get_by_role("link", name="Memory").click()
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("The user's neighbour Anna plays the cello.")
    main.get_by_role("button", name="Source").click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_contain_text("My neighbour Anna plays the cello.")
    tab.page.keyboard.press("Escape")
    main.get_by_role("button", name="Options for “The user's neighbour").click()
    tab.page.get_by_role("menuitem", name="Forget…").click()
    expect(dialog).to_contain_text("The user's neighbour Anna plays the cello.")
    expect(dialog).to_contain_text("The messages it came from stay")
    dialog.get_by_role("button", name="Forget", exact=True).click()
    expect(main).to_contain_text("No memories yet.")
    assert len(messages(desk.tenant, "gate")) == 2


def test_forgetting_a_source_lists_all_that_goes_with_it(desk: Desk) -> None:
    """MEM-9."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.open("The gate")
    tab.page.goto("/memory")
    tab.page.get_by_role("button", name="Source").click()
    dialog = tab.page.get_by_role("dialog").first
    dialog.get_by_role("button", name="Forget").click()
    going = tab.page.get_by_role("alertdialog")
    expect(going.get_by_role("listitem")).to_have_text(
        ["the message “My neighbour Anna plays the cello.”", "the memory “The user's neighbour Anna plays the cello.”"]
    )
    going.get_by_role("button", name="Forget", exact=True).click()
    expect(tab.page.get_by_role("main")).to_contain_text("No memories yet.")
    assert [entry["content"] for entry in messages(desk.tenant, "gate")] == ["Noted."]


def test_a_users_memories_and_a_projects_entities(desk: Desk) -> None:
    """MEM-8, ISO-6."""
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto("/memory/user")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("The user's neighbour Anna plays the cello.")
    tab.page.goto("/memory/entities")
    tab.page.get_by_role("main").get_by_label("Project").select_option(label="Garden")
    expect(main).to_contain_text("No entities yet in Garden.")
    tab.page.get_by_label("User").fill("ada")
    expect(main).to_contain_text("Anna")
    main.get_by_role("button", name="Sources").first.click()
    expect(tab.page.get_by_role("dialog")).to_contain_text("My neighbour Anna plays the cello.")
    tab.page.keyboard.press("Escape")
    main.get_by_role("button", name="Move").first.click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(main).to_contain_text("No entities yet in Garden.")


def test_all_that_was_said_in_a_conversation_can_be_forgotten(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.open("The gate")
    tab.page.goto("/memory")
    tab.page.get_by_role("button", name="Clear this conversation…").click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text(
        ["2 messages", "the memory “The user's neighbour Anna plays the cello.”"]
    )
    dialog.get_by_role("button", name="Forget", exact=True).click()
    expect(tab.page.get_by_role("main")).to_contain_text("No memories yet.")
    assert messages(desk.tenant, "gate") == []


def test_projects_are_made_changed_made_default_and_deleted(desk: Desk) -> None:
    """ORG-2, ORG-5, TAB-7."""
    tab = desk.sign_in()
    tab.page.goto("/settings")
    main, dialog = tab.page.get_by_role("main"), tab.page.get_by_role("dialog")
    main.get_by_role("button", name="New project").click()
    dialog.get_by_label("Name").fill("Garden")
    expect(dialog.get_by_label("private: each person has their own")).to_be_checked()
    dialog.get_by_role("button", name="Create").click()
    card = main.get_by_role("listitem").filter(has=tab.page.get_by_role("heading", name="Garden"))
    expect(card).to_contain_text("Each person has a memory of their own.")
    card.get_by_role("button", name="Edit").click()
    dialog.get_by_label("all conversations of the same user").check()
    dialog.get_by_label("Prompt").fill("You are a gardener.\n{MEMORY.CONTEXT}")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    made = next(project for project in desk.tenant.admin.everything("/org/projects") if project["name"] == "Garden")
    assert made["settings"]["observation_scope"] == "user"
    assert made["settings"]["system_prompt"] == "You are a gardener.\n{MEMORY.CONTEXT}"
    card.get_by_role("button", name="Make default").click()
    expect(card).to_contain_text("new chats go here")
    old = main.get_by_role("listitem").filter(has=tab.page.get_by_role("heading", name="Default", exact=True))
    old.get_by_role("button", name="Delete").click()
    expect(dialog).to_contain_text("Nothing is lost")
    dialog.get_by_role("button", name="Delete the project").click()
    expect(old).to_have_count(0)


def test_org_5_a_project_is_deleted_with_its_contents_only_after_its_name_was_typed(desk: Desk) -> None:
    """Each way says what happens; nothing is deleted until the name is right."""
    garden = furnish(desk.tenant)
    desk.tenant.new_session("elsewhere", project_id=desk.tenant.new_project("Cellar"), user_id="ada")
    tab = desk.sign_in()
    tab.page.goto("/settings")
    main, dialog = tab.page.get_by_role("main"), tab.page.get_by_role("dialog")
    card = main.get_by_role("listitem").filter(has=tab.page.get_by_role("heading", name="Garden"))
    card.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_label("keep them, in no project")).to_be_checked()
    expect(dialog).to_contain_text("Nothing is lost")
    dialog.get_by_label("delete them for good").check()
    expect(dialog).to_contain_text("1 conversation with 2 messages")
    expect(dialog).not_to_contain_text("Nothing is lost")
    button = dialog.get_by_role("button", name="Delete the project and everything in it")
    expect(button).to_be_disabled()
    dialog.get_by_label("to confirm").fill("garden")
    dialog.get_by_label("to confirm").press("Enter")
    expect(button).to_be_disabled()
    assert len(messages(desk.tenant, "gate")) == 2
    dialog.get_by_label("to confirm").fill("Garden")
    PICTURES.mkdir(exist_ok=True)
    tab.page.screenshot(path=PICTURES / "delete-project.png")
    button.click()
    expect(dialog).to_have_count(0)
    expect(card).to_have_count(0)
    assert desk.tenant.admin.get(f"/org/projects/{garden}").status_code == 404
    assert [each["external_id"] for each in desk.tenant.admin.everything("/v1/sessions")] == ["elsewhere"]


def test_sharing_a_project_says_first_who_will_recall_whom(desk: Desk) -> None:
    """ISO-10: private unless somebody asks; the change shows its consequence before it is made, and can be taken back."""
    garden = furnish(desk.tenant)
    desk.tenant.new_session("fence", project_id=garden, user_id="ben")
    tab = desk.sign_in()
    tab.page.goto("/settings")
    main, dialog = tab.page.get_by_role("main"), tab.page.get_by_role("dialog")
    card = main.get_by_role("listitem").filter(has=tab.page.get_by_role("heading", name="Garden"))
    expect(card).to_contain_text("Each person has a memory of their own.")
    card.get_by_role("button", name="Edit").click()
    dialog.get_by_label("shared: everybody has the same").check()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("2 conversations of 2 users will be able to recall each other.")
    assert visibility_of(desk.tenant, garden) == "private"
    dialog.get_by_role("button", name="Share").click()
    expect(card).to_contain_text("All people share one memory.")
    assert visibility_of(desk.tenant, garden) == "shared"
    card.get_by_role("button", name="Edit").click()
    dialog.get_by_label("private: each person has their own").check()
    dialog.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("Each person has a memory of their own.")
    assert visibility_of(desk.tenant, garden) == "private"


def visibility_of(tenant: Tenant, project: str) -> str:
    listed = tenant.admin.everything("/org/projects")
    return next(each["member_visibility"] for each in listed if each["project_id"] == project)


def test_a_key_of_one_user_reaches_that_user_only(desk: Desk) -> None:
    """ORG-10."""
    furnish(desk.tenant)
    desk.tenant.new_session("bens", user_id="ben")
    tab = desk.sign_in()
    tab.page.goto("/settings/keys")
    main, dialog = tab.page.get_by_role("main"), tab.page.get_by_role("dialog")
    main.get_by_role("button", name="New key").click()
    dialog.get_by_label("Name").fill("Ada's phone")
    dialog.get_by_label("User").fill("ada")
    dialog.get_by_role("button", name="Create").click()
    key = dialog.locator(".secret code").inner_text()
    dialog.get_by_role("button", name="I have it").click()
    expect(main.get_by_role("listitem").filter(has_text="Ada's phone")).to_contain_text("only for the user ada")
    with new_client(desk.tenant.address, key) as phone:
        assert [each["external_id"] for each in phone.get("/v1/sessions").json()["data"]] == ["gate"]
        assert phone.get("/v1/sessions/bens").status_code == 404


def test_a_key_is_shown_once_and_revoked_at_once(desk: Desk) -> None:
    """ORG-4, ORG-8."""
    garden = furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto("/settings/keys")
    main, dialog = tab.page.get_by_role("main"), tab.page.get_by_role("dialog")
    main.get_by_role("button", name="New key").click()
    dialog.get_by_label("Name").fill("phone")
    dialog.get_by_label("write").uncheck()
    dialog.get_by_role("combobox").select_option(label="Garden")
    dialog.get_by_role("button", name="Create").click()
    key = dialog.locator(".secret code").inner_text()
    dialog.get_by_role("button", name="I have it").click()
    expect(tab.page.get_by_text(key)).to_have_count(0)
    with new_client(desk.tenant.address, key) as phone:
        seen = phone.get("/console/session").json()
        assert (seen["permissions"], seen["project_id"], seen["confined"]) == (["read"], garden, True)
        card = main.get_by_role("listitem").filter(has_text="phone")
        expect(card).to_contain_text("May read; only in Garden")
        card.get_by_role("button", name="Revoke").click()
        dialog.get_by_role("button", name="Revoke").click()
        expect(card).to_have_count(0)
        assert phone.get("/console/session").status_code == 401


def test_usage_and_the_model_are_told(desk: Desk) -> None:
    furnish(desk.tenant)
    tab = desk.sign_in()
    tab.page.goto("/settings/usage")
    expect(tab.page.get_by_role("row", name="Messages")).to_contain_text("2")
    tab.page.goto("/settings/model")
    expect(tab.page.get_by_role("main")).to_contain_text("Connected model: fake")
    expect(tab.page.get_by_role("main")).to_contain_text("CLOISTER_MODEL_URL")
