"""Long conversations and long lists: opened at their end, whole in the page soon after, and found by the browser's own search."""

from playwright.sync_api import expect

from support.clients.browser import Desk
from support.servers.http_server import Tenant


def fill(tenant: Tenant, session: str, messages: int) -> None:
    tenant.new_session(session, title="The long one")
    said = [
        {"role": ("user", "assistant")[number % 2], "content": f"Message number {number}."}
        for number in range(messages)
    ]
    tenant.admin.made(f"/v1/sessions/{session}/messages/batch", {"messages": said})


def test_a_long_conversation_opens_at_its_end_and_is_whole_soon_after(desk: Desk) -> None:
    fill(desk.tenant, "long", 500)
    tab = desk.sign_in()
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url) if "/messages?" in request.url else None)
    tab.open("The long one")
    expect(tab.replies.last).to_contain_text("Message number 499.")
    expect(tab.replies.last).to_be_in_viewport()
    assert "before=end" in asked[0]
    expect(tab.questions.first).to_have_text("Message number 0.")
    expect(tab.replies.last).to_be_in_viewport()
    assert tab.page.locator("article.message").count() == 500
    # What the browser's own search would find.
    assert tab.page.evaluate("window.find('Message number 3.')")


def test_reading_further_up_stays_where_it_is_while_older_messages_come(desk: Desk) -> None:
    fill(desk.tenant, "long", 300)
    tab = desk.sign_in()
    tab.open("The long one")
    expect(tab.replies.last).to_be_in_viewport()
    expect(tab.questions.first).to_have_text("Message number 0.")
    messages = tab.page.locator(".messages")
    messages.evaluate("each => each.scrollTo({top: 0})")
    expect(tab.questions.first).to_be_in_viewport()


def test_two_thousand_conversations_are_listed_in_steps(desk: Desk) -> None:
    for number in range(150):
        desk.tenant.new_session(f"one-{number}", title=f"Conversation {number}", project_id=None)
    tab = desk.sign_in()
    place = tab.place("No project")
    expect(place.get_by_role("link", name="No project")).to_contain_text("150")
    expect(place.locator("a.session-link")).to_have_count(12)
    place.get_by_role("button", name="138 more").click()
    expect(place.locator("a.session-link")).to_have_count(112)
