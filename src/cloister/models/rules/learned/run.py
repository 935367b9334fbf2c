"""Reads the statements of one run in the order in which they were said: first by patterns, then by classifiers (MEM-12)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cloister.domain.extraction import Statement
from cloister.domain.memory import same_as
from cloister.models.rules.changes.doubts import says_returned
from cloister.models.rules.changes.stated import Family
from cloister.models.rules.changes.supersession import NewMemory, Supersession
from cloister.models.rules.facts import Fact, Speaker, speaker_named
from cloister.models.rules.learned.news import news, reversed_fact
from cloister.models.rules.learned.readings import CERTAIN, SURE_OF_CHANGE, reversals, texts
from cloister.models.rules.memories import facts_of
from cloister.models.rules.sentences import sentences


@dataclass(kw_only=True, slots=True)
class Run:
    """`known` are the digests of memories that exist already, `found` those of this run by digest."""

    known: set[bytes]
    supersession: Supersession
    found: dict[bytes, NewMemory] = field(default_factory=dict[bytes, NewMemory])

    def read(self, statement: Statement) -> None:
        """Add the memories of one statement."""
        speaker = speaker_named(statement.author)
        said = sentences(statement.content)
        before = self.supersession.known_values(speaker, statement.created_at)
        returned = says_returned(statement.content)
        added = [
            memory
            for fact in facts_of(said, statement.author)
            if (memory := self._add(replace(fact, returned=returned), speaker, statement)) is not None
        ]
        known = [value for value, _ in before]
        parts = [] if returned else texts(said, known)
        for fact in [*news(parts, speaker, known, added)]:
            self._add(fact, speaker, statement)
        if parts and known:
            self._reverse(statement, parts, speaker, {memory.family for memory in added})

    def _add(self, fact: Fact, speaker: Speaker, statement: Statement) -> NewMemory | None:
        """The new memory of a fact; none if it is known. What was true, ended and is true again is one memory, of the last time
        that it was said."""
        key = same_as(fact.content)
        before = self.found.get(key)
        if key in self.known:
            return None
        if before is not None and not before.over:
            before.sources.append(statement.id)
            return before
        self.found.pop(key, None)
        self.found[key] = self.supersession.add(fact, speaker, statement.created_at, statement.id)
        return self.found[key]

    def _reverse(
        self, statement: Statement, parts: Sequence[str], speaker: Speaker, covered: set[Family | None]
    ) -> None:
        """What the speaker likes or does, and no longer likes or does after this statement."""
        is_read = not covered.isdisjoint({"liking", "habit", "diet"})
        known = [
            (value, old)
            for value, old in self.supersession.known_values(speaker, statement.created_at)
            if value.family in ("liking", "habit") and not (isinstance(old, NewMemory) and statement.id in old.sources)
        ]
        for reversal in reversals(parts, [value for value, _ in known]):
            value, old = known[reversal.at]
            if reversal.chance < (CERTAIN if is_read else SURE_OF_CHANGE) or old.over:
                continue
            fact = reversed_fact(reversal.text, value, speaker)
            key = same_as(fact.content) if fact else b""
            if fact is None or key in self.known or key in self.found:
                continue
            self.found[key] = self.supersession.reverse(fact, speaker, statement.created_at, statement.id, (value, old))
