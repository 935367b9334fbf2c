"""A server that is killed in the middle of a reply, and started again: what had arrived is kept, and is answered again."""

import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from support.clients.browser import WIDE, Desk, Tab, console_link
from support.clients.chat_client import Gate, said, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import ServerProcess, Tenant


class Restarted:
    """A server in a process of its own, and a browser in front of it that stays when the process is killed."""

    def __init__(self, browser: Browser, data: Path, model: FakeEndpoint) -> None:
        self.data = data
        self._environment = {"CLOISTER_MODEL_URL": model.url, "CLOISTER_MODEL_NAME": "fake"}
        self.process = ServerProcess(data, self._environment)
        self.process.wait_until_ready()
        self.context = browser.new_context(viewport=WIDE)
        self.desk = Desk(context=self.context, tenant=self.tenant)

    @property
    def tenant(self) -> Tenant:
        key = (self.data / "local.key").read_text().strip()
        server = self.process.server
        return Tenant(tenant_id="", default_project_id="", key=key, address=server.address, http=server.http)

    def kill(self) -> None:
        self.process.kill()

    def start_again(self) -> None:
        port = self.process.address.rpartition(":")[2]
        self.process = ServerProcess(self.data, self._environment, options=("--port", port))
        self.process.wait_until_ready()


@pytest.fixture
def restarted(browser: Browser, model: FakeEndpoint, tmp_path: Path) -> Generator[Restarted]:
    made = Restarted(browser, tmp_path / "data", model)
    yield made
    made.context.close()
    made.kill()
    assert made.desk.trouble == []


def kill_in_mid_reply(restarted: Restarted, model: FakeEndpoint) -> Tab:
    tab = Tab(page=restarted.context.new_page())
    tab.page.goto(console_link(restarted.tenant))
    expect(tab.composer).to_be_enabled()
    gate = Gate()
    model.answers(words("The first half, ", "and the second.", gate=gate))
    tab.say("Say both halves.")
    gate.let(1)
    expect(tab.replies.last).to_contain_text("The first half,")
    restarted.kill()
    gate.open()
    model.answers(words("Both halves."))
    return tab


def test_fault_6_what_had_arrived_of_a_reply_stays_and_it_can_be_made_again(
    restarted: Restarted, model: FakeEndpoint
) -> None:
    tab = kill_in_mid_reply(restarted, model)
    expect(tab.replies.last).to_contain_text("The first half,")
    restarted.start_again()
    expect(tab.page.get_by_text("The server stopped before this reply was finished")).to_be_visible()
    expect(tab.replies).to_have_count(1)
    expect(tab.replies.last).to_contain_text("The first half,")
    expect(tab.questions).to_have_text(["Say both halves."])
    # At once: the turn of the killed server has not ended yet, and is waited for.
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(tab.replies.last).to_contain_text("Both halves.")
    tab.is_idle()
    expect(tab.replies).to_have_count(1)
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    assert [content for _, content in stored(restarted, tab)] == ["Say both halves.", "Both halves."]


def test_fault_6_after_a_refresh_the_question_is_there_and_more_can_be_said_at_once(
    restarted: Restarted, model: FakeEndpoint
) -> None:
    """Sending said that a reply was being written, which was false."""
    tab = kill_in_mid_reply(restarted, model)
    restarted.start_again()
    tab.page.reload()
    expect(tab.questions).to_have_text(["Say both halves."])
    expect(tab.page.get_by_role("button", name="Get a reply")).to_be_visible()
    tab.say("Are you there?")
    expect(tab.replies.last).to_contain_text("Both halves.")
    tab.is_idle()
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    assert [role for role, _ in stored(restarted, tab)] == ["user", "user", "assistant"]


def stored(restarted: Restarted, tab: Tab) -> list[tuple[str, str]]:
    return [(role, content) for role, _, content in said(restarted.tenant, tab.session)]


def test_fault_7_the_command_makes_a_link_to_the_server_that_runs_whatever_its_port(restarted: Restarted) -> None:
    """It assumed port 8420."""
    command = [sys.executable, "-m", "cloister", "console", "--data", str(restarted.data)]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    link = re.search(r"http://\S+/sign-in#\S+", printed)
    assert link is not None
    tab = Tab(page=restarted.context.new_page())
    tab.page.goto(link[0])
    expect(tab.composer).to_be_enabled()
    assert tab.page.url.startswith(restarted.tenant.address)
