"""What the first load costs, what the browser is told about it, and that nothing comes from anywhere else."""

from typing import Any

from playwright.sync_api import expect

from support.clients.browser import Desk, console_link

BUDGET = 300_000


def test_the_first_load_is_small_packed_and_from_here_alone(desk: Desk) -> None:
    page = desk.context.new_page()
    session: Any = desk.context.new_cdp_session(page)
    session.send("Network.enable")
    received: list[float] = []

    def count(event: dict[str, Any]) -> None:
        received.append(event["encodedDataLength"])

    session.on("Network.loadingFinished", count)
    page.goto(console_link(desk.tenant))
    expect(page.get_by_label("Message", exact=True)).to_be_enabled()
    page.evaluate("document.fonts.ready")
    assert 50_000 < sum(received) <= BUDGET
    assert desk.strayed == []


def test_pages_are_never_kept_and_what_is_named_after_its_content_is_kept_for_ever(desk: Desk) -> None:
    caller = desk.tenant.admin
    page = caller.get("/")
    assert page.headers["cache-control"] == "no-store"
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "style=" not in page.text
    assert "<style" not in page.text
    asset = page.text.partition('src="')[2].partition('"')[0]
    script = caller.get(asset, headers={"Accept-Encoding": "gzip"})
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert script.headers["content-encoding"] == "gzip"
    assert script.headers["x-content-type-options"] == "nosniff"
    icon = caller.get("/favicon.svg")
    assert caller.get("/favicon.svg", headers={"If-None-Match": icon.headers["etag"]}).status_code == 304


def test_pages_stand_only_where_the_console_has_them(desk: Desk) -> None:
    """Never before a route of the API, and never in place of an error of it."""
    caller = desk.tenant.admin
    for path in ("/", "/sign-in", "/memory", "/memory/user", "/settings/nonsense"):
        assert caller.get(path).headers["content-type"] == "text/html; charset=utf-8", path
    for path in (
        "/v1/nonsense",
        "/org/nonsense",
        "/console/nonsense",
        "/assets/nonsense.js",
        "/nonsense",
        "/../pyproject.toml",
    ):
        answer = caller.get(path)
        assert (path, answer.status_code) == (path, 404)
        # Where OpenAI's clients ask, an error has the form that they read.
        kind = "application/json" if path.startswith("/v1/") else "application/problem+json"
        assert answer.headers["content-type"] == kind
    assert caller.post("/settings").status_code == 404
