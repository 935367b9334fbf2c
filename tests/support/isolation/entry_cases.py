"""The stores of entries, method by method, as `test_store_isolation` runs them, in a project that only one tenant has."""

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.entries.entry import EntryScope
from cloister.storage.interface import Transaction
from cloister.storage.stores.entries.archived_entries import ArchivedEntries
from cloister.storage.stores.entries.entries import EntryStore, NewEntry, TenantEntryStore
from support.isolation.twin_tenants import MOMENT, Case, Home, first_entry, new_entry

NAMESPACE = ("notes", "ann")
LATER = MOMENT + 10


def part(transaction: Transaction, home: Home, *, now: int = MOMENT) -> EntryStore:
    """Ann's part of the cellar, a project that no other tenant has."""
    return EntryStore(transaction, EntryScope(project=home.cellar, user="ann"), now)


def row(home: Home) -> NewEntry:
    return new_entry(first_entry(home.second.session) + 1, "another")


ENTRY_CASES: dict[str, Case] = {
    "EntryStore.find": Case(act=lambda t, h: part(t, h).find(NAMESPACE, "roses"), nothing=None),
    "EntryStore.page": Case(act=lambda t, h: list(part(t, h).page((), limit=9, offset=0)), nothing=[]),
    "EntryStore.by_key": Case(act=lambda t, h: list(part(t, h).by_key(NAMESPACE, None, limit=9)), nothing=[]),
    "EntryStore.each": Case(act=lambda t, h: list(part(t, h).each(NAMESPACE[:1])), nothing=[]),
    "EntryStore.vectors": Case(act=lambda t, h: list(part(t, h).vectors((), "model", with_values=True)), nothing=[]),
    "EntryStore.by_id": Case(act=lambda t, h: list(part(t, h).by_id([first_entry(h.second.session)])), nothing=[]),
    "EntryStore.namespaces": Case(act=lambda t, h: list(part(t, h).namespaces(())), nothing=[]),
    "EntryStore.put": Case(
        act=lambda t, h: EntryStore(t, EntryScope(project=None, user="ann"), MOMENT).put([row(h)]), writes=True
    ),
    "EntryStore.add_archived": Case(
        act=lambda t, h: EntryStore(t, EntryScope(project=None, user="bob"), MOMENT).add_archived(
            row(h), created_at=MOMENT, updated_at=MOMENT, expires_at=None
        ),
        writes=True,
    ),
    "EntryStore.remove": Case(act=lambda t, h: part(t, h).remove(NAMESPACE, "roses"), nothing=0, writes=True),
    "EntryStore.refresh": Case(
        act=lambda t, h: part(t, h, now=MOMENT + 1).refresh([first_entry(h.second.session)]), writes=True
    ),
    "EntryStore.remove_expired": Case(act=lambda t, h: part(t, h, now=LATER).remove_expired(), nothing=0, writes=True),
}
ARCHIVED_ENTRY_CASES: dict[str, Case] = {
    "ArchivedEntries.all": Case(
        act=lambda t, h: list(ArchivedEntries(t, ArchiveTarget(project=h.cellar), MOMENT).all()), nothing=[]
    ),
}
TENANT_ENTRY_CASES: dict[str, Case] = {
    "TenantEntryStore.count_of_project": Case(
        act=lambda t, h: TenantEntryStore(t).count_of_project(h.cellar, MOMENT), nothing=0
    ),
    "TenantEntryStore.take_out_of_project": Case(
        act=lambda t, h: TenantEntryStore(t).take_out_of_project(h.cellar, MOMENT), nothing=0, writes=True
    ),
    "TenantEntryStore.remove_of_user": Case(act=lambda t, h: TenantEntryStore(t).remove_of_user("ann"), writes=True),
    "TenantEntryStore.remove_expired": Case(act=lambda t, h: TenantEntryStore(t).remove_expired(LATER), writes=True),
}
