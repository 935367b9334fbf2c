"""Reads the conversations of a file or folder that somebody exported one after the other, and finds out its format."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import cast

from cloister.domain.archive.conversations import Spoken
from cloister.domain.archive.lines import ARCHIVE, CONVERSATIONS
from cloister.domain.errors import InvalidRequest
from cloister.interfaces.formats.chat_log import ChatLog, is_chat_log
from cloister.interfaces.formats.chatgpt import is_chatgpt, read_chatgpt
from cloister.interfaces.formats.claude import is_claude, read_claude
from cloister.interfaces.formats.conversation import UNDATED, Conversation, Skipped, Value
from cloister.interfaces.formats.export_parts import opened_parts
from cloister.interfaces.formats.json_values import Malformed, json_values
from cloister.interfaces.formats.mem0 import is_mem0, memories_of, read_mem0
from cloister.interfaces.formats.names import FORMATS, Format

_EXPECTED: Mapping[Format, str] = {
    "cloister": "an archive of a Cloister",
    "chatgpt": "conversations with a `mapping`",
    "claude": "conversations with `chat_messages`",
    "mem0": "memories with `memory`",
    "log": "objects with `messages`, or with `role` and `content`",
}
MOST_USERS = 1_000
_KNOWN = f"use one of {', '.join(FORMATS)} as the format"


class ExportFile:
    """A file, or the folder of an unpacked export, of one format. `skipped` counts, while it is read, what cannot be imported, by
    reason, and `remarks` what is to be known of the rest."""

    def __init__(self, path: Path, wanted: str | None = None) -> None:
        if wanted is not None and wanted not in FORMATS:
            raise InvalidRequest("format", f"{wanted!r} is unknown: {_KNOWN}.")
        if not path.is_file() and not path.is_dir():
            raise InvalidRequest("file", f"{str(path)!r} is neither a file nor a folder.")
        self._path = path
        self.skipped = Counter[str]()
        self.remarks = Counter[str]()
        self._found = 0
        self.format: Format = (
            self._checked(next(each for each in FORMATS if each == wanted)) if wanted else self._detected()
        )

    def conversations(self) -> Iterator[Conversation]:
        """The conversations in their order; one may come in several parts."""
        read = self._reader()
        for value in self._values():
            if not isinstance(value, dict):
                self.skipped["it is not a JSON object"] += 1
                continue
            found = cast(Value, value)
            for each in memories_of(found) if self.format == "mem0" else (found,):
                try:
                    conversation = read(each)
                except Skipped as skipped:
                    self.skipped.update(skipped.reasons)
                    continue
                self.skipped.update(conversation.skipped)
                if conversation.undated:
                    self.remarks[UNDATED] += conversation.undated
                self._found += 1
                yield conversation

    def refuse_empty(self) -> None:
        """Raise if the file was read, and had neither conversations nor anything that was skipped."""
        if not self._found and not self.skipped:
            raise InvalidRequest(
                "file",
                f"has nothing of the format {self.format}, which is {_EXPECTED[self.format]}: is it another one?",
            )

    def users(self) -> set[str | None]:
        """The users that a file names, of which it has memories, up to `MOST_USERS`. Reads all of it if there are fewer."""
        found: set[str | None] = set()
        for each in ExportFile(self._path, self.format).conversations():
            found.add(each.record.user_id)
            if len(found) == MOST_USERS:
                break
        return found

    def records(self) -> Iterator[Spoken]:
        """The records of all conversations. Parts of one conversation that follow each other are joined."""
        current: str | None = None
        for found in self.conversations():
            if found.record.external_id != current or not (found.record.continues or found.facts):
                current = found.record.external_id
                yield found.record
            yield from found.spoken
            yield from found.facts

    def _reader(self) -> Callable[[Value], Conversation]:
        log = ChatLog(self._path.stem, round(self._path.stat().st_mtime) * 1_000_000)
        readers: dict[Format, Callable[[Value], Conversation]] = {
            "chatgpt": read_chatgpt,
            "claude": read_claude,
            "mem0": read_mem0,
            "log": log.read,
        }
        if self.format not in readers:
            raise InvalidRequest("format", "is that of an archive, which is imported as a whole.")
        return readers[self.format]

    def _detected(self) -> Format:
        found = self._possible()
        if found:
            return found[0]
        first = next(self._values(), None)
        if isinstance(first, Malformed):
            raise InvalidRequest(
                "file", f"is not valid JSON at {first.where}. It must be of one of the formats {', '.join(FORMATS)}."
            )
        raise InvalidRequest("file", f"is of no format that is known here; if you know it, {_KNOWN}.")

    def _checked(self, wanted: Format) -> Format:
        """The wanted format, unless the file is recognised as one of another format only."""
        found = self._possible()
        if found and wanted not in found:
            raise InvalidRequest(
                "format",
                f"is {wanted}, which is {_EXPECTED[wanted]}, and the file is of the format {found[0]}: leave it out.",
            )
        return wanted

    def _possible(self) -> list[Format]:
        """The formats that the first object of the file may be of, the likeliest first."""
        first = next((cast(Value, value) for value in self._values() if isinstance(value, dict)), None)
        return [] if first is None else [name for name, is_of_format in _TESTS if is_of_format(first)]

    def _values(self) -> Iterator[object]:
        with opened_parts(self._path) as files:
            for file in files:
                yield from json_values(file)


def _is_archive(value: Value) -> bool:
    return value.get("format") in (ARCHIVE, CONVERSATIONS)


_TESTS: tuple[tuple[Format, Callable[[Value], bool]], ...] = (
    ("cloister", _is_archive),
    ("chatgpt", is_chatgpt),
    ("claude", is_claude),
    ("mem0", is_mem0),
    ("log", is_chat_log),
)
