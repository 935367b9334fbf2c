"""Import the entries of an archive, in batches. An entry that is there at the same address stays as it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from cloister.domain.archive.imported import ImportTally
from cloister.domain.archive.stored_records import EntryRecord, EntryVectorRecord
from cloister.domain.entries.entry import EntryScope, checked_value
from cloister.domain.entries.operations import PutEntry
from cloister.domain.entries.paths import MOST_TEXTS
from cloister.domain.errors import Forbidden, InvalidRequest, TooLarge
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, refuse_over
from cloister.services.entries.embedding import EntryEmbedding
from cloister.services.entries.entries import lock_part
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entries.entries import EntryStore, NewEntry, count_entries
from cloister.storage.stores.usage import UsageStore

EXPIRED = "the entry has expired"
_LARGEST_BATCH = 200
_MOST_CHARACTERS = 500_000


@dataclass(kw_only=True, slots=True)
class ArchivedEntry:
    """An entry of an archive, and the vectors that follow it."""

    record: EntryRecord
    vectors: list[bytes] = field(default_factory=list[bytes])

    def add(self, record: EntryVectorRecord) -> None:
        if self.vectors and len(self.vectors[0]) != len(record.vector):
            raise InvalidRequest("entry_vector.vector", "must have the length of the entry's other vectors.")
        if len(self.vectors) >= MOST_TEXTS:
            raise TooLarge("entry_vector", len(self.vectors) + 1, MOST_TEXTS, "vectors of one entry")
        self.vectors.append(record.vector)

    @property
    def scope(self) -> EntryScope:
        return EntryScope(project=self.record.project_id, user=self.record.user_id)


class EntryImport:
    """Collects entries, and stores those of one part in one transaction."""

    def __init__(
        self, database: Database, embedding: EntryEmbedding, reach: Reach, clock: Clock, limits: Limits
    ) -> None:
        self._database = database
        self._embedding = embedding
        self._reach = reach
        self._clock = clock
        self._limits = limits
        self._waiting: list[ArchivedEntry] = []
        self._characters = 0

    def begin(self, record: EntryRecord, tally: ImportTally) -> None:
        """Take an entry. It is stored when there are enough of them, and no vector of it can follow."""
        if len(self._waiting) >= _LARGEST_BATCH or self._characters >= _MOST_CHARACTERS:
            self.store(tally)
        self._waiting.append(ArchivedEntry(record=record))
        self._characters += len(checked_value(record.value))

    def add_vector(self, record: EntryVectorRecord) -> None:
        if not self._waiting:
            raise InvalidRequest("entry_vector", "must follow its entry.")
        self._waiting[-1].add(record)
        self._characters += len(record.vector)

    def store(self, tally: ImportTally) -> None:
        """Store what was taken."""
        waiting, self._waiting, self._characters = self._waiting, [], 0
        for scope, entries in groupby(waiting, key=lambda entry: entry.scope):
            self._store_part(scope, list(entries), tally)

    def _store_part(self, scope: EntryScope, entries: Sequence[ArchivedEntry], tally: ImportTally) -> None:
        now = self._clock()
        living = [each for each in entries if each.record.expires_at is None or each.record.expires_at > now]
        if not self._reach.covers(Scope(tenant=self._reach.tenant, project=scope.project, user=scope.user)):
            raise Forbidden(
                "This key is confined to a project or bound to a user, and the archive has entries of others."
            )
        if len(living) < len(entries):
            tally.skip(EXPIRED, len(entries) - len(living))
        with self._database.read(self._reach) as transaction:
            store = EntryStore(transaction, scope, now)
            new = [each for each in living if store.find(each.record.namespace, each.record.key) is None]
        rows = self._rows(new)

        def work(transaction: Transaction) -> int:
            lock_part(transaction, scope)
            store = EntryStore(transaction, scope, now)
            limit = UsageStore(transaction).limits().over(self._limits).entries
            stored = 0 if limit is None else count_entries(transaction)
            added = sum(
                store.add_archived(
                    row,
                    created_at=each.record.created_at,
                    updated_at=each.record.updated_at,
                    expires_at=each.record.expires_at,
                )
                for each, row in zip(new, rows, strict=True)
            )
            refuse_over("entries", stored, added, limit)
            return added

        added = self._database.write(self._reach, work) if new else 0
        tally.add("entries", added, len(living) - added)

    def _rows(self, entries: Sequence[ArchivedEntry]) -> list[NewEntry]:
        """The rows of entries that are missing, with their vectors; computed before a transaction is open."""
        puts = [_put(each.record) for each in entries]
        embedded = iter(
            self._embedding.prepare([put for put, each in zip(puts, entries, strict=True) if not each.vectors])
        )
        return [
            self._embedding.prepare_given(put, each.vectors) if each.vectors else next(embedded)
            for put, each in zip(puts, entries, strict=True)
        ]


def _put(record: EntryRecord) -> PutEntry:
    return PutEntry(
        namespace=record.namespace,
        key=record.key,
        value=checked_value(record.value),
        ttl=record.ttl,
        paths=record.index,
        vectors=None,
    )
