"""The leases of turns. The turn of a process that has ended is taken away at once, and not only when its lease expires (OPS-1)."""

from collections.abc import Callable
from typing import TypeVar

from cloister.domain.conversation import Session
from cloister.domain.errors import TurnInProgress
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.lease import Leases, new_lease_number
from cloister.services.processes import Processes
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.turns import TurnStore

T = TypeVar("T")


class TurnLeases(Leases):
    """Takes turns for this process."""

    def __init__(self, clock: Clock, seconds: float, database: Database, processes: Processes) -> None:
        super().__init__(clock, seconds)
        self._database = database
        self._processes = processes

    def take(self, transaction: Transaction, session: Session) -> int:
        """Take the turn of a session, and lock the session until the transaction ends. Raises `TurnInProgress`."""
        number, (now, until) = new_lease_number(), self.term()
        if not TurnStore(transaction).take(session.id, number, now=now, until=until, process=self._processes.own):
            raise TurnInProgress(session.external_id)
        return number

    def without_ended(self, reach: Reach, work: Callable[[], T]) -> T:
        """What `work` returns, which is called again if the turn in its way was of a process that has ended. Of a running turn, the
        lease ends after the time of a lease from now at the latest: the clock may have been set back since it was taken or
        renewed."""
        try:
            return work()
        except TurnInProgress as running:
            if self._take_away(reach, running.session):
                return work()
            (_, until), session = self.term(), running.session
            self._database.write(reach, lambda transaction: TurnStore(transaction).cap(session, until=until))
            raise

    def _take_away(self, reach: Reach, external_id: str) -> bool:
        """End the turn of a session if the process that answered it has ended; whether that was so. Another turn that is taken in
        between stays."""
        with self._database.read(reach) as transaction:
            found = TurnStore(transaction).process_of(external_id)
        if found is None or not self._processes.has_ended(found.process):
            return False
        self._database.write(reach, lambda transaction: TurnStore(transaction).end(found.session, found.turn))
        return True
