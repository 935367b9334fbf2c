"""The architecture page and the glossary name files and functions that exist, and the list of files is current."""

import ast
import difflib
import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import cloister

SOURCE = Path(cloister.__file__).parent
ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md")
# `folder/file.py`, or with a function, a class or a method of it: `folder/file.py:Class.method`.
ENTRY = re.compile(r"`(?:src/cloister/)?((?:\w+/)*\w+\.py)(?::([\w.]+))?`")


def entries(page: Path) -> Iterator[tuple[str, str, str | None]]:
    """Each file that a page names, with the line that names it, and what is named in the file."""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        for file, name in ENTRY.findall(line):
            if name or "/" in file:
                yield f"{page.name}:{number}", file, name or None


NAMED = [entry for page in PAGES for entry in entries(page) if not entry[1].startswith(("tests/", "docs/"))]


@cache
def names_in(file: Path) -> frozenset[str]:
    """The functions, classes and methods of a file, methods with their class."""

    def within(body: list[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from within(node.body, f"{prefix}{node.name}.")

    return frozenset(within(ast.parse(file.read_text("utf-8")).body, ""))


@pytest.mark.parametrize(("where", "file", "name"), NAMED, ids=lambda part: str(part))
def test_what_the_map_names_is_there(where: str, file: str, name: str | None) -> None:
    path = SOURCE / file
    if not path.exists():
        pytest.fail(f"{where}: there is no {file}.{_now_in(name, path.name)}", pytrace=False)
    if name is not None and name not in names_in(path):
        like = difflib.get_close_matches(name, names_in(path), 5, 0.3) or sorted(names_in(path))
        pytest.fail(f"{where}: {file} has no `{name}`, but: {', '.join(like)}.{_now_in(name)}", pytrace=False)


def _now_in(name: str | None, file: str = "") -> str:
    """Where the name is now, and files that are called so."""
    found = [
        path for path in SOURCE.rglob("*.py") if path.name == file or (name is not None and name in names_in(path))
    ]
    return f" See: {', '.join(path.relative_to(SOURCE).as_posix() for path in found)}." if found else ""


def test_the_map_has_the_five_paths() -> None:
    text = PAGES[0].read_text("utf-8")
    for title in (
        "Record a message",
        "Build a context",
        "Answer a chat message",
        "Extract memories",
        "Forget, and move",
    ):
        _, _, path = text.partition(f"\n## {title}")
        steps = re.findall(r"^(\d+)\. `", path.partition("\n## ")[0], re.MULTILINE)
        assert len(steps) >= 8, title


def test_a_path_says_how_many_steps_it_has() -> None:
    _, _, path = PAGES[0].read_text("utf-8").partition("\n## Record a message over HTTP")
    path = path.partition("\n## ")[0]
    said = re.search(r": (\d+) steps", path)
    assert said is not None
    assert int(said[1]) == len(re.findall(r"^\d+\. ", path, re.MULTILINE))


def test_the_list_of_files_is_what_the_folders_contain() -> None:
    generate = runpy.run_path(str(ROOT / "docs" / "reference" / "generate.py"))
    assert PAGES[0].read_text("utf-8") == generate["render_tree"](), "run: python docs/reference/generate.py"
