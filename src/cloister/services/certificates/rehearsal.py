"""Run a removal, or rehearse it: the same work in a transaction that is rolled back, so that a dry run is never another answer than
the deletion would be (PRF-5)."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from cloister.domain.scope import Reach
from cloister.storage.interface import Database, Transaction

T = TypeVar("T")


class _RolledBack(Exception):
    """Raised in a transaction after its work, so that nothing of it is stored."""


def run(database: Database, reach: Reach, work: Callable[[Transaction], T], *, dry_run: bool) -> T:
    """Run `work` in one write transaction; with `dry_run`, roll it back, and return what `work` returned."""
    if not dry_run:
        return database.write(reach, work)
    results: list[T] = []

    def rehearse(transaction: Transaction) -> None:
        results.append(work(transaction))
        raise _RolledBack

    with suppress(_RolledBack):
        database.write(reach, rehearse)
    return results[-1]
