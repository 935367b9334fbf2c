"""SQLite files whose operating system fails in a chosen way: at the fsync of a commit, or at every write."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import apsw

_SYSTEM_WRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)


class Fsync:
    """While `fails` is true, what is written to a write-ahead log is in the file, and the fsync after it reports an error."""

    def __init__(self) -> None:
        self.fails = False


@contextmanager
def files_with_faulty_fsync() -> Generator[Fsync]:
    """Databases that are opened within the block are affected, and have to be closed within it."""
    fsync = Fsync()

    class File(apsw.VFSFile):
        def __init__(self, name: Any, flags: list[int]) -> None:
            super().__init__("unix", name, cast(Any, flags))
            self._is_log = str(name.filename() if isinstance(name, apsw.URIFilename) else name).endswith("-wal")

        def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
            super().xSync(flags)
            if fsync.fails and self._is_log:
                raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)

    class Files(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("faulty", "unix", makedefault=True)

        def xOpen(self, name: Any, flags: Any) -> Any:  # noqa: N802 - SQLite's name
            return File(name, flags)

    files = Files()
    try:
        yield fsync
    finally:
        files.unregister()


@contextmanager
def every_write_fails(system_error: int) -> Generator[None]:
    """Every write of SQLite in this process fails with this number, as on a file system that was mounted read-only meanwhile."""

    def refuse(*_: object) -> int:
        ctypes.set_errno(system_error)
        return -1

    refusal = _SYSTEM_WRITE(refuse)
    address = ctypes.cast(refusal, ctypes.c_void_p).value
    assert address is not None
    calls = apsw.VFS("system-calls", "unix")
    try:
        for name in ("pwrite", "pwrite64", "write"):
            calls.xSetSystemCall(name, address)
        yield
    finally:
        calls.xSetSystemCall(None, 0)
        calls.unregister()
