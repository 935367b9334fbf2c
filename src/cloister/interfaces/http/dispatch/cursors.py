"""Pagination over HTTP, with the cursors of the library."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel
from starlette.responses import Response

from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.python.pages import ListCursors

_T = TypeVar("_T")


class Listing(ListCursors):
    """One list: its name, its tenant and its filters."""

    def answer(
        self,
        kind: type[BaseModel],
        rows: Sequence[_T],
        limit: int,
        *,
        shape: Callable[[_T], object],
        key: Callable[[_T], tuple[int, ...]],
    ) -> Response:
        """The answer with one page of `rows`. Its items were built by this process, so pydantic does not validate them again."""
        page = self.page(rows, limit, shape=shape, key=key)
        return answer(kind.model_construct(data=page, next_cursor=page.next_cursor))
