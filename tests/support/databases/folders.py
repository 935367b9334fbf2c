"""Folders for tests that write small things often: in memory where there is such a place, for none of them pulls the plug."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

MEMORY = Path("/dev/shm")


@contextmanager
def quick_folder() -> Generator[Path]:
    with TemporaryDirectory(prefix="cloister-tests-", dir=MEMORY if MEMORY.is_dir() else None) as made:
        yield Path(made)
