"""Decides for each new memory which older ones it makes untrue, among those already known and those of the same run (MEM-12).

A memory that changes a fact gets the subject of the memory that it makes untrue, so that both can be ordered in
time. A memory that may be about the same fact but does not clearly change it gets no subject, and changes nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from cloister.domain.extraction import ExtractedMemory, KnownMemory
from cloister.domain.identifiers import MemoryId, MessageId
from cloister.models.rules.categories import IMPORTANCE, Category
from cloister.models.rules.changes.conflicts import contradicts
from cloister.models.rules.changes.habits import keeps_subject
from cloister.models.rules.changes.stated import Family, Stated, subject_key
from cloister.models.rules.changes.values import stated_values
from cloister.models.rules.facts import Fact, Speaker

_LONGEST_AUTHOR = 60
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


@dataclass(kw_only=True, slots=True)
class NewMemory:
    """A memory of this run, with what was decided of it so far."""

    fact: Fact
    speaker: Speaker
    values: tuple[Stated, ...]
    said_at: int
    sources: list[MessageId]
    subject: str | None = None
    retracts: bool = False
    replaces: list[MemoryId] = field(default_factory=list[MemoryId])
    over: bool = False
    """Whether a later memory of this run made it untrue."""

    def extracted(self) -> ExtractedMemory:
        family = self.values[0].family if self.values else None
        category = _CATEGORIES.get(family, self.fact.category) if family else self.fact.category
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
    def subject(self) -> str | None:
        return self.memory.subject


class Supersession:
    """The memories of one run, in the order in which they were said."""

    def __init__(self, known: Iterable[KnownMemory]) -> None:
        self._known = list(known)
        self._read: dict[str, list[_KnownValue]] = {}
        self._new: list[NewMemory] = []

    def add(self, fact: Fact, speaker: Speaker, said_at: int, source: MessageId) -> NewMemory:
        """Add a memory that was said after those added before, and decide what it makes untrue."""
        new = NewMemory(
            fact=fact,
            speaker=speaker,
            values=stated_values(fact.content, speaker),
            said_at=said_at,
            sources=[source],
        )
        stated = new.values[0] if new.values else None
        if stated and fact.additional and stated.family in _SEVERAL and stated.positive and not stated.marked:
            new.subject = _subject_of(speaker, subject_key(stated.subject, " ".join(stated.words)))
        elif new.values:
            self._decide(new)
        self._new.append(new)
        return new

    def _decide(self, new: NewMemory) -> None:
        before = self._before(new)
        for stated in new.values:
            ended = [old for old in before if any(contradicts(stated, value) for value in old.values)]
            if ended:
                self._end(new, stated, ended)
                return
        stated = new.values[0]
        if len({value.subject for value in new.values}) > 1 and not stated.positive:
            return
        unclear = any(
            value.family == stated.family and value.subject == stated.subject for old in before for value in old.values
        )
        if not unclear and (stated.family != "habit" or keeps_subject(stated)):
            new.subject = _subject_of(new.speaker, stated.subject)
            new.retracts = not stated.positive

    def _end(self, new: NewMemory, stated: Stated, ended: list["NewMemory | _KnownValue"]) -> None:
        named = next((old.subject for old in ended if old.subject is not None), None)
        new.subject = named or _subject_of(new.speaker, stated.subject)
        new.retracts = not stated.positive
        for old in ended:
            old.over = True
            if isinstance(old, NewMemory):
                old.subject = new.subject
            else:
                new.replaces.append(old.memory.id)

    def _before(self, new: NewMemory) -> list["NewMemory | _KnownValue"]:
        """What was true of this speaker when the memory was said, as far as it is known."""
        who = new.speaker.subject
        if who not in self._read:
            read = (_KnownValue(memory=one, values=stated_values(one.content, new.speaker)) for one in self._known)
            self._read[who] = [one for one in read if one.values]
        known = [one for one in self._read[who] if one.memory.valid_from <= new.said_at and not one.over]
        return [*known, *(one for one in self._new if one.speaker.subject == who and one.values and not one.over)]


def _subject_of(speaker: Speaker, subject: str) -> str | None:
    """The subject, with the speaker's name if there is one: several people may speak in one session."""
    if speaker.name is None:
        return subject
    return f"{speaker.name.casefold()}: {subject}" if len(speaker.name) <= _LONGEST_AUTHOR else None
