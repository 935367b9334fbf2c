"""Opens a file that somebody exported, finds out its format, and reads its conversations one after the other."""

import zipfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal, cast, get_args

from cloister.domain.archive.conversations import Spoken
from cloister.domain.archive.lines import ARCHIVE, CONVERSATIONS
from cloister.domain.errors import InvalidRequest
from cloister.domain.patterns import anchored
from cloister.interfaces.formats.chat_log import ChatLog, is_chat_log
from cloister.interfaces.formats.chatgpt import is_chatgpt, read_chatgpt
from cloister.interfaces.formats.claude import is_claude, read_claude
from cloister.interfaces.formats.conversation import UNDATED, Conversation, Skipped, Value
from cloister.interfaces.formats.json_values import json_values
from cloister.interfaces.formats.mem0 import is_mem0, memories_of, read_mem0

Format = Literal["cloister", "chatgpt", "claude", "mem0", "log"]
FORMATS: tuple[Format, ...] = get_args(Format)
# What an export of an assistant is called in its zip file.
_CONVERSATIONS = anchored(r"conversations(-[0-9]{1,6})?\.json")
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
        self.format: Format = next(each for each in FORMATS if each == wanted) if wanted else self._detected()

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
                yield conversation

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
        first = next((cast(Value, value) for value in self._values() if isinstance(value, dict)), None)
        if first is not None:
            if first.get("format") in (ARCHIVE, CONVERSATIONS):
                return "cloister"
            tests: tuple[tuple[Format, Callable[[Value], bool]], ...] = (
                ("chatgpt", is_chatgpt),
                ("claude", is_claude),
                ("mem0", is_mem0),
                ("log", is_chat_log),
            )
            for name, is_of_format in tests:
                if is_of_format(first):
                    return name
        raise InvalidRequest("file", f"is of no format that is known here; if you know it, {_KNOWN}.")

    def _values(self) -> Iterator[object]:
        with _opened(self._path) as files:
            for file in files:
                yield from json_values(file)


@contextmanager
def _opened(path: Path) -> Generator[Iterator[BinaryIO]]:
    """The file itself, or the files with conversations of a zip file."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield iter((file,))
        return
    with zipfile.ZipFile(path) as archive:
        yield _members(archive)


def _members(archive: zipfile.ZipFile) -> Iterator[BinaryIO]:
    names = sorted(name for name in archive.namelist() if _has_conversations(PurePosixPath(name)))
    if not names:
        raise InvalidRequest("file", "is a zip file without conversations.json: is it an export of an assistant?")
    for name in names:
        try:
            with archive.open(name) as file:
                yield file  # pyright: ignore[reportReturnType]
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
            raise InvalidRequest("file", "is a zip file that cannot be read: get an undamaged copy.") from None


def _has_conversations(path: PurePosixPath) -> bool:
    return bool(_CONVERSATIONS.fullmatch(path.name)) or (path.parent.name == "conversations" and path.suffix == ".json")
