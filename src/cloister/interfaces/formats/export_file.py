"""Opens a file that somebody exported, finds out its format, and reads its conversations one after the other."""

import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from cloister.domain.archive.conversations import Spoken
from cloister.domain.archive.lines import ARCHIVE, CONVERSATIONS
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.patterns import anchored
from cloister.interfaces.formats.chat_log import ChatLog, is_chat_log
from cloister.interfaces.formats.chatgpt import is_chatgpt, read_chatgpt
from cloister.interfaces.formats.claude import is_claude, read_claude
from cloister.interfaces.formats.conversation import UNDATED, Conversation, Skipped, Value
from cloister.interfaces.formats.json_values import json_values
from cloister.interfaces.formats.mem0 import is_mem0, memories_of, read_mem0
from cloister.interfaces.formats.names import FORMATS, Format

# What an export of an assistant is called in its zip file.
_CONVERSATIONS = anchored(r"conversations(-[0-9]{1,6})?\.json")
_LARGEST_UNPACKED = 1 << 33
# Text of conversations is packed to a fifth or a tenth. Beyond this, a few bytes would cost others seconds.
_MOST_TIMES_PACKED = 100
_NEVER_TOO_PACKED = 1 << 20
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
_EXPECTED: Mapping[Format, str] = {
    "cloister": "an archive of a Cloister",
    "chatgpt": "conversations with a `mapping`",
    "claude": "conversations with `chat_messages`",
    "mem0": "memories with `memory`",
    "log": "objects with `messages`, or with `role` and `content`",
}
_KNOWN = f"use one of {', '.join(FORMATS)} as the format"


class ExportFile:
    """A file of one format. `skipped` counts, while it is read, what cannot be imported, by reason, and `remarks` what is to be
    known of the rest."""

    def __init__(self, path: Path, wanted: str | None = None) -> None:
        if wanted is not None and wanted not in FORMATS:
            raise InvalidRequest("format", f"{wanted!r} is unknown: {_KNOWN}.")
        if not path.is_file():
            raise InvalidRequest("file", f"{str(path)!r} is not a file.")
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
        """The users that a file names, of which it has memories. Reads all of it."""
        return {found.record.user_id for found in ExportFile(self._path, self.format).conversations()}

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
        if not found:
            raise InvalidRequest("file", f"is of no format that is known here; if you know it, {_KNOWN}.")
        return found[0]

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
        try:
            with _opened(self._path) as files:
                for file in files:
                    yield from json_values(file)
        except _DAMAGED as error:
            if not zipfile.is_zipfile(self._path):
                raise
            raise InvalidRequest("file", "is a zip file that cannot be read: get an undamaged copy.") from error


def _is_archive(value: Value) -> bool:
    return value.get("format") in (ARCHIVE, CONVERSATIONS)


_TESTS: tuple[tuple[Format, Callable[[Value], bool]], ...] = (
    ("cloister", _is_archive),
    ("chatgpt", is_chatgpt),
    ("claude", is_claude),
    ("mem0", is_mem0),
    ("log", is_chat_log),
)


@contextmanager
def _opened(path: Path) -> Generator[Iterator[BinaryIO]]:
    """The file itself, or the files with conversations of a zip file."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield iter((file,))
        return
    # The file stays open until every member that is being read is closed.
    with zipfile.ZipFile(path) as archive, closing(_members(archive)) as members:
        yield members


def _members(archive: zipfile.ZipFile) -> Generator[BinaryIO]:
    names = sorted(name for name in archive.namelist() if _has_conversations(PurePosixPath(name)))
    if not names:
        raise InvalidRequest("file", "is a zip file without conversations.json: is it an export of an assistant?")
    size = sum(archive.getinfo(name).file_size for name in names)
    packed = sum(archive.getinfo(name).compress_size for name in names)
    if size > _LARGEST_UNPACKED:
        raise TooLarge("file", size, _LARGEST_UNPACKED, "bytes when it is unpacked")
    if size > max(_NEVER_TOO_PACKED, packed * _MOST_TIMES_PACKED):
        raise InvalidRequest("file", f"is a zip file that unpacks to more than {_MOST_TIMES_PACKED} times its size.")
    for name in names:
        with archive.open(name) as file:
            yield file  # pyright: ignore[reportReturnType]


def _has_conversations(path: PurePosixPath) -> bool:
    return bool(_CONVERSATIONS.fullmatch(path.name)) or (path.parent.name == "conversations" and path.suffix == ".json")
