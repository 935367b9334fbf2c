"""A tree of small text files below `/memories`, as a memory tool of an assistant sees it: names, sizes and texts, and what a
command changes. Nothing is read or stored here.

A path inside is a tuple of names; the empty tuple is `/memories` itself. Directories exist on their own, as in a file system.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from unicodedata import category

from cloister.domain.errors import InvalidRequest

Path = tuple[str, ...]
ROOT: Path = ()
PREFIX = "/memories"
MAX_FILE = 262_144
"""Characters of one file."""
MAX_TREE = 4_000_000
"""Bytes of all files of a tree."""
MAX_ENTRIES = 1_000
"""Files and directories of a tree."""
MAX_PATH = 512
_LONGEST_STORED_PATH = MAX_PATH + 64
"""A tree of a deleted project may have got into a directory. Longer paths can be read, deleted and renamed, not made."""
_MAX_NAME = 255
# Control characters, and the separators of lines and paragraphs.
_BREAKING = frozenset({"Cc", "Zl", "Zp"})


class FileError(Exception):
    """A command that cannot be carried out. The text is the answer to the assistant."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file with this text, or a directory if it is None."""

    path: Path
    text: str | None


@dataclass(frozen=True, slots=True)
class Removed:
    path: Path


@dataclass(frozen=True, slots=True)
class Moved:
    path: Path
    target: Path


Change = Stored | Removed | Moved


class FileTree:
    """A tree with the sizes of its files in bytes, None for directories. `read` returns the text of a file. `changes` are what
    commands have changed, in order, one entry each."""

    def __init__(self, sizes: Mapping[Path, int | None], read: Callable[[Path], str]) -> None:
        self._sizes: dict[Path, int | None] = {ROOT: None, **sizes}
        self._read = read
        self.changes: list[Change] = []

    def exists(self, path: Path) -> bool:
        return path in self._sizes

    def is_directory(self, path: Path) -> bool:
        return path in self._sizes and self._sizes[path] is None

    def is_file(self, path: Path) -> bool:
        return self._sizes.get(path) is not None

    def size(self, path: Path) -> int | None:
        return self._sizes[path]

    def text(self, path: Path) -> str:
        return self._read(path)

    def listed(self, path: Path) -> list[Path]:
        """What is in a directory and in the directories in it, each directory before its contents. Hidden names are left out."""
        depth = len(path)
        return sorted(
            each
            for each in self._sizes
            if depth < len(each) <= depth + 2
            and each[:depth] == path
            and not any(name.startswith(".") for name in each[depth:])
        )

    def store(self, path: Path, text: str) -> None:
        """Store a file whose directory exists. Raises `FileError` if it is too large, or the tree would be."""
        checked_text(text)
        size = len(text.encode())
        others = sum(size or 0 for each, size in self._sizes.items() if each != path)
        if others + size > MAX_TREE:
            raise FileError(f"All files together must have at most {MAX_TREE:,} bytes: delete some first.")
        self._add(path, size, text)

    def make_directories(self, path: Path) -> None:
        """Make a directory and those above it that are missing. Raises `FileError` if one of them is a file."""
        for depth in range(1, len(path) + 1):
            above = path[:depth]
            if self.is_file(above):
                raise FileError(f"The path {shown(above)} is a file, not a directory.")
            if above not in self._sizes:
                self._add(above, None, None)

    def remove(self, path: Path) -> None:
        """Remove a file, or a directory with all that is in it."""
        for each in self._below(path):
            del self._sizes[each]
            self.changes.append(Removed(each))

    def clear(self) -> None:
        """Remove everything."""
        for each in self._below(ROOT)[1:]:
            del self._sizes[each]
            self.changes.append(Removed(each))

    def move(self, path: Path, target: Path) -> None:
        """Move a file, or a directory with all that is in it, to a path whose directory exists."""
        moved = [(each, target + each[len(path) :]) for each in self._below(path)]
        for _, new in moved:
            checked_length(new)
        checked_names(target)
        for old, new in moved:
            self._sizes[new] = self._sizes.pop(old)
            self.changes.append(Moved(old, new))

    def _below(self, path: Path) -> list[Path]:
        return sorted(each for each in self._sizes if each[: len(path)] == path)

    def _add(self, path: Path, size: int | None, text: str | None) -> None:
        if path not in self._sizes:
            checked_length(path)
            checked_names(path)
        if path not in self._sizes and len(self._sizes) > MAX_ENTRIES:
            raise FileError(f"There are {MAX_ENTRIES:,} files and directories already: delete some first.")
        self._sizes[path] = size
        self.changes.append(Stored(path, text))


def parse_path(given: str) -> Path:
    """The names in a path of a command. Raises `FileError` if it does not lead below `/memories`."""
    if not given.startswith(PREFIX):
        raise FileError(f"Path must start with /memories, got: {given}")
    names = ["memories"]
    for name in given[len(PREFIX) :].split("/"):
        if name == "..":
            if not names:
                raise FileError(f"Path {given} would escape /memories directory")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    if names[:1] != ["memories"]:
        raise FileError(f"Path {given} would escape /memories directory")
    path = tuple(names[1:])
    checked_length(path, _LONGEST_STORED_PATH)
    if any("\x00" in name or not _is_unicode(name) for name in path):
        raise FileError("A path must not contain NUL characters or parts of characters.")
    return path


def checked_length(path: Path, longest: int = MAX_PATH) -> None:
    if len("/".join(path)) > longest or any(len(name.encode(errors="replace")) > _MAX_NAME for name in path):
        raise FileError(f"A path must have at most {MAX_PATH} characters, and a name in it {_MAX_NAME} bytes.")


def checked_names(path: Path) -> None:
    """Refuse names that would look like other lines in a list of files. A file that has such a name already can be read."""
    if any(category(character) in _BREAKING for name in path for character in name):
        raise FileError("The name of a file must not contain line breaks or control characters.")


def checked_text(text: str) -> None:
    if len(text) > MAX_FILE:
        raise FileError(f"A file must have at most {MAX_FILE:,} characters: divide it into several.")
    if "\x00" in text or not _is_unicode(text):
        raise FileError("A file must not contain NUL characters or parts of characters.")


def shown(path: Path) -> str:
    return "/".join((PREFIX, *path))


def stored_path(path: Path) -> str:
    """A path as it is stored."""
    return "/".join(path)


def from_stored(text: str) -> Path:
    return tuple(text.split("/"))


def required(fields: Mapping[str, object], name: str, kind: type) -> object:
    """A field of a command, of this type. A bool is no number."""
    value = fields.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidRequest(name, f"must be {'text' if kind is str else 'a whole number'}.")
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
