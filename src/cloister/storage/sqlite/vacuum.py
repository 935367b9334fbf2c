"""Gives the space of deleted rows back to the file system, while readers go on."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import ctypes
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import apsw

from cloister.domain.errors import StorageFull
from cloister.domain.maintenance.backup import StepProgress, no_progress
from cloister.domain.maintenance.vacuum import VacuumReport
from cloister.storage.backup_file import require_space
from cloister.storage.sqlite.checkpoints import truncated
from cloister.storage.sqlite.connections import connect, translated

_LOOK_SECONDS = 0.2
_READERS_MILLISECONDS = 2_000
_DOING = "rewriting"
_PURPOSE = "Giving space back"


def vacuum_file(path: Path, progress: StepProgress = no_progress) -> VacuumReport:
    """Rewrite the database without its free pages, on a connection of its own. Readers see the database as it was until it is done;
    writers wait. The new pages go through the log, so that a kill at any moment leaves the database as it was."""
    log = path.with_name(f"{path.name}-wal")
    try:
        with closing(connect(path)) as connection:
            before = _bytes(connection, "page_count")
            kept = before - _bytes(connection, "freelist_count")
            _require_space(path.parent, temporary_folder(connection), kept)
            with _watched(log, kept, progress):
                connection.execute("VACUUM")
            after = _bytes(connection, "page_count")
            is_truncated = truncated(connection, _READERS_MILLISECONDS)
    except apsw.FullError as error:
        raise StorageFull(
            "The disk became full while the database was rewritten. Nothing was changed: free some space and try again."
        ) from error
    except apsw.Error as error:
        raise translated(error) from error
    return VacuumReport(bytes_before=before, bytes_after=after, is_waiting=not is_truncated)


def temporary_folder(connection: apsw.Connection) -> Path:
    """Where SQLite writes the temporary files of a database in a file. It looks at SQLITE_TMPDIR, TMPDIR and its own list of
    folders, in another order than Python, so it is asked. The answer is memory that SQLite leaves to the caller: some 60 bytes,
    which are never freed."""
    name = ctypes.c_char_p()
    connection.file_control("main", apsw.SQLITE_FCNTL_TEMPFILENAME, ctypes.addressof(name))
    return Path((name.value or b"").decode()).parent


def _bytes(connection: apsw.Connection, pages: str) -> int:
    return cast(int, connection.pragma(pages)) * cast(int, connection.pragma("page_size"))


def _require_space(data: Path, temporary: Path, needed: int) -> None:
    """SQLite writes the new database to a temporary file, and then to the log."""
    if data.stat().st_dev == temporary.stat().st_dev:
        require_space(data, 2 * needed, doing=_PURPOSE)
        return
    for folder in (data, temporary):
        require_space(folder, needed, doing=_PURPOSE)


@contextmanager
def _watched(log: Path, total: int, progress: StepProgress) -> Generator[None]:
    """Report how much of the new database is in the log: `VACUUM` is one statement, and says nothing until its end."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(_LOOK_SECONDS):
            size = log.stat().st_size if log.exists() else 0
            progress(_DOING, min(size, total) >> 20, total >> 20)

    thread = threading.Thread(target=look, name="cloister-vacuum", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
