"""JSON values of a file of any size, one after the other: the elements of one large array, or values that follow each other, such
as JSON lines. No more than one value is in memory, the work is linear in the size of the file, and no step of it is long: other
threads wait while a value is parsed."""

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from cloister.domain.errors import InvalidRequest, TooLarge

LARGEST_VALUE = 1 << 26
"""Characters of one value: one conversation of an export."""
MOST_ELEMENTS = 1 << 20
"""Commas of one value, those in its texts too: that many empty objects take a twentieth of a second to parse."""
MOST_MALFORMED = 100_000
_CHUNK = 1 << 18
_LARGEST_CHUNK = 1 << 21
_LITTLE = 4_096
# An error this close to the end of what was read may be that of a value that goes on.
_NEAR_THE_END = 16
# After a malformed value the next line is parsed, though that value may have been parsed far beyond it. So many characters are
# parsed twice; values nested in each other, one a line, would all be parsed as deep as the decoder goes.
_MOST_PARSED_AGAIN = 1 << 20
_SPACES = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Malformed:
    """Stands for a line that is not JSON, among others that are. `where`: where that was noticed, of the first one in a file."""

    where: str = field(default="", compare=False)


class _Text:
    """The text of a file that was read and not used yet: `text` from `position` on."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text = ""
        self.position = 0
        self.is_complete = False
        self._lines_before = 0
        self._columns_before = 0
        self._parsed_again = 0
        self.more()

    def more(self) -> None:
        """Read about as much again as there is, so that a long value is not parsed often; and not so much that its elements, of
        which nothing is known yet, take long."""
        waiting = len(self.text) - self.position
        if waiting > LARGEST_VALUE:
            raise TooLarge("file", waiting, LARGEST_VALUE, "characters in one JSON value")
        chunk = self._file.read(min(max(_CHUNK, waiting), _LARGEST_CHUNK))
        self.is_complete = not chunk
        try:
            read = self._decoder.decode(chunk, final=self.is_complete)
        except UnicodeDecodeError:
            raise InvalidRequest("file", "is not text in UTF-8.") from None
        self._drop(read)

    def drop_used(self) -> None:
        """Drop what was used, unless that is little of the whole: an error of the decoder counts the lines before it."""
        if self.position > max(_LITTLE, (len(self.text) - self.position) // 256):
            self._drop()

    def _drop(self, more: str = "") -> None:
        last_break = self.text.rfind("\n", 0, self.position)
        self._lines_before += self.text.count("\n", 0, self.position)
        self._columns_before = (
            self.position - last_break - 1 if last_break >= 0 else self._columns_before + self.position
        )
        self.text, self.position = self.text[self.position :] + more, 0

    def where(self, position: int) -> str:
        """The line and the column of a position, counted from the beginning of the file."""
        last_break = self.text.rfind("\n", 0, position)
        line = self._lines_before + self.text.count("\n", 0, position) + 1
        column = position - last_break if last_break >= 0 else self._columns_before + position + 1
        return f"line {line:,}, column {column:,}"

    def next_character(self, skipped: str) -> str:
        """The next character that is not to be skipped; empty at the end of the file."""
        while True:
            while self.position < len(self.text) and self.text[self.position] in skipped:
                self.position += 1
            if self.position < len(self.text):
                return self.text[self.position]
            if self.is_complete:
                return ""
            self.more()

    def skip_line(self, parsed: int) -> None:
        """Go on behind the next line break, of a value that was parsed up to the position `parsed`."""
        begin = self.position
        line_end = self.text.find("\n", begin)
        self._parsed_again += max(0, parsed - line_end) if line_end >= 0 else 0
        if self._parsed_again > _MOST_PARSED_AGAIN:
            raise InvalidRequest("file", "is damaged in too many lines, or nested too deep: get an undamaged copy.")
        while (end := self.text.find("\n", begin)) < 0 and not self.is_complete:
            begin = len(self.text) - self.position
            self.more()
        self.position = len(self.text) if end < 0 else end + 1


def json_values(file: BinaryIO) -> Iterator[object]:
    """The values of a file. Of values that follow each other, a malformed one is left out up to the end of its line, and a
    `Malformed` comes instead; a malformed array cannot be read further, and raises."""
    text = _Text(file)
    if text.next_character(_SPACES) == "[":
        text.position += 1
        yield from _elements(text)
        return
    malformed = 0
    while text.next_character(_SPACES):
        try:
            yield _value(text)
        except _NotJson as error:
            # Only of the first one: looking for it takes as long as the text is.
            where = text.where(error.parsed) if malformed == 0 else ""
            malformed += 1
            if malformed > MOST_MALFORMED:
                raise InvalidRequest("file", f"has more than {MOST_MALFORMED:,} lines that are not JSON.") from None
            text.skip_line(error.parsed)
            yield Malformed(where)


def _elements(text: _Text) -> Iterator[object]:
    while (character := text.next_character(f"{_SPACES},")) != "]":
        if not character:
            raise InvalidRequest("file", "ends in the middle: it is cut off.")
        try:
            yield _value(text)
        except _NotJson as error:
            where = text.where(error.parsed)
            raise InvalidRequest("file", f"is not valid JSON at {where}: get an undamaged copy.") from None


class _NotJson(Exception):
    """The value at the position is malformed, which was noticed at the position `parsed`."""

    def __init__(self, parsed: int) -> None:
        super().__init__()
        self.parsed = parsed


def _value(text: _Text) -> object:
    """The value at the position, and behind it."""
    decoder = json.JSONDecoder()
    text.drop_used()
    while True:
        try:
            value, end = decoder.raw_decode(text.text, text.position)
        except json.JSONDecodeError as error:
            parsed = len(text.text) if error.msg.startswith("Unterminated") else error.pos
            if text.is_complete or parsed + _NEAR_THE_END < len(text.text):
                raise _NotJson(parsed) from None
        except (ValueError, RecursionError):
            raise _NotJson(len(text.text)) from None  # these errors do not say where
        else:
            if end < len(text.text) or text.is_complete:
                text.position = end
                return value
        elements = text.text.count(",", text.position)
        if elements > MOST_ELEMENTS:
            raise TooLarge("file", elements, MOST_ELEMENTS, "elements in one JSON value")
        text.more()
