"""How long the console takes to open a long conversation and to show a long list, and how smoothly both scroll.

    python benchmarks/console.py [--messages 500] [--conversations 2000] [--rounds 5] [--json]

`cloister serve` runs in a process of its own, without a model; the browser is the system's Chromium, without a window, on the same
machine. A conversation is open when its last message is in sight, measured from the click in the sidebar. Frame times are of
scrolling for three seconds, from the end towards the beginning. Needs the package `playwright`.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from cloister import Cloister
from service import Service, serving

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
REPLY = """The climbing rose wants **cutting back by a third**, number {number}, after the last hard frost:

1. Take out what is dead or crosses.
2. Cut above a bud that looks outwards.
3. Tie the long shoots *flat*: they flower along their whole length.

| month | what to do |
|---|---|
| February | cut back |
| May | feed |

```python
def days_until(frost: date, today: date) -> int:
    return (frost - today).days
```
"""
# Scrolls an element by 4,000 pixels a second, as a hand does it, and answers with the milliseconds between frames.
SCROLL = """([selector, up]) => new Promise((resolve) => {
    const list = document.querySelector(selector);
    const [begun, times] = [performance.now(), []];
    let last = begun;
    list.scrollTop = up ? list.scrollHeight : 0;
    const step = (now) => {
        times.push(now - last);
        list.scrollTop += (up ? -4 : 4) * (now - last);
        last = now;
        if (now - begun < 3000) requestAnimationFrame(step);
        else resolve(times.slice(1));
    };
    requestAnimationFrame(step);
})"""
# Answers with the milliseconds from a click on a link to the frame in which the text is in sight.
OPEN = """([link, text]) => new Promise((resolve) => {
    const begun = performance.now();
    document.querySelector(link).click();
    const look = () => {
        const shown = [...document.querySelectorAll(".message")].at(-1);
        const box = shown?.getBoundingClientRect();
        const isOpen = shown?.textContent.includes(text) && box.bottom > 0 && box.top < innerHeight;
        if (isOpen) requestAnimationFrame(() => resolve(performance.now() - begun));
        else setTimeout(look, 4);
    };
    look();
})"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--messages", type=int, default=500)
    arguments.add_argument("--conversations", type=int, default=2_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        fill(Path(directory), given.messages, given.conversations)
        with serving(Path(directory)) as service, sync_playwright() as playwright:
            path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
            report = measure(browser, service, given.messages, given.conversations, given.rounds)
            browser.close()
    print(json.dumps(report) if given.json else readable(report))


def fill(directory: Path, messages: int, conversations: int) -> None:
    with Cloister(directory) as memory:
        for number in range(conversations):
            memory.create_session(f"short-{number}", title=f"Conversation number {number} about roses and beans")
        memory.create_session("long", title="The long one")
        said = [
            {"role": "assistant", "content": REPLY.format(number=number)}
            if number % 2
            else {"role": "user", "content": f"Question number {number}: what about the roses by the gate, and when?"}
            for number in range(messages)
        ]
        memory.record_batch("long", said)
        memory.create_session("other", title="The other one")
        memory.record("other", "user", "Hello there.")


def measure(browser: Browser, service: Service, messages: int, conversations: int, rounds: int) -> list[dict[str, Any]]:
    context = browser.new_context(viewport={"width": 1_440, "height": 900})
    page = context.new_page()
    compressed = first_load(page, sign_in_link(page, service))
    opened: list[float] = []
    for _ in range(rounds):
        show(page, "other", "Hello there.")
        opened.append(show(page, "long", f"number {messages - 1}"))
    page.wait_for_timeout(200)
    early = frames(page, ".messages", up=True)
    show(page, "other", "Hello there.")
    show(page, "long", f"number {messages - 1}")
    # Until all of it is in the page.
    page.wait_for_function(
        "text => document.querySelector('.messages').textContent.includes(text)",
        arg="Question number 0:",
        timeout=60_000,
    )
    page.wait_for_timeout(500)
    late = frames(page, ".messages", up=True)
    nodes = int(page.evaluate("document.querySelectorAll('*').length"))
    page.goto(f"http://127.0.0.1:{service.port}/")
    listed = float(page.evaluate("performance.now()"))
    page.locator(".session-link").first.wait_for()
    listed = float(page.evaluate("performance.now()")) - listed
    more = page.locator(".more-rows")
    while more.count() > 0:
        more.first.click()
    rows = page.locator("a.session-link").count()
    scrolled = frames(page, ".places", up=False)
    context.close()
    return [
        {"what": "first load, compressed bytes", "p50": compressed, "target": 300_000},
        {"what": f"open a conversation of {messages} messages, ms", **spread(opened), "target": 1_000},
        {"what": "scrolling it right after it was opened, ms a frame", **spread(early), "target": 16.7},
        {"what": "scrolling it when all of it is in the page, ms a frame", **spread(late), "target": 16.7},
        {"what": "nodes in the page then", "p50": nodes},
        {"what": f"the list of {conversations} conversations after loading the page, ms", "p50": listed},
        {"what": f"scrolling {rows} rows of it, ms a frame", **spread(scrolled), "target": 16.7},
    ]


def sign_in_link(page: Page, service: Service) -> str:
    address = f"http://127.0.0.1:{service.port}"
    made = page.request.post(f"{address}/console/links", headers={"Authorization": f"Bearer {service.key}"}, data={})
    return address + str(made.json()["path"])


def first_load(page: Page, link: str) -> float:
    """The bytes of the page and its files over the network, without the list of conversations, which grows with what is stored."""
    page.goto(link)
    page.locator("#composer:enabled").wait_for()
    page.evaluate("document.fonts.ready.then(() => 0)")
    return float(
        page.evaluate(
            "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
            ".filter((each) => each.name.includes('/assets/') || each.entryType === 'navigation')"
            ".reduce((sum, each) => sum + each.transferSize, 0)"
        )
    )


def show(page: Page, session: str, text: str) -> float:
    link = f"a.session-link[href='/c/{session}'], a.session-link[href='/?session={session}']"
    page.locator(link).first.wait_for()
    return float(page.evaluate(OPEN, [link, text]))


def frames(page: Page, selector: str, *, up: bool) -> list[float]:
    return [float(each) for each in page.evaluate(SCROLL, [selector, up])]


def spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {"p50": statistics.median(ordered), "p95": ordered[int(len(ordered) * 0.95)], "worst": ordered[-1]}


def readable(report: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for entry in report:
        figures = [f"{entry['p50']:,.0f}" if entry["p50"] >= 100 else f"{entry['p50']:.1f}"]
        figures += [f"{name} {entry[name]:,.1f}" for name in ("p95", "worst") if name in entry]
        target = f"   (target {entry['target']:,})" if "target" in entry else ""
        lines.append(f"{entry['what']}: {', '.join(figures)}{target}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
