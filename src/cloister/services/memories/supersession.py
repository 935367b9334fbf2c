"""Keep which memories are true up to date (MEM-12), in the transaction that adds, changes, moves or removes memories.

The rule itself is `domain/truth/supersession.py:successors`. Here it is decided what has to be computed again after a change.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from cloister.domain.conversation import Session
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MemoryId, SessionId
from cloister.domain.memory import Memory, StoredMemory
from cloister.domain.truth.supersession import Fact, Person, pair_counts, successors
from cloister.storage.interface import Transaction
from cloister.storage.stores.memories import StoredMemories
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.supersession import ReplacementStore, SupersessionStore

MOST_REPLACED = 20
"""How many known memories one new memory can replace."""
_MOST_PAIRS = 200
_MOST_COPIES = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Related:
    """The subjects of some memories, and the memories that are in pairs with them: they have to be looked at when these change."""

    subjects: frozenset[str]
    memories: frozenset[MemoryId]


class Supersession:
    """Works in one transaction. A pool has to be locked before its memories are looked at; adding, removing or moving memories,
    which raises the pool's version, does so."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._pairs = ReplacementStore(transaction)

    def related(self, memories: Sequence[MemoryId]) -> Related:
        """What depends on these memories. Ask before they are removed."""
        ids = set(memories)
        partners = {one for pair in self._pairs.pairs(memories) for one in pair}
        return Related(subjects=frozenset(self._pairs.subjects(memories)), memories=frozenset(partners - ids))

    def add(self, person: Person, added: Sequence[Memory], replaces: Mapping[MemoryId, Sequence[MemoryId]]) -> None:
        """Let new memories take their place in time. `replaces` are the ids that an extractor named for each: those that are not of
        this person in this pool are ignored."""
        facts = SupersessionStore(self._transaction, person)
        new = {memory.id: memory for memory in added}
        known = {fact.id: fact for fact in facts.by_id(sorted({one for ids in replaces.values() for one in ids}))}
        for memory, named in replaces.items():
            for other in [one for one in dict.fromkeys(named[:MOST_REPLACED]) if one in known and one not in new]:
                self._pair(facts, new[memory], known[other])
                # An extractor is shown a statement once, also if several sessions of the person made it.
                for copy in facts.saying(known[other].statement, _MOST_COPIES):
                    if copy.id not in known and copy.id not in new and copy.order < _order(new[memory]):
                        known[copy.id] = copy
                        self._pair(facts, new[memory], copy)
        subjects = {memory.subject for memory in added if memory.subject is not None}
        paired = [memory for memory, named in replaces.items() if not known.keys().isdisjoint(named)]
        self.update(person, Related(subjects=frozenset(subjects), memories=frozenset((*paired, *known))))

    def update(self, person: Person, related: Related) -> None:
        """Compute again what is true of these subjects and memories."""
        facts = SupersessionStore(self._transaction, person)
        found = {fact.id: fact for subject in sorted(related.subjects) for fact in facts.about(subject)}
        named = {fact.id: fact for fact in facts.by_id(sorted(related.memories - found.keys()))}
        # A memory that is in a pair may have a subject too: then those about it decide as well.
        others = {fact.subject for fact in named.values() if fact.subject is not None} - related.subjects
        for subject in sorted(others):
            named.update((fact.id, fact) for fact in facts.about(subject))
        self._settle(facts, {**found, **named})

    def update_around(self, person: Person, memories: Sequence[MemoryId]) -> None:
        """Compute again what is true of these memories, and of those that depend on them."""
        related = self.related(memories)
        self.update(person, Related(subjects=related.subjects, memories=related.memories | set(memories)))

    def update_all(self, person: Person) -> None:
        """Compute again what is true of a person, after sessions have come or gone."""
        facts = SupersessionStore(self._transaction, person)
        self._settle(facts, {fact.id: fact for fact in facts.all_facts()})

    def _settle(self, store: SupersessionStore, facts: Mapping[MemoryId, Fact]) -> None:
        pairs: dict[MemoryId, list[MemoryId]] = {}
        for older, newer in self._pairs.pairs(sorted(facts)):
            pairs.setdefault(older, []).append(newer)
            pairs.setdefault(newer, []).append(older)
        partners = store.by_id(sorted(pairs.keys() - facts.keys()))
        found = successors([*facts.values(), *partners], pairs)
        for fact in facts.values():
            successor = found[fact.id]
            now = (None, None) if successor is None else (successor.id, successor.valid_from)
            if now != (fact.superseded_by, fact.valid_until):
                store.set_successor(fact, successor)

    def _pair(self, store: SupersessionStore, new: Memory, known: Fact) -> None:
        """Store a pair, and with it the pairs that follow from it, so that of three memories that replaced each other the first
        stays superseded when the second goes."""
        is_newer = _order(new) > known.order
        older, newer = (known.id, new.id) if is_newer else (new.id, known.id)
        there = self._counting(store, self._pairs.pairs([older, newer]))
        before = {older, *(first for first, second in there if second == older)}
        after = {newer, *(second for first, second in there if first == newer)}
        pairs = [(first, second) for first in sorted(before) for second in sorted(after) if first != second]
        self._pairs.add([(older, newer), *pairs[:_MOST_PAIRS]])

    def _counting(
        self, store: SupersessionStore, pairs: Sequence[tuple[MemoryId, MemoryId]]
    ) -> list[tuple[MemoryId, MemoryId]]:
        """The pairs without those of which a person made one side a fact about something else."""
        facts = {fact.id: fact for fact in store.by_id(sorted({one for pair in pairs for one in pair}))}
        return [
            (older, newer)
            for older, newer in pairs
            if older not in facts or newer not in facts or pair_counts(facts[older], facts[newer])
        ]


def _order(memory: Memory) -> tuple[int, int, int]:
    return memory.valid_from, memory.created_at, memory.id


class Copies:
    """The memories of the same person in the same pool that say the same as one memory: what a person does to that one is done to
    them too. Each stays a memory of its own session, and moves with that."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._generation = generation

    def of(self, stored: StoredMemory, now: int) -> list[StoredMemory]:
        """The copies that are listed as one with this memory."""
        person = ReplacementStore(self._transaction).person(stored.memory.session)
        return [] if person is None else self._found(person, self._facts(person).copies(stored, now), now)

    def changed_with(self, stored: StoredMemory, time: int, now: int) -> list[StoredMemory]:
        """The memories that a person changed at the same time as this one."""
        person = ReplacementStore(self._transaction).person(stored.memory.session)
        found = [] if person is None else self._facts(person).changed_at(stored.memory.id, time)
        return [] if person is None else self._found(person, found, now)

    def lock(self, memory: StoredMemory, others: Sequence[StoredMemory]) -> dict[SessionId, Session]:
        """Lock the sessions of a memory and of its copies, in id order to avoid deadlock, and then the pool. A session that was
        deleted meanwhile is left out, unless it is that of the memory."""
        names = {one.memory.session: one.session for one in (*others, memory)}
        sessions, locked = SessionStore(self._transaction), dict[SessionId, Session]()
        for id in sorted(names):
            with suppress(*([NotFound] if id != memory.memory.session else [])):
                locked[id] = sessions.lock(names[id]).session
        PoolStore(self._transaction, self._generation).lock(locked[memory.memory.session].pool)
        return locked

    def _facts(self, person: Person) -> SupersessionStore:
        return SupersessionStore(self._transaction, person)

    def _found(self, person: Person, ids: Sequence[MemoryId], now: int) -> list[StoredMemory]:
        if not ids:
            return []
        return list(StoredMemories(self._transaction, person.pool, self._generation).found(ids, now).values())
