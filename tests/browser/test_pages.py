"""Every page, wide and narrow, light and dark: looked at by axe, kept as pictures to be looked at by people."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, expect

from support.clients.browser import NARROW, PICTURES, SMALL, WIDE, Desk, Tab, console_link
from support.clients.chat_client import words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, Tenant

AXE = Path(__file__).parents[2] / "console" / "node_modules" / "axe-core" / "axe.min.js"
REPLY = """The climbing rose wants **cutting back by a third**, in late February, after the last hard frost:

1. Take out what is dead or crosses.
2. Cut above a bud that looks outwards.
3. Tie the long shoots *flat*: they flower along their whole length.

| month | what to do |
|---|---|
| February | cut back |
| May | feed |

```python
def days_until(frost: date, today: date) -> int:
    # The last frost here is usually in the third week.
    return (frost - today).days
```

> “Prune hard, and pray.” — the neighbour
"""
LONG = "The library of the house by the sea, with all that was ever written down in it"
NAMES = ["Anna", "Bertil", "Carla", "Dagny", "Edvard", "Frida", "Gustav", "Hanna", "Ivar", "Julia", "Karin", "Lars"]
TOWNS = [
    "Aarhus",
    "Bergen",
    "Cork",
    "Dublin",
    "Essen",
    "Florence",
    "Ghent",
    "Hamburg",
    "Innsbruck",
    "Jena",
    "Krakow",
    "Lisbon",
]
# As an assistant exports it: a conversation, and one that is empty.
EXPORT: list[dict[str, Any]] = [
    {
        "uuid": "c1",
        "name": "The gate",
        "created_at": "2026-05-01T12:00:00Z",
        "chat_messages": [
            {
                "uuid": f"m{day}",
                "sender": "human",
                "text": "The code is 4417.",
                "created_at": f"2026-05-0{day}T12:00:00Z",
            }
            for day in range(1, 9)
        ],
    },
    {"uuid": "c2", "name": "Empty", "created_at": "2026-05-01T12:00:00Z", "chat_messages": []},
]
Open = Callable[[Tab], object]
# What axe finds by colours alone: all else is the same in the dark.
COLOURS = ["color-contrast", "link-in-text-block"]
SETTLED = "Promise.allSettled(document.getAnimations().map((each) => each.finished)).then(() => document.fonts.status)"

# Whether the end of a page stays under the button that floats over it.
COVERED = """(() => {
    const [page, button] = [".page", ".over-button"].map((each) => document.querySelector(each));
    // On a phone it is in the bar, above the page.
    if (!page || !button || button.getBoundingClientRect().bottom <= page.getBoundingClientRect().top) return false;
    page.scrollTop = page.scrollHeight;
    const covered = page.lastElementChild.getBoundingClientRect().bottom > button.getBoundingClientRect().top;
    page.scrollTop = 0;
    return covered;
})()"""


def furnish(tenant: Tenant, model: FakeEndpoint) -> None:
    """A household in which something was said."""
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    model.answers(words("Noted. Anna's cello stands in the hall, and the code is 4417."))
    for session, project, title, said in (
        (
            "gate",
            garden,
            "The gate and its code",
            "The gate code is 4417. My neighbour Anna plays the cello in the garden house.",
        ),
        ("beans", garden, "Beans along the south wall", "The beans go along the south wall, next to the roses."),
        (
            "bread",
            kitchen,
            "Bread without kneading",
            "I am allergic to walnuts, so the bread gets sunflower seeds.",
        ),
        ("diary", None, "Rain all day", "It rained all day, and I read."),
    ):
        tenant.new_session(session, project_id=project, title=title, user_id="ada" if session == "bread" else None)
        body = {"id": session, "messages": [{"role": "user", "parts": [{"type": "text", "text": said}]}]}
        assert tenant.admin.post("/v1/chat/stream", body).status_code == 200
        tenant.admin.post(f"/v1/sessions/{session}/extract")
    tenant.admin.made(
        "/org/api-keys", {"name": "kitchen display", "permissions": ["read"], "project_id": kitchen, "confined": True}
    )
    fill(tenant)
    model.answers(words(REPLY))


def fill(tenant: Tenant) -> None:
    """A project with much in it, and with names and words that are long."""
    library = tenant.new_project(LONG)
    for number in range(30):
        session = f"shelf-{number}"
        title = LONG * 2 if number == 29 else f"Shelf {number}, and what stands on it"
        tenant.new_session(session, project_id=library, title=title, user_id="ada" if number % 2 else None)
    books = [f"Book {number} stands on the shelf by the window, next to the atlas." for number in range(50)]
    contents = [*books, "A very long remark: " + "it goes on and on, " * 40, f"See {'x' * 300}."]
    tenant.admin.made("/v1/memories", {"session_id": "shelf-29", "contents": contents})
    for number in range(12):
        tenant.say("shelf-29", f"My friend {NAMES[number]} plays the cello. {NAMES[number]} lives in {TOWNS[number]}.")
    tenant.say("shelf-29", "I live in Rome.")
    tenant.say("shelf-29", "I moved to Oslo.")
    tenant.admin.post("/v1/sessions/shelf-29/extract")


def fresh(tab: Tab) -> None:
    """As a new tab would be, for less time."""
    tab.page.evaluate("sessionStorage.clear()")
    tab.page.goto("/")
    expect(tab.composer).to_be_enabled()


def talk(tab: Tab) -> None:
    tab.choose_place("Garden")
    tab.composer.fill("How do I cut back the **roses** by the gate? And what was the gate code?")
    tab.page.get_by_role("button", name="Send", exact=True).click()
    expect(tab.replies.last).to_contain_text("Prune hard")
    expect(tab.page.get_by_role("heading", name="How do I cut back")).to_be_visible()
    tab.is_idle()
    expect(tab.replies.last.locator(".hljs-keyword").first).to_be_visible()


def recalled(tab: Tab) -> None:
    tab.page.get_by_role("button", name="Recalled").last.click()
    expect(tab.page.get_by_role("complementary", name="Recalled")).to_contain_text("4417")


def setting_up(tab: Tab) -> None:
    tab.page.keyboard.press("Escape")
    tab.page.get_by_role("button", name="Model: fake").click()
    tab.page.get_by_role("dialog").get_by_label("System prompt").fill("You are a gardener.")
    expect(tab.page.get_by_role("dialog")).to_contain_text("will receive no memory")


def menu(tab: Tab) -> None:
    tab.page.keyboard.press("Escape")
    tab.page.get_by_role("main").get_by_role("button", name="Options for").click()
    expect(tab.page.get_by_role("menuitem", name="Archive")).to_be_visible()


def selecting(tab: Tab) -> None:
    sidebar(tab)
    tab.page.get_by_role("button", name="Select conversations").click()
    tab.sidebar.get_by_label("Rain all day").check()
    expect(tab.sidebar).to_contain_text("1 selected")


def sidebar(tab: Tab) -> None:
    fresh(tab)
    if tab.page.get_by_role("button", name="Conversations", exact=True).is_visible():
        tab.page.get_by_role("button", name="Conversations", exact=True).click()
    expect(tab.sidebar).to_be_visible()


def searching(tab: Tab) -> None:
    tab.page.get_by_label("Search conversations").fill("neighbour")
    expect(tab.page.get_by_role("region", name="Search results")).to_contain_text("Anna plays the cello")


def moving(tab: Tab) -> None:
    sidebar(tab)
    tab.menu("Beans along the south wall", "Move…")
    expect(tab.page.get_by_role("dialog")).to_contain_text("can recall its")


def memory(tab: Tab) -> None:
    sidebar(tab)
    tab.open("The gate and its code")
    expect(tab.questions).to_have_count(1)
    at("/memory", "cello")(tab)


def entities(tab: Tab) -> None:
    tab.page.goto("/memory/entities")
    tab.page.get_by_role("main").get_by_label("Project").select_option(label="Garden")
    expect(tab.page.get_by_role("main")).to_contain_text("Anna")


def at(path: str, shown: str) -> Open:
    def go(tab: Tab) -> None:
        tab.page.goto(path)
        expect(tab.page.get_by_role("main")).to_contain_text(shown)

    return go


def home(part: str, shown: str, name: str = "Garden") -> Open:
    """A part of the home of a project."""

    def go(tab: Tab) -> None:
        asked = """name => fetch("/org/projects?name=" + encodeURIComponent(name)).then((answer) => answer.json())"""
        address = tab.page.evaluate(asked, name)
        at(f"/p/{address['data'][0]['project_id']}{part}", shown)(tab)

    return go


def in_dialog(button: str, shown: str) -> Open:
    """Over the page before."""

    def go(tab: Tab) -> None:
        tab.page.get_by_role("button", name=button, exact=True).first.click()
        expect(tab.page.get_by_role("dialog").last).to_contain_text(shown)

    return go


def wall(tab: Tab) -> None:
    """The two example projects of the start page."""
    tab.page.get_by_role("button", name="Create the example projects").click()
    tab.page.get_by_role("button", name="Ask both").click()
    expect(tab.page.get_by_role("main")).to_contain_text("The door code is 9062.")


def previewing(tab: Tab) -> None:
    packed = json.dumps(EXPORT).encode()
    tab.page.locator("main input[type=file]").set_input_files(
        [{"name": "conversations.json", "mimeType": "application/json", "buffer": packed}]
    )
    expect(tab.page.get_by_role("region", name="Preview")).to_contain_text("1 conversation, 8 messages")


def imported(tab: Tab) -> None:
    tab.page.get_by_role("button", name="Import into Default", exact=True).click()
    expect(tab.page.get_by_role("main")).to_contain_text("Imported 1 conversation, 8 messages.")


# In this order: some begin where the one before them ended.
PAGES: dict[str, Open] = {
    "new": fresh,
    "chat": talk,
    "recalled": recalled,
    "setup": setting_up,
    "menu": menu,
    "selecting": selecting,
    "missing chat": at("/c/no-such-chat", "There is no conversation at this address."),
    "unknown page": at("/p/x/nonsense", "Page not found"),
    "sidebar": sidebar,
    "searching": searching,
    "moving": moving,
    "memory": memory,
    "sources": in_dialog("Source", "The gate code is"),
    "user": at("/memory/user", "The user moved to Oslo."),
    "entities": entities,
    "home": home("", "cello"),
    "home add": in_dialog("Add a memory", "Belongs to"),
    "home entities": home("/entities", "Anna"),
    "home timeline": home("/timeline", "Learned"),
    "home conversations": home("/conversations", "Beans along the south wall"),
    "home settings": home("/settings", "each person has their own"),
    "home of a user": at("/u/ada", "walnuts"),
    "home of nobody": at("/p/none", "No memories yet"),
    "full home": home("", "Book 49", LONG),
    "full home entities": home("/entities", "Bertil", LONG),
    "full home timeline": home("/timeline", "Oslo", LONG),
    "full home conversations": home("/conversations", "Shelf 28", LONG),
    "projects": at("/settings", "Kitchen"),
    "project": in_dialog("Edit", "Summaries are shown to"),
    "keys": at("/settings/keys", "kitchen display"),
    "new key": in_dialog("New key", "Valid until"),
    "model": at("/settings/model", "Connect a model"),
    "usage": at("/settings/usage", "Messages"),
    "browser": at("/settings/browser", "Alt+N"),
    "over": lambda tab: (
        fresh(tab),
        at("/settings", "Kitchen")(tab),
        in_dialog("Conversation", "This conversation stays in")(tab),
    ),
    "import": at("/import", "Bring your conversations along."),
    "import preview": previewing,
    "imported": imported,
    "start": at("/start", "Welcome to Cloister"),
    "start wall": wall,
}


def look(tab: Tab, name: str, width: str) -> list[str]:
    """Pictures in the light and in the dark, and what is grave in either."""
    found: list[str] = []
    looks: list[tuple[Literal["light", "dark"], list[str] | None]] = [("light", None), ("dark", COLOURS)]
    for scheme, rules in looks:
        tab.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        tab.page.evaluate(SETTLED)
        tab.page.screenshot(path=PICTURES / f"{name.replace(' ', '-')}-{width}-{scheme}.png")
        found += [f"{scheme}: {finding}" for finding in findings(tab, rules)]
    if tab.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("wider than the window")
    if tab.page.evaluate(COVERED):
        found.append("its end is covered")
    if width == "narrow":
        found += [f"too small for a finger: {each}" for each in tab.page.evaluate(SMALL)]
    return found


def findings(tab: Tab, rules: list[str] | None) -> list[str]:
    """What axe finds grave, by all of its rules or by these."""
    # Nothing is fetched again for it: that is for orientation locks, a rule that is off, and for media, which we have none of.
    options = {"resultTypes": ["violations"], "preload": False, **({"runOnly": rules} if rules else {})}
    report: dict[str, Any] = tab.page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{found['id']}: {node['html']} {node['failureSummary']}"
        for found in report["violations"]
        if found["impact"] in ("serious", "critical")
        for node in found["nodes"]
    ]


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_every_page_is_accessible_and_fits(
    browser: Browser, server: Server, tenant: Tenant, model: FakeEndpoint, width: str
) -> None:
    """No serious or critical finding, and nothing wider than the window."""
    furnish(tenant, model)
    PICTURES.mkdir(exist_ok=True)
    context = browser.new_context(
        viewport=WIDE if width == "wide" else NARROW, base_url=tenant.address, has_touch=width == "narrow"
    )
    context.add_init_script(path=AXE)
    desk = Desk(context=context, tenant=tenant)
    tab = desk.sign_in()
    found: dict[str, list[str]] = {}
    for name, go in PAGES.items():
        go(tab)
        found[name] = look(tab, name, width)
    other = desk.tab(console_link(server.new_tenant()))
    expect(other.page.get_by_role("alert")).to_be_visible()
    found["other key"] = look(other, "other key", width)
    context.clear_cookies()
    out = desk.tab(console_link(tenant).replace("#", "#x"))
    expect(out.page.get_by_role("main")).to_contain_text("has been used already")
    found["sign in"] = look(out, "sign in", width)
    context.close()
    assert {name: grave for name, grave in found.items() if grave} == {}
    assert (desk.strayed, desk.trouble) == ([], [])
