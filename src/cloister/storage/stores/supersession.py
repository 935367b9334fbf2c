"""Which memories supersede which: the facts of one person in one pool, and the pairs that extractors named (MEM-12)."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from cloister.domain.identifiers import MemoryId, PoolId, SessionId
from cloister.domain.memory import StoredMemory, same_as
from cloister.domain.truth.revision import MemoryState, state_from_json
from cloister.domain.truth.supersession import Fact, Person
from cloister.storage.interface import Row, Transaction, Value, integers

MOST_COPIES = 1_000
"""How many copies of a statement one change changes at most, besides the memory that it names."""


class SupersessionStore:
    """The facts of one person. Works in a transaction that has locked the person's pool, so that no other one changes them."""

    def __init__(self, transaction: Transaction, person: Person) -> None:
        self._transaction = transaction
        self._person: dict[str, Value] = {
            "pool_id": person.pool,
            "user_id": person.user,
            "session_id": person.session,
        }

    def all_facts(self) -> list[Fact]:
        """The memories that have a subject, are in a pair or are superseded; others supersede nothing."""
        return self._facts(self._transaction.rows("facts_of_person", **self._person))

    def about(self, subject: str) -> list[Fact]:
        return self._facts(self._transaction.rows("facts_about", subject=subject, **self._person))

    def by_id(self, memories: Sequence[MemoryId]) -> list[Fact]:
        """The memories with these ids that are the person's in this pool; other ids are left out."""
        if not memories:
            return []
        return self._facts(self._transaction.rows("facts_by_id", memory_ids=integers(memories), **self._person))

    def saying(self, statement: bytes, limit: int) -> list[Fact]:
        """The memories that make this statement, in whichever sessions of the person, the newest first."""
        return self._facts(self._transaction.rows("facts_saying", digest=statement, limit=limit, **self._person))

    def copies(self, stored: StoredMemory, now: int) -> list[MemoryId]:
        """The other memories of the person that say the same as this one and are listed as one with it, at most `MOST_COPIES`."""
        rows = self._transaction.rows(
            "copies_of_memory",
            memory_id=stored.memory.id,
            digest=same_as(stored.memory.content),
            content=stored.memory.content,
            superseded_by=stored.memory.superseded_by,
            status=stored.status,
            now=now,
            limit=MOST_COPIES,
            **self._person,
        )
        return [MemoryId(cast(int, row[0])) for row in rows]

    def changed_at(self, memory: MemoryId, time: int) -> list[MemoryId]:
        """The other memories of the person that a person changed at this time."""
        rows = self._transaction.rows(
            "memories_changed_at", memory_id=memory, changed_at=time, limit=MOST_COPIES, **self._person
        )
        return [MemoryId(cast(int, row[0])) for row in rows]

    def withdrawn(self) -> set[bytes]:
        """The digests of statements of the person that were retracted, or corrected to something else."""
        retracted = self._transaction.rows("retracted_statements", **self._person)
        corrected = self._transaction.rows("corrected_digests", **self._person)
        return {same_as(cast(str, row[0])) for row in retracted} | {cast(bytes, row[0]) for row in corrected}

    def set_successor(self, fact: Fact, successor: Fact | None) -> None:
        self._transaction.execute(
            "set_superseded",
            session_id=fact.session,
            memory_id=fact.id,
            superseded_by=None if successor is None else successor.id,
            valid_until=None if successor is None else successor.valid_from,
        )

    def _facts(self, rows: Sequence[Row]) -> list[Fact]:
        changes = self._changes([cast(int, row[0]) for row in rows if _is_kept(row[8], row[7])])
        return [_fact(row, changes.get(cast(int, row[0]), ())) for row in rows]

    def _changes(self, memories: Sequence[int]) -> dict[int, list[tuple[int, MemoryState]]]:
        """When people changed these memories, and what they were before, oldest first. What was undone is left out."""
        found: dict[int, list[tuple[int, MemoryState]]] = {}
        if memories:
            rows = self._transaction.rows("standing_revisions", memory_ids=integers(memories))
            for memory, changed_at, before in cast(list[tuple[int, int, str]], rows):
                found.setdefault(memory, []).append((changed_at, state_from_json(before)))
        return found


class ReplacementStore:
    """The pairs of memories of which an extractor said that the newer one makes the older one untrue."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def person(self, session: SessionId) -> Person | None:
        """Whose session it is, and in which pool; None if the session was deleted."""
        row = self._transaction.row("person_of_session", session_id=session)
        if row is None:
            return None
        pool, user = cast(tuple[int, str | None], row)
        return Person(pool=PoolId(pool), user=user, session=session)

    def subjects(self, memories: Sequence[MemoryId]) -> set[str]:
        if not memories:
            return set()
        rows = self._transaction.rows("subjects_of_memories", memory_ids=integers(memories))
        return {cast(str, row[0]) for row in rows}

    def pairs(self, memories: Sequence[MemoryId]) -> list[tuple[MemoryId, MemoryId]]:
        """The pairs (older, newer) of which at least one is among these memories."""
        if not memories:
            return []
        rows = self._transaction.rows("replacements", memory_ids=integers(memories))
        return [(MemoryId(older), MemoryId(newer)) for older, newer in cast(list[tuple[int, int]], rows)]

    def add(self, pairs: Iterable[tuple[MemoryId, MemoryId]]) -> None:
        self._transaction.execute_each(
            "insert_replacement", [{"older_id": older, "newer_id": newer} for older, newer in pairs]
        )


def _is_kept(pinned: object, source: object) -> bool:
    return bool(pinned) or source == "corrected"


def _fact(row: Row, changes: Sequence[tuple[int, MemoryState]]) -> Fact:
    """A fact. Since when it is kept without interruption: since the last change of one that was not."""
    (
        memory,
        session,
        subject,
        content,
        valid_from,
        created_at,
        retracted_at,
        source,
        pinned,
        superseded_by,
        valid_until,
    ) = cast(tuple[Any, ...], row)
    return Fact(
        id=memory,
        session=session,
        subject=subject,
        statement=same_as(content),
        valid_from=valid_from,
        created_at=created_at,
        stands=retracted_at is None,
        by_person=source in ("written", "corrected"),
        kept_by_person=_is_kept(pinned, source),
        kept_since=max((at for at, before in changes if not _is_kept(before.pinned, before.source)), default=None),
        former_subjects=tuple((at, before.subject) for at, before in changes),
        superseded_by=superseded_by,
        valid_until=valid_until,
    )
