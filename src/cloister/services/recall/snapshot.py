"""Read from one snapshot, and again from a new one if the index is already ahead of it, or had to be asked outside of it."""

from collections.abc import Callable
from typing import TypeVar

from cloister.domain.errors import StorageBusy
from cloister.domain.scope import Reach
from cloister.index.interface import SnapshotTooOld
from cloister.index.outside import NotAnswered, answers_for_work
from cloister.storage.interface import Database, Transaction

T = TypeVar("T")
_ATTEMPTS = 50
_MOST_ASKED = 8
"""Messages and entities are asked for once each, and again if a session leaves the pool meanwhile."""


def read_snapshot(database: Database, reach: Reach, work: Callable[[Transaction], T]) -> T:
    """Run `work` in a transaction of its own. It may run several times, so it must have no effect outside of it."""
    asked = 0
    with answers_for_work() as answers:
        for _ in range(_ATTEMPTS):
            try:
                with database.read(reach) as transaction:
                    return work(transaction)
            except SnapshotTooOld:
                continue
            except NotAnswered as needed:
                question = needed.question
            if asked == _MOST_ASKED:
                break
            asked += 1
            answers.ask(question)
    raise StorageBusy("The pool is being changed faster than it can be read. Try again.")
