"""What a backup contains, and how work on a whole database reports its progress."""

from collections.abc import Callable
from dataclasses import dataclass

StepProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BackupReport:
    """A backup as it was checked after it was written: its size, the schema's version, and the rows of all tables."""

    file: str
    bytes: int
    schema_version: int
    rows: int


def no_progress(doing: str, done: int, total: int) -> None:
    """For callers that show no progress."""
