"""OPS-6: a file that is written under a temporary name is told from what a dead process left by a lock, where there are locks."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from cloister.storage.backup_file import whole_file


@pytest.mark.parametrize("problem", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO])
def test_a_file_system_without_locks_gets_its_file_whole_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: int
) -> None:
    """OPS-6: and no file is taken for a leftover, since nobody can tell."""

    def refuse(*_: object) -> None:
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with whole_file(tmp_path / "copy", replace=True) as first:
        with whole_file(tmp_path / "copy", replace=True) as second:
            second.write_text("second")
        first.write_text("first")
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_lock_that_was_taken_for_a_leftover_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[int] = [errno.EWOULDBLOCK, 0]

    def answer(*_: object) -> None:
        if problem := answers.pop(0):
            raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(fcntl, "flock", answer)
    with whole_file(tmp_path / "copy") as partial:
        assert sorted(tmp_path.iterdir()) == sorted([partial, partial.with_suffix(".lock")])
    assert answers == []


def test_the_file_that_is_written_is_not_itself_locked(tmp_path: Path) -> None:
    """OPS-6: SQLite locks it, and on NFS and BSD the two locks would be in each other's way."""
    with whole_file(tmp_path / "copy") as partial, partial.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_what_a_dead_process_left_is_removed_and_what_another_writes_is_not(tmp_path: Path) -> None:
    """OPS-6: also if their numbers are of two containers, where both may be 1."""
    target = tmp_path / "copy"
    left = [tmp_path / ".copy.1-0123abcd.partial", tmp_path / ".copy.77.partial", tmp_path / ".copy.78.partial-wal"]
    left += [tmp_path / f".copy.{'0' * 16}{ending}" for ending in (".lock", ".partial", ".partial-journal")]
    for path in left:
        path.touch()
    with whole_file(target, replace=True) as first:
        with whole_file(target, replace=True) as second:
            second.write_text("second")
        first.write_text("first")
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]
    assert target.read_text() == "first"
