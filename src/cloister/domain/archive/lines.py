"""The lines of an archive: JSON objects in a fixed spelling, counted and hashed by kind.

The same record is always the same bytes, so that two archives of the same data are equal byte by byte.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol, cast

from cloister.domain.errors import InvalidRequest, TooLarge

ARCHIVE: Final = "cloister-archive"
CONVERSATIONS: Final = "cloister-conversations"
VERSION = 4
"""Of archives. Version 1 had no items, responses and relations, and entities with one name each; version 2 had no files and no
entries; version 3 had nothing that was chosen for a session, and no branches. All are read too."""
CONVERSATIONS_VERSION = 1
LONGEST_LINE = 1 << 21
"""Bytes of one line. The largest item or response, which came as part of a request of 1 MiB, is shorter."""
Line = Mapping[str, object]


def encoded(line: Line) -> bytes:
    return f"{json.dumps(line, ensure_ascii=False, allow_nan=False, separators=(',', ':'))}\n".encode()


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


class Tally:
    """Counts the lines of an archive and hashes them, by kind, for its last line."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._hashes = defaultdict[str, _Hash](hashlib.sha256)

    def add(self, kind: str, line: bytes) -> None:
        self.counts[kind] += 1
        self._hashes[kind].update(line)

    def last_line(self) -> Line:
        kinds = sorted(self.counts)
        return {
            "kind": "end",
            "counts": {kind: self.counts[kind] for kind in kinds},
            "sha256": {kind: self._hashes[kind].hexdigest() for kind in kinds},
        }


def decoded(line: bytes, number: int) -> dict[str, object]:
    """The object of a line. Refuses numbers that JSON does not have, and repeated names, of which readers see different ones."""
    try:
        found = json.loads(line, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InvalidRequest("archive", f"line {number:,} is not a JSON object.") from None
    if not isinstance(found, dict):
        raise InvalidRequest("archive", f"line {number:,} is not a JSON object.")
    return cast(dict[str, object], found)


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream of bytes, each with its line break; the last may have none. Of a line that is too long only so much is
    read as shows that it is."""
    rest = bytearray()
    for chunk in chunks:
        rest += chunk
        if b"\n" in chunk:
            *lines, tail = bytes(rest).split(b"\n")
            for line in lines:
                _refuse_long(line)
                yield line + b"\n"
            rest = bytearray(tail)
        _refuse_long(rest)
    if rest:
        yield bytes(rest)


def _refuse_long(line: bytes | bytearray) -> None:
    if len(line) > LONGEST_LINE:
        raise TooLarge("archive", len(line), LONGEST_LINE, "bytes in one line")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a repeated name")
    return found


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
