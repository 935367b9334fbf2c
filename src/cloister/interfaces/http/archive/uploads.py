"""Files that are sent to be imported: each is stored in a directory of its own while it is read, and then removed."""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from cloister.domain.errors import InvalidRequest, StorageError, TooLarge
from cloister.domain.text import MAX_NAME

LARGEST_FILE = 1 << 29
_LONGEST_NAME = 120


@contextmanager
def stored_upload(chunks: Iterator[bytes], filename: str | None, modified_at: int | None) -> Generator[Path]:
    """The file, under the last part of its name; messages without a time get `modified_at`, in microseconds."""
    name = _file_name(filename)
    with TemporaryDirectory(prefix="cloister-import-") as directory:
        path = Path(directory) / name
        size = 0
        try:
            with path.open("xb") as file:
                for chunk in chunks:
                    size += len(chunk)
                    if size > LARGEST_FILE:
                        raise TooLarge("file", size, LARGEST_FILE, "bytes")
                    file.write(chunk)
            if modified_at is not None:
                seconds = modified_at // 1_000_000
                _set_time(path, seconds)
        except OSError as error:
            raise StorageError(f"The file cannot be stored to be read: {error.strerror}.") from error
        yield path


def _set_time(path: Path, seconds: int) -> None:
    """File systems store times of some centuries only, and some of them cut others without an error."""
    try:
        os.utime(path, (seconds, seconds))
        is_stored = int(path.stat().st_mtime) == seconds
    except OverflowError:
        is_stored = False
    if not is_stored:
        raise InvalidRequest("modified_at", "is too far away: this system cannot store a file of that time.")


def _file_name(given: str | None) -> str:
    if given is None:
        return "file"
    if len(given) > MAX_NAME or "\x00" in given or not given.isprintable():
        raise InvalidRequest("filename", f"must be one line of at most {MAX_NAME} characters.")
    name = PurePosixPath(given.replace("\\", "/")).name
    short = name.encode(errors="replace")[:_LONGEST_NAME].decode(errors="ignore")
    return short if short not in ("", ".", "..") else "file"
