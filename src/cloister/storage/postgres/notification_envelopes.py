"""Notifications sealed: what processes of one database tell each other, unreadable and unforgeable without the database's own
key.

PostgreSQL lets every role that can connect LISTEN and NOTIFY. The key is in a table that only Cloister's roles may read. An
envelope names the process that sealed it, counts, and says when: one that was recorded and is sent again is not opened twice.
"""

import base64
import binascii
from collections import OrderedDict
from collections.abc import Callable

from cloister.domain.authenticated_encryption import OVERHEAD_BYTES, opened, sealed
from cloister.domain.timestamps import Clock

_PURPOSE = "notification"
# So many bytes, and in base 64 with the seal still below the 8,000 that PostgreSQL refuses.
_STEP = 512
_LARGEST = 11 * _STEP
_HEAD_BYTES = 64
LARGEST_TEXT = _LARGEST - _HEAD_BYTES
# An envelope of a process that was not heard before is believed for so long; clocks of two machines may differ by as much.
_FRESH_MICROSECONDS = 600 * 1_000_000
_MOST_ORIGINS = 1_000

assert (_LARGEST + OVERHEAD_BYTES + 2) // 3 * 4 < 8_000


class Envelopes:
    """Those of one process, whose name is `origin`. Each is padded, so that its length says little."""

    def __init__(self, key: bytes, origin: str, clock: Clock) -> None:
        self._key = key
        self._origin = origin
        self._clock = clock
        self._sealed = 0
        self._last: OrderedDict[str, int] = OrderedDict()

    def close(self, text: str) -> str:
        self._sealed += 1
        plain = f"{self._origin} {self._sealed} {self._clock()}\n{text}".encode()
        padded = plain.ljust(-(-len(plain) // _STEP) * _STEP)
        return base64.b64encode(sealed(self._key, _PURPOSE, padded)).decode()

    def open(self, payload: str, forged: Callable[[], None]) -> str | None:
        """What was sealed; none for what was opened before, or recorded long ago. Calls `forged` for what was not sealed with the
        database's key, which may also be an older version's."""
        try:
            whole = base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError):
            whole = b""
        plain = opened(self._key, _PURPOSE, whole)
        if plain is None:
            forged()
            return None
        head, _, text = plain.decode().partition("\n")
        origin, number, at = head.split(" ")
        return text if self._is_new(origin, int(number), int(at)) else None

    def _is_new(self, origin: str, number: int, at: int) -> bool:
        last = self._last.get(origin)
        if last is None:
            if abs(self._clock() - at) > _FRESH_MICROSECONDS:
                return False
        elif number <= last:
            return False
        self._last[origin] = number
        self._last.move_to_end(origin)
        if len(self._last) > _MOST_ORIGINS:
            self._last.popitem(last=False)
        return True
