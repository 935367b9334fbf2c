"""A file that appears under its own name only when it is whole: a temporary name, an fsync, then the name."""

import errno
import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from cloister.domain.errors import StorageError, StorageFull

_ENDING = ".partial"
_LOCK = ".lock"
_TOKEN_BYTES = 8
_MEGABYTE = 1_000_000


@contextmanager
def whole_file(target: Path, *, replace: bool = False) -> Generator[Path]:
    """The path of a new, empty file in the folder of `target`, which gets the name `target` when the block ends. If the block
    raises or the process dies, there is no file of that name; what a dead process left is removed by the next call. That a process
    is alive is seen by its lock on a second file: its number may be that of another process, in another container, and SQLite locks
    the file itself, which where `flock` and `fcntl` locks are the same (NFS, BSD) would be in each other's way.

    Without `replace`, an existing file is refused, also one that appeared meanwhile.
    """
    if target.exists() and not replace:
        raise StorageError(f"{target} exists already; name a new file.")
    _remove_leftovers(target)
    try:
        lock, descriptor = _new_lock(target)
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror}.") from error
    partial = lock.with_suffix(_ENDING)
    try:
        os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        yield partial
        _sync(partial)
        _publish(partial, target, replace=replace)
        _sync(target.parent)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise disk_full(target) from error
        raise StorageError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        _remove(partial)
        _let_go(lock, descriptor)


def disk_full(target: Path) -> StorageFull:
    return StorageFull(
        f"The disk of {target} is full, and no file of that name was left. Free some space and try again."
    )


def require_space(folder: Path, needed: int, *, doing: str) -> None:
    """Refuse before anything is written if the disk has not this many bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StorageFull(
            f"{doing} needs about {needed / _MEGABYTE:,.0f} MB in {folder}, and {free / _MEGABYTE:,.0f} MB are free. "
            "Free some space and try again; nothing was changed."
        )


def _publish(partial: Path, target: Path, *, replace: bool) -> None:
    """A hard link never replaces a file; where the file system has none, the name is checked and then given."""
    if replace:
        partial.replace(target)
        return
    try:
        os.link(partial, target)
    except FileExistsError:
        raise StorageError(f"{target} was made by another process meanwhile, and is left as it is.") from None
    except OSError:
        if target.exists():
            raise StorageError(f"{target} was made by another process meanwhile, and is left as it is.") from None
        partial.rename(target)


def _sync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk. Windows cannot open a folder, and needs no sync of it."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _new_lock(target: Path) -> tuple[Path, int]:
    """A new file, and its descriptor, which locks it until it is closed. Where there are no locks, it is a plain file."""
    while True:
        lock = target.with_name(f".{target.name}.{token_hex(_TOKEN_BYTES)}{_LOCK}")
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            if _is_kept(lock, descriptor):
                return lock, descriptor
        except BaseException:  # raised again
            _let_go(lock, descriptor)
            raise
        _let_go(lock, descriptor)


def _is_kept(lock: Path, descriptor: int) -> bool:
    """Lock it. False if another process took it for a leftover before."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno != errno.EWOULDBLOCK  # any other: the file system has no locks
    try:
        return os.path.samestat(lock.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _let_go(lock: Path, descriptor: int) -> None:
    with suppress(OSError):
        lock.unlink(missing_ok=True)
    os.close(descriptor)


def _remove_leftovers(target: Path) -> None:
    """Remove what processes that no longer run left of this file. The lock is the first to be made and the last to be removed, so
    that a file without one is nobody's."""
    name = _escaped(target.name)
    with suppress(OSError):
        for lock in target.parent.glob(f".{name}.{'[0-9a-f]' * 2 * _TOKEN_BYTES}{_LOCK}"):
            with suppress(OSError):
                _remove_if_left(lock)
        for path in target.parent.glob(f".{name}.*{_ENDING}*"):
            if not path.with_name(path.name.rpartition(_ENDING)[0] + _LOCK).exists():
                path.unlink(missing_ok=True)


def _remove_if_left(lock: Path) -> None:
    """Without locks nobody knows whether the process is alive, and the files stay."""
    descriptor = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(lock.with_suffix(_ENDING))
        lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _remove(partial: Path) -> None:
    """Remove the temporary name, with the journals that SQLite may have put next to it."""
    for ending in ("", "-journal", "-wal", "-shm"):
        with suppress(OSError):
            partial.with_name(partial.name + ending).unlink(missing_ok=True)
