"""The report of an audit: who was seen by whom, in how many reads, and every sighting that should not have been (PRF-3)."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from cloister.interfaces.audit.targets import Target

MOST_CROSSINGS = 200


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
    """A read that showed what it must not: who asked, through which door and path, and whose words or ids were in the answer."""

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
    """The result. `crossings` is 0 if every wall stood; the first ones are in `found`. `blind` counts reads that should have shown
    their own marker and did not, so that they prove nothing. `left` is what could not be removed afterwards."""

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


@dataclass(kw_only=True, slots=True)
class Sightings:
    """Collects what reads showed. Of a target, its marker and the id of its session are looked for."""

    targets: Sequence[Target]
    reads: int = 0
    crossings: list[Crossing] = field(default_factory=list[Crossing])
    blind: list[str] = field(default_factory=list[str])
    not_asked: list[NotAsked] = field(default_factory=list[NotAsked])
    _doors: Counter[str] = field(default_factory=Counter[str])
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    _allowed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _readers: dict[str, None] = field(default_factory=dict[str, None])

    def add(
        self,
        reader: str,
        door: str,
        read: str,
        shown: str,
        *,
        allowed: Collection[Target],
        expected: Collection[Target] = (),
        sent: Iterable[str] = (),
    ) -> None:
        """Note one read. `sent` are the ids that the caller itself sent, which an error may repeat; `expected` are the targets
        whose markers have to be there, unless the read is blind."""
        for text in sent:
            shown = shown.replace(text, "")
        self.note(
            reader,
            door,
            read,
            [target for target in self.targets if target.marker in shown or target.session in shown],
            allowed=allowed,
            expected=expected,
        )

    def note(
        self,
        reader: str,
        door: str,
        read: str,
        seen: Collection[Target],
        *,
        allowed: Collection[Target],
        expected: Collection[Target] = (),
    ) -> None:
        """Note one read that showed these targets."""
        self.reads += 1
        self._doors[door] += 1
        self._readers[reader] = None
        self._allowed.update((reader, target.name) for target in allowed)
        for target in seen:
            self._seen[reader, target.name] += 1
            if target not in allowed:
                self.crossings.append(Crossing(reader=reader, door=door, read=read, target=target.name))
        if any(target not in seen for target in expected):
            self.blind.append(f"{reader}: {door} {read}")

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
        )
