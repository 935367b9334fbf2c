"""The report of an audit: who was seen by whom, in how many reads, and every sighting that should not have been (PRF-3)."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the library knows the report, and most programs never make one
    from cloister.interfaces.audit.app_client import AppAnswer
    from cloister.interfaces.audit.reads.read import Read
    from cloister.interfaces.audit.targets import Target

MOST_CROSSINGS: Final = 200
_REFUSED: Final = 400
_FAILED: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditCell:
    """What one reader saw of one target: in `seen` reads, of which `crossings` must not have shown it. `allowed`: whether any read
    of this reader may show the target."""

    reader: str
    target: str
    seen: int
    allowed: bool
    crossings: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossing:
    """A read that showed what it must not: who asked, through which door and path, and whose words or ids were in the answer; or
    which target was answered as if the reader reached it."""

    reader: str
    door: str
    read: str
    target: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DoorReads:
    """How many reads went through one door."""

    door: str
    reads: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotAsked:
    """A door or a kind of content that was not part of this audit, and why."""

    door: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Audit:
    """The result. `crossings` is 0 if every wall stood; the first ones are in `found`. `blind` counts reads that failed, or should
    have shown their own marker and did not, so that they prove nothing; `not_seen` names them. `left` is what could not be removed
    afterwards. `passed`: none of these."""

    reads: int
    crossings: int
    blind: int
    tenants: int
    matrix: tuple[AuditCell, ...]
    doors: tuple[DoorReads, ...]
    found: tuple[Crossing, ...]
    not_seen: tuple[str, ...]
    not_asked: tuple[NotAsked, ...]
    left: tuple[str, ...]
    passed: bool


@dataclass(kw_only=True, slots=True)
class Sightings:
    """Collects what reads showed. Of a target, its marker and its ids are looked for."""

    targets: "Sequence[Target]"
    reads: int = 0
    crossings: list[Crossing] = field(default_factory=list[Crossing])
    blind: list[str] = field(default_factory=list[str])
    not_asked: list[NotAsked] = field(default_factory=list[NotAsked])
    _doors: Counter[str] = field(default_factory=Counter[str])
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    _allowed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _readers: dict[str, None] = field(default_factory=dict[str, None])

    def add(self, reader: str, read: "Read", answer: "AppAnswer") -> None:
        """Note the answer to one read. Ids that the read sent are taken out first, because an error repeats them. An answer where
        a refusal is due is a crossing, also if it shows nothing; a refusal where an answer is due proves nothing."""
        shown = answer.text
        for text in read.sent:
            shown = shown.replace(text, "")
        seen = [target for target in self.targets if any(trace in shown for trace in target.traces)]
        is_refused = answer.status >= _REFUSED
        if read.is_answered is False and not is_refused:
            self._cross(reader, read.door, f"{read.name}, which was not refused", read.about)
        fault = None
        if answer.status >= _FAILED or (read.is_answered is True and is_refused):
            fault = f"answered with {answer.status}"
        self.note(reader, read.door, read.name, seen, allowed=read.allowed, expected=read.expected, fault=fault)

    def note(
        self,
        reader: str,
        door: str,
        read: str,
        seen: "Collection[Target]",
        *,
        allowed: "Collection[Target]",
        expected: "Collection[Target]" = (),
        fault: str | None = None,
    ) -> None:
        """Note one read that showed these targets. `fault`: it did not work, so that it proves nothing."""
        self.reads += 1
        self._doors[door] += 1
        self._readers[reader] = None
        self._allowed.update((reader, target.name) for target in allowed)
        for target in seen:
            self._seen[reader, target.name] += 1
            if target not in allowed:
                self._cross(reader, door, read, target.name)
        missing = [target.name for target in expected if target not in seen]
        if missing and fault is None:
            fault = f"without {' and '.join(missing)}"
        if fault is not None:
            self.blind.append(f"{reader}: {door}, {read}, {fault}")

    def report(self, left: Sequence[str], tenants: int) -> Audit:
        crossed = Counter((crossing.reader, crossing.target) for crossing in self.crossings)
        return Audit(
            reads=self.reads,
            crossings=len(self.crossings),
            blind=len(self.blind),
            tenants=tenants,
            matrix=tuple(
                AuditCell(
                    reader=reader,
                    target=target.name,
                    seen=self._seen[reader, target.name],
                    allowed=(reader, target.name) in self._allowed,
                    crossings=crossed[reader, target.name],
                )
                for reader in self._readers
                for target in self.targets
            ),
            doors=tuple(DoorReads(door=door, reads=reads) for door, reads in self._doors.items()),
            found=tuple(self.crossings[:MOST_CROSSINGS]),
            not_seen=tuple(dict.fromkeys(self.blind))[:MOST_CROSSINGS],
            not_asked=tuple(self.not_asked),
            left=tuple(left),
            passed=not (self.crossings or self.blind or left),
        )

    def _cross(self, reader: str, door: str, read: str, target: str) -> None:
        self.crossings.append(Crossing(reader=reader, door=door, read=read, target=target))
