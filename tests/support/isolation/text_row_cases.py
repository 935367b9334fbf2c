"""The store of rows with text, method by method, as `test_store_isolation` runs it."""

from cloister.storage.interface import Transaction
from cloister.storage.stores.integrity.text_rows import KEYS, TextRow, TextRowStore
from support.isolation.twin_tenants import Case, Home


def message_row(home: Home) -> TextRow:
    return TextRow(
        table="message", session=home.first.session, checksum=1, key=(home.first.messages[0],), texts=(b"user",)
    )


def note_row(home: Home) -> TextRow:
    return TextRow(table="observation", session=home.first.session, checksum=1, key=(home.first.observation,), texts=())


def fill(transaction: Transaction, home: Home) -> None:
    for table in KEYS:
        TextRowStore(transaction).fill(table, 9)


TEXT_ROW_CASES: dict[str, Case] = {
    "TextRowStore.all": Case(act=lambda t, h: [list(TextRowStore(t).all(table)) for table in KEYS]),
    "TextRowStore.fill": Case(act=fill, writes=True),
    "TextRowStore.locked": Case(act=lambda t, h: TextRowStore(t).locked(message_row(h)), nothing=None),
    "TextRowStore.session_name": Case(act=lambda t, h: TextRowStore(t).session_name(h.first.session), nothing=None),
    "TextRowStore.blank_message": Case(act=lambda t, h: TextRowStore(t).blank_message(message_row(h)), writes=True),
    "TextRowStore.remove": Case(act=lambda t, h: TextRowStore(t).remove(note_row(h)), nothing=0, writes=True),
}
