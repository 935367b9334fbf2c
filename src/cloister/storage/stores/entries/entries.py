"""The entries of the key-value store. `EntryStore` is the only way to read or change those of one part.
`TenantEntryStore` counts, moves and deletes across parts."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple, cast

from cloister.domain.entries.entry import Entry, EntryScope
from cloister.domain.entries.namespace import HIDDEN, Namespace, decoded, encoded, range_of
from cloister.domain.errors import StorageBusy
from cloister.domain.identifiers import ProjectId, format_project_id
from cloister.domain.scope import Scope
from cloister.storage.interface import Row, RowRemoved, Transaction, Value, integers

_TRIES = 3


class StoredEntry(NamedTuple):
    """An entry with the id of its row, and the characters of its value. `expires` is False for one without a time to live."""

    id: int
    entry: Entry
    size: int
    expires: bool


class EntryVectors(NamedTuple):
    """The vectors of an entry, and what to compute them from if `model` is not the wanted one: `paths` as JSON, and the value,
    which is None where it was not read."""

    id: int
    paths: str
    model: str
    vectors: bytes
    value: str | None


class NewEntry(NamedTuple):
    """An entry to store, with the id of its row if there is none yet. `model` is None where no query finds it."""

    id: int
    namespace: Namespace
    key: str
    value: str
    ttl: int | None
    paths: tuple[str, ...]
    model: str | None
    vectors: bytes | None


class EntryStore:
    """The entries of one part of the tenant's store, which must be within the transaction's reach. `now` decides what has
    expired."""

    def __init__(self, transaction: Transaction, scope: EntryScope, now: int) -> None:
        reached = Scope(tenant=transaction.reach.tenant, project=scope.project, user=scope.user)
        if not transaction.reach.covers(reached):
            raise ValueError("a part of the store outside the transaction's reach")
        self._transaction = transaction
        self._part: dict[str, Value] = {"project_id": scope.project, "user_id": scope.user}
        self._now = now

    def find(self, namespace: Namespace, key: str) -> StoredEntry | None:
        row = self._transaction.row("entry", **self._part, namespace=encoded(namespace), entry_key=key, now=self._now)
        return None if row is None else _stored(row)

    def page(self, prefix: Namespace, *, limit: int, offset: int) -> Iterator[StoredEntry]:
        """Entries of the namespaces that begin with these labels, last changed first."""
        return map(_stored, self._transaction.stream("entries", **self._range(prefix), limit=limit, offset=offset))

    def by_key(self, namespace: Namespace, after: str | None, *, limit: int) -> Iterator[StoredEntry]:
        """Entries of this namespace in order of their keys, after this key."""
        return map(
            _stored,
            self._transaction.stream(
                "entries_by_key",
                **self._part,
                namespace=encoded(namespace),
                after=after or "",
                limit=limit,
                now=self._now,
            ),
        )

    def each(self, prefix: Namespace) -> Iterator[StoredEntry]:
        """The same, all of them."""
        return map(_stored, self._transaction.stream("entries_to_filter", **self._range(prefix)))

    def vectors(self, prefix: Namespace, model: str, *, with_values: bool) -> Iterator[EntryVectors]:
        """The vectors of the entries that queries find, one by one. The value is read if asked for, or if the vectors are of
        another model."""
        rows = self._transaction.stream(
            "entry_vectors", **self._range(prefix), vector_model=model, with_values=int(with_values)
        )
        return (EntryVectors(*cast(tuple[int, str, str, bytes, str | None], row)) for row in rows)

    def by_id(self, ids: Sequence[int]) -> Iterator[StoredEntry]:
        """The entries of these rows, in any order."""
        return map(_stored, self._transaction.stream("entries_by_id", **self._part, entry_ids=integers(ids)))

    def namespaces(self, prefix: Namespace) -> Iterator[Namespace]:
        """The namespaces that begin with these labels, in order of their bytes, each once."""
        rows = self._transaction.stream("entry_namespaces", **self._range(prefix))
        return (decoded(cast(bytes, row[0])) for row in rows)

    def put(self, entries: Sequence[NewEntry]) -> None:
        """Store entries, in order of their addresses to avoid deadlock. An entry that exists keeps its time of creation."""
        for entry in sorted(entries, key=lambda entry: (encoded(entry.namespace), entry.key)):
            row: dict[str, Value] = {
                **self._part,
                "namespace": encoded(entry.namespace),
                "entry_key": entry.key,
                "value": entry.value,
                "ttl": entry.ttl,
                "expires_at": None if entry.ttl is None else self._now + entry.ttl,
                "index_paths": json.dumps(entry.paths, ensure_ascii=False),
                "vector_model": entry.model,
                "vectors": entry.vectors,
                "now": self._now,
            }
            self._update_or_insert(row, entry.id)

    def add_archived(self, entry: NewEntry, *, created_at: int, updated_at: int, expires_at: int | None) -> bool:
        """Add an entry of an archive, with its times; False if there is one at its address."""
        if self.find(entry.namespace, entry.key) is not None:
            return False
        self.remove(entry.namespace, entry.key)  # one that has expired
        added = self._transaction.execute(
            "import_entry",
            **self._part,
            entry_id=entry.id,
            namespace=encoded(entry.namespace),
            entry_key=entry.key,
            created_at=created_at,
            updated_at=updated_at,
            ttl=entry.ttl,
            expires_at=expires_at,
            index_paths=json.dumps(entry.paths, ensure_ascii=False),
            vector_model=entry.model,
            vectors=entry.vectors,
            value=entry.value,
        )
        return added > 0

    def remove(self, namespace: Namespace, key: str) -> int:
        return self._transaction.execute("delete_entry", **self._part, namespace=encoded(namespace), entry_key=key)

    def refresh(self, ids: Sequence[int]) -> None:
        """Let these entries live as long again as when they were stored. Those that have expired stay so."""
        if ids:
            self._transaction.execute("refresh_entries", **self._part, entry_ids=integers(ids), now=self._now)

    def remove_expired(self) -> int:
        return self._transaction.execute("delete_expired_entries_of_part", **self._part, now=self._now)

    def _update_or_insert(self, row: dict[str, Value], number: int) -> None:
        """Try again if another transaction has inserted the entry, or deleted it, between the two statements."""
        for _ in range(_TRIES):
            if self._transaction.execute("update_entry", **row):
                return
            if self._transaction.execute("insert_entry", **row, entry_id=number):
                return
        raise StorageBusy("Others are changing the same entry. Try again.") from RowRemoved()

    def _range(self, prefix: Namespace) -> dict[str, Value]:
        first, after = range_of(prefix)
        return {**self._part, "first": first, "after": after, "now": self._now}


class TenantEntryStore:
    """The entries of all parts of the tenant, to be counted, moved or deleted. Transactions of a narrower reach are refused."""

    def __init__(self, transaction: Transaction) -> None:
        if not transaction.reach.is_whole_tenant:
            raise ValueError("entries outside the transaction's reach")
        self._transaction = transaction

    def count_of_project(self, project: ProjectId, now: int) -> int:
        rows = self._transaction.rows("count_entries_of_project", project_id=project, now=now)
        return cast(int, rows[0][0])

    def take_out_of_project(self, project: ProjectId, now: int) -> int:
        """Give all entries of a project to the parts of the same users in no project; returns how many. One whose address is taken
        there keeps its key and gets a namespace below the id of the project. The tenant has to be locked."""
        if not self.count_of_project(project, now):
            return 0
        self.remove_expired(now)
        rows = self._transaction.rows("entries_with_taken_address", project_id=project)
        label = self._free_label(project) if rows else ""
        self._transaction.execute_each(
            "set_entry_namespace",
            [
                {"entry_id": number, "namespace": _below(label, decoded(namespace))}
                for number, namespace in cast(list[tuple[int, bytes]], rows)
            ],
        )
        return self._transaction.execute("take_entries_out_of_project", project_id=project)

    def _free_label(self, project: ProjectId) -> str:
        """A label that no namespace of the project, or of no project, begins with."""
        name = format_project_id(project)
        for label in (name if number == 1 else f"{name}-{number}" for number in count(1)):
            if not any(self._is_taken(project, each) for each in (label, f"{HIDDEN}{label}")):
                return label
        raise AssertionError("unreachable")

    def _is_taken(self, project: ProjectId, label: str) -> bool:
        first, after = range_of((label,))
        return bool(self._transaction.rows("entry_in_namespaces", project_id=project, first=first, after=after))

    def remove_of_user(self, user: str) -> int:
        return self._transaction.execute("delete_entries_of_user", user_id=user)

    def remove_expired(self, now: int) -> int:
        return self._transaction.execute("delete_expired_entries", now=now)


def count_entries(transaction: Transaction) -> int:
    """How many entries the tenant has in all parts, for its quota."""
    return cast(int, transaction.rows("count_entries")[0][0])


def _below(label: str, namespace: Namespace) -> bytes:
    """The namespace below another label; a hidden one stays hidden."""
    return encoded((f"{HIDDEN}{label}" if namespace[0].startswith(HIDDEN) else label, *namespace))


def _stored(row: Row) -> StoredEntry:
    number, namespace, key, value, created_at, updated_at, ttl = cast(
        tuple[int, bytes, str, str, int, int, int | None], row
    )
    entry = Entry(
        namespace=decoded(namespace), key=key, value=json.loads(value), created_at=created_at, updated_at=updated_at
    )
    return StoredEntry(number, entry, len(value), ttl is not None)
