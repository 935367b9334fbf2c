"""Lists in pages, and their cursors: where a list goes on. Opaque outside, numbers inside; they name a place in one list, and open
nothing."""

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
    """One list: its name, its tenant, and what it is narrowed to. Its cursors are good for no other list, where they would leave
    something out."""

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
        """Of what was found, which is one more than `limit` where the list goes on; it goes on behind the place of the last that is
        shown. What is inside was made here, and needs no second check."""
        shown = found[:limit]
        goes_on = self.cursor(*key(shown[-1])) if len(found) > limit else None
        return answer(kind.model_construct(data=[shape(each) for each in shown], next_cursor=goes_on))

    def cursor(self, *key: int) -> str:
        numbers = [*key, crc32(repr((self._identity, key)).encode())]
        return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode().rstrip("=")

    def number(self, cursor: str | None) -> int | None:
        """Where a cursor of a list with one number a place goes on."""
        return None if cursor is None else self._key(cursor, 1)[0]

    def pair(self, cursor: str | None) -> tuple[int, int] | None:
        """The same for two numbers."""
        if cursor is None:
            return None
        first, second = self._key(cursor, 2)
        return first, second

    def _key(self, given: str, length: int) -> tuple[int, ...]:
        """The numbers of a cursor that was given out for this list, unchanged to the last character."""
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
