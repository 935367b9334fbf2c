"""The commands of Anthropic's memory tool (`memory_20250818`) on a tree of files. Answers and errors are, character by character,
those of the tool for local directories in Anthropic's SDK, except where a limit is reached, and for the sizes of directories.

Also in this: a rename whose source is missing has made the directories of its target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

from cloister.domain.errors import InvalidRequest
from cloister.domain.files.tree import ROOT, FileError, FileTree, Path, parse_path, required

_FIELDS: Mapping[str, Mapping[str, type]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
    "clear": {},
}
COMMANDS = tuple(_FIELDS)
_MOST_LINES = 999_999
_WIDTH = len(str(_MOST_LINES))
# What a directory takes itself in common file systems; it says nothing about what is in it.
_DIRECTORY_SIZE = 4_096
_LARGEST_NUMBER = 2**53


@dataclass(frozen=True, kw_only=True, slots=True)
class FileCommand:
    """A checked command. `new_str` may be missing in a request: then what is found is deleted."""

    name: str
    texts: Mapping[str, str]
    insert_line: int = 0
    view_range: tuple[int, int] | None = None


def read_command(given: Mapping[str, object]) -> FileCommand:
    """Check the fields of a command. Unknown ones are refused: an assistant that sends some believes that they do something."""
    name = given.get("command")
    if not isinstance(name, str) or name not in _FIELDS:
        raise InvalidRequest("command", f"must be one of {', '.join(COMMANDS)}.")
    fields = {"new_str": "", **given} if name == "str_replace" else dict(given)
    kinds = _FIELDS[name]
    for field in fields:
        if field != "command" and field not in kinds and not (name == "view" and field == "view_range"):
            raise InvalidRequest(field, f"is not a field of the command {name}.")
    values = {field: required(fields, field, kind) for field, kind in kinds.items()}
    line = cast(int, values.get("insert_line", 0))
    if abs(line) > _LARGEST_NUMBER:
        raise InvalidRequest("insert_line", "is too large.")
    texts = {field: value for field, value in values.items() if isinstance(value, str)}
    return FileCommand(name=name, texts=texts, insert_line=line, view_range=_range(fields.get("view_range")))


def _range(given: object) -> tuple[int, int] | None:
    """A range of lines. One that has not two entries selects nothing, as in Anthropic's tool."""
    if given is None:
        return None
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InvalidRequest("view_range", "must be two whole numbers.")
    numbers = cast(Sequence[object], given)
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or abs(number) > _LARGEST_NUMBER:
            raise InvalidRequest("view_range", "must be two whole numbers.")
    return cast(tuple[int, int], tuple(numbers)) if len(numbers) == 2 else None


def run_command(tree: FileTree, command: FileCommand) -> str:
    """The answer of a command; what it changes is in `tree.changes`. Raises `FileError`, perhaps with changes."""
    texts = command.texts
    match command.name:
        case "view":
            return _view(tree, texts["path"], command.view_range)
        case "create":
            return _create(tree, texts["path"], texts["file_text"])
        case "str_replace":
            return _replace(tree, texts["path"], texts["old_str"], texts["new_str"])
        case "insert":
            return _insert(tree, texts["path"], command.insert_line, texts["insert_text"])
        case "delete":
            return _delete(tree, texts["path"])
        case "rename":
            return _rename(tree, texts["old_path"], texts["new_path"])
        case _:
            return _clear(tree)


def _view(tree: FileTree, given: str, view_range: tuple[int, int] | None) -> str:
    path = parse_path(given)
    if tree.is_directory(path):
        header = f"Here're the files and directories up to 2 levels deep in {given}, excluding hidden items:"
        lines = [f"{_size(_DIRECTORY_SIZE)}\t{given}"]
        lines += [_listed(tree, given, path, each) for each in tree.listed(path)]
        return "\n".join((header, *lines))
    lines = _existing_file(tree, given, path).split("\n")
    first = 1
    if view_range is not None:
        first = max(1, view_range[0])
        lines = lines[first - 1 : len(lines) if view_range[1] == -1 else view_range[1]]
    return "\n".join((f"Here's the content of {given} with line numbers:", *(_numbered(lines, first) or [""])))


def _listed(tree: FileTree, given: str, path: Path, each: Path) -> str:
    size, name = tree.size(each), "/".join(each[len(path) :])
    return f"{_size(_DIRECTORY_SIZE)}\t{given}/{name}/" if size is None else f"{_size(size)}\t{given}/{name}"


def _create(tree: FileTree, given: str, text: str) -> str:
    path = parse_path(given)
    tree.make_directories(path[:-1])
    if tree.exists(path):
        raise FileError(f"File {given} already exists")
    tree.store(path, text)
    return f"File created successfully at: {given}"


def _replace(tree: FileTree, given: str, old: str, new: str) -> str:
    path = parse_path(given)
    text = _existing_file(tree, given, path, is_edited=True)
    count = text.count(old)
    if count == 0:
        raise FileError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {given}.")
    if count > 1:
        lines = ", ".join(map(str, _lines_of(text, old)))
        raise FileError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
        )
    changed = text.count("\n", 0, text.find(old))
    replaced = text.replace(old, new)
    tree.store(path, replaced)
    lines = replaced.split("\n")
    start = max(0, changed - 2)
    header = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return "\n".join((header, *_numbered(lines[start : changed + 3], start + 1)))


def _insert(tree: FileTree, given: str, line: int, text: str) -> str:
    path = parse_path(given)
    lines = _existing_file(tree, given, path, is_edited=True).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise FileError(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
    lines.insert(line, text.rstrip("\n"))
    changed = "\n".join(lines)
    tree.store(path, changed if changed.endswith("\n") else f"{changed}\n")
    return f"The file {given} has been edited."


def _delete(tree: FileTree, given: str) -> str:
    path = parse_path(given)
    if path == ROOT:
        raise FileError("Cannot delete the /memories directory itself")
    if not tree.exists(path):
        raise FileError(f"The path {given} does not exist")
    tree.remove(path)
    return f"Successfully deleted {given}"


def _rename(tree: FileTree, given: str, target: str) -> str:
    old, new = parse_path(given), parse_path(target)
    if old == ROOT:
        raise FileError("Cannot rename the /memories directory itself")
    if tree.exists(new):
        raise FileError(f"The destination {target} already exists")
    if tree.exists(old) or not tree.is_file(new[:-1]):
        tree.make_directories(new[:-1])
    if not tree.exists(old):
        raise FileError(f"The path {given} does not exist")
    if new[: len(old)] == old:
        raise FileError(f"The path {given} cannot be moved into itself")
    tree.move(old, new)
    return f"Successfully renamed {given} to {target}"


def _clear(tree: FileTree) -> str:
    tree.clear()
    return "All memory cleared"


def _existing_file(tree: FileTree, given: str, path: Path, *, is_edited: bool = False) -> str:
    if not tree.exists(path):
        raise FileError(f"The path {given} does not exist. Please provide a valid path.")
    if is_edited and not tree.is_file(path):
        raise FileError(f"The path {given} is not a file.")
    return tree.text(path)


def _numbered(lines: Sequence[str], first: int) -> list[str]:
    return [f"{str(number).rjust(_WIDTH)}\t{line}" for number, line in enumerate(lines, first)]


def _size(size: int) -> str:
    """A size in B, K, M or G, with one decimal if it is not whole."""
    unit = min(max(size.bit_length() - 1, 0) // 10, 3)
    number = size / 1024**unit
    return f"{int(number)}{'BKMG'[unit]}" if number == int(number) else f"{number:.1f}{'BKMG'[unit]}"


def _lines_of(text: str, found: str) -> list[int]:
    """The line of each occurrence, also of those that overlap. In linear time, by the algorithm of Knuth, Morris and Pratt: a
    search from each occurrence on would take minutes for some texts of the largest size."""
    if not found:
        return [*accumulate((int(character == "\n") for character in text), initial=1)]
    borders = _borders(found)
    lines: list[int] = []
    matched, line = 0, 1
    # The line of an occurrence is that of its first character: breaks inside it do not count yet.
    inside = found.count("\n")
    for character in text:
        while matched and (matched == len(found) or character != found[matched]):
            matched = borders[matched - 1]
        if character == found[matched]:
            matched += 1
        line += character == "\n"
        if matched == len(found):
            lines.append(line - inside)
    return lines


def _borders(text: str) -> list[int]:
    """For each beginning of a text, the length of its longest proper beginning that is also its end."""
    borders = [0] * len(text)
    length = 0
    for index in range(1, len(text)):
        while length and text[index] != text[length]:
            length = borders[length - 1]
        if text[index] == text[length]:
            length += 1
        borders[index] = length
    return borders
