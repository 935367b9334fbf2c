"""Copy tenants from one database to another: a directory to PostgreSQL, or back (OPS-8).

A tenant is exported from one snapshot of the source straight into an import of the target, which adds what is missing: a copy that
was killed is completed by repeating it. The source is only read. At the end the target is exported too, and both archives are
compared by their counts and hashes.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from cloister.domain.archive.imported import ImportCounts
from cloister.domain.archive.lines import encoded
from cloister.domain.archive.records import MessageRecord
from cloister.domain.errors import Conflict
from cloister.domain.identifiers import LOCAL_TENANT, TenantId, format_tenant_id, new_project_id
from cloister.domain.maintenance.backup import StepProgress, no_progress
from cloister.domain.scope import DEFAULT_VISIBILITY, Reach
from cloister.services.archive.export import Export
from cloister.services.archive.import_archive import NEW_TENANTS_PROJECT
from cloister.services.archive.import_lines import Import
from cloister.services.copying.carry import CarriedKeys, carry_exclusions, carry_keys, carry_settings
from cloister.services.copying.comparison import WHOLE_TENANT, differences, refuse_other_content
from cloister.services.tenancy.tenants import Tenants, TenantSummary
from cloister.storage.interface import FIRST_PAGE, Database, Transaction
from cloister.storage.stores.tenants import ProjectStore, TenantStore
from cloister.storage.stores.usage import UsageStore

_PAGE = 200
_STEP = 500
_MESSAGE_LINE = encoded({"kind": MessageRecord.kind})[:-2]
"""How the line of a message begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CopySource:
    """The database that is copied, which is only read."""

    database: Database
    tenants: Tenants
    export: Export


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyTarget:
    """The database that is copied to."""

    database: Database
    tenants: Tenants
    export: Export
    importing: Import


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantPlan:
    """A tenant that is to be copied, with how much it has in the source, and how many messages are in the target already."""

    tenant: TenantId
    name: str
    created_at: int
    projects: int
    sessions: int
    messages: int
    keys: int
    messages_there: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CopiedTenant:
    """A tenant that was copied. `keys` is None if keys were not to be copied; `exclusions_left_out` are of what was deleted in the
    source meanwhile or can still be restored there. Without `differences` both databases have the same."""

    tenant: TenantId
    name: str
    added: ImportCounts
    unchanged: ImportCounts
    keys: CarriedKeys | None
    exclusions: int
    exclusions_left_out: int
    differences: tuple[str, ...]


class TenantCopies:
    """Copies from one database to another. Without a target, only plans."""

    def __init__(self, source: CopySource, target: CopyTarget | None) -> None:
        self._source = source
        self._target = target

    def plan(self, named: str | None = None) -> list[TenantPlan]:
        """The tenants to copy: all, or the one with this id or name. Raises if the target has other content; changes nothing."""
        tenants = _all_tenants(self._source.tenants)
        if named is not None:
            wanted = self._source.tenants.find(named)
            tenants = [each for each in tenants if each.tenant == wanted]
        there = {} if self._target is None else {each.tenant: each for each in _all_tenants(self._target.tenants)}
        if named is None:
            _refuse_other_tenants(tenants, list(there.values()))
        return [self._planned(each, there.get(each.tenant)) for each in tenants]

    def _planned(self, tenant: TenantSummary, there: TenantSummary | None) -> TenantPlan:
        reach = Reach(tenant=tenant.tenant)
        with self._source.database.read(reach) as reading:
            keys = UsageStore(reading).api_keys()
            if there is not None and self._target is not None:
                if there.name != tenant.name:
                    raise Conflict(
                        f"The tenant {format_tenant_id(tenant.tenant)} is called {there.name!r} in the target, and "
                        f"{tenant.name!r} in the source. Nothing was copied."
                    )
                with self._target.database.read(reach) as other:
                    refuse_other_content(reading, other, tenant.name)
        return TenantPlan(
            tenant=tenant.tenant,
            name=tenant.name,
            created_at=tenant.created_at,
            projects=tenant.projects,
            sessions=tenant.sessions,
            messages=tenant.messages,
            keys=keys,
            messages_there=0 if there is None else there.messages,
        )

    def run(
        self, plans: Sequence[TenantPlan], *, with_keys: bool = True, progress: StepProgress = no_progress
    ) -> Iterator[CopiedTenant]:
        """Copy one tenant after the other, and compare each."""
        if self._target is None:
            raise ValueError("there is no target")
        for plan in plans:
            yield self._copied(self._target, plan, with_keys, progress)

    def _copied(self, target: CopyTarget, plan: TenantPlan, with_keys: bool, progress: StepProgress) -> CopiedTenant:
        reach = Reach(tenant=plan.tenant)
        _add_tenant(target.database, reach, plan)
        watched = _Watched(f"copying {plan.name}", plan.messages, progress)
        with closing(watched.lines(self._source.export.lines(reach, WHOLE_TENANT))) as lines:
            imported = target.importing.run(reach, lines)
        keys = carry_keys(self._source.database, target.database, reach) if with_keys else None
        exclusions, left_out = carry_exclusions(self._source.database, target.database, reach)
        compared = _Watched(f"comparing {plan.name}", plan.messages, progress)
        for _ in compared.lines(target.export.lines(reach, WHOLE_TENANT)):
            pass
        found = differences(watched.last, compared.last)
        if not found:
            carry_settings(self._source.database, target.database, reach)
        return CopiedTenant(
            tenant=plan.tenant,
            name=plan.name,
            added=imported.added,
            unchanged=imported.unchanged,
            keys=keys,
            exclusions=exclusions,
            exclusions_left_out=left_out,
            differences=(*found, *(() if keys is None else keys.differences)),
        )


class _Watched:
    """Counts the messages of an archive while its lines pass, and keeps the last line."""

    def __init__(self, doing: str, total: int, progress: StepProgress) -> None:
        self._doing = doing
        self._total = total
        self._progress = progress
        self.last = b""

    def lines(self, lines: Generator[bytes]) -> Generator[bytes]:
        done = 0
        with closing(lines):
            for line in lines:
                if line.startswith(_MESSAGE_LINE):
                    done += 1
                    if done % _STEP == 0:
                        self._progress(self._doing, min(done, self._total), self._total)
                self.last = line
                yield line
        self._progress(self._doing, self._total, self._total)


def _all_tenants(tenants: Tenants) -> list[TenantSummary]:
    found: list[TenantSummary] = []
    after = FIRST_PAGE
    while page := tenants.page(limit=_PAGE, after=after):
        found += page
        after = (page[-1].created_at, page[-1].tenant)
    return found


def _refuse_other_tenants(ours: Sequence[TenantSummary], theirs: Sequence[TenantSummary]) -> None:
    """Raise if the target has tenants that the source does not have. The tenant of an installation that was never used is none."""
    known = {each.tenant for each in ours}
    others = [
        each for each in theirs if each.tenant not in known and not (each.tenant == LOCAL_TENANT and not each.sessions)
    ]
    if others:
        raise Conflict(
            f"The target has {len(others):,} tenants that the source does not have, such as {others[0].name!r} "
            f"({format_tenant_id(others[0].tenant)}). Nothing was copied. Copy into a new directory or an empty database, or "
            "one tenant with --tenant."
        )


def _add_tenant(database: Database, reach: Reach, plan: TenantPlan) -> None:
    """Add the tenant with the project that a new one begins with, which the import replaces, unless the tenant is there already."""

    def work(transaction: Transaction) -> bool:
        tenants = TenantStore(transaction)
        if not tenants.add(plan.name, plan.created_at):
            return tenants.exists()
        ProjectStore(transaction).add(
            new_project_id(),
            name=NEW_TENANTS_PROJECT,
            is_default=True,
            member_visibility=DEFAULT_VISIBILITY,
            created_at=plan.created_at,
        )
        return True

    if not database.write(reach, work):
        raise Conflict(
            f"The tenant {plan.name!r} was erased in the target, which does not use its id again. Copy into a new directory or an "
            "empty database."
        )
