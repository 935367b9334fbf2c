"""Read from one snapshot, and retry with a new one if the index is already ahead of it."""

from collections.abc import Callable
from typing import TypeVar

from cloister.domain.errors import StorageBusy
from cloister.domain.scope import Reach
from cloister.index.interface import SnapshotTooOld
from cloister.storage.interface import Database, Transaction

T = TypeVar("T")
_ATTEMPTS = 50


def read_snapshot(database: Database, reach: Reach, work: Callable[[Transaction], T]) -> T:
    for _ in range(_ATTEMPTS):
        try:
            with database.read(reach) as transaction:
                return work(transaction)
        except SnapshotTooOld:
            continue
    raise StorageBusy("The pool is being changed faster than it can be read. Try again.")
