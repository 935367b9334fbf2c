"""The chat: streamed, stopped, answered again, edited, copied; what was recalled; and nothing in a reply that could do harm."""

import re

from playwright.sync_api import expect

from support.clients.browser import Desk
from support.clients.chat_client import Gate, said, words
from support.servers.fake_endpoint import FakeEndpoint

HARM = """Look: <img src=x onerror="document.title='harmed'"> <script>document.title='harmed'</script>

![a picture](https://elsewhere.example/leak.png?4417) [link](javascript:alert(1)) [fine](https://example.org/)

```python
print("safe")
```
"""


def test_a_reply_is_shown_as_it_comes_and_can_be_stopped(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    gate = Gate()
    model.answers(words("One, ", "two, ", "three.", gate=gate))
    tab.say("Count.")
    gate.let(2)
    expect(tab.replies.last).to_contain_text("One, two,")
    tab.page.get_by_role("button", name="Stop", exact=True).click()
    tab.is_idle()
    expect(tab.replies.last).to_contain_text("Stopped.")
    assert said(desk.tenant, tab.session)[-1] == ("assistant", "partial", "One, two, ")
    gate.open()


def test_escape_stops_and_regenerating_answers_again(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    gate = Gate()
    model.answers(words("Wrong ", "way.", gate=gate))
    tab.say("Which way?")
    gate.let(1)
    expect(tab.replies.last).to_contain_text("Wrong")
    tab.composer.press("Escape")
    tab.is_idle()
    gate.open()
    model.answers(words("Right way."))
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(tab.replies).to_have_count(1)
    expect(tab.replies.last).to_contain_text("Right way.")
    tab.is_idle()
    assert said(desk.tenant, tab.session) == [
        ("user", "completed", "Which way?"),
        ("assistant", "completed", "Right way."),
    ]


def test_a_reply_is_read_as_markdown_and_never_obeyed(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words(HARM))
    tab.converse("Be harmful.", "safe")
    reply = tab.replies.last
    expect(reply.locator("img, script")).to_have_count(0)
    expect(reply.get_by_role("link", name="a picture")).to_have_attribute(
        "href", "https://elsewhere.example/leak.png?4417"
    )
    expect(reply.get_by_role("link", name="fine")).to_have_attribute("rel", "noreferrer noopener")
    assert reply.locator("a[href^='javascript']").count() == 0
    expect(reply.locator("code .hljs-built_in, code .hljs-string")).not_to_have_count(0)
    assert "harmed" not in tab.page.title()


def test_a_reply_can_be_copied(desk: Desk) -> None:
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    tab.page.get_by_role("button", name="Copy the reply").click()
    expect(tab.page.get_by_text("Copied")).to_be_attached()
    assert tab.page.evaluate("navigator.clipboard.readText()") == "Noted."


def test_what_was_recalled_is_told_with_where_when_how_near_and_why(desk: Desk) -> None:
    """ISO-3, ISO-4: what the drawer shows is of the same place, and says so."""
    garden = desk.tenant.new_project("Garden")
    desk.tenant.new_session("gate", project_id=garden, title="The gate")
    desk.tenant.say("gate", "The gate code is 4417.")
    desk.tenant.new_session("elsewhere", project_id=None, title="Elsewhere")
    desk.tenant.say("elsewhere", "The gate code of the office is 9999.")
    tab = desk.sign_in()
    tab.choose_place("Garden")
    tab.converse("What is the gate code?", "Noted.")
    tab.page.get_by_role("button", name="Recalled").click()
    drawer = tab.page.get_by_role("complementary", name="Recalled")
    item = drawer.get_by_role("listitem").filter(has_text="4417").first
    expect(drawer.get_by_role("region", name="Strong matches")).to_contain_text("4417")
    expect(item.get_by_role("link", name="The gate")).to_be_visible()
    expect(drawer.get_by_text("From other chats in Garden.")).to_have_count(1)
    expect(drawer).not_to_contain_text("9999")
    shown = drawer.inner_text()
    tab.page.reload()
    tab.page.get_by_role("button", name="Recalled").click()
    expect(item).to_be_visible()
    assert drawer.inner_text() == shown
    drawer.get_by_role("link", name="The gate").first.click()
    expect(tab.questions).to_have_text(["The gate code is 4417."])
    expect(tab.page).to_have_url(re.compile("/c/gate#msg_"))


def test_a_model_that_fails_is_said_plainly_and_can_be_asked_again(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words("Half of ", finish_reason=None))
    tab.say("Say all of it.")
    expect(tab.page.get_by_role("alert")).to_contain_text("broke off")
    expect(tab.replies.last).to_contain_text("Stopped.")
    model.answers(words("All of it."))
    tab.page.get_by_role("button", name="Regenerate").click()
    expect(tab.replies.last).to_contain_text("All of it.")
    expect(tab.replies).to_have_count(1)


def test_long_words_and_many_lines_stay_inside(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words("x" * 3_000 + "\n\n```\n" + "y" * 3_000 + "\n```"))
    tab.converse("w" * 2_000, "xxx")
    assert not tab.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    tab.composer.fill("line\n" * 200)
    assert not tab.page.evaluate("document.documentElement.scrollHeight > innerHeight")
