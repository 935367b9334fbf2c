"""Decides for each new memory which older ones it makes untrue, among those already known and those of the same run (MEM-12).

A memory that changes a fact gets the subject of the memory that it makes untrue, so that both can be ordered in
time. A memory that may be about the same fact but does not clearly change it gets no subject, and changes nothing.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import get_args

from cloister.domain.extraction import ExtractedMemory, KnownMemory
from cloister.domain.identifiers import MemoryId, MessageId
from cloister.domain.memory import same_as
from cloister.models.rules.categories import IMPORTANCE, Category
from cloister.models.rules.changes.canonical import canonical
from cloister.models.rules.changes.conflicts import PARTNERS, contradicts
from cloister.models.rules.changes.doubts import is_doubtful, is_of_another
from cloister.models.rules.changes.habits import keeps_subject
from cloister.models.rules.changes.stated import Family, Stated, subject_key
from cloister.models.rules.changes.values import stated_values
from cloister.models.rules.facts import Fact, Speaker

_LONGEST_AUTHOR = 60
_MOST_OLDER = 64
_FAMILIES: tuple[Family, ...] = get_args(Family)
_MOST_LATEST = 24
"""Of so many values of a family classifiers are told: there is no bound to the kinds of likings and habits."""
_MOST_SPEAKERS = 16
"""For how many speakers of a run the known memories are read."""
_SEVERAL: frozenset[Family] = frozenset({"home", "employer", "role"})
"""Of these a person may have a second one."""
_CATEGORIES: dict[Family, Category] = {
    "home": "place",
    "employer": "work",
    "role": "work",
    "relationship": "family",
    "age": "self",
    "diet": "health",
    "liking": "preference",
}


def _read(content: str) -> str:
    return canonical(content)[0]


@dataclass(kw_only=True, slots=True)
class NewMemory:
    """A memory of this run, with what was decided of it so far."""

    fact: Fact
    speaker: Speaker
    family: Family | None
    """What the memory is about, also if it is doubtful whether that changed."""
    values: tuple[Stated, ...]
    said_at: int
    sources: list[MessageId]
    stored: str
    subject: str | None = None
    retracts: bool = False
    replaces: list[MemoryId] = field(default_factory=list[MemoryId])
    over: bool = False
    """Whether a later memory of this run made it untrue."""

    @property
    def content(self) -> str:
        return self.fact.content

    def extracted(self) -> ExtractedMemory:
        category = _CATEGORIES.get(self.family, self.fact.category) if self.family else self.fact.category
        return ExtractedMemory(
            content=self.fact.content,
            sources=tuple(self.sources),
            importance=IMPORTANCE[self.fact.category],
            subject=self.subject,
            retracts=self.retracts,
            replaces=tuple(self.replaces),
            categories=(category if self.fact.category == "change" else self.fact.category,),
        )


@dataclass(kw_only=True, slots=True)
class _KnownValue:
    memory: KnownMemory
    values: tuple[Stated, ...]
    over: bool = False

    @property
    def content(self) -> str:
        return self.memory.content

    @property
    def subject(self) -> str | None:
        return self.memory.subject

    @property
    def said_at(self) -> int:
        return self.memory.valid_from


_Older = NewMemory | _KnownValue


class Supersession:
    """The memories of one run, in the order in which they were said. Each is compared with a bounded number of older ones."""

    def __init__(self, known: Iterable[KnownMemory], read: Callable[[str], str] = _read) -> None:
        """`read` gives the text of a known memory in the words of extracted ones."""
        self._known = list(known)
        self._read = read
        self._speakers: set[str] = set()
        self._older: dict[tuple[str, str], list[_Older]] = {}
        self._latest: dict[tuple[str, Family], deque[_Older]] = {}

    def add(
        self, fact: Fact, speaker: Speaker, said_at: int, source: MessageId, *, stored: str | None = None
    ) -> NewMemory:
        """Add a memory that was said after those added before, and decide what it makes untrue. `stored` is its text, if that is
        another than the fact's."""
        stated_here = stated_values(fact.content, speaker)
        new = NewMemory(
            fact=fact,
            speaker=speaker,
            family=stated_here[0].family if stated_here else None,
            values=() if fact.returned or is_doubtful(fact.content) else stated_here,
            said_at=said_at,
            sources=[source],
            stored=stored or fact.content,
        )
        if not new.values:
            return new
        self._read_known(speaker)
        stated = new.values[0]
        if fact.additional and stated.family in _SEVERAL and stated.positive and not stated.marked:
            new.subject = _subject_of(speaker, subject_key(stated.subject, " ".join(stated.words)))
        else:
            self._decide(new)
        self._file(new, speaker)
        return new

    def known_values(self, speaker: Speaker, said_at: int) -> list[tuple[Stated, "_Older"]]:
        """What is known to be true of a speaker until this moment, each value once, with the memory that states it. Of each family
        only the latest are, so that the work on one statement does not grow with all that was said before."""
        self._read_known(speaker)
        latest = (self._latest.get((speaker.subject, family), ()) for family in _FAMILIES)
        older = {id(old): old for some in latest for old in some}
        return [
            (value, old)
            for old in sorted(older.values(), key=lambda old: old.said_at)
            if old.said_at <= said_at and not old.over
            for value in old.values
            if value.words
        ]

    def reverse(
        self, fact: Fact, speaker: Speaker, said_at: int, source: MessageId, known: tuple[Stated, "_Older"]
    ) -> NewMemory:
        """Add a memory by which a known liking or habit is over, or true again."""
        stated, old = known
        now = replace(stated, positive=not stated.positive, marked=True)
        new = NewMemory(
            fact=fact,
            speaker=speaker,
            family=stated.family,
            values=(now,),
            said_at=said_at,
            sources=[source],
            stored=fact.content,
        )
        _end(new, now, [old])
        self._file(new, speaker)
        return new

    def _decide(self, new: NewMemory) -> None:
        for stated in new.values:
            ended = [
                old
                for old in self._before(new, stated)
                if any(contradicts(stated, value) for value in old.values)
                and not is_of_another(new.fact.content, old.content)
            ]
            if ended:
                _end(new, stated, ended)
                return
        stated = new.values[0]
        is_ambiguous = len({value.subject for value in new.values}) > 1
        if is_ambiguous and (not stated.positive or (stated.former and stated.family != "home")):
            return
        if not stated.positive and stated.words and stated.family in (*_SEVERAL, "relationship"):
            return  # that a value ended which was not known says nothing about the present one
        if same := next((old for old in self._before(new, stated) if _says_the_same(old, new)), None):
            new.subject, new.retracts = same.subject, not stated.positive
            return
        is_unclear = any(
            value.positive and value.subject == stated.subject
            for old in self._before(new, stated)
            for value in old.values
        )
        if not is_unclear and (stated.family != "habit" or keeps_subject(stated)):
            new.subject = _subject_of(new.speaker, stated.subject)
            new.retracts = not stated.positive

    def _before(self, new: NewMemory, stated: Stated) -> list[_Older]:
        """What is known to have been true of the same kind when the memory was said."""
        kinds = [_kind(stated), *(PARTNERS if stated.family == "relationship" else ())]
        older = [old for kind in kinds for old in self._older.get((new.speaker.subject, kind), ())]
        return [old for old in older if old.said_at <= new.said_at and not old.over]

    def _read_known(self, speaker: Speaker) -> None:
        if speaker.subject not in self._speakers:
            self._speakers.add(speaker.subject)
            for memory in self._known if len(self._speakers) <= _MOST_SPEAKERS else ():
                values = stated_values(self._read(memory.content), speaker)
                self._file(_KnownValue(memory=memory, values=values), speaker)

    def _file(self, one: _Older, speaker: Speaker) -> None:
        for kind in {_kind(value) for value in one.values}:
            older = self._older.setdefault((speaker.subject, kind), [])
            older.append(one)
            del older[:-_MOST_OLDER]
        families: set[Family] = {value.family for value in one.values}
        for family in families:
            self._latest.setdefault((speaker.subject, family), deque(maxlen=_MOST_LATEST)).append(one)


def _kind(stated: Stated) -> str:
    """Values of one kind may contradict each other."""
    if stated.family == "habit":
        return f"habit:{stated.words[0]}"
    return stated.subject if stated.family in ("attribute", "liking") else stated.family


def _says_the_same(old: _Older, new: NewMemory) -> bool:
    """Whether another session, or an earlier message, made the same statement: it is about the same subject then."""
    before = old.stored if isinstance(old, NewMemory) else old.content
    return old.subject is not None and same_as(before) == same_as(new.stored)


def _end(new: NewMemory, stated: Stated, ended: list[_Older]) -> None:
    own = _subject_of(new.speaker, stated.subject)
    new.subject = next((old.subject for old in ended if _is_subject_of(old, stated, own)), None) or own
    new.retracts = not stated.positive
    for old in ended:
        old.over = True
        if isinstance(old, NewMemory):
            old.subject = new.subject
        else:
            new.replaces.append(old.memory.id)


def _is_subject_of(old: _Older, stated: Stated, own: str | None) -> bool:
    """Whether the new memory is about the subject of the old one. "Is a nurse at Acme" is about a role that a new employer ends."""
    if old.subject is None or own is None or stated.family not in _SEVERAL:
        return old.subject is not None
    return old.subject == own or old.subject.startswith(f"{own}:")


def _subject_of(speaker: Speaker, subject: str) -> str | None:
    """The subject, with the speaker's name if there is one: several people may speak in one session."""
    if speaker.name is None:
        return subject
    return f"{speaker.name.casefold()}: {subject}" if len(speaker.name) <= _LONGEST_AUTHOR else None
