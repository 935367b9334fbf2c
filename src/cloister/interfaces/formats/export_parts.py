"""The files with conversations of an export of an assistant: one file, or those in its zip file or its unpacked folder."""

import os
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.patterns import anchored

# What an export of an assistant is called in its zip file or folder.
_CONVERSATIONS = anchored(r"conversations(-[0-9]{1,6})?\.json")
_LARGEST_UNPACKED = 1 << 33
# Text of conversations is packed to a fifth or a tenth. Beyond this, a few bytes would cost others seconds.
_MOST_TIMES_PACKED = 100
_NEVER_TOO_PACKED = 1 << 20
# A folder that was named by mistake, such as a home directory, is not searched for minutes.
_MOST_ENTRIES = 100_000
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


@contextmanager
def opened_parts(path: Path) -> Generator[Iterator[BinaryIO]]:
    """The file itself, or the files with conversations of a zip file or a folder, in the order of their names. Links in a folder
    are not followed."""
    if path.is_dir():
        with closing(_folder_parts(path)) as parts:
            yield parts
        return
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield iter((file,))
        return
    try:
        # The file stays open until every member that is being read is closed.
        with zipfile.ZipFile(path) as archive, closing(_members(archive)) as members:
            yield members
    except _DAMAGED as error:
        raise InvalidRequest("file", "is a zip file that cannot be read: get an undamaged copy.") from error


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


def _folder_parts(folder: Path) -> Generator[BinaryIO]:
    found = _files(folder)
    if not found:
        raise InvalidRequest("file", "is a folder without conversations.json: is it an export of an assistant?")
    size = sum(found.values())
    if size > _LARGEST_UNPACKED:
        raise TooLarge("file", size, _LARGEST_UNPACKED, "bytes in its files")
    for name in sorted(found):
        with open(folder / name, "rb", opener=_open_no_link) as file:
            yield file


def _files(folder: Path) -> dict[str, int]:
    """The regular files with conversations in the folder and the folders in it: their names from there on, and sizes."""
    found: dict[str, int] = {}
    left, looked_at, named = [""], 0, PurePosixPath(folder.resolve().name)
    while left:
        within = left.pop()
        with os.scandir(folder / within) as entries:
            for entry in entries:
                looked_at += 1
                if looked_at > _MOST_ENTRIES:
                    raise InvalidRequest("file", "is a folder with too many files: name that of the export itself.")
                name = f"{within}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    left.append(f"{name}/")
                elif entry.is_file(follow_symlinks=False) and _has_conversations(named / name):
                    found[name] = entry.stat(follow_symlinks=False).st_size
    return found


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)


def _has_conversations(path: PurePosixPath) -> bool:
    return bool(_CONVERSATIONS.fullmatch(path.name)) or (path.parent.name == "conversations" and path.suffix == ".json")
