"""Cursors: where a list goes on. Opaque outside, numbers inside; they name a place in one list, and open nothing."""

import base64
import binascii
import json
from typing import cast
from zlib import crc32

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import TenantId


class Listing:
    """One list: its name, its tenant, and what it is narrowed to. Its cursors are good for no other list, where they would leave
    something out."""

    def __init__(self, name: str, tenant: TenantId, *narrowed: int | str | None) -> None:
        self._identity = (name, tenant, *narrowed)

    def cursor(self, *place: int) -> str:
        numbers = [*place, crc32(repr((self._identity, place)).encode())]
        return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode().rstrip("=")

    def number(self, cursor: str | None) -> int | None:
        """Where a cursor of a list with one number a place goes on."""
        return None if cursor is None else self._place(cursor, 1)[0]

    def pair(self, cursor: str | None) -> tuple[int, int] | None:
        """The same for two numbers."""
        if cursor is None:
            return None
        first, second = self._place(cursor, 2)
        return first, second

    def _place(self, given: str, length: int) -> tuple[int, ...]:
        """The numbers of a cursor that was given out for this list, unchanged to the last character."""
        try:
            read: object = json.loads(base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True))
        except (ValueError, binascii.Error, RecursionError):
            read = None
        numbers = cast(list[object], read)[:-1] if isinstance(read, list) else []
        if len(numbers) == length and all(type(number) is int and abs(number) < 1 << 63 for number in numbers):
            place = tuple(cast(list[int], numbers))
            if self.cursor(*place) == given:
                return place
        raise other_cursor()


def other_cursor() -> InvalidRequest:
    return InvalidRequest("cursor", "is not one that was given out for this list.")
