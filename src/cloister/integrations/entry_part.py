"""One part of the key-value store, for adapters of asynchronous frameworks: of one project, and of one user or none."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from cloister.domain.entries.namespace import HIDDEN
from cloister.domain.errors import InvalidRequest
from cloister.integrations.threaded_library import threaded_library
from cloister.interfaces.python.library import Cloister

MOST_AT_ONCE = 900
"""Operations of one batch, with room for those that go with them."""
_PAGE = 30
Namespace = tuple[str, ...]
Operation = dict[str, Any]
Found = dict[str, Any]
"""An entry as it was read, with its `key` and `value`."""
T = TypeVar("T")


class DamagedEntry(ValueError):
    """An entry of an adapter that is not as the adapter stored it: another program changed it."""

    def __init__(self, found: Found) -> None:
        namespace = tuple(found["namespace"])
        super().__init__(
            f"The entry {found['key']!r} in the namespace {namespace!r} is not as this adapter stored it: another program changed "
            "it. Delete it, or restore it from an archive or a backup."
        )


class EntryPart:
    """Runs batches of operations on threads, so that an event loop is not blocked."""

    def __init__(self, cloister: Cloister, *, project_id: str | None, user_id: str | None) -> None:
        self._cloister = threaded_library(cloister)
        self._scope: dict[str, Any] = {"project_id": project_id, "user_id": user_id}

    async def run(self, *operations: Operation) -> list[Any]:
        """One result for each operation: all writes, or `Conflict` and none if an entry is not as expected."""
        return await asyncio.to_thread(self._cloister.run_entry_operations, operations, **self._scope)

    async def get_all(self, namespace: Namespace, keys: Sequence[str]) -> list[Found | None]:
        """The entries with these keys, in order; more than fit into one answer are read one after another."""
        found: list[Found | None] = []
        for start in range(0, len(keys), _PAGE):
            found += await self.run(*(get(namespace, key) for key in keys[start : start + _PAGE]))
        return found

    async def list_all(self, namespace: Namespace) -> list[Found]:
        """All entries of a namespace, in order of their keys. One that is changed meanwhile is listed too, old or new."""
        found: list[Found] = []
        page: Operation = {"op": "list", "namespace": namespace, "limit": _PAGE}
        while True:
            (entries,) = await self.run(page)
            found += entries
            if len(entries) < _PAGE:
                return found
            page["after"] = entries[-1]["key"]

    async def run_in_batches(self, operations: Sequence[Operation], *conditions: Operation) -> None:
        """Run more operations than one batch may have, each batch under these conditions."""
        for start in range(0, len(operations), MOST_AT_ONCE):
            await self.run(*conditions, *operations[start : start + MOST_AT_ONCE])


def namespace_of(adapter: str, kind: str) -> Namespace:
    """The namespace of an adapter's own entries, which no search of an application finds without naming it."""
    return (f"{HIDDEN}{adapter}", kind)


def get(namespace: Namespace, key: str) -> Operation:
    return {"op": "get", "namespace": namespace, "key": key}


def put(namespace: Namespace, key: str, value: Mapping[str, Any]) -> Operation:
    """Store a value that no search by meaning finds."""
    return {"op": "put", "namespace": namespace, "key": key, "value": value, "index": False}


def delete(namespace: Namespace, key: str) -> Operation:
    return {"op": "delete", "namespace": namespace, "key": key}


def expect(namespace: Namespace, key: str, found: Found | None) -> Operation:
    """The entry must still be as it was read, or be missing."""
    return {"op": "expect", "namespace": namespace, "key": key, "value": None if found is None else found["value"]}


def deletions(namespace: Namespace, keys: Iterable[str]) -> list[Operation]:
    return [delete(namespace, key) for key in keys]


def read_value(found: Found, read: Callable[[Any], T]) -> T:
    """What `read` makes of the value of an adapter's entry. `DamagedEntry` if it is not as the adapter stored it."""
    try:
        return read(found["value"])
    except (KeyError, TypeError, ValueError, InvalidRequest) as error:
        raise DamagedEntry(found) from error


def raise_counter(namespace: Namespace, key: str, found: Found | None) -> list[Operation]:
    """Count one up, if the counter is still as it was read: so of two changes that read it, one is refused."""
    count = 0 if found is None else read_value(found, lambda value: int(value["n"]))
    return [expect(namespace, key, found), put(namespace, key, {"n": count + 1})]
