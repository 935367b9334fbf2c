"""OPS-6: a backup of either engine holds every tenant, is checked, and restores on either engine; OPS-1: one that was cut short
never has the name of a backup."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest

from cloister.bootstrap import restore_backup
from cloister.domain.errors import Conflict, StorageBusy, StorageError, StorageFull, StorageTooNew, StorageUnavailable
from cloister.domain.maintenance.backup import no_progress
from cloister.domain.scope import Reach
from cloister.settings import read_settings
from cloister.storage.interface import Database, Transaction
from cloister.storage.sqlite.backup import checked
from cloister.storage.sqlite.database import DATABASE_FILE, SqliteDatabase, open_sqlite
from cloister.storage.sqlite.restore import restore_directory
from support.clients.command_line import CommandLine
from support.databases.engines import Engine, postgres_engine, sqlite_engine
from support.databases.rows import Household, insert_message, settle

CHILD = Path(__file__).with_name("backup_process.py")


def execute(connection: Any, statement: str) -> None:
    connection.execute(statement)


def add_messages(database: Database, home: Household, last: int, content: str = "The roses need water.") -> None:
    def add(transaction: Transaction) -> None:
        for sequence in range(2, last):
            insert_message(transaction, home.session, sequence, content)

    database.write(home.reach, add)


def restored(file: Path, engine: Engine, *, replace: bool = False) -> None:
    restore_backup(read_settings(engine.address, {}), file, replace=replace)


@pytest.fixture(params=["sqlite", "postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Engine]:
    """Nothing is there yet: a directory that does not exist, or a database without a table."""
    if request.param == "sqlite":
        yield sqlite_engine(tmp_path / "restored")
        return
    engine = postgres_engine(request.getfixturevalue("empty_postgres"))
    with engine.closing:
        yield engine


def test_a_backup_of_either_engine_restores_every_row_of_every_tenant_on_either(
    engine: Engine, target: Engine, tmp_path: Path
) -> None:
    """OPS-6, ISO-4: the two tenants have the same names and words, and stay two."""
    database = engine.database()
    homes = [settle(database), settle(database)]
    report = database.maintenance.backup(tmp_path / "copy", no_progress)
    database.write(homes[0].reach, lambda transaction: insert_message(transaction, homes[0].session, 2, "Later."))
    expected = engine.dump()
    restored(tmp_path / "copy", target)
    found = target.dump()
    assert len(found["message"]) == 2 and len(expected["message"]) == 3
    later = [row for row in expected["message"] if row not in found["message"]]
    assert [row for row in later if "Later." in row] == later and len(later) == 1
    assert {**found, "message": []} == {**expected, "message": []}
    assert report.rows == sum(map(len, found.values())) + 1, "and the embedding model, which is no tenant's"
    with closing(target.open()) as opened:
        for home in homes:
            with opened.read(home.reach) as transaction:
                assert transaction.rows("messages", after=0, last=(1 << 63) - 1, limit=9, all_branches=1) != []
        with opened.read(Reach(tenant=homes[0].tenant)) as transaction:
            assert transaction.row("message_session", message_id=homes[1].message) is None
        assert opened.maintenance.check() == []


def test_what_is_there_is_kept_unless_it_is_to_be_replaced(engine: Engine, tmp_path: Path) -> None:
    """OPS-6: refused whole, then replaced whole."""
    with closing(engine.open()) as database:
        settle(database)
        database.maintenance.backup(tmp_path / "copy", no_progress)
        first = engine.dump()
        settle(database)
    before = engine.dump()
    with pytest.raises(Conflict, match="--replace"):
        restored(tmp_path / "copy", engine)
    assert engine.dump() == before != first
    restored(tmp_path / "copy", engine, replace=True)
    assert engine.dump() == first


def test_a_database_in_use_is_not_replaced(engine: Engine, tmp_path: Path) -> None:
    database = engine.database()
    home = settle(database)
    database.maintenance.backup(tmp_path / "copy", no_progress)
    before = engine.dump()
    with database.read(home.reach), pytest.raises(StorageBusy, match="stop"):
        restored(tmp_path / "copy", engine, replace=True)
    assert engine.dump() == before


def test_a_restore_that_fails_half_way_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    """OPS-6: a reference to nowhere is found in the file before anything is touched; so is a byte that is not what it was."""
    with closing(engine.open()) as database:
        settle(database)
        database.maintenance.backup(tmp_path / "copy", no_progress)
    before = engine.dump()
    broken = tmp_path / "broken"
    broken.write_bytes((tmp_path / "copy").read_bytes())
    with closing(apsw.Connection(str(broken))) as connection:
        execute(connection, "DELETE FROM session")
    cut = tmp_path / "cut"
    cut.write_bytes((tmp_path / "copy").read_bytes()[:20_000])
    other = tmp_path / "other"
    other.write_text("not a database at all " * 500)
    newer = tmp_path / "newer"
    newer.write_bytes((tmp_path / "copy").read_bytes())
    with closing(apsw.Connection(str(newer))) as connection:
        execute(connection, "INSERT INTO schema_migration VALUES (9999, 'later', '')")
    for file in (broken, cut, other, tmp_path / "missing"):
        with pytest.raises(StorageUnavailable):
            restored(file, engine, replace=True)
    with pytest.raises(StorageTooNew, match="Upgrade"):
        restored(newer, engine, replace=True)
    assert engine.dump() == before
    assert not list(Path(tmp_path).rglob("*.partial*"))


def test_a_restore_that_cannot_be_published_leaves_the_old_log(
    sqlite_database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS-6: the database is damaged, and its log may be all that can be saved of it."""
    settle(sqlite_database)
    sqlite_database.maintenance.backup(tmp_path / "copy", no_progress)
    path, log = tmp_path / "damaged" / "cloister.db", tmp_path / "damaged" / "cloister.db-wal"
    path.parent.mkdir()
    path.write_text("not a database at all " * 500)
    log.write_text("the last writes")

    def refuse(*_: object) -> Path:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        with pytest.raises(StorageError):
            restore_directory(tmp_path / "copy", path, replace=True)
    assert log.read_text() == "the last writes"
    restore_directory(tmp_path / "copy", path, replace=True)
    assert [each.name for each in path.parent.iterdir()] == ["cloister.db"]


def damaged_directory(database: Any, folder: Path) -> tuple[Path, Path]:
    """The path of a database that cannot be read, with a log, and that of a backup of another one."""
    settle(database)
    database.maintenance.backup(folder / "copy", no_progress)
    path = folder / "damaged" / DATABASE_FILE
    path.parent.mkdir()
    damage(path)
    return path, folder / "copy"


def damage(path: Path) -> None:
    path.write_text("not a database at all " * 500)
    path.with_name(f"{path.name}-wal").write_text("the last writes")


def test_a_restore_that_fails_after_it_was_published_puts_no_old_log_next_to_the_new_database(
    sqlite_database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS-6: SQLite would apply it to the new one."""
    path, copy = damaged_directory(sqlite_database, tmp_path)
    sync = os.fsync

    def refuse_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse_folders)
        with pytest.raises(StorageError):
            restore_directory(copy, path, replace=True)
    assert [each.name for each in path.parent.iterdir()] == [DATABASE_FILE]
    assert checked(path).rows > 0


def test_a_restore_of_a_damaged_database_that_is_killed_keeps_its_log_or_leaves_nothing_of_it(
    sqlite_database: Any, tmp_path: Path
) -> None:
    """OPS-6: nothing is opened until it is clear whose log it is."""
    path, copy = damaged_directory(sqlite_database, tmp_path)
    (tmp_path / "none").touch()
    log = path.with_name(f"{path.name}-wal")
    states: set[str] = set()

    def look() -> None:
        is_old = path.read_bytes().startswith(b"not")
        if is_old:
            is_aside = not log.exists()
            if is_aside:
                with pytest.raises(StorageUnavailable, match=f"{log.name}.*replaced.*cloister restore"):
                    open_sqlite(path.parent)
            with pytest.raises(StorageUnavailable):
                restore_directory(tmp_path / "none", path, replace=True)
            assert log.read_text() == "the last writes"
            states.add("aside" if is_aside else "old")
        else:
            open_sqlite(path.parent).close()
            assert not list(path.parent.glob("*replaced"))
            states.add("new")
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
        damage(path)

    killed_everywhere("restore", copy, path, look)
    assert states == {"old", "aside", "new"}


def test_a_log_that_may_be_of_another_database_is_named_and_left(sqlite_database: Any, tmp_path: Path) -> None:
    """OPS-6: a copy of a directory does not show which database the log is of."""
    path, copy = damaged_directory(sqlite_database, tmp_path)
    aside = path.with_name(f"{path.name}-wal.1-2.replaced")
    path.with_name(f"{path.name}-wal").rename(aside)
    for content in (path.read_bytes(), copy.read_bytes(), b"", None):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(StorageUnavailable, match=r"cloister\.db-wal\.1-2\.replaced"):
            open_sqlite(path.parent)
        assert aside.read_text() == "the last writes"
    restore_directory(copy, path, replace=True)
    assert [each.name for each in path.parent.iterdir()] == [DATABASE_FILE]


def test_a_backup_never_takes_the_name_of_another_file(sqlite_database: Any, tmp_path: Path) -> None:
    settle(sqlite_database)
    target = tmp_path / "copy"
    target.write_text("mine")
    with pytest.raises(StorageError, match="exists already"):
        sqlite_database.maintenance.backup(target, no_progress)
    target.unlink()

    def appear(doing: str, done: int, total: int) -> None:
        target.write_text("mine")

    with pytest.raises(StorageError, match="another process"):
        sqlite_database.maintenance.backup(target, appear)
    assert target.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def scarce(folder: object) -> SimpleNamespace:
    return SimpleNamespace(free=1_000)


def test_a_disk_without_room_is_said_before_anything_is_copied(
    sqlite_database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(sqlite_database)
    monkeypatch.setattr(shutil, "disk_usage", scarce)
    with pytest.raises(StorageFull, match="MB are free"):
        sqlite_database.maintenance.backup(tmp_path / "copy", no_progress)
    assert not (tmp_path / "copy").exists()


def test_a_backup_ends_while_another_connection_keeps_writing(sqlite_database: SqliteDatabase, tmp_path: Path) -> None:
    home = settle(sqlite_database)
    stop = threading.Event()

    def keep_writing() -> None:
        sequence = 1
        while not stop.is_set():
            sequence += 1
            sqlite_database.write(home.reach, lambda own, number=sequence: insert_message(own, home.session, number))

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        report = sqlite_database.maintenance.backup(tmp_path / "copy", no_progress)
    finally:
        stop.set()
        writer.join()
    assert checked(tmp_path / "copy").rows == report.rows


def killed_everywhere(kind: str, source: Path, target: Path, look: Callable[[], None], kills: int = 8) -> None:
    """Run to the end once, then kill at steps spread over the whole run, the last ones included; `look` is called after each."""
    process = subprocess.Popen(
        [sys.executable, str(CHILD), kind, str(source), str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None

    def run(last: int) -> int:
        assert process.stdin is not None and process.stdout is not None
        print(last, file=process.stdin, flush=True)
        taken = int(process.stdout.readline())
        look()
        return taken

    with process.stdin, process.stdout:
        whole = run(1_000_000)
        for number in sorted({number * whole // kills for number in range(kills)} | {whole - 2, whole - 1}):
            assert run(number) == number
    assert process.wait() == 0


def test_a_backup_killed_at_any_step_leaves_no_file_of_its_name_that_is_not_whole(tmp_path: Path) -> None:
    """OPS-1: and the next backup removes what the dead one left."""
    with closing(open_sqlite(tmp_path / "data")) as database:
        home = settle(database)
        for sequence in range(2, 200):
            database.write(
                home.reach, lambda own, number=sequence: insert_message(own, home.session, number, "w " * 500)
            )
        rows = database.maintenance.backup(tmp_path / "first", no_progress).rows
    folder = tmp_path / "backups"
    folder.mkdir()
    seen: list[bool] = []

    def look() -> None:
        target = folder / "copy"
        seen.append(target.exists())
        if target.exists():
            assert checked(target).rows == rows
            target.unlink()

    killed_everywhere("backup", tmp_path / "data", folder / "copy", look)
    assert seen.count(True) < len(seen) - 4 and seen[0]
    with closing(open_sqlite(tmp_path / "data")) as database:
        database.maintenance.backup(folder / "copy", no_progress)
    assert [path.name for path in folder.iterdir()] == ["copy"]


def test_a_restore_killed_at_any_step_leaves_the_old_database_or_the_new_one(tmp_path: Path) -> None:
    """OPS-6: never a part of either."""
    engine = sqlite_engine(tmp_path / "data")
    with closing(engine.open()) as database:
        home = settle(database)
        database.maintenance.backup(tmp_path / "copy", no_progress)
        new = engine.dump()
        add_messages(database, home, 60)
    old = engine.dump()
    states: list[str] = []

    def look() -> None:
        found = engine.dump()
        states.append("old" if found == old else "new" if found == new else "neither")
        with closing(engine.open()) as database:
            assert database.maintenance.check() == []
            if found == new:
                add_messages(database, home, 60)

    killed_everywhere("restore", tmp_path / "copy", tmp_path / "data" / DATABASE_FILE, look)
    assert set(states) == {"old", "new"}


def test_the_command_shows_progress_in_plain_lines_and_its_result_in_json(tmp_path: Path) -> None:
    """OPS-6: keys work after a restore, and an existing installation is refused with exit code 1."""
    shell = CommandLine(data=str(tmp_path / "live"))
    shell.run("record", "--create", "beds", "Peas.")
    made = shell.json("keys", "create", "phone")
    file = tmp_path / "copy"
    outcome = shell.run("backup", str(file))
    assert "checked it" in outcome.stdout and "copying: " in outcome.stderr
    assert "exists already" in shell.refusal("backup", str(file))
    moved = CommandLine(data=str(tmp_path / "new"))
    answer = moved.json("restore", str(file))
    assert answer["file"] == str(file) and answer["rows"] > 5
    assert [key["key_id"] for key in moved.json("keys", "list")] == [made["key_id"]]
    assert moved.said("peas") == ["Peas."]
    assert "--replace" in moved.refusal("restore", str(file))
    moved.run("restore", str(file), "--replace")
    assert moved.said("peas") == ["Peas."]
    far = CommandLine(data="http://127.0.0.1:9", key="clk_x")
    for command in ("backup", "restore"):
        assert "on the server" in far.refusal(command, str(tmp_path / "none"))
