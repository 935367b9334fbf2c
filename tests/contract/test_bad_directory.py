"""A data directory that cannot be used: a clear error of the right class, and every byte as it was."""

import os
import resource
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest

from cloister import Cloister, StorageError
from cloister.domain.errors import CloisterError, StorageReadOnly, StorageTooNew, StorageUnavailable
from cloister.interfaces.python.backends.embedded import EmbeddedBackend
from cloister.storage.sqlite.database import DATABASE_FILE
from support.databases.engines import sqlite_engine

NOBODY = 65534


def contents(directory: Path) -> dict[str, bytes]:
    """Every file but SQLite's own shared memory, which is nobody's data."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory in which something was said."""
    directory = tmp_path / "data"
    with Cloister(directory) as memory:
        memory.create_session("first")
        for number in range(200):
            memory.record("first", "user", f"The roses need water, number {number}.")
    return directory


def refused(directory: Path, kind: type[CloisterError]) -> str:
    with pytest.raises(kind) as caught:
        Cloister(directory)
    return str(caught.value)


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    assert str(file) in refused(file, StorageUnavailable)
    assert str(file) in refused(file / "below", StorageUnavailable)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_a_directory_of_a_newer_version_is_refused_and_left_alone(data: Path) -> None:
    sqlite_engine(data).rows("INSERT INTO schema_migration VALUES (9999, 'from_the_future', 'x')")
    before = sqlite_engine(data).dump()
    assert "9999" in refused(data, StorageTooNew)
    assert sqlite_engine(data).dump() == before


@pytest.mark.parametrize(
    "damage",
    [b"this is no database at all" * 400, b"\x00" * 8192, bytes(range(255, -1, -1)) * 32],
    ids=["text", "zeroes", "noise"],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(data: Path, damage: bytes) -> None:
    (data / DATABASE_FILE).write_bytes(damage)
    before = contents(data)
    assert "damaged" in refused(data, StorageUnavailable)
    assert contents(data) == before


def test_the_log_of_a_damaged_database_is_kept(data: Path, tmp_path: Path) -> None:
    """OPS-1: the last writes may be in the log only, and SQLite deletes the log of a file that is no database."""
    copy = tmp_path / "copy"
    with Cloister(data) as memory:
        memory.record("first", "user", "The last words before the machine stopped.")
        copy.mkdir()
        for name in (DATABASE_FILE, f"{DATABASE_FILE}-wal"):
            shutil.copyfile(data / name, copy / name)
    with (copy / DATABASE_FILE).open("r+b") as file:
        file.write(b"damaged header..")
    before = contents(copy)
    assert before[f"{DATABASE_FILE}-wal"]
    message = refused(copy, StorageUnavailable)
    assert "damaged" in message and f"{DATABASE_FILE}-wal" in message
    assert contents(copy) == before


def test_a_database_cut_short_is_refused_or_says_so_when_it_is_read(data: Path) -> None:
    file = data / DATABASE_FILE
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    with pytest.raises(StorageError), Cloister(data) as memory:
        memory.context("first", "roses")
        memory.messages("first", limit=200)
        raise AssertionError("a third of a database was read as if it were whole")


def test_damage_inside_a_database_is_an_error_of_ours_when_it_is_met(data: Path) -> None:
    """Never another's words, never a driver's error: the pages of the messages are overwritten."""
    file = data / DATABASE_FILE
    whole = bytearray(file.read_bytes())
    for start in range(4096 * 12, len(whole), 4096):
        whole[start : start + 200] = b"\xff" * 200
    file.write_bytes(whole)
    with pytest.raises(StorageError), Cloister(data) as memory:
        memory.messages("first", limit=200)
        memory.context("first", "roses", semantic_limit=1_000)
        raise AssertionError("damaged pages were read as if they were whole")


def test_a_directory_that_may_not_be_written_is_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def readable_only(path: object, mode: int, **_: object) -> bool:
        return not mode & os.W_OK

    monkeypatch.setattr(os, "access", readable_only)
    before = contents(data)
    assert str(data) in refused(data, StorageReadOnly)
    assert contents(data) == before


@contextmanager
def as_nobody(*, really: bool) -> Generator[None]:
    """As another user, because root may write everywhere; `really` also to those who ask who started the process."""
    os.setresgid(NOBODY if really else 0, NOBODY, 0)
    os.setresuid(NOBODY if really else 0, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user and come back")
@pytest.mark.parametrize("really", [True, False])
def test_a_user_without_rights_is_refused_for_real(data: Path, really: bool) -> None:
    with TemporaryDirectory() as public:
        directory = Path(public) / "data"
        shutil.copytree(data, directory)
        for path in (Path(public), directory, *directory.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o644)
        before = contents(directory)
        with as_nobody(really=really):
            refused(directory, StorageReadOnly)
            refused(Path(public) / "new", StorageUnavailable)
        assert contents(directory) == before
        assert not (Path(public) / "new").exists()


@pytest.fixture
def no_more_files() -> Generator[None]:
    """As many files as are open may be open; what can be opened with a spare number still can."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("no_more_files")
def test_a_reader_that_cannot_be_opened_is_an_error_of_ours_and_passes(data: Path) -> None:
    with Cloister(data) as memory:
        backend = cast(EmbeddedBackend, memory._backend)  # pyright: ignore[reportPrivateUsage]
        database, reach = backend.services.database, backend.reach
        highest = max(int(name) for name in os.listdir("/proc/self/fd"))  # noqa: PTH208
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        spare = os.dup(0)
        with database.read(reach):  # the reader that was open already is in use, so the next needs one of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(spare, highest), hard))
            with pytest.raises(StorageUnavailable), database.read(reach):
                pass
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        os.close(spare)
        assert memory.session("first").message_count == 200
