"""The entries of an archive."""

import json
from collections.abc import Iterator
from typing import Any, cast

from cloister.domain.archive.stored_records import EntryRecord, EntryVectorRecord
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.entries.entry import FLOAT_BYTES, GIVEN_VECTORS
from cloister.domain.entries.namespace import decoded
from cloister.storage.interface import Transaction


class ArchivedEntries:
    """The entries of one target that have not expired, in the order of their addresses."""

    def __init__(self, transaction: Transaction, target: ArchiveTarget, now: int) -> None:
        self._transaction = transaction
        self._filter: dict[str, Any] = {"project_id": target.project, "user_id": target.user, "now": now}

    def all(self) -> Iterator[EntryRecord | EntryVectorRecord]:
        """Each entry followed by its vectors, if the application computed them."""
        for row in self._transaction.stream("archive_entries", **self._filter, given=GIVEN_VECTORS):
            project, user, namespace, key, value, created_at, updated_at, ttl, expires_at, paths, model, vectors = cast(
                tuple[Any, ...], row
            )
            yield EntryRecord(
                project_id=project,
                user_id=user,
                namespace=decoded(bytes(namespace)),
                key=key,
                value=json.loads(value),
                ttl=ttl,
                index=tuple(json.loads(paths)),
                created_at=created_at,
                updated_at=updated_at,
                expires_at=expires_at,
            )
            if vectors is not None:
                yield from _vectors(bytes(vectors), FLOAT_BYTES * int(model.removeprefix(GIVEN_VECTORS)))


def _vectors(stored: bytes, size: int) -> Iterator[EntryVectorRecord]:
    for start in range(0, len(stored), size):
        yield EntryVectorRecord(vector=stored[start : start + size])
