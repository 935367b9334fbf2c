"""The stores of items and of responses, method by method, as `test_store_isolation` runs them: with our own ids, and foreign."""

from cloister.domain.errors import StorageError
from cloister.domain.identifiers import MessageId
from cloister.storage.interface import Transaction
from cloister.storage.stores.items import ItemRow, ItemStore, ResponseRow, ResponseStore
from support.isolation.twin_tenants import Case, Home, first_item, first_response


def items(transaction: Transaction, home: Home) -> ItemStore:
    return ItemStore(transaction, home.first.session, home.first.pool)


def row(home: Home) -> ItemRow:
    return ItemRow(home.first.messages[1], 5, first_item(home.first.session) + 1, None, home.first.pool, "{}")


def response(home: Home) -> ResponseRow:
    return ResponseRow(session="first", question=home.first.messages[0], reply=None, owns_messages=False, body="{}")


ITEM_CASES: dict[str, Case] = {
    "ItemStore.add": Case(act=lambda t, h: items(t, h).add([row(h)]), nothing=StorageError, writes=True),
    "ItemStore.end": Case(act=lambda t, h: items(t, h).end()[1]),
    "ItemStore.after": Case(act=lambda t, h: items(t, h).after((h.first.messages[0], 0), 9), nothing=[]),
    "ItemStore.before": Case(
        act=lambda t, h: items(t, h).before((MessageId(h.first.messages[1] + 1), 0), 9), nothing=[]
    ),
    "ItemStore.frames": Case(act=lambda t, h: items(t, h).frames(h.first.messages), nothing={}),
    "ItemStore.find": Case(act=lambda t, h: items(t, h).find(first_item(h.first.session)), nothing=None),
    "ItemStore.messages_after": Case(
        act=lambda t, h: items(t, h).messages_after(MessageId(h.first.messages[0] - 1), 9), nothing=[]
    ),
    "ItemStore.messages_before": Case(
        act=lambda t, h: items(t, h).messages_before(MessageId(h.first.messages[1] + 1), 9), nothing=[]
    ),
    "ItemStore.remove": Case(act=lambda t, h: items(t, h).remove((h.first.messages[1], 1)), nothing=0, writes=True),
    "ItemStore.remove_by_id": Case(act=lambda t, h: items(t, h).remove_by_id(first_item(h.first.session)), writes=True),
    "ResponseStore.add": Case(
        act=lambda t, h: ResponseStore(t).add(first_response(h.first.session) + 1, h.first.session, response(h)),
        nothing=StorageError,
        writes=True,
    ),
    "ResponseStore.find": Case(act=lambda t, h: ResponseStore(t).find(first_response(h.first.session)), nothing=None),
    "ResponseStore.remove": Case(
        act=lambda t, h: ResponseStore(t).remove(h.first.session, first_response(h.first.session)),
        nothing=0,
        writes=True,
    ),
}
