"""Leases on sessions: a random number, and the time until which it is valid. Extraction claims and assistant turns are leases.

The process that has a lease renews it while it works. If the process dies, the lease expires, and another can be taken.
"""

import secrets
from collections.abc import Generator
from contextlib import contextmanager

from cloister.domain.errors import TurnInProgress
from cloister.domain.lease import RENEWALS_PER_LEASE
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database
from cloister.storage.stores.turns import TurnStore


class Leases:
    """How long leases are valid, and how often they are renewed."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self.seconds = seconds

    @property
    def renewal_seconds(self) -> float:
        return self.seconds / RENEWALS_PER_LEASE

    def term(self) -> tuple[int, int]:
        """The time now, and the time until which a lease that is taken or renewed now is valid."""
        now = self._clock()
        return now, now + round(self.seconds * 1_000_000)


def new_lease_number() -> int:
    return secrets.randbits(62) + 1


@contextmanager
def capping_turns(database: Database, reach: Reach, leases: Leases) -> Generator[None]:
    """If another turn is running in the session, end its lease after the time of a lease from now at the latest: the clock may have
    been set back since it was taken or renewed (OPS-1)."""
    try:
        yield
    except TurnInProgress as running:
        (_, until), session = leases.term(), running.session
        database.write(reach, lambda transaction: TurnStore(transaction).cap(session, until=until))
        raise
