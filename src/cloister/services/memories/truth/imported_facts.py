"""Memories of other products (ORG-12), read as facts, so that a newer one supersedes an older one (MEM-12)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cloister.domain.archive.conversations import FactRecord
from cloister.domain.conversation import Session
from cloister.domain.extraction import FactOfMemory, ManualMemory
from cloister.domain.identifiers import MemoryId, SessionId, new_memory_id
from cloister.domain.memory import Memory, checked_memory, same_as
from cloister.domain.scope import Scope
from cloister.domain.timestamps import Clock
from cloister.domain.truth.subject_words import searchable_text
from cloister.services.indexing.indexer import Indexer
from cloister.services.memories.supersession import Supersession
from cloister.services.memories.truth.manual_facts import ManualFacts
from cloister.storage.interface import Transaction
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import Indexed
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.supersession import ReplacementStore, SupersessionStore


class PreparedFact(NamedTuple):
    """An imported memory with all that is computed before the transaction that stores it."""

    record: FactRecord
    fact: FactOfMemory
    indexed: Indexed


class ImportedFacts:
    """Prepares and adds the memories of imports by any caller."""

    def __init__(self, manual: ManualFacts, indexer: Indexer, clock: Clock) -> None:
        self._manual = manual
        self._indexer = indexer
        self._clock = clock

    def read(
        self, transaction: Transaction, scope: Scope, session: Session | None, records: Sequence[FactRecord]
    ) -> list[FactOfMemory]:
        """What each memory is a fact of. `session` is theirs, or None if it will be created in `scope`."""
        manual = [ManualMemory(content=record.content, said_at=record.created_at) for record in records]
        if session is not None:
            return self._manual.of(transaction, session.external_id, manual)
        pool = PoolStore(transaction, self._indexer.generation).find(scope.pool)
        return self._manual.of_new_session(transaction, pool, scope.user, manual)

    def prepare(self, records: Sequence[FactRecord], facts: Sequence[FactOfMemory]) -> list[PreparedFact]:
        """Embed memories."""
        said = [
            (searchable_text(record.content, fact.subject), None, record.created_at)
            for record, fact in zip(records, facts, strict=True)
        ]
        indexed = self._indexer.prepare(said, self._clock(), is_a_point=False)
        return [PreparedFact(*parts) for parts in zip(records, facts, indexed, strict=True)]

    def add(self, transaction: Transaction, session: Session, prepared: Sequence[PreparedFact]) -> int:
        """Add memories that the session does not have yet, and that its user did not retract or correct; returns how many. The
        transaction has locked the session."""
        person = ReplacementStore(transaction).person(session.id) if prepared else None
        if person is None:
            return 0
        PoolStore(transaction, self._indexer.generation).lock(person.pool)
        withdrawn = SupersessionStore(transaction, person).withdrawn()
        rows, added = ImportedRows(transaction), list[Memory]()
        replaces: dict[MemoryId, Sequence[MemoryId]] = {}
        for each in prepared:
            memory = _memory(session.id, each)
            digest = same_as(memory.content)
            if digest in withdrawn:
                continue
            number, is_new = rows.add_memory(memory, digest, each.indexed)
            if is_new:
                added.append(replace(memory, id=number))
                replaces[number] = each.fact.replaces
        if added:
            MemoryStore(transaction).count(session.id, len(added))
            Supersession(transaction).add(person, added, replaces)
        return len(added)


def _memory(session: SessionId, prepared: PreparedFact) -> Memory:
    record = prepared.record
    return Memory(
        id=new_memory_id(),
        session=session,
        content=checked_memory(record.content, "fact.content"),
        importance=None,
        sources=(),
        created_at=record.created_at,
        valid_from=record.created_at,
        source="imported",
        subject=prepared.fact.subject,
        categories=record.categories,
        metadata=record.metadata,
    )
