"""OPS-2: the write-ahead log stays small under constant readers, and the space of deleted rows is given back."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from cloister import Cloister
from cloister.domain.errors import StorageFull
from cloister.domain.maintenance.backup import no_progress
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.domain.scope import Reach
from cloister.storage.interface import Database, Transaction
from cloister.storage.sqlite import checkpoints
from cloister.storage.sqlite.database import SqliteDatabase, open_sqlite
from support.clients.command_line import CommandLine
from support.databases.engines import Engine
from support.databases.rows import Household, insert_message, settle

MEGABYTE = 1 << 20
WORDS = "word " * 4_000


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small limits, so that few megabytes show what many do."""
    monkeypatch.setattr(checkpoints, "LARGE_BYTES", MEGABYTE)
    monkeypatch.setattr(checkpoints, "SECONDS", 0.02)
    monkeypatch.setattr(checkpoints, "PAUSE_SECONDS", 0.02)


@pytest.fixture
def database(hasty: None, tmp_path: Path) -> Generator[SqliteDatabase]:
    with closing(open_sqlite(tmp_path / "data")) as opened:
        yield opened


def add(database: Database, home: Household, sequence: int) -> None:
    def work(transaction: Transaction) -> None:
        for number in range(10):
            insert_message(transaction, home.session, 10 * sequence + number + 2, WORDS)

    database.write(home.reach, work)


def size(database: SqliteDatabase) -> int:
    return database.maintenance.log_bytes() or 0


class Readers:
    """Two threads, each with a read transaction most of the time, so that there is always one: SQLite alone never shortens its
    log."""

    def __init__(self, database: Database, reach: Reach) -> None:
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(database, reach, pause)) for pause in (0, 0.01)]
        for thread in self._threads:
            thread.start()

    def _read(self, database: Database, reach: Reach, pause: float) -> None:
        time.sleep(pause)
        while not self._stop.is_set():
            with database.read(reach) as transaction:
                transaction.row("pool_size", pool_id=1)
                time.sleep(0.02)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def test_the_log_is_bounded_under_constant_readers(database: SqliteDatabase) -> None:
    """OPS-2: 16 MB are written, and the log never has half of it."""
    home = settle(database)
    readers = Readers(database, home.reach)
    largest = 0
    try:
        for sequence in range(80):
            add(database, home, sequence)
            largest = max(largest, size(database))
            time.sleep(0.01)
    finally:
        readers.stop()
    assert database.path.stat().st_size > 12 * MEGABYTE
    assert largest < 8 * MEGABYTE


def test_a_reader_that_stays_makes_the_log_grow_only_until_it_ends(database: SqliteDatabase) -> None:
    """OPS-1, OPS-2: the metric says how large it is; writers are not stopped by it, and the reader's snapshot stays."""
    home = settle(database)
    with database.read(home.reach) as transaction:
        before = transaction.row("count_episodes", first=0, last=(1 << 63) - 1)
        for sequence in range(20):
            add(database, home, sequence)
        assert transaction.row("count_episodes", first=0, last=(1 << 63) - 1) == before
        assert size(database) > 2 * MEGABYTE
    deadline = time.monotonic() + 30
    while size(database) > MEGABYTE and time.monotonic() < deadline:
        time.sleep(0.02)
    assert size(database) <= MEGABYTE


def test_vacuum_gives_space_back_while_readers_read(engine: Engine) -> None:
    """OPS-2: a read that runs meanwhile sees what was there, and what is left is whole."""
    database = engine.database()
    home = settle(database)
    for sequence in range(20):
        add(database, home, sequence)
    database.write(home.reach, lambda own: own.execute("delete_messages", first=home.message, last=(1 << 63) - 1))
    before = engine.dump()
    with database.read(home.reach) as transaction:
        seen = transaction.rows("messages", after=0, last=(1 << 63) - 1, limit=9, all_branches=1)
        done: list[VacuumReport] = []
        running = threading.Thread(target=lambda: done.append(database.maintenance.vacuum(no_progress)))
        running.start()
        assert transaction.rows("messages", after=0, last=(1 << 63) - 1, limit=9, all_branches=1) == seen
    running.join()
    if engine.name == "sqlite":
        assert done[0].bytes_after < done[0].bytes_before - 2 * MEGABYTE
    assert engine.dump() == before
    assert database.maintenance.check() == []


def test_vacuum_is_refused_politely_where_the_disk_has_no_room(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(database)

    def scarce(folder: object) -> SimpleNamespace:
        return SimpleNamespace(free=1_000)

    monkeypatch.setattr(shutil, "disk_usage", scarce)
    with pytest.raises(StorageFull, match="nothing was changed"):
        database.maintenance.vacuum(no_progress)


def test_the_room_is_looked_for_where_sqlite_writes(tmp_path: Path) -> None:
    """OPS-2: it prefers SQLITE_TMPDIR, of which Python knows nothing."""
    program = (
        "import apsw, sys; from pathlib import Path; from cloister.storage.sqlite.vacuum import temporary_folder;"
        "print(temporary_folder(apsw.Connection(sys.argv[1])))"
    )
    environment = {**os.environ, "SQLITE_TMPDIR": str(tmp_path), "TMPDIR": "/tmp"}
    asked = [sys.executable, "-c", program, str(tmp_path / "file.db")]
    answer = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
    assert Path(answer.stdout.strip()) == tmp_path


def test_the_command_says_how_much_it_gave_back(tmp_path: Path) -> None:
    shell = CommandLine(data=str(tmp_path / "data"))
    with Cloister(tmp_path / "data") as memory:
        memory.create_session("beds")
        for _ in range(30):
            memory.record("beds", "user", WORDS)
        memory.delete_session("beds")
    done = shell.json("vacuum")
    assert done["bytes_after"] < done["bytes_before"]
    assert "MB now" in shell.run("vacuum").stdout
    far = CommandLine(data="http://127.0.0.1:9", key="clk_x")
    assert "on the server" in far.refusal("vacuum")
