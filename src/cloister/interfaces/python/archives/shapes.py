"""Shapes of what an export wrote, and of what an import did or would do."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # few programs import anything
    from cloister.domain.archive import imported

BytesProgress = Callable[[int, int | None], object]
"""Called with how many bytes are done, and how many there are, if that is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportCounts:
    """Numbers of each kind."""

    projects: int
    sessions: int
    messages: int
    memories: int
    observations: int
    entities: int
    files: int = 0
    entries: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What was added and what was there already. `skipped`: how many conversations or messages were not imported, by reason.
    `remarks`: what is to be known of others that were imported, with their number."""

    added: ImportCounts
    unchanged: ImportCounts
    skipped: dict[str, int]
    remarks: dict[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """How many lines of each kind an archive has."""

    counts: dict[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportPreview:
    """What is in a file: its format, how much of each, and from when until when. `skipped`: what cannot be imported, by reason.
    `remarks`: what is to be known of the rest, with its number."""

    format: str
    conversations: int
    messages: int
    memories: int
    first_at: str | None
    last_at: str | None
    skipped: dict[str, int]
    remarks: dict[str, int]


def imported_shape(result: "imported.Imported") -> Imported:
    return Imported(
        added=ImportCounts(**asdict(result.added)),
        unchanged=ImportCounts(**asdict(result.unchanged)),
        skipped=result.skipped,
        remarks=result.remarks,
    )
