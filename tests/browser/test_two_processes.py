"""A server of two processes: two tabs follow one reply, stop it, and go on when one is killed, whichever process answers them."""

import os
import signal
from pathlib import Path

from playwright.sync_api import Browser, expect

from support.clients.browser import WIDE, Desk, Tab
from support.clients.chat_client import Gate, said, words
from support.servers.children import children
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import ServerProcess
from support.waiting import eventually


def test_two_tabs_share_a_conversation_over_two_processes_one_of_which_is_killed(
    browser: Browser, model: FakeEndpoint, tmp_path: Path
) -> None:
    """OPS-4, TAB-3, TAB-5, in the console: sign-ins, events, turns and stops are the same in each process."""
    environment = {"CLOISTER_MODEL_URL": model.url, "CLOISTER_MODEL_NAME": "fake"}
    with ServerProcess(tmp_path / "data", environment, options=("--processes", "2")) as serving:
        context = browser.new_context(viewport=WIDE)
        desk = Desk(context=context, tenant=serving.server.new_tenant())
        one = desk.sign_in()
        follow_and_stop(desk, one, model)
        other = Tab(page=context.pages[-1])
        model.answers(words("Here again."))
        for process in sorted(children(serving.process.pid)):
            os.kill(process, signal.SIGKILL)
            eventually(lambda killed=process: len(children(serving.process.pid) - {killed}) == 2, seconds=60)
            before = one.replies.count()
            one.say(f"Are you there without {process}?")
            for tab in (one, other):
                expect(tab.questions.last).to_contain_text(f"without {process}?")
                expect(tab.replies).to_have_count(before + 1)
                expect(tab.replies.last).to_contain_text("Here again.")
                tab.is_idle()
            expect(one.page.locator(".notice")).to_have_count(0)
        stored = said(desk.tenant, one.session)
        assert [role for role, _, _ in stored] == ["user", "assistant"] * 3
        context.close()
        assert (desk.strayed, desk.trouble) == ([], [])


def follow_and_stop(desk: Desk, one: Tab, model: FakeEndpoint) -> None:
    gate = Gate()
    model.answers(words("The first half, ", "and the second.", gate=gate))
    one.say("Say both halves.")
    gate.let(1)
    expect(one.replies.last).to_contain_text("The first half,")
    other = desk.tab(f"/c/{one.session}")
    expect(other.replies.last).to_contain_text("The first half,")
    other.page.get_by_role("button", name="Stop", exact=True).click()
    for tab in (one, other):
        expect(tab.replies.last).to_contain_text("Stopped.")
        tab.is_idle()
        expect(tab.replies).to_have_count(1)
    gate.open()
