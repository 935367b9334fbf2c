"""Claims on sessions that wait for extraction: whose turn it is, and leases that are renewed while work goes on.

A claim is a number on the session and the moment until which it stands. A worker that lives renews it; one that dies does not, and
then another may claim the session. Whoever lost a claim may keep nothing of its work.
"""

import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import cast

from cloister.domain.errors import CloisterError
from cloister.domain.identifiers import SessionId, TenantId
from cloister.domain.lease import LEASE_SECONDS, RENEWALS_PER_LEASE
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.extraction import ExtractionStore


@dataclass(eq=False, kw_only=True, slots=True)
class Claim:
    """A session held by this worker. `lost` is what is known here; the database has the last word."""

    reach: Reach
    session: SessionId
    number: int
    lost: bool = False


class Claims:
    """The claims of one process. Safe to use from any thread."""

    def __init__(self, database: Database, clock: Clock, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self._database = database
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._lock = threading.Lock()
        self._stored: set[Claim] = set()
        self._keeper: threading.Thread | None = None
        # Where this process stands in the circle of tenants; processes begin at different places.
        self._turn = secrets.randbits(62)

    def is_any_due(self) -> bool:
        return bool(self._database.maintenance.rows("due_session", now=self._clock()))

    def waiting(self) -> int:
        """How many sessions are due."""
        return cast(int, self._database.maintenance.rows("count_due", now=self._clock())[0][0])

    def failing(self) -> int:
        """How many sessions could not be extracted the last time, and will be tried again."""
        return cast(int, self._database.maintenance.rows("count_failing")[0][0])

    def claim_due(self) -> Claim | None:
        """A session that is due, of the tenant whose turn it is; none when nothing can be claimed now. Two workers that ask at
        once get two sessions."""
        if not self.is_any_due():
            return None
        number, now = _new_number(), self._clock()
        rows = self._database.maintenance.write(
            "claim_due", after=self._turn, claim=number, now=now, until=self._until(now)
        )
        if not rows:
            return None
        tenant, session = cast(tuple[int, int], rows[0])
        self._turn = tenant
        return Claim(reach=Reach(tenant=TenantId(tenant)), session=SessionId(session), number=number)

    def claim(self, reach: Reach, session: SessionId) -> Claim | None:
        """This session, due or not, where the caller reaches it; none while another worker has it. The work itself is not confined:
        what the session said in another project belongs there (ISO-6)."""
        claim = Claim(reach=Reach(tenant=reach.tenant), session=session, number=_new_number())

        def work(transaction: Transaction) -> bool:
            now = self._clock()
            return ExtractionStore(transaction).claim(session, claim.number, now=now, until=self._until(now))

        return claim if self._database.write(reach, work) else None

    @contextmanager
    def holding(self, claim: Claim) -> Generator[None]:
        """Renew it until the block ends, however long that takes."""
        with self._lock:
            self._stored.add(claim)
            if self._keeper is None:
                self._keeper = threading.Thread(target=self._keep, name="cloister-leases", daemon=True)
                self._keeper.start()
        try:
            yield
        finally:
            with self._lock:
                self._stored.discard(claim)

    def release(self, claim: Claim) -> None:
        """Undone: another worker may have it at once."""
        claim.lost = True
        self._database.write(
            claim.reach, lambda transaction: ExtractionStore(transaction).release(claim.session, claim.number)
        )

    def release_all(self) -> int:
        """Let go of all that is held here, whoever still works at it; gives how many there were."""
        with self._lock:
            stored = list(self._stored)
        for claim in stored:
            with suppress(CloisterError):  # what cannot be given back runs out
                self.release(claim)
        return len(stored)

    def _keep(self) -> None:
        """Ends by itself when it finds nothing held: a process that extracts nothing has no such thread."""
        pause = threading.Event()
        while True:
            pause.wait(self._lease_seconds / RENEWALS_PER_LEASE)
            with self._lock:
                stored = list(self._stored)
                if not stored:
                    self._keeper = None
                    return
            for claim in stored:
                # What fails now may succeed the next time; a lease that runs out before is lost, and that is noticed.
                with suppress(CloisterError):
                    self._renew(claim)

    def _renew(self, claim: Claim) -> None:
        until = self._until(self._clock())

        def work(transaction: Transaction) -> bool:
            return ExtractionStore(transaction).renew(claim.session, claim.number, until=until)

        if not self._database.write(claim.reach, work):
            claim.lost = True

    def _until(self, now: int) -> int:
        return now + round(self._lease_seconds * 1_000_000)


def _new_number() -> int:
    return secrets.randbits(62) + 1
