"""Lists on the command line: one page, or with `--all` every page."""

from collections.abc import Callable
from typing import TypeVar

from cloister.interfaces.cli.terminal import remark
from cloister.interfaces.python.arguments import LARGEST_PAGE
from cloister.interfaces.python.pages import Page

T = TypeVar("T")


def listed(
    fetch: Callable[[int, str | None], Page[T]], *, limit: int, everything: bool, cursor: str | None = None
) -> Page[T]:
    """The page that `fetch` returns for this limit and cursor, or with `everything` the items of all pages from there on."""
    found = fetch(LARGEST_PAGE if everything else limit, cursor)
    while everything and found.next_cursor is not None:
        page = fetch(LARGEST_PAGE, found.next_cursor)
        found = Page([*found, *page], page.next_cursor)
    return found


def remark_more(found: Page[T], after: Callable[[T], str] | None = None) -> None:
    """Say how to go on where there is a next page: behind the last item where `--after` takes an id, else with the cursor."""
    if found.next_cursor is not None:
        remark(f"There are more: add --after {found.next_cursor if after is None else after(found[-1])}, or --all")
