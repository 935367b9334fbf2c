"""Pagination by cursors. A cursor encodes the sort key of the last item of a page; it is opaque to callers and grants no access."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import TypeVar, cast
from zlib import crc32

from pydantic import BaseModel
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import TenantId
from cloister.interfaces.http.resources.answers import answer

_T = TypeVar("_T")


class Listing:
    """One list: its name, its tenant and its filters. A cursor is valid only for the list that issued it, since in another one it
    would skip items."""

    def __init__(self, name: str, tenant: TenantId, *narrowed: int | str | None) -> None:
        self._identity = (name, tenant, *narrowed)

    def page(
        self,
        kind: type[BaseModel],
        found: Sequence[_T],
        limit: int,
        *,
        shape: Callable[[_T], object],
        key: Callable[[_T], tuple[int, ...]],
    ) -> Response:
        """One page of `found`, which has one item more than `limit` if the list goes on. `key` is the sort key of an item. The
        items were built by this process, so pydantic does not validate them again."""
        shown = found[:limit]
        next_cursor = self.cursor(*key(shown[-1])) if len(found) > limit else None
        return answer(kind.model_construct(data=[shape(each) for each in shown], next_cursor=next_cursor))

    def cursor(self, *key: int) -> str:
        """The cursor after the item with this sort key. Its checksum covers the list, to detect a cursor of another one."""
        numbers = [*key, crc32(repr((self._identity, key)).encode())]
        return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode().rstrip("=")

    def number(self, cursor: str | None) -> int | None:
        """The sort key in a cursor of a list that is sorted by one number."""
        return None if cursor is None else self._key(cursor, 1)[0]

    def pair(self, cursor: str | None) -> tuple[int, int] | None:
        """The sort key in a cursor of a list that is sorted by two numbers."""
        if cursor is None:
            return None
        first, second = self._key(cursor, 2)
        return first, second

    def _key(self, given: str, length: int) -> tuple[int, ...]:
        """The sort key in a cursor. Raises unless this list issued exactly this cursor."""
        try:
            read: object = json.loads(base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True))
        except (ValueError, binascii.Error, RecursionError):
            read = None
        numbers = cast(list[object], read)[:-1] if isinstance(read, list) else []
        if len(numbers) == length and all(type(number) is int and abs(number) < 1 << 63 for number in numbers):
            key = tuple(cast(list[int], numbers))
            if self.cursor(*key) == given:
                return key
        raise other_cursor()


def other_cursor() -> InvalidRequest:
    return InvalidRequest("cursor", "is not one that was given out for this list.")
