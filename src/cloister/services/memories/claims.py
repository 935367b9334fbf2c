"""Claims: leases on sessions that are due for extraction, taken in turn from all tenants, and renewed while a worker extracts.

A worker whose claim expired, or was taken by another, must not store anything of its work.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import cast

from cloister.domain.errors import CloisterError, StorageError
from cloister.domain.identifiers import SessionId, TenantId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.due_tenants import DueTenants
from cloister.services.lease import Leases, new_lease_number
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.extraction import ExtractionStore

LONGEST_RETRY_MICROSECONDS = 75 * 60 * 1_000_000
"""The longest time between a failed extraction and its retry."""


@dataclass(eq=False, kw_only=True, slots=True)
class Claim:
    """A session that this worker has claimed. `lost` is set when a renewal fails; the database is authoritative."""

    reach: Reach
    session: SessionId
    number: int
    lost: bool = False


class Claims:
    """The claims of one process. Safe to use from any thread."""

    def __init__(self, database: Database, clock: Clock, leases: Leases) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases
        self._lock = threading.Lock()
        self._claims: set[Claim] = set()
        self._renewal_thread: threading.Thread | None = None
        self._due = DueTenants(database, clock)

    def is_any_due(self) -> bool:
        return self._due.is_any()

    def cap(self) -> None:
        """End every claim after the time of a lease from now at the latest: the clock may have been set back since it was taken.
        A worker that is alive renews its claim. For the same reason no session is due later than it could be made due now: after a
        lease, and one that failed after the longest wait for a retry."""
        now, until = self._leases.term()
        terms = {"until": until, "retry_until": now + LONGEST_RETRY_MICROSECONDS}
        if self._database.maintenance.rows("overlong_claim", **terms):
            self._database.maintenance.write("cap_claims", **terms)

    def waiting(self) -> int:
        """How many sessions are due."""
        return cast(int, self._database.maintenance.rows("count_due", now=self._clock())[0][0])

    def failing(self) -> int:
        """How many sessions failed at their last extraction, and will be retried."""
        return cast(int, self._database.maintenance.rows("count_failing")[0][0])

    def claim_due(self) -> Claim | None:
        """Claim a due session of the next tenant; None if there is none to claim. Concurrent workers get different sessions. A
        tenant whose claim fails is left out for a while, and keeps no other tenant waiting: its error is raised if nothing else
        could be claimed."""
        self._cap_if_possible()
        failure: StorageError | None = None
        for tenant in self._due.in_turn():
            number, (now, until) = new_lease_number(), self._leases.term()
            try:
                rows = self._database.maintenance.write("claim_due", tenant=tenant, claim=number, now=now, until=until)
            except StorageError as error:
                self._due.skip(tenant)
                failure = error
                continue
            if rows:
                self._due.serve(tenant)
                session = SessionId(cast(int, rows[0][0]))
                return Claim(reach=Reach(tenant=TenantId(tenant)), session=session, number=number)
        if failure is not None:
            raise failure
        return None

    def _cap_if_possible(self) -> None:
        """What keeps the rows of one tenant from being changed does not keep the sessions of others from being claimed."""
        with suppress(StorageError):
            self.cap()

    def claim(self, reach: Reach, session: SessionId) -> Claim | None:
        """Claim this session, due or not, within the caller's reach; None while another worker has it. The claim itself has the
        reach of the tenant, because entities of earlier messages may belong to another project (ISO-6)."""
        claim = Claim(reach=Reach(tenant=reach.tenant), session=session, number=new_lease_number())

        self._cap_if_possible()

        def work(transaction: Transaction) -> bool:
            now, until = self._leases.term()
            return ExtractionStore(transaction).claim(session, claim.number, now=now, until=until)

        return claim if self._database.write(reach, work) else None

    @contextmanager
    def renewing(self, claim: Claim) -> Generator[None]:
        """Renew the claim until the block ends, however long that takes."""
        with self._lock:
            self._claims.add(claim)
            if self._renewal_thread is None:
                self._renewal_thread = threading.Thread(target=self._renew_all, name="cloister-leases", daemon=True)
                self._renewal_thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._claims.discard(claim)

    def release(self, claim: Claim) -> None:
        """Give up the claim: another worker may take the session at once."""
        claim.lost = True
        self._database.write(
            claim.reach, lambda transaction: ExtractionStore(transaction).release(claim.session, claim.number)
        )

    def release_all(self) -> int:
        """Release all claims of this process, even those that a thread still works at; returns how many."""
        with self._lock:
            claims = list(self._claims)
        for claim in claims:
            with suppress(CloisterError):  # a claim that cannot be released expires
                self.release(claim)
        return len(claims)

    def _renew_all(self) -> None:
        """The renewal thread. It ends when there are no claims left."""
        pause = threading.Event()
        while True:
            pause.wait(self._leases.renewal_seconds)
            with self._lock:
                claims = list(self._claims)
                if not claims:
                    self._renewal_thread = None
                    return
            for claim in claims:
                # The next renewal may succeed; if the claim expires before, storing the work fails.
                with suppress(CloisterError):
                    self._renew(claim)

    def _renew(self, claim: Claim) -> None:
        _, until = self._leases.term()

        def work(transaction: Transaction) -> bool:
            return ExtractionStore(transaction).renew(claim.session, claim.number, until=until)

        if not self._database.write(claim.reach, work):
            claim.lost = True
