"""The first minute: the start page with its two example projects, the test of the model, an import with a preview, and replies
without a model."""

import io
import json
import re
import zipfile
from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from support.clients.browser import WIDE, Desk, Tab
from support.databases.engines import sqlite_engine
from support.databases.folders import quick_folder
from support.servers.fake_endpoint import FakeEndpoint, refusal
from support.servers.http_server import serving


@pytest.fixture
def bare_desk(browser: Browser) -> Generator[Desk]:
    """A browser in front of a server that has no model."""
    with quick_folder() as folder:
        engine = sqlite_engine(folder / "data")
        with engine.closing, serving(engine.services()) as server:
            tenant = server.new_tenant()
            context = browser.new_context(viewport=WIDE, base_url=tenant.address)
            made = Desk(context=context, tenant=tenant)
            yield made
            context.close()
            assert (made.strayed, made.trouble) == ([], [])


def start(desk: Desk) -> Tab:
    tab = desk.sign_in()
    tab.page.get_by_role("link", name="Start", exact=True).click()
    expect(tab.page.get_by_role("heading", name="Welcome to Cloister")).to_be_visible()
    return tab


def test_two_example_projects_answer_the_same_question_each_with_its_own_and_are_thrown_away(desk: Desk) -> None:
    tab = start(desk)
    wall = tab.page.get_by_role("region", name="Try the wall")
    wall.get_by_role("button", name="Create the example projects").click()
    wall.get_by_role("button", name="Ask both").click()
    home, office = wall.get_by_role("listitem").nth(0), wall.get_by_role("listitem").nth(1)
    expect(home).to_contain_text("The door code is 4417.")
    expect(office).to_contain_text("The door code is 9062.")
    expect(home).not_to_contain_text("9062")
    expect(office).not_to_contain_text("4417")
    home.get_by_role("button", name="Ask in a chat").click()
    expect(tab.composer).to_have_value("What is the door code?")
    expect(tab.page.get_by_label("Project of this conversation")).to_have_value(re.compile("proj_"))
    tab.page.get_by_role("link", name="Start", exact=True).click()
    wall.get_by_role("button", name="Throw the examples away").click()
    dialog = tab.page.get_by_role("dialog", name="Throw the examples away")
    expect(dialog).to_contain_text("the project “Example: Home” with 1 conversation and 1 message")
    dialog.get_by_role("button", name="Throw away").click()
    expect(wall.get_by_role("button", name="Create the example projects")).to_be_visible()
    assert [project["name"] for project in desk.tenant.admin.everything("/org/projects")] == ["Default"]
    assert desk.tenant.admin.everything("/v1/sessions") == []


def test_the_start_page_says_where_new_chats_go_and_tests_the_model(desk: Desk, model: FakeEndpoint) -> None:
    tab = start(desk)
    expect(tab.page.get_by_role("region", name="Projects")).to_contain_text("A new chat goes into Default")
    part = tab.page.get_by_role("region", name="Model")
    expect(part).to_contain_text("Connected: fake")
    part.get_by_role("button", name="Test the model").click()
    expect(part.get_by_role("status")).to_contain_text("fake answers")
    model.answers(refusal(401, "no"))
    tab.page.goto(f"{desk.tenant.address}/settings/model")
    tab.page.get_by_role("button", name="Test the model").click()
    expect(tab.page.get_by_role("main")).to_contain_text("asks for a key: set CLOISTER_MODEL_KEY")


def test_without_a_model_the_start_page_says_how_to_connect_one(bare_desk: Desk) -> None:
    tab = start(bare_desk)
    part = tab.page.get_by_role("region", name="Model")
    expect(part).to_contain_text("No model connected.")
    part.get_by_role("link", name="How to connect a model").click()
    expect(tab.page.get_by_role("main")).to_contain_text("CLOISTER_MODEL_URL")


def test_recall_only_answers_from_this_conversation_too_and_not_with_the_question(bare_desk: Desk) -> None:
    """Faults 4 and 5: “Nothing … is related” to what was just said, and an echoed question above the fact in another chat."""
    tab = bare_desk.sign_in()
    tab.converse("The gate code is 4417.", "I found nothing related in Default.")
    expect(tab.replies.last).to_contain_text("What you said is remembered. No model is connected")
    tab.converse("What is the gate code?", "4417")
    cards = tab.replies.last.get_by_role("list", name="What is remembered").get_by_role("listitem")
    expect(cards).to_have_count(1)
    expect(cards.first).to_contain_text("The gate code is 4417.")
    tab.new_chat()
    tab.converse("What is the gate code?", "4417")
    expect(cards.first).to_contain_text("The gate code is 4417.")
    expect(tab.replies.last).not_to_contain_text("What is the gate code?")
    tab.new_chat()
    tab.converse("Hello, how are you today?", "I found nothing related in Default.")


def test_an_export_is_previewed_imported_into_a_project_and_found_there(desk: Desk) -> None:
    desk.tenant.new_project("Garden")
    message = {"uuid": "m1", "sender": "human", "text": "The gate code is 4417.", "created_at": "2026-05-01T12:00:00Z"}
    export: list[dict[str, Any]] = [
        {"uuid": "c1", "name": "The gate", "created_at": "2026-05-01T12:00:00Z", "chat_messages": [message]},
        {"uuid": "c2", "name": "Empty", "created_at": "2026-05-01T12:00:00Z", "chat_messages": []},
    ]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", json.dumps(export))
    tab = start(desk)
    tab.page.get_by_role("link", name="Import your conversations").click()
    expect(tab.page.get_by_role("heading", name="Import")).to_be_visible()
    tab.page.get_by_role("link", name="Settings").click()
    tab.page.get_by_role("link", name="Import your conversations").click()
    chosen = tab.page.locator("main input[type=file]")
    chosen.set_input_files([{"name": "notes.zip", "mimeType": "application/zip", "buffer": b"PK nothing"}])
    expect(tab.page.get_by_role("alert")).to_contain_text("notes.zip")
    chosen.set_input_files([{"name": "export.zip", "mimeType": "application/zip", "buffer": packed.getvalue()}])
    preview = tab.page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("1 conversation, 1 message")
    expect(preview).to_contain_text("1 × it has no messages")
    assert desk.tenant.admin.everything("/v1/sessions") == []
    tab.page.get_by_label("Project of the import").select_option(label="Garden")
    tab.page.get_by_role("button", name="Import into Garden", exact=True).click()
    expect(tab.page.get_by_role("main")).to_contain_text("Imported 1 conversation, 1 message.")
    expect(tab.page.get_by_role("link", name="Open Garden")).to_be_visible()
    expect(tab.place("Garden").get_by_role("link", name="The gate")).to_be_visible()


def test_a_key_that_may_not_import_is_told_so(desk: Desk) -> None:
    tab = desk.sign_in(desk.tenant.new_key("read", "write"))
    tab.page.goto(f"{desk.tenant.address}/import")
    expect(tab.page.get_by_role("main")).to_contain_text("Only an admin key may import.")
