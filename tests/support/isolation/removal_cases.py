"""The stores of removals, method by method, as `test_store_isolation` runs them: with our own ids, and foreign."""

from collections.abc import Mapping

from cloister.domain.erasure import EmptiedSession, Readers, Removal, RemovedFile
from cloister.storage.interface import Transaction
from cloister.storage.stores.certificates.readers import ReaderStore
from cloister.storage.stores.certificates.removals import RemovalStore, TenantRemovalStore
from support.isolation.twin_tenants import MOMENT, Case, Home, first_receipt


def remaining(transaction: Transaction, home: Home) -> Mapping[str, int]:
    """The tables in which something is left of what a home has."""
    place = home.first
    emptied = EmptiedSession(id=place.session, last_message=place.messages[-1], is_deleted=True)
    session = home.tail(place).session
    stored = [RemovedFile(session.id, file.path, file.updated_at) for file in RemovalStore(transaction).files(session)]
    removal = Removal(
        sessions=[emptied],
        messages=place.messages,
        memories=[place.memory],
        observations=[place.observation],
        entities=[place.entity],
        receipts=[first_receipt(place.session)],
        files=stored,
    )
    found = RemovalStore(transaction).remaining(removal)
    return {table: number for table, number in found.items() if number}


def readers(transaction: Transaction) -> ReaderStore:
    return ReaderStore(transaction, names_users=True)


NOBODY = Readers(sessions=0, users=0, user_ids=())
REMOVAL_CASES: dict[str, Case] = {
    "RemovalStore.messages": Case(act=lambda t, h: RemovalStore(t).messages(h.first.session), nothing=[]),
    "RemovalStore.last_message": Case(
        act=lambda t, h: RemovalStore(t).last_message(h.first.session) in h.first.messages, nothing=False
    ),
    "RemovalStore.sample": Case(act=lambda t, h: RemovalStore(t).sample(h.first.session), nothing=None),
    "RemovalStore.observations": Case(act=lambda t, h: RemovalStore(t).observations(h.first.session), nothing=[]),
    "RemovalStore.items": Case(act=lambda t, h: RemovalStore(t).items(h.first.session), nothing=[]),
    "RemovalStore.responses": Case(act=lambda t, h: RemovalStore(t).responses(h.first.session), nothing=[]),
    "RemovalStore.items_of": Case(
        act=lambda t, h: RemovalStore(t).items_of(h.first.session, h.first.messages), nothing=[]
    ),
    "RemovalStore.responses_of": Case(
        act=lambda t, h: RemovalStore(t).responses_of(h.first.session, h.first.messages), nothing=[]
    ),
    "RemovalStore.receipts": Case(act=lambda t, h: RemovalStore(t).receipts(h.first.session), nothing=[]),
    "RemovalStore.receipts_of": Case(
        act=lambda t, h: RemovalStore(t).receipts_of(h.first.session, h.first.messages), nothing=[]
    ),
    "RemovalStore.old_receipts": Case(
        act=lambda t, h: RemovalStore(t).old_receipts(h.first.session, MOMENT + 1), nothing=[]
    ),
    "RemovalStore.files": Case(act=lambda t, h: RemovalStore(t).files(h.tail(h.first).session), nothing=[]),
    "RemovalStore.visible": Case(act=lambda t, h: RemovalStore(t).visible([h.first.entity]), nothing=[]),
    "ReaderStore.of_pool": Case(act=lambda t, h: readers(t).of_pool(h.first.pool), nothing=NOBODY),
    "ReaderStore.of_project": Case(act=lambda t, h: readers(t).of_project(h.cellar), nothing=NOBODY),
    "ReaderStore.outside_projects": Case(act=lambda t, h: readers(t).outside_projects(h.cellar), nothing=NOBODY),
    "RemovalStore.remaining": Case(act=remaining, nothing={}),
}
TENANT_REMOVAL_CASES: dict[str, Case] = {
    "TenantRemovalStore.entries": Case(act=lambda t, h: TenantRemovalStore(t).entries("ann")),
    "TenantRemovalStore.receipts": Case(act=lambda t, h: TenantRemovalStore(t).receipts("ann")),
    "TenantRemovalStore.all_receipts": Case(act=lambda t, h: TenantRemovalStore(t).all_receipts()),
    "TenantRemovalStore.projects": Case(act=lambda t, h: TenantRemovalStore(t).projects()),
    "TenantRemovalStore.keys": Case(act=lambda t, h: TenantRemovalStore(t).keys()),
    "TenantRemovalStore.memories": Case(act=lambda t, h: TenantRemovalStore(t).memories()),
    "TenantRemovalStore.observations": Case(act=lambda t, h: TenantRemovalStore(t).observations()),
}
