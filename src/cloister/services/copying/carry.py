"""Carry to another database what is not in the archive of a tenant: keys as hashes, exclusions, limits, retention and the secret
that the names of default sessions are made with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from cloister.domain.access import ApiKey
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.copying.carried_rows import CarriedExclusion, CarriedRows, CarriedTenant
from cloister.storage.stores.erasure import RetentionStore
from cloister.storage.stores.keys import ApiKeyStore, StoredKey
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

_BATCH = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class CarriedKeys:
    """How many keys of the source work in the target, how many do not because their project was deleted, and how many of the
    target are not from the source."""

    carried: int
    of_deleted_projects: int
    only_there: int
    differences: tuple[str, ...]


def carry_keys(source: Database, target: Database, reach: Reach) -> CarriedKeys:
    """Add the keys that are missing, and revoke those that were revoked in the source, in one transaction."""
    with source.read(reach) as transaction:
        keys = CarriedRows(transaction).all_keys()
    return target.write(reach, lambda transaction: _store_keys(transaction, keys))


def _store_keys(transaction: Transaction, keys: Sequence[StoredKey]) -> CarriedKeys:
    store, projects = ApiKeyStore(transaction), ProjectStore(transaction)
    left: dict[ProjectId, bool] = {}
    expected: dict[ApiKey, bytes] = {}
    without_project = 0
    for stored in keys:
        key = stored.key
        if key.revoked_at is not None:
            store.revoke(key.id, key.revoked_at)
            continue
        if key.project is not None and not left.setdefault(key.project, projects.find(key.project) is not None):
            without_project += 1
            continue
        store.add(key, stored.secret_hash)
        expected[key] = stored.secret_hash
    found = {each.key: each.secret_hash for each in CarriedRows(transaction).all_keys() if each.key.revoked_at is None}
    wrong = sum(found.get(key) != secret for key, secret in expected.items())
    return CarriedKeys(
        carried=len(expected) - wrong,
        of_deleted_projects=without_project,
        only_there=len({key.id for key in found} - {key.id for key in expected}),
        differences=(f"api_key: {wrong:,} could not be copied, or differ",) if wrong else (),
    )


def carry_exclusions(source: Database, target: Database, reach: Reach) -> tuple[int, int]:
    """Add the exclusions that are missing; returns how many are in the target now, and how many were left out because they name
    what is not copied."""
    there = left_out = 0
    with source.read(reach) as transaction:
        exclusions = CarriedRows(transaction).exclusions()
        for batch in _batches(exclusions):
            stored = target.write(reach, lambda transaction, batch=batch: _store_exclusions(transaction, batch))
            there += stored
            left_out += len(batch) - stored
    return there, left_out


def _store_exclusions(transaction: Transaction, exclusions: Sequence[CarriedExclusion]) -> int:
    rows = CarriedRows(transaction)
    return sum(rows.has_exclusion(each) or rows.add_exclusion(each) for each in exclusions)


def carry_settings(source: Database, target: Database, reach: Reach) -> None:
    """Give the tenant the limits, the retention and the secret that it has in the source. Called when everything is copied, so that
    neither refuses nor forgets anything before."""
    with source.read(reach) as transaction:
        row, limits = CarriedRows(transaction).tenant(), UsageStore(transaction).limits()
    if row is not None:
        target.write(reach, lambda transaction: _store_settings(transaction, row, limits))


def _store_settings(transaction: Transaction, row: CarriedTenant, limits: Limits) -> None:
    UsageStore(transaction).set_limits(limits)
    RetentionStore(transaction).set_of_tenant(row.retention_days)
    ReceiptStore(transaction).set_days_of_tenant(row.receipt_days)
    if row.secret is not None:
        CarriedRows(transaction).set_secret(row.secret)


def _batches(exclusions: Iterator[CarriedExclusion]) -> Iterator[list[CarriedExclusion]]:
    while batch := list(islice(exclusions, _BATCH)):
        yield batch
