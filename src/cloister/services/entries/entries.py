"""The key-value store of an application's agents: entries in namespaces, inside one part of a project. An entry is kept as it was
stored, and is never recalled in a context."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from cloister.domain.entries.entry import Entry, EntryScope
from cloister.domain.entries.namespace import Namespace, literal_prefix
from cloister.domain.entries.operations import (
    DeleteEntry,
    DeleteExpired,
    ExpectEntry,
    GetEntry,
    ListEntries,
    ListNamespaces,
    Operation,
    PutEntry,
    SearchEntries,
    check_batch,
)
from cloister.domain.entries.value_filter import passes
from cloister.domain.errors import Conflict, Forbidden, TooLarge
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, refuse_over
from cloister.services.conversations.forget import Forgetting
from cloister.services.entries.embedding import EntryEmbedding, Query
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.entries.entries import EntryStore, NewEntry, StoredEntry, count_entries
from cloister.storage.stores.tenants import ProjectStore, TenantStore
from cloister.storage.stores.usage import UsageStore

Result = Entry | list[Entry] | list[Namespace] | int | None
LARGEST_ANSWER = 8_388_608
"""The most characters of values in the answer to one batch."""
_Address = tuple[Namespace, str]


class _Answer:
    """The results of a batch, None for each write, and the rows whose life is prolonged by having been read."""

    def __init__(self, operations: int) -> None:
        self.results: list[Result] = [None] * operations
        self.read = set[int]()
        self._size = 0

    def take(self, found: Iterable[StoredEntry], refresh: bool) -> list[StoredEntry]:
        """Add entries that were found. Raises `TooLarge` as soon as there are too many characters, before more are read."""
        taken: list[StoredEntry] = []
        for stored in found:
            self._size += stored.size
            if self._size > LARGEST_ANSWER:
                raise TooLarge("limit", self._size, LARGEST_ANSWER, "characters of values")
            if refresh and stored.expires:
                self.read.add(stored.id)
            taken.append(stored)
        return taken


class Entries:
    """Runs batches of operations on one part of the store."""

    def __init__(
        self, database: Database, embedding: EntryEmbedding, forgetting: Forgetting, clock: Clock, limits: Limits
    ) -> None:
        self._database = database
        self._embedding = embedding
        self._forgetting = forgetting
        self._clock = clock
        self._limits = limits

    def run(
        self, reach: Reach, scope: EntryScope, operations: Sequence[Operation], *, may_refresh: bool = True
    ) -> list[Result]:
        """Run a batch, and return one result for each operation. Reads see the store as it was before the batch; of several
        writes to one key the last is made. All writes are one transaction: `Conflict`, and none is made, if the store is not as the
        batch expects. Without `may_refresh` reading does not prolong the life of entries, which is a change."""
        check_batch(operations)
        if scope.user is not None:
            checked_name(scope.user, "user_id")
        if scope.project is None and reach.confined_to is not None:
            raise Forbidden("This key is confined to its project: it cannot use what is in no project.")
        scope = EntryScope(project=scope.project, user=reach.user_of(scope.user))
        answer = self._read(reach, scope, operations)
        refreshed = sorted(answer.read) if may_refresh else []
        last = _last_writes(operations)
        rows = self._embedding.prepare([each for each in last.values() if isinstance(each, PutEntry)])
        deleted = [address for address, each in last.items() if isinstance(each, DeleteEntry)]
        sweeps = [at for at, each in enumerate(operations) if isinstance(each, DeleteExpired)]
        expected = [each for each in operations if isinstance(each, ExpectEntry)]
        if not (rows or deleted or sweeps or refreshed or expected):
            return answer.results

        def work(transaction: Transaction) -> tuple[int, int]:
            if expected:
                TenantStore(transaction).lock_names()  # one batch with conditions after another
            lock_part(transaction, scope)
            store = EntryStore(transaction, scope, self._clock())
            _check(store, expected)
            store.refresh(refreshed)
            self._put(transaction, store, rows)
            removed = sum(store.remove(*address) for address in sorted(deleted))
            return removed, store.remove_expired() if sweeps else 0

        removed, expired = self._database.write(reach, work)
        if removed or expired:
            self._forgetting.clean_up()
        for at in sweeps:
            answer.results[at] = expired
        return answer.results

    def _read(self, reach: Reach, scope: EntryScope, operations: Sequence[Operation]) -> "_Answer":
        queries = {
            at: self._embedding.query(each) for at, each in enumerate(operations) if isinstance(each, SearchEntries)
        }
        answer = _Answer(len(operations))
        if all(isinstance(each, PutEntry | DeleteEntry | DeleteExpired | ExpectEntry) for each in operations):
            return answer
        with self._database.read(reach) as transaction:
            if scope.project is not None:
                ProjectStore(transaction).get(scope.project)
            store = EntryStore(transaction, scope, self._clock())
            for at, operation in enumerate(operations):
                if isinstance(operation, GetEntry):
                    found = store.find(operation.namespace, operation.key)
                    taken = answer.take([] if found is None else [found], operation.refresh)
                    answer.results[at] = taken[0].entry if taken else None
                elif isinstance(operation, SearchEntries):
                    answer.results[at] = self._found(store, operation, queries[at], answer)
                elif isinstance(operation, ListEntries):
                    listed = store.by_key(operation.namespace, operation.after, limit=operation.limit)
                    answer.results[at] = [stored.entry for stored in answer.take(listed, refresh=False)]
                elif isinstance(operation, ListNamespaces):
                    answer.results[at] = _namespaces(store, operation)
        return answer

    def _found(self, store: EntryStore, search: SearchEntries, query: Query | None, answer: "_Answer") -> list[Entry]:
        if query is None:
            return [stored.entry for stored in answer.take(_listed(store, search), search.refresh)]
        best = self._embedding.rank(store, search, query)[search.offset :]
        taken = answer.take(store.by_id([ranked.id for ranked in best]), search.refresh)
        entries = {stored.id: stored.entry for stored in taken}
        return [replace(entries[ranked.id], score=ranked.score) for ranked in best]

    def _put(self, transaction: Transaction, store: EntryStore, rows: Sequence[NewEntry]) -> None:
        """Entries are counted only where there is a limit."""
        if not rows:
            return
        limit = UsageStore(transaction).limits().over(self._limits).entries
        if limit is not None:
            new = sum(1 for row in rows if store.find(row.namespace, row.key) is None)
            refuse_over("entries", count_entries(transaction), new, limit)
        store.put(rows)


def lock_part(transaction: Transaction, scope: EntryScope) -> None:
    """Neither the project nor the tenant can be deleted until the transaction ends."""
    if scope.project is not None:
        ProjectStore(transaction).lock_shared(scope.project)
    TenantStore(transaction).lock_shared()


def _check(store: EntryStore, expected: Sequence[ExpectEntry]) -> None:
    for each in expected:
        found = store.find(each.namespace, each.key)
        wanted = None if each.value is None else json.loads(each.value)
        if (None if found is None else found.entry.value) != wanted:
            raise Conflict(f"The entry {each.key!r} is not as expected: it was changed since. Read it again.")


def _last_writes(operations: Sequence[Operation]) -> dict[_Address, PutEntry | DeleteEntry]:
    return {(each.namespace, each.key): each for each in operations if isinstance(each, PutEntry | DeleteEntry)}


def _listed(store: EntryStore, search: SearchEntries) -> Iterator[StoredEntry]:
    """Entries without a query, last changed first."""
    if not search.filter:
        return store.page(search.prefix, limit=search.limit, offset=search.offset)
    wanted: Mapping[str, Any] = search.filter
    passing = (stored for stored in store.each(search.prefix) if passes(stored.entry.value, wanted))
    return islice(passing, search.offset, search.offset + search.limit)


def _namespaces(store: EntryStore, asked: ListNamespaces) -> list[Namespace]:
    matching = (
        namespace[: asked.max_depth]
        for namespace in store.namespaces(literal_prefix(asked.conditions))
        if all(condition.matches(namespace) for condition in asked.conditions)
    )
    # Namespaces that are cut to the same one are not always next to each other: a set finds them all.
    return sorted(set(matching))[asked.offset : asked.offset + asked.limit]
