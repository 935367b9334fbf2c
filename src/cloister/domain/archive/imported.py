"""What an import did: how many of each kind it added, and how many were there already."""

from collections import Counter
from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportCounts:
    """Numbers of each kind."""

    projects: int = 0
    sessions: int = 0
    messages: int = 0
    memories: int = 0
    observations: int = 0
    entities: int = 0
    files: int = 0
    entries: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """What was added, what was there already, what could not be imported, by reason, and remarks on what was imported."""

    added: ImportCounts
    unchanged: ImportCounts
    skipped: dict[str, int]
    remarks: dict[str, int]


class ImportTally:
    """Counts while an import runs."""

    def __init__(self) -> None:
        self._added = Counter[str]()
        self._unchanged = Counter[str]()
        self._skipped = Counter[str]()
        self._remarks = Counter[str]()

    def add(self, kind: str, added: int, unchanged: int = 0) -> None:
        self._added[kind] += added
        self._unchanged[kind] += unchanged

    def skip(self, reason: str, number: int = 1) -> None:
        self._skipped[reason] += number

    def remark(self, text: str) -> None:
        self._remarks[text] += 1

    @property
    def done(self) -> int:
        """How many messages and memories were read so far."""
        return sum(counts[kind] for counts in (self._added, self._unchanged) for kind in ("messages", "memories"))

    def result(self) -> Imported:
        return Imported(
            added=_counts(self._added),
            unchanged=_counts(self._unchanged),
            skipped=dict(self._skipped),
            remarks=dict(self._remarks),
        )


def _counts(counter: Counter[str]) -> ImportCounts:
    return ImportCounts(**{each.name: counter[each.name] for each in fields(ImportCounts)})
