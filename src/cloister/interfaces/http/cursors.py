"""Cursors: where a list goes on. Opaque outside, numbers inside; they name a place in a list, and open nothing."""

import base64
import binascii
import json
from typing import cast
from zlib import crc32

from cloister.domain.errors import InvalidRequest


def encode_cursor(*place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([*place, crc32(repr(place).encode())]).encode()).decode().rstrip("=")


def decode_cursor(given: str | None, length: int) -> tuple[int, ...] | None:
    """The numbers of a cursor that this service gave out for such a list, unchanged to the last character."""
    if given is None:
        return None
    try:
        read: object = json.loads(base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        read = None
    numbers = cast(list[object], read)[:-1] if isinstance(read, list) else []
    if len(numbers) == length and all(type(number) is int and abs(number) < 1 << 63 for number in numbers):
        place = tuple(cast(list[int], numbers))
        if encode_cursor(*place) == given:
            return place
    raise InvalidRequest("cursor", "is not one that was given out here.")
