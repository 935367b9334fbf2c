"""How many connections of a pool one tenant may use at once. Some are left for the others, so that a tenant whose transactions all
wait for one locked row does not keep the other tenants waiting (OPS-3)."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from cloister.domain.identifiers import TenantId

# One connection of so many is never given to a tenant that has all the others.
_RESERVE = 8


class _Share:
    """The free connections of one tenant, and how many of its transactions use or wait for one."""

    __slots__ = ("free", "users")

    def __init__(self, most: int) -> None:
        self.free = threading.Semaphore(most)
        self.users = 0


class TenantShare:
    """Counts the transactions of each tenant. A transaction beyond the share of its tenant waits, for some seconds."""

    def __init__(self, connections: int) -> None:
        self._most = max(1, connections - max(1, connections // _RESERVE))
        self._lock = threading.Lock()
        self._shares: dict[TenantId, _Share] = {}

    @contextmanager
    def taken(self, tenant: TenantId, seconds: float) -> Generator[bool]:
        """Count a transaction during the block. False if the tenant has its share for all of the seconds."""
        with self._lock:
            share = self._shares.get(tenant)
            if share is None:
                share = self._shares[tenant] = _Share(self._most)
            share.users += 1
        is_free = share.free.acquire(timeout=seconds)
        try:
            yield is_free
        finally:
            if is_free:
                share.free.release()
            with self._lock:
                share.users -= 1
                if not share.users:
                    del self._shares[tenant]
