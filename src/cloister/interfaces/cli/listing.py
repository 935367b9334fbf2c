"""Lists on the command line: one page, or with `--all` every page."""

from collections.abc import Callable
from typing import TypeVar

from rich.console import RenderableType

from cloister.interfaces.cli.terminal import answer, remark
from cloister.interfaces.python.arguments import LARGEST_PAGE
from cloister.interfaces.python.pages import Page
from cloister.interfaces.python.shapes import as_json

T = TypeVar("T")


def listed(fetch: Callable[..., Page[T]], limit: int, everything: bool, cursor: str | None = None) -> Page[T]:
    """The page that `fetch` returns for this limit and cursor, or with `everything` the items of all pages from there on."""
    found = fetch(limit=LARGEST_PAGE if everything else limit, cursor=cursor)
    while everything and found.next_cursor is not None:
        page = fetch(limit=LARGEST_PAGE, cursor=found.next_cursor)
        found = Page([*found, *page], page.next_cursor)
    return found


def answer_list(
    found: Page[T],
    json: bool,
    *shown: RenderableType,
    empty: str | None = None,
    after: Callable[[T], str] | None = None,
) -> None:
    """Print a list: as JSON, or else the parts `shown`; if there are no items, the hint `empty` takes their place."""
    answer(as_json(found), json, *(shown if found or empty is None else ()))
    if not found and empty is not None:
        remark(empty)
    remark_more(found, after)


def remark_more(found: Page[T], after: Callable[[T], str] | None = None) -> None:
    """Say how to go on where there is a next page: behind the last item where `--after` takes an id, else with the cursor."""
    if found.next_cursor is not None:
        remark(f"There are more: add --after {found.next_cursor if after is None else after(found[-1])}, or --all")
