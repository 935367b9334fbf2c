"""Which memory takes the place of which (MEM-12): of facts about one thing the latest is true, by when they were said.

Facts are compared within one person and one pool only. The result depends on the facts that are there and on nothing else: when a
fact goes, what it superseded is true again, or superseded by the fact after it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from cloister.domain.identifiers import MemoryId, PoolId, SessionId


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Whose facts are compared: those of one user's sessions in one pool. Sessions without a user may be of different people, so
    each of them counts as a person of its own."""

    pool: PoolId
    user: str | None
    session: SessionId


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """A memory as far as it can supersede others. `statement` is equal for memories that say the same. `stands` is false for a
    retracted one, which supersedes nothing. A memory that is `by_person` was written or corrected by a person; one that is
    `kept_by_person` was corrected or pinned, and only a person's memory supersedes it (MEM-13), or a memory that was there before
    `kept_since`: what was superseded stays so when a person corrects or pins it. None: it was always so. `former_subjects`: the
    times at which a person changed a corrected one, oldest first, and what it was about until then."""

    id: MemoryId
    session: SessionId
    subject: str | None
    statement: bytes
    valid_from: int
    created_at: int
    stands: bool
    by_person: bool
    kept_by_person: bool
    superseded_by: MemoryId | None
    valid_until: int | None
    kept_since: int | None = None
    former_subjects: tuple[tuple[int, str | None], ...] = ()

    @property
    def order(self) -> tuple[int, int, int]:
        """The order in time; facts of the same time are ordered by when they arrived."""
        return self.valid_from, self.created_at, self.id

    def changed_subject_since(self, moment: int) -> bool:
        """Whether a correction made it a fact about something else than it was about at that moment."""
        then = next((subject for changed_at, subject in self.former_subjects if changed_at > moment), self.subject)
        return then is not None and then != self.subject


def pair_counts(one: Fact, other: Fact) -> bool:
    """Whether what an extractor said of two facts, when the later of them arrived, is still about what they say."""
    paired_at = max(one.created_at, other.created_at)
    return not (one.changed_subject_since(paired_at) or other.changed_subject_since(paired_at))


def successors(facts: Iterable[Fact], pairs: Mapping[MemoryId, Collection[MemoryId]]) -> dict[MemoryId, Fact | None]:
    """The fact that takes the place of each, or None for one that is true. A successor is later, and the first of those that are
    about the same `subject` and say something else, or are named as a pair with it by an extractor. A pair does not count after a
    person made one side of it a fact about something else. Of two equal statements of one session, which can only be there if
    another was true between them, the later one counts."""
    by_subject: dict[str | None, list[Fact]] = {}
    by_id: dict[MemoryId, Fact] = {}
    for fact in sorted(facts, key=attrgetter("order")):
        by_subject.setdefault(fact.subject, []).append(fact)
        by_id[fact.id] = fact
    found: dict[MemoryId, Fact | None] = dict.fromkeys(by_id)
    for subject, group in by_subject.items():
        if subject is not None:
            found.update(_in_order(group))
    for fact in by_id.values():
        named = (by_id[other] for other in pairs.get(fact.id, ()) if other in by_id)
        later = (other for other in named if other.order > fact.order and pair_counts(fact, other))
        candidates = [other for other in later if _may_supersede(other, fact)]
        found[fact.id] = _earliest((*candidates, found[fact.id]))
    return found


def _may_supersede(newer: Fact, older: Fact) -> bool:
    was_there = older.kept_since is not None and newer.created_at < older.kept_since
    return newer.stands and (newer.by_person or not older.kept_by_person or was_there)


def _in_order(group: Sequence[Fact]) -> dict[MemoryId, Fact | None]:
    """The successors of facts about one subject, given in their order. One pass from the latest to the earliest."""
    by_anyone, by_people = _Later(), _Later()
    found: dict[MemoryId, Fact | None] = {}
    for fact in reversed(group):
        found[fact.id] = (by_people if fact.kept_by_person else by_anyone).after(fact)
        if fact.stands:
            by_anyone.add(fact)
            if fact.by_person:
                by_people.add(fact)
    for position, fact in enumerate(group):
        if fact.kept_by_person and fact.kept_since is not None:
            found[fact.id] = _earliest((found[fact.id], _next_allowed(group, position)))
    return found


def _next_allowed(group: Sequence[Fact], position: int) -> Fact | None:
    """The successor of a fact that a person kept, which most facts are not: here later ones are looked at one by one."""
    fact = group[position]
    for at in range(position + 1, len(group)):
        other = group[at]
        is_other = other.statement != fact.statement or other.session == fact.session
        if is_other and _may_supersede(other, fact):
            return other
    return None


class _Later:
    """The facts that are later than the one in question, as far as they matter: the next one, the next one that says something else
    than that, and the next one of each session and statement."""

    def __init__(self) -> None:
        self._next: Fact | None = None
        self._next_other: Fact | None = None
        self._same: dict[tuple[SessionId, bytes], Fact] = {}

    def add(self, fact: Fact) -> None:
        self._next_other = self._other_than(fact)
        self._next = fact
        self._same[fact.session, fact.statement] = fact

    def after(self, fact: Fact) -> Fact | None:
        return _earliest((self._other_than(fact), self._same.get((fact.session, fact.statement))))

    def _other_than(self, fact: Fact) -> Fact | None:
        following = self._next
        return following if following is None or following.statement != fact.statement else self._next_other


def _earliest(facts: Iterable[Fact | None]) -> Fact | None:
    return min((fact for fact in facts if fact is not None), key=attrgetter("order"), default=None)
