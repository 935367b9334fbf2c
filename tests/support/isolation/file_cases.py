"""The store of the memory tool's files, method by method, as `test_store_isolation` runs it: with our own ids, and foreign."""

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.errors import StorageError
from cloister.domain.files.tree import Removed, Stored
from cloister.domain.memory import quoted
from cloister.storage.interface import Transaction
from cloister.storage.stores.files.archived_files import ArchivedFiles
from cloister.storage.stores.files.project_trees import ProjectTrees
from cloister.storage.stores.files.trees import FileStore
from support.isolation.archive_cases import archived
from support.isolation.twin_tenants import GARDEN, MOMENT, Case, Home


def files(transaction: Transaction, home: Home) -> FileStore:
    return FileStore(transaction, home.first.session, home.first.pool)


def quote_and_remove(transaction: Transaction, home: Home) -> None:
    store = files(transaction, home)
    store.apply([Stored(("quoting.txt",), f"Own words.\n{quoted(['Recalled.'])}")], MOMENT)
    store.remove_quotations()


FILE_CASES: dict[str, Case] = {
    "FileStore.sizes": Case(act=lambda t, h: files(t, h).sizes(), nothing={}),
    "FileStore.text": Case(act=lambda t, h: files(t, h).text(("notes.txt",)), nothing=""),
    "FileStore.apply": Case(
        act=lambda t, h: files(t, h).apply([Removed(("notes.txt",)), Stored(("more.txt",), "More.")], MOMENT),
        nothing=StorageError,
        writes=True,
    ),
    "FileStore.move_to": Case(
        act=lambda t, h: files(t, h).move_to(FileStore(t, h.first.session, h.second.pool), "moved"), writes=True
    ),
    "FileStore.remove_quotations": Case(act=lambda t, h: quote_and_remove(t, h), nothing=StorageError, writes=True),
    "ArchivedFiles.of_session": Case(
        act=lambda t, h: list(ArchivedFiles(t, ArchiveTarget(), {GARDEN}).of_session(archived(h))), nothing=[]
    ),
}
PROJECT_TREE_CASES: dict[str, Case] = {
    "ProjectTrees.count": Case(act=lambda t, h: ProjectTrees(t, h.cellar).count(), nothing=0),
    "ProjectTrees.lock_sessions": Case(act=lambda t, h: ProjectTrees(t, h.cellar).lock_sessions(), nothing=[]),
    "ProjectTrees.move": Case(
        act=lambda t, h: ProjectTrees(t, h.cellar).move(
            h.second.session, h.first.pool, with_quotations=False, now=MOMENT
        ),
        writes=True,
    ),
}
