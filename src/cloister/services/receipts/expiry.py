"""Delete expired receipts of all tenants, and set after how many days those of a tenant expire."""

from typing import cast

from cloister.domain.errors import Forbidden, NotFound
from cloister.domain.identifiers import TenantId, format_tenant_id
from cloister.domain.project_settings import NO_SETTINGS, checked_receipt_days
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.receipts.storing import set_ages
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.erasure import RetentionStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.receipts.templates import TemplateStore, remove_unused
from cloister.storage.stores.tenants import ProjectStore


class ReceiptExpiry:
    """A worker calls `drop` at intervals; expired receipts are not found until then."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def days_of_tenant(self, reach: Reach) -> int | None:
        """After how many days the tenant deletes receipts; None leaves it to the projects."""
        _refuse_narrow(reach)
        with self._database.read(reach) as transaction:
            return ReceiptStore(transaction).days_of_tenant()

    def set_days_of_tenant(self, reach: Reach, days: int | None) -> int | None:
        """Set after how many days receipts are deleted, in all projects and outside them; a project may be stricter. None leaves it
        to the projects, and those of sessions in no project are kept as if a project had no setting."""
        _refuse_narrow(reach)
        checked = checked_receipt_days(days, "receipt_days")

        def work(transaction: Transaction) -> None:
            projects = ProjectStore(transaction)
            projects.lock_all()
            if not ReceiptStore(transaction).set_days_of_tenant(checked):
                raise NotFound("tenant", format_tenant_id(reach.tenant))
            for project, _ in RetentionStore(transaction).of_projects():
                set_ages(transaction, project, projects.get(project).settings)
            set_ages(transaction, None, NO_SETTINGS)

        self._database.write(reach, work)
        return checked

    def drop(self) -> int:
        """Delete expired receipts, and texts of prompts that no receipt names; returns how many receipts."""
        now = self._clock()
        tenants = self._database.maintenance.rows("tenants_with_expired_receipts", now=now)
        dropped = sum(self._drop_of(Reach(tenant=TenantId(cast(int, tenant))), now) for (tenant,) in tenants)
        for (tenant,) in self._database.maintenance.rows("tenants_with_unused_templates"):
            self._database.write(Reach(tenant=TenantId(cast(int, tenant))), _drop_unused)
        return dropped

    def _drop_of(self, reach: Reach, now: int) -> int:
        return self._database.write(reach, lambda transaction: ReceiptStore(transaction).remove_expired(now))


def _drop_unused(transaction: Transaction) -> None:
    remove_unused(transaction, TemplateStore(transaction).unused())


def _refuse_narrow(reach: Reach) -> None:
    if not reach.is_whole_tenant:
        bound = "confined to its project" if reach.user is None else "bound to one user"
        raise Forbidden(f"This key is {bound}: it cannot do what concerns the whole tenant.")
