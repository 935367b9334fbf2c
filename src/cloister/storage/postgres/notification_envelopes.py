"""Encrypted envelopes for the notifications between processes of one database.

PostgreSQL lets every role that can connect LISTEN and NOTIFY. The key is in a table that only Cloister's roles may read. An
envelope holds the id of its process, a sequence number and a time, so that a replayed one is dropped.
"""

import base64
import binascii
from collections import OrderedDict
from collections.abc import Callable

from cloister.domain.authenticated_encryption import OVERHEAD_BYTES, decrypt, encrypt
from cloister.domain.timestamps import Clock

_PURPOSE = "notification"
# Plain text is padded to a multiple of the step. The largest, encrypted and in base 64, is below PostgreSQL's limit of 8,000 bytes.
_STEP = 512
_LARGEST = 11 * _STEP
_HEAD_BYTES = 64
LARGEST_TEXT = _LARGEST - _HEAD_BYTES
# The first envelope of an unknown process is accepted if it is no older than this; clocks of two machines may differ by as much.
_FRESH_MICROSECONDS = 600 * 1_000_000
_MOST_ORIGINS = 1_000

assert (_LARGEST + OVERHEAD_BYTES + 2) // 3 * 4 < 8_000


class Envelopes:
    """Seals the envelopes of one process, which is named by `origin`, and opens those of others. Padding hides their length."""

    def __init__(self, key: bytes, origin: str, clock: Clock) -> None:
        self._key = key
        self._origin = origin
        self._clock = clock
        self._sealed = 0
        self._last: OrderedDict[str, int] = OrderedDict()

    def seal(self, text: str) -> str:
        self._sealed += 1
        plain = f"{self._origin} {self._sealed} {self._clock()}\n{text}".encode()
        padded = plain.ljust(-(-len(plain) // _STEP) * _STEP)
        return base64.b64encode(encrypt(self._key, _PURPOSE, padded)).decode()

    def open(self, payload: str, forged: Callable[[], None]) -> str | None:
        """The text of an envelope; None for a replayed or outdated one. Calls `forged` for a payload that was not encrypted with
        the database's key, which may also come from an older version."""
        try:
            whole = base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError):
            whole = b""
        plain = decrypt(self._key, _PURPOSE, whole)
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
