"""The logs of a database that a restore replaces, while it is not replaced yet: SQLite would apply them to the new one.

They have the name `LOG.OLD-NEW.replaced` meanwhile, with the inodes of the old database (0 if it is missing) and of the new one,
which keeps its inode when it is published. So it is known after a kill whose they are.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from cloister.domain.errors import StorageUnavailable
from cloister.storage.sqlite.connections import first_bytes

KEY_FILE = "local.key"
_ENDING = ".replaced"
_LOGS = ("-wal", "-shm")
# The first bytes of every SQLite database, which no write changes.
_HEADER = b"SQLite format 3\0"


@contextmanager
def old_logs(path: Path) -> Generator[Callable[[Path], None]]:
    """Yields what gives other names to the logs of the database `path`, which is damaged or gone, for the new file that will
    replace it. They are deleted at the end of the block, and if it raises after the new one was published; else they get their
    names back, as do those of a restore that was killed before."""

    def put_aside(new: Path) -> None:
        for log in (path.with_name(path.name + ending) for ending in _LOGS):
            if log.exists():
                log.rename(log.with_name(f"{log.name}.{_inode(path)}-{_inode(new)}{_ENDING}"))

    _settle(path)
    try:
        yield put_aside
    except BaseException:  # raised again
        _settle(path)
        raise
    for aside in _put_aside(path):
        aside.unlink(missing_ok=True)


def refuse_lost(path: Path) -> None:
    """Refuse a directory that has had a database and has none: an empty one would take its place, with another key, and remove the
    write-ahead log, in which the last writes of the lost database are. Also one where a restore has put the log aside."""
    _delete_published(path)
    if aside := _put_aside(path):
        raise StorageUnavailable(
            f"A restore of {path} runs or was interrupted, and {aside[0].name} next to it may have the last writes of the "
            "database from before. Nothing was changed. Run `cloister restore --replace` again; or, to open what is there, "
            f"rename it to {_parts(aside[0])[0].name} if it belongs to this {path.name}, and delete it if not."
        )
    is_missing = not path.exists()
    if not is_missing and path.stat().st_size:
        return
    left = [name for name in (KEY_FILE, f"{path.name}-wal") if (path.parent / name).exists()]
    if left:
        raise StorageUnavailable(
            f"{path} is {'missing' if is_missing else 'empty'}, but {left[0]} next to it shows that there was a database. Nothing "
            f"was changed. Put {path.name} back, or restore a backup with `cloister restore`; to start with nothing, delete "
            f"{' and '.join(left if is_missing else [*left, path.name])}."
        )


def refuse_damaged(path: Path) -> None:
    """Refuse a file that is no SQLite database before SQLite opens it: it would delete the log next to it."""
    header = first_bytes(path, len(_HEADER))
    if not header or header == _HEADER:
        return
    log = path.with_name(f"{path.name}-wal")
    kept = (
        f" {log.name} next to it may have the last writes: copy both before you do anything else."
        if log.exists()
        else ""
    )
    raise StorageUnavailable(f"{path} is damaged or not a database. Nothing was changed; restore a backup.{kept}")


def _settle(path: Path) -> None:
    """Delete the logs of a database that was replaced, and give those of one that was not their names back. Of a file that is
    neither the old one nor the new one, as in a copy of the directory, nothing is known, and they stay."""
    _delete_published(path)
    for aside in _put_aside(path):
        log, old, _ = _parts(aside)
        if old == _inode(path) and not log.exists():
            aside.rename(log)


def _delete_published(path: Path) -> None:
    for aside in _put_aside(path):
        if _parts(aside)[2] == _inode(path):
            aside.unlink(missing_ok=True)


def _put_aside(path: Path) -> list[Path]:
    return sorted(
        each
        for each in path.parent.iterdir()
        if each.name.startswith(tuple(f"{path.name}{ending}." for ending in _LOGS)) and each.name.endswith(_ENDING)
    )


def _parts(aside: Path) -> tuple[Path, str, str]:
    """The log's own name, and the inodes of the old and the new database."""
    name, _, inodes = aside.name.removesuffix(_ENDING).rpartition(".")
    old, _, new = inodes.partition("-")
    return aside.with_name(name), old, new


def _inode(path: Path) -> str:
    try:
        return str(path.lstat().st_ino)
    except FileNotFoundError:
        return "0"
