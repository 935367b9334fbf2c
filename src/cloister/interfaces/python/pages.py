"""`Page`: one page of a list, and the cursors that say where the next page begins."""

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast, get_args
from zlib import crc32

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import TenantId
from cloister.domain.recall.filter import Filter

Branch = Literal["current", "all"]
"""Which messages of a session: those of its current branch, or those of all."""
T = TypeVar("T")
Row = TypeVar("Row")
Id = TypeVar("Id")


class Page(list[T]):
    """One page of a list, and a plain list of its items. `next_cursor` is the `cursor` that asks for the next page; it is None on
    the last page. `previous_cursor` asks for the page before, in lists that can be read in both directions."""

    __slots__ = ("next_cursor", "previous_cursor")

    def __init__(
        self, items: Iterable[T] = (), next_cursor: str | None = None, previous_cursor: str | None = None
    ) -> None:
        super().__init__(items)
        self.next_cursor = next_cursor
        self.previous_cursor = previous_cursor


def _is_none(value: object) -> bool:
    return value is None


# What pydantic reads as arguments of its `Field`: the embedded library does not load it.
ONLY_IF_STALE: Mapping[str, Any] = {
    "exclude_if": _is_none,
    "description": "How many messages, memories and entities of the pool were indexed by another version of Cloister, and not yet "
    "again. Left out where there are none.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenFilter:
    """A filter as the caller gave it, to be sent to a server, and parsed."""

    given: Mapping[str, object]
    parsed: Filter


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRequest(Generic[Id]):
    """Which page of a list: at most `limit` items, from `cursor` on, else from behind the item `after`, else from the start; with a
    `filter`, of the items that it lets pass."""

    limit: int
    cursor: str | None = None
    after: Id | None = None
    filter: GivenFilter | None = None


class ListCursors:
    """The cursors of one list of one tenant, with one set of filters. A cursor holds the sort key of the last item of a page, and a
    checksum over it and the list: a cursor of another list would skip items, so it is refused."""

    def __init__(self, name: str, tenant: TenantId | int, *filters: int | str | None) -> None:
        self._identity = (name, tenant, *filters)

    def page(
        self, rows: Sequence[Row], limit: int, *, shape: Callable[[Row], T], key: Callable[[Row], tuple[int, ...]]
    ) -> Page[T]:
        """A page of `limit` items. `rows` has one row more than that where the list goes on."""
        shown = rows[:limit]
        return Page(map(shape, shown), self.encode(*key(shown[-1])) if len(rows) > limit else None)

    def encode(self, *key: int) -> str:
        numbers = [*key, crc32(repr((self._identity, key)).encode())]
        return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode().rstrip("=")

    def number(self, cursor: str | None) -> int | None:
        """The sort key in a cursor, for a list that is sorted by one number."""
        return None if cursor is None else self._decode(cursor, 1)[0]

    def pair(self, cursor: str | None) -> tuple[int, int] | None:
        """The sort key in a cursor, for a list that is sorted by two numbers."""
        if cursor is None:
            return None
        first, second = self._decode(cursor, 2)
        return first, second

    def _decode(self, cursor: str, length: int) -> tuple[int, ...]:
        try:
            read: object = json.loads(
                base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            )
        except (TypeError, ValueError, binascii.Error, RecursionError):
            read = None
        numbers = cast(list[object], read)[:-1] if isinstance(read, list) else []
        if len(numbers) == length and all(type(number) is int and abs(number) < 1 << 63 for number in numbers):
            key = tuple(cast(list[int], numbers))
            if self.encode(*key) == cursor:
                return key
        raise foreign_cursor()


def branch_identity(branch: Branch) -> tuple[str, ...]:
    """What distinguishes the cursors of the messages of all branches from those of the current one."""
    return () if branch == "current" else (branch,)


def checked_branch(branch: Branch) -> Branch:
    if branch not in get_args(Branch):
        raise InvalidRequest("branch", f"must be one of {', '.join(get_args(Branch))}, not {branch!r}.")
    return branch


def foreign_cursor() -> InvalidRequest:
    return InvalidRequest("cursor", "is not one that was given out for this list.")
