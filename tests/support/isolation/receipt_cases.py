"""The store of receipts, method by method, as `test_store_isolation` runs them: with our own ids, and with foreign ones."""

from cloister.domain.errors import StorageError
from cloister.domain.identifiers import ReceiptId
from cloister.storage.interface import Transaction
from cloister.storage.stores.receipts.exclusions import ExclusionStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.receipts.templates import TemplateStore
from support.isolation.twin_tenants import MOMENT, Case, Home, first_receipt, new_receipt


def add(transaction: Transaction, home: Home) -> None:
    id = ReceiptId(first_receipt(home.first.session) + 2)
    ReceiptStore(transaction).add(id, new_receipt(home.first), session=home.first.session)


def exclude(transaction: Transaction, home: Home) -> None:
    ExclusionStore(transaction, home.first.session).add("memory", home.first.memory, MOMENT)


def include(transaction: Transaction, home: Home) -> int:
    """By the number of the exclusion, which is read in the same way."""
    store = ExclusionStore(transaction, home.first.session)
    return sum(store.remove(each.id) for each in store.all())


RECEIPT_CASES: dict[str, Case] = {
    "ExclusionStore.all": Case(act=lambda t, h: ExclusionStore(t, h.first.session).all(), nothing=[]),
    "ExclusionStore.add": Case(act=exclude, nothing=StorageError, writes=True),
    "ExclusionStore.remove": Case(act=include, nothing=0, writes=True),
    "ReceiptStore.add": Case(act=add, nothing=StorageError, writes=True),
    "ReceiptStore.find": Case(
        act=lambda t, h: ReceiptStore(t).find(first_receipt(h.first.session), MOMENT), nothing=None
    ),
    "ReceiptStore.summaries": Case(
        act=lambda t, h: ReceiptStore(t).summaries(h.first.session, h.first.messages, MOMENT), nothing=[]
    ),
    "ReceiptStore.is_pool_there": Case(act=lambda t, h: ReceiptStore(t).is_pool_there(h.first.pool), nothing=False),
    "ReceiptStore.messages_in_reach": Case(
        act=lambda t, h: ReceiptStore(t).messages_in_reach(h.first.messages), nothing={}
    ),
    "ReceiptStore.indexed_at": Case(
        act=lambda t, h: ReceiptStore(t).indexed_at(h.first.pool, h.first.messages[0]), nothing=None
    ),
    "ReceiptStore.observations": Case(
        act=lambda t, h: ReceiptStore(t).observations(h.first.pool, [h.first.observation]), nothing={}
    ),
    "ReceiptStore.replaced_texts": Case(
        act=lambda t, h: ReceiptStore(t).replaced_texts(h.first.pool, [h.first.memory], MOMENT - 1), nothing={}
    ),
    "ReceiptStore.changed_entities": Case(
        act=lambda t, h: ReceiptStore(t).changed_entities(h.cellar, [h.second.entity], MOMENT - 1), nothing=set()
    ),
    "ReceiptStore.remove_old": Case(
        act=lambda t, h: ReceiptStore(t).remove_old(h.first.session, MOMENT + 1), nothing=0, writes=True
    ),
    "ReceiptStore.set_ages": Case(
        act=lambda t, h: ReceiptStore(t).set_ages(h.cellar, reply_age=1, other_age=1), writes=True
    ),
    "TemplateStore.of_session": Case(act=lambda t, h: TemplateStore(t).of_session(h.first.session), nothing=[]),
    "TemplateStore.of_messages": Case(
        act=lambda t, h: TemplateStore(t).of_messages(h.first.session, h.first.messages), nothing=[]
    ),
    "TemplateStore.text": Case(act=lambda t, h: TemplateStore(t).text(h.cellar, "digest"), nothing=None),
}
TENANT_RECEIPT_CASES: dict[str, Case] = {
    "TemplateStore.keep": Case(act=lambda t, h: TemplateStore(t).keep(h.cellar, "another", "Dig."), writes=True),
    "TemplateStore.of_expired": Case(act=lambda t, h: TemplateStore(t).of_expired(MOMENT + 9_999)),
    "TemplateStore.unused": Case(act=lambda t, h: TemplateStore(t).unused()),
    "ReceiptStore.remove_of_user": Case(act=lambda t, h: ReceiptStore(t).remove_of_user("ann"), writes=True),
    "ReceiptStore.remove_expired": Case(act=lambda t, h: ReceiptStore(t).remove_expired(MOMENT + 9_999), writes=True),
    "ReceiptStore.days_of_tenant": Case(act=lambda t, h: ReceiptStore(t).days_of_tenant()),
    "ReceiptStore.set_days_of_tenant": Case(act=lambda t, h: ReceiptStore(t).set_days_of_tenant(3), writes=True),
}
