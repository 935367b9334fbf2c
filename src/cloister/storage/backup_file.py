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
_MEGABYTE = 1_000_000


@contextmanager
def whole_file(target: Path, *, replace: bool = False) -> Generator[Path]:
    """The path of a new, empty file in the folder of `target`, which gets the name `target` when the block ends. If the block
    raises or the process dies, there is no file of that name; what a dead process left is removed by the next call. That a process
    is alive is seen by its lock on the file: its number may be that of another process, in another container.

    Without `replace`, an existing file is refused, also one that appeared meanwhile.
    """
    if target.exists() and not replace:
        raise StorageError(f"{target} exists already; name a new file.")
    _remove_leftovers(target)
    try:
        partial, descriptor = _locked_file(target)
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror}.") from error
    try:
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
        os.close(descriptor)


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


def _locked_file(target: Path) -> tuple[Path, int]:
    """A new file for `target` under a temporary name, and its descriptor, which has it locked until it is closed."""
    while True:
        partial = target.with_name(f".{target.name}.{token_hex(8)}{_ENDING}")
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(FileNotFoundError):  # it was taken for a leftover before it was locked
            if _is_locked_by_us(descriptor) and partial.stat().st_ino == os.fstat(descriptor).st_ino:
                return partial, descriptor
        os.close(descriptor)


def _remove_leftovers(target: Path) -> None:
    """Remove what processes that no longer run left of this file."""
    with suppress(OSError):
        for path in target.parent.glob(f".{_escaped(target.name)}.*{_ENDING}*"):
            partial = path.with_name(path.name.rpartition(_ENDING)[0] + _ENDING)
            if not partial.exists():
                path.unlink(missing_ok=True)
            elif path == partial and _is_left(partial):
                _remove(partial)


def _is_left(partial: Path) -> bool:
    try:
        descriptor = os.open(partial, os.O_RDWR)
    except OSError:
        return False
    try:
        return _is_locked_by_us(descriptor)
    finally:
        os.close(descriptor)


def _is_locked_by_us(descriptor: int) -> bool:
    """Lock the file unless another process has; a file system without locks says that one has."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _remove(partial: Path) -> None:
    """Remove the temporary name, with the journals that SQLite may have put next to it."""
    for ending in ("", "-journal", "-wal", "-shm"):
        with suppress(OSError):
            partial.with_name(partial.name + ending).unlink(missing_ok=True)
