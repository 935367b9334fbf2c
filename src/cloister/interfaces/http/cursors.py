"""Cursors: where a list goes on. Opaque outside, numbers inside; they name a place in a list, and open nothing."""

import base64
import binascii
import json
from typing import cast

from cloister.domain.errors import InvalidRequest


def encode_cursor(*place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def decode_cursor(given: str | None, length: int) -> tuple[int, ...] | None:
    """The numbers of a cursor that this service gave out for such a list."""
    if given is None:
        return None
    try:
        place: object = json.loads(base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        raise InvalidRequest("cursor", "is not one that was given out here.") from None
    if not isinstance(place, list) or len(cast(list[object], place)) != length:
        raise InvalidRequest("cursor", "is not one that was given out here.")
    numbers = cast(list[object], place)
    if not all(type(number) is int and abs(number) < 1 << 63 for number in numbers):
        raise InvalidRequest("cursor", "is not one that was given out here.")
    return tuple(cast(list[int], numbers))
