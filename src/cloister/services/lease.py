"""Leases on sessions: a random number, and the time until which it is valid. Extraction claims and assistant turns are leases.

The process that has a lease renews it while it works. If the process dies, the lease expires, and another can be taken.
"""

import secrets

from cloister.domain.lease import RENEWALS_PER_LEASE
from cloister.domain.timestamps import Clock


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
