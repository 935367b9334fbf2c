"""Names: the words of the glossary in `CONTRIBUTING.md`, and folders that can be read at a glance."""

import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import cloister

SOURCE = Path(cloister.__file__).parent
MOST_FILES = 13
# Folders of like files, which are found by their names.
LARGE_FOLDERS = {"domain": 24, "interfaces/cli": 18, "storage/stores": 22}
DEEPEST = 3
# Words that do not say what is meant, or have had several meanings here. The glossary has what to say instead.
BANNED = {
    *(
        "hall",
        "lane",
        "lanes",
        "bell",
        "beside",
        "told",
        "held",
        "elsewhere",
        "place",
        "places",
        "lookout",
        "neighbours",
    ),
    *("gatherer", "keeper", "keepers", "rememberer", "converser", "organiser", "resent", "happening", "happenings"),
    *("whoever", "hold", "holder", "holders", "written", "writing"),
}


def words_of(path: Path) -> Iterator[tuple[int, str, str]]:
    """Each identifier of a file, word by word, with its line."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type == tokenize.NAME:
            for word in token.string.lower().split("_"):
                yield token.start[0], token.string, word


FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))


@pytest.mark.parametrize("name", FILES)
def test_no_identifier_has_a_banned_word(name: str) -> None:
    assert [(line, given) for line, given, word in words_of(SOURCE / name) if word in BANNED] == []


def test_no_file_has_a_banned_word_in_its_name() -> None:
    assert [name for name in FILES if BANNED & {*Path(name).stem.split("_")}] == []


def test_no_folder_has_more_files_than_can_be_read_at_a_glance() -> None:
    folders = {Path(name).parent.as_posix() for name in FILES}
    sizes = {
        folder: sum(1 for name in FILES if Path(name).parent.as_posix() == folder and Path(name).name != "__init__.py")
        for folder in folders
    }
    assert {folder: size for folder, size in sizes.items() if size > LARGE_FOLDERS.get(folder, MOST_FILES)} == {}
    assert [folder for folder in folders if len(Path(folder).parts) > DEEPEST] == []
