"""Archives as files: a new one appears under its name when it is complete, and one is checked before anything of it is imported."""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from cloister.domain.archive.lines import LONGEST_LINE
from cloister.domain.archive.reading import ArchiveReader, check_archive
from cloister.domain.errors import CloisterError, InvalidRequest, StorageError
from cloister.interfaces.python.archives.shapes import BytesProgress

STEP = 1 << 20


def write_archive(target: Path, chunks: Iterable[bytes], progress: BytesProgress | None) -> dict[str, int]:
    """Write a new file, readable by its owner only; returns the counts of its last line."""
    if target.exists():
        raise InvalidRequest("file", f"{str(target)!r} exists already; name a new file.")
    partial = target.with_name(f"{target.name}.partial")
    done = 0
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            for chunk in chunks:
                file.write(chunk)
                if progress is not None and (done + len(chunk)) // STEP > done // STEP:
                    progress(done + len(chunk), None)
                done += len(chunk)
        counts = _counts(partial)
        partial.rename(target)
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
    return counts


def _counts(archive: Path) -> dict[str, int]:
    """The counts of an archive's last line; raises if it is not there, because the connection broke."""
    with archive.open("rb") as file:
        file.seek(max(0, archive.stat().st_size - LONGEST_LINE))
        last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    try:
        found = json.loads(last)
        if found["kind"] == "end":
            return found["counts"]
    except (ValueError, TypeError, KeyError):
        pass
    raise StorageError("The export broke off before its end: repeat it.")


def read_lines(source: Path, progress: BytesProgress | None = None) -> Iterator[bytes]:
    """The lines of a file."""
    size = source.stat().st_size
    done = 0
    with source.open("rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise InvalidRequest("file", f"has a line of more than {LONGEST_LINE:,} bytes: it is not an archive.")
            yield line
            if progress is not None and (done + len(line)) // STEP > done // STEP:
                progress(done + len(line), size)
            done += len(line)
    if progress is not None:
        progress(size, size)


def checked_archive(source: Path) -> ArchiveReader:
    """Read the whole file; raises if it is damaged or cut off."""
    if not source.is_file():
        raise InvalidRequest("file", f"{str(source)!r} is not a file.")
    try:
        return check_archive(read_lines(source))
    except CloisterError as error:
        error.add_note("Nothing was imported.")
        raise
