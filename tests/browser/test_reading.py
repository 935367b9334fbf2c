"""How messages are read: tables, formulas, footnotes, code, both directions of writing, and where the page is scrolled to."""

from playwright.sync_api import expect

from support.clients.browser import Desk
from support.clients.chat_client import Gate, words
from support.servers.fake_endpoint import FakeEndpoint

TABLE = """| Extraordinarily | Incomprehensible | Characterisation | Misunderstanding | Responsibilities | Telecommunication |
|---|---|---|---|---|---|
| Internationalisation | Counterrevolutionary | Disproportionately | Uncharacteristically | Oversimplification | Electromagnetism |
"""
# The widest cell that is broken inside a word has two lines although it has one word.
BROKEN = "() => [...document.querySelectorAll('.words td')].some((each) => each.getClientRects()[0].height > 45)"


def test_tables_scroll_and_never_break_a_word(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words(TABLE))
    tab.converse("A table.", "Internationalisation")
    for width in (1_440, 390):
        tab.page.set_viewport_size({"width": width, "height": 900})
        assert not tab.page.evaluate(BROKEN)
        assert not tab.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert tab.page.evaluate(
        "(() => { const t = document.querySelector('.table-scroll'); return t.scrollWidth > t.clientWidth })()"
    )


def test_formulas_are_typeset_with_fonts_from_here(desk: Desk, model: FakeEndpoint) -> None:
    r"""`\(a^2\)` was shown as `(a^2)`."""
    tab = desk.sign_in()
    model.answers(words(r"So \(a^2\), $b_1$ and \[\frac{1}{2}\] but not `$c$` for $5 or $6. Wrong: \(\frac\)"))
    tab.converse("Formulas.", "So")
    reply = tab.replies.last
    expect(reply.locator(".katex")).to_have_count(3)
    expect(reply.locator(".katex-display")).to_have_count(1)
    expect(reply.locator("code")).to_have_text(["$c$"])
    expect(reply).to_contain_text("for $5 or $6")
    expect(reply).to_contain_text(r"\frac")
    assert tab.page.evaluate(
        "document.fonts.ready.then(() => [...document.fonts]"
        ".some((font) => font.family.includes('KaTeX') && font.status === 'loaded'))"
    )
    assert desk.strayed == []


def test_footnotes_stay_in_their_message(desk: Desk, model: FakeEndpoint) -> None:
    """They opened a new tab, hence a new conversation."""
    tab = desk.sign_in()
    model.answers(words("Roses[^1] bloom.\n\n[^1]: In June."))
    tab.converse("One.", "bloom")
    tab.converse("Two.", "bloom")
    before = tab.page.url
    tab.replies.first.locator("sup a").click()
    expect(tab.replies.first.locator(".footnotes li")).to_be_focused()
    assert len(desk.context.pages) == 1
    assert tab.page.url == before
    ids = tab.page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len(set(ids))


def test_code_names_its_language_and_is_copied(desk: Desk, model: FakeEndpoint) -> None:
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = desk.sign_in()
    model.answers(words("```python\nprint(1)\n```"))
    tab.converse("Code.", "print")
    block = tab.replies.last.locator(".code-block")
    expect(block).to_contain_text("python")
    block.get_by_role("button", name="Copy code").click()
    expect(block.get_by_text("Copied")).to_be_attached()
    assert tab.page.evaluate("navigator.clipboard.readText()") == "print(1)\n"


def test_a_users_message_is_read_as_markdown_and_never_obeyed(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.composer.fill("Do **this**:\n- one\n- two\n\n<img src=x onerror=\"document.title='harmed'\"> first\nsecond")
    tab.composer.press("Enter")
    expect(tab.questions.locator("strong")).to_have_text("this")
    expect(tab.questions.locator("li")).to_have_text(["one", "two"])
    expect(tab.questions.locator("img")).to_have_count(0)
    assert "first\nsecond" in tab.questions.inner_text()
    assert "harmed" not in tab.page.title()


def test_right_to_left_words_have_their_bullets_and_points_on_their_side(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words("שלום עולם!\n\n- אחת\n- שתיים\n\nAnd English."))
    tab.converse("مرحبا!", "English")
    direction = "each => getComputedStyle(each).direction"
    assert tab.questions.locator("p").evaluate(direction) == "rtl"
    assert tab.replies.last.locator("p").first.evaluate(direction) == "rtl"
    assert tab.replies.last.locator("ul").evaluate(direction) == "rtl"
    assert tab.replies.last.locator("p").last.evaluate(direction) == "ltr"
    tab.composer.fill("שלום")
    assert tab.composer.evaluate(direction) == "rtl"


def test_the_live_region_reads_words_and_not_marks(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(
        words("**Bold** words, `code`, a [link](https://example.org/), and\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    )
    tab.converse("Speak.", "Bold")
    spoken = tab.page.locator(".conversation > [role=status]")
    expect(spoken).to_have_text("Reply: Bold words, code, a link, and a b 1 2")


def test_what_is_sent_is_shown_although_the_page_was_scrolled_up(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    model.answers(words("A long reply.\n\n" + "One more line.\n\n" * 80))
    tab.converse("Speak at length.", "long")
    messages = tab.page.locator(".messages")
    messages.evaluate("each => each.scrollTo({top: 0})")
    latest = tab.page.get_by_role("button", name="Jump to latest")
    expect(latest).to_be_visible()
    latest.click()
    expect(latest).to_have_count(0)
    assert messages.evaluate("each => each.scrollHeight - each.scrollTop - each.clientHeight") < 5
    messages.evaluate("each => each.scrollTo({top: 0})")
    expect(latest).to_be_visible()
    model.answers(words("Short."))
    tab.say("And now?")
    expect(tab.questions.last).to_be_in_viewport()
    expect(tab.replies.last).to_be_in_viewport()


def test_a_reply_that_grows_does_not_pull_a_reader_down(desk: Desk, model: FakeEndpoint) -> None:
    tab = desk.sign_in()
    gate = Gate()
    model.answers(words("A line.\n\n" * 60, "More.\n\n" * 60, "The end.", gate=gate))
    tab.say("Speak at length.")
    gate.let(1)
    expect(tab.replies.last).to_contain_text("A line.")
    messages = tab.page.locator(".messages")
    expect(messages).to_have_js_property(
        "scrollTop", messages.evaluate("each => each.scrollHeight - each.clientHeight")
    )
    messages.evaluate("each => each.scrollTo({top: 100})")
    expect(tab.page.get_by_role("button", name="Jump to latest")).to_be_visible()
    gate.open()
    expect(tab.replies.last).to_contain_text("The end.")
    tab.is_idle()
    assert abs(messages.evaluate("each => each.scrollTop") - 100) < 2


def test_an_existing_empty_conversation_is_no_blank_pane(desk: Desk) -> None:
    desk.tenant.new_session("gate", title="The gate")
    tab = desk.sign_in()
    tab.open("The gate")
    expect(tab.page.get_by_role("main")).to_contain_text("No messages yet")
    tab.converse("First.", "Noted.")


def test_times_are_relative_and_exact_when_the_pointer_rests(desk: Desk) -> None:
    tab = desk.sign_in()
    tab.converse("The gate code is 4417.", "Noted.")
    time = tab.replies.last.locator("time")
    expect(time).to_have_text("now")
    assert "202" in str(time.get_attribute("title"))
