"""The tenants whose sessions are due for extraction, in turn: also while a part of the database is away, as a server of a
distributed one."""

import secrets
import threading
import time
from collections.abc import Generator
from typing import cast

from cloister.domain.errors import StorageError
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database

# A tenant whose claim failed is asked again after so long.
_SKIP_SECONDS = 30.0
# So many tenants are asked one by one while it cannot be asked which of them are due.
_MOST_KNOWN = 1_000


class DueTenants:
    """Tenants are served round-robin, by id; processes start at random ids. Safe to use from any thread."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._last = secrets.randbits(62)
        # Tenants that this process has seen due, the latest last.
        self._known: dict[int, None] = {}
        self._skipped: dict[int, float] = {}

    def is_any(self) -> bool:
        return bool(self._database.maintenance.rows("due_session", now=self._clock()))

    def in_turn(self) -> Generator[int]:
        """The tenants with sessions to claim, once around from the one after the last that was served, without those that are
        skipped. If it cannot be asked which they are, though the database answers, all that this process has seen due: then the
        error is raised after them."""
        try:
            if self.is_any():
                yield from self._asked()
        except StorageError:
            # Where the whole database is away this raises, and no tenant is tried.
            self._database.maintenance.schema_version()
            yield from self._seen()
            raise

    def serve(self, tenant: int) -> None:
        """Let the next turn begin after this tenant."""
        self._last = tenant

    def skip(self, tenant: int) -> None:
        """Leave a tenant out for a while, because something that was asked of its rows failed. Raises if the whole database is
        away."""
        self._database.maintenance.schema_version()
        with self._lock:
            self._skipped[tenant] = time.monotonic() + _SKIP_SECONDS

    def _asked(self) -> Generator[int]:
        start = self._last
        after, is_around = start, False
        while True:
            rows = self._database.maintenance.rows("next_due_tenant", after=after, now=self._clock())
            tenant = cast(int, rows[0][0]) if rows else None
            if tenant is None or (is_around and tenant > start):
                if is_around:
                    return
                after, is_around = -1, True
                continue
            self._remember(tenant)
            if not self._is_skipped(tenant):
                yield tenant
            after = tenant

    def _seen(self) -> Generator[int]:
        start = self._last
        with self._lock:
            known = sorted(self._known, key=lambda tenant: (tenant <= start, tenant))
        yield from (tenant for tenant in known if not self._is_skipped(tenant))

    def _remember(self, tenant: int) -> None:
        with self._lock:
            self._known.pop(tenant, None)
            self._known[tenant] = None
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]

    def _is_skipped(self, tenant: int) -> bool:
        with self._lock:
            until = self._skipped.get(tenant)
            if until is not None and time.monotonic() >= until:
                del self._skipped[tenant]
                return False
            return until is not None
