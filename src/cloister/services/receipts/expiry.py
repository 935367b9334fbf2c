"""Delete expired receipts of all tenants."""

from typing import cast

from cloister.domain.identifiers import TenantId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database
from cloister.storage.stores.receipts.receipts import ReceiptStore


class ReceiptExpiry:
    """A worker calls `drop` at intervals; expired receipts are not found until then."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def drop(self) -> int:
        """Delete expired receipts; returns how many."""
        now = self._clock()
        tenants = self._database.maintenance.rows("tenants_with_expired_receipts", now=now)
        return sum(self._drop_of(Reach(tenant=TenantId(cast(int, tenant))), now) for (tenant,) in tenants)

    def _drop_of(self, reach: Reach, now: int) -> int:
        return self._database.write(reach, lambda transaction: ReceiptStore(transaction).remove_expired(now))
