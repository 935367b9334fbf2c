"""Reads the lines of an archive in order, and checks its counts and hashes at the end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, cast

from cloister.domain.archive.lines import ARCHIVE, CONVERSATIONS, CONVERSATIONS_VERSION, VERSION, Line, Tally, decoded
from cloister.domain.errors import InvalidRequest

Format = Literal["cloister-archive", "cloister-conversations"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberedLine:
    """A line of an archive between its header and its last line."""

    number: int
    kind: str
    fields: Line


class ArchiveReader:
    """The lines of one archive. `header` is read at once, `body` once; after it the archive is known to be whole and unchanged."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._tally = Tally()
        self.number = 0
        first = next(self._lines, None)
        if first is None:
            raise InvalidRequest("archive", "is empty.")
        self.header = self._decoded(first)
        self.format = _checked_format(self.header)
        self._tally.add("header", first)

    def body(self) -> Iterator[NumberedLine]:
        for text in self._lines:
            line = self._decoded(text)
            kind = line.get("kind")
            if kind == "end":
                self._check_end(line)
                return
            if not isinstance(kind, str):
                raise InvalidRequest("archive", f"line {self.number:,} does not say its kind.")
            self._tally.add(kind[:64], text)
            yield NumberedLine(number=self.number, kind=kind, fields=line)
        raise InvalidRequest("archive", f"ends after {self.number:,} lines without its last line: it was cut off.")

    @property
    def counts(self) -> dict[str, int]:
        return dict(self._tally.counts)

    def _decoded(self, text: bytes) -> dict[str, object]:
        self.number += 1
        if not text.endswith(b"\n"):
            raise InvalidRequest("archive", f"line {self.number:,} has no end: the archive was cut off.")
        return decoded(text, self.number)

    def _check_end(self, line: Line) -> None:
        """Compare the last line with what was read, and refuse anything behind it."""
        expected = self._tally.last_line()
        for part in ("counts", "sha256"):
            given = line.get(part)
            wrong = sorted(_differences(cast(dict[str, object], expected[part]), given))
            if wrong:
                raise InvalidRequest(
                    "archive",
                    f"lines of the kind {wrong[0]!r} are missing, added or changed: the {part} of its last line differ. "
                    "Get an undamaged copy.",
                )
        if line.keys() != expected.keys():
            raise InvalidRequest("archive", "its last line has other fields than kind, counts and sha256.")
        if next(self._lines, None) is not None:
            raise InvalidRequest("archive", "goes on behind its last line: these are two archives, or a damaged one.")


def check_archive(lines: Iterable[bytes]) -> ArchiveReader:
    """Read a whole archive without importing it; raises if it is damaged."""
    reader = ArchiveReader(lines)
    for _ in reader.body():
        pass
    return reader


def _checked_format(header: Line) -> Format:
    if header.get("kind") != "header" or header.get("format") not in (ARCHIVE, CONVERSATIONS):
        raise InvalidRequest("archive", "does not begin with the header of a Cloister archive.")
    found: Format = ARCHIVE if header["format"] == ARCHIVE else CONVERSATIONS
    newest = VERSION if found == ARCHIVE else CONVERSATIONS_VERSION
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= newest:
        raise InvalidRequest(
            "archive",
            f"is of a version that this Cloister does not read (it reads 1 to {newest}): use a newer Cloister.",
        )
    return found


def _differences(expected: dict[str, object], given: object) -> set[str]:
    if not isinstance(given, dict):
        return {"end"}
    found = cast(dict[str, object], given)
    return {str(kind)[:64] for kind in expected.keys() | found.keys() if expected.get(kind) != found.get(kind)}
