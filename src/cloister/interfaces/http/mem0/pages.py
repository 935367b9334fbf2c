"""Numbered pages, as mem0's lists have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Query

T = TypeVar("T")
PageNumber = Annotated[int, Query(ge=1, le=100_000)]
PageSize = Annotated[int, Query(ge=1, le=200)]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the list at `path`."""

    path: str
    number: int
    size: int

    def slice(self, items: Sequence[T]) -> Sequence[T]:
        return items[(self.number - 1) * self.size : self.number * self.size]

    def of(self, results: Sequence[Any], count: int) -> dict[str, Any]:
        """The answer. The links are paths, since the server may be known to its clients by another name."""
        has_next, has_previous = self.number * self.size < count, self.number > 1
        return {
            "count": count,
            "next": self._link(self.number + 1) if has_next else None,
            "previous": self._link(self.number - 1) if has_previous else None,
            "results": list(results),
        }

    def _link(self, number: int) -> str:
        return f"{self.path}?page={number}&page_size={self.size}"
