"""The store of the memory tool's files, method by method, as `test_store_isolation` runs it: with our own ids, and foreign."""

from cloister.domain.errors import StorageError
from cloister.domain.files.tree import Removed, Stored
from cloister.storage.interface import Transaction
from cloister.storage.stores.files.trees import FileStore
from support.isolation.twin_tenants import MOMENT, Case, Home


def files(transaction: Transaction, home: Home) -> FileStore:
    return FileStore(transaction, home.first.session, home.first.pool)


FILE_CASES: dict[str, Case] = {
    "FileStore.sizes": Case(act=lambda t, h: files(t, h).sizes(), nothing={}),
    "FileStore.text": Case(act=lambda t, h: files(t, h).text(("notes.txt",)), nothing=""),
    "FileStore.apply": Case(
        act=lambda t, h: files(t, h).apply([Removed(("notes.txt",)), Stored(("more.txt",), "More.")], MOMENT),
        nothing=StorageError,
        writes=True,
    ),
}
