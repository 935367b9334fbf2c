"""A person at the console: real Chromium, its tabs, and what is on them."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, ViewportSize, expect, sync_playwright

from support.servers.http_server import Tenant

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
WIDE, NARROW = ViewportSize(width=1_600, height=1_000), ViewportSize(width=360, height=740)
PICTURES = Path(__file__).parents[2] / "browser" / "screenshots"
# What can be pressed and is smaller than a finger. Links inside of sentences may be, and what only a screen reader reads.
SMALL = """() => [...document.querySelectorAll("button, a, select, textarea, input:not([hidden])")]
    .filter((each) => each.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}))
    .filter((each) => !each.closest(".words, .unseen, .hint, p"))
    .filter((each) => !each.classList.contains("skip") && !each.classList.contains("veil"))
    .map((each) => [(each.closest("label") ?? each).getBoundingClientRect(), each.outerHTML.slice(0, 120)])
    .filter(([box]) => box.width > 0 && box.right > 0 && (box.height < 43.5 || box.width < 43.5))
    .map(([box, html]) => `${Math.round(box.width)}x${Math.round(box.height)} ${html}`)"""
# Patience for a machine that does much else; what comes earlier is not waited for.
PATIENCE = 25_000
expect.set_options(timeout=PATIENCE)


@contextmanager
def system_chromium() -> Generator[Browser]:
    """The system's own; a missing one skips at a desk and fails in CI."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs a real Chromium: apt-get install chromium")
        pytest.skip("no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield browser
        browser.close()


class Slow:
    """A network that holds requests back until it lets go."""

    def __init__(self) -> None:
        self._stored: list[Route] | None = []

    def hold(self, route: Route) -> None:
        if self._stored is None:
            route.continue_()
        else:
            self._stored.append(route)

    def let_go(self) -> None:
        stored, self._stored = self._stored or [], None
        for route in stored:
            route.continue_()


def console_link(tenant: Tenant, key: str | None = None) -> str:
    """A link that signs a browser in, once."""
    made = tenant.caller(key or tenant.key).post("/console/links").json()
    return f"{tenant.address}{made['path']}"


@dataclass(kw_only=True)
class Tab:
    """One tab, by what a person sees in it."""

    page: Page

    @property
    def composer(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    @property
    def replies(self) -> Locator:
        return self.page.get_by_role("article", name="Reply")

    @property
    def questions(self) -> Locator:
        return self.page.get_by_role("article", name="You said").locator(".bubble")

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_role("navigation", name="Conversations")

    @property
    def session(self) -> str:
        return str(self.page.evaluate("sessionStorage.getItem('cloister.session')"))

    def place(self, name: str) -> Locator:
        return self.sidebar.get_by_role("region", name=name, exact=True)

    def row(self, title: str) -> Locator:
        return self.sidebar.get_by_role("listitem").filter(has=self.page.get_by_role("link", name=title))

    def say(self, text: str) -> None:
        self.composer.fill(text)
        self.composer.press("Enter")

    def converse(self, text: str, reply: str) -> None:
        """Say it, and wait for the reply to its end."""
        before = self.replies.count()
        self.say(text)
        expect(self.replies).to_have_count(before + 1)
        expect(self.replies.last).to_contain_text(reply)
        self.is_idle()

    def is_idle(self) -> None:
        expect(self.page.get_by_role("button", name="Send", exact=True)).to_be_visible()
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0)

    def new_chat(self) -> None:
        self.page.get_by_role("button", name="New chat", exact=True).first.click()

    def open(self, title: str) -> None:
        self.sidebar.get_by_role("link", name=title).first.click()

    def menu(self, title: str, choice: str) -> None:
        row = self.row(title)
        row.hover()
        row.get_by_role("button", name=f"Options for “{title}”").click()
        self.page.get_by_role("menuitem", name=choice).click()

    def choose_place(self, name: str) -> None:
        self.page.get_by_label("Project of this conversation").select_option(label=name)


@dataclass(kw_only=True)
class Desk:
    """A browser that is signed in, with any number of tabs. What it asks of anybody but the server is noted."""

    context: BrowserContext
    tenant: Tenant
    strayed: list[str] = field(default_factory=list[str])
    trouble: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.on("request", self._note)
        self.context.on("weberror", lambda error: self.trouble.append(str(error.error)))
        self.context.on("console", lambda message: self._hear(message.type, message.text))

    def sign_in(self, key: str | None = None) -> Tab:
        tab = self.tab(console_link(self.tenant, key))
        expect(tab.composer).to_be_enabled()
        return tab

    def tab(self, address: str = "/") -> Tab:
        page = self.context.new_page()
        page.goto(address if address.startswith("http") else f"{self.tenant.address}{address}")
        return Tab(page=page)

    def duplicate(self, tab: Tab) -> Tab:
        """As a browser does it: the same address, and a copy of the tab's own storage."""
        kept: dict[str, str] = tab.page.evaluate("({...sessionStorage})")
        page = self.context.new_page()
        page.goto(f"{self.tenant.address}/livez")
        page.evaluate(
            "kept => Object.entries(kept).forEach(([key, value]) => sessionStorage.setItem(key, value))", kept
        )
        page.goto(tab.page.url)
        return Tab(page=page)

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.tenant.address, "data:", "about:")):
            self.strayed.append(request.url)

    def _hear(self, kind: str, text: str) -> None:
        """Refusals are answered on purpose; scripts and styles that the policy refuses are not."""
        if kind == "error" and "Failed to load resource" not in text and "net::ERR" not in text:
            self.trouble.append(text)
