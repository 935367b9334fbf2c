"""Import the files of a session of an archive. What is there under the same path stays as it is."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from cloister.domain.archive.stored_records import FileRecord
from cloister.domain.conversation import Session
from cloister.domain.errors import Forbidden
from cloister.domain.files.tree import MAX_ENTRIES, MAX_TREE, Path, Stored
from cloister.domain.identifiers import ProjectId
from cloister.domain.prompts.recalled_text import QUOTATION_STAYED, own_words
from cloister.domain.scope import MemberVisibility, Scope
from cloister.domain.usage import Limits, refuse_over
from cloister.services.archive.archived_projects import ArchivedProjects
from cloister.storage.interface import Transaction
from cloister.storage.stores.files.trees import FileStore, count_files
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

NAME_TAKEN = "a directory of the file is a file here"
TREE_FULL = "the session has too many files"
# Trees of deleted projects are put together, so that a tree may be larger than a tool may make it.
_TREES = 4
Visibilities = Mapping[ProjectId, MemberVisibility]


class ImportedFiles(NamedTuple):
    """How many files were added and how many were there already, and why others were left out."""

    added: int
    unchanged: int
    skipped: Sequence[str]


def lock_projects(transaction: Transaction, files: Sequence[FileRecord]) -> Visibilities:
    """Lock the projects of files, before their session is locked; returns their visibilities. `NotFound` if one is missing."""
    projects = sorted({file.project_id for file in files if file.project_id is not None})
    return {project: ProjectStore(transaction).lock_shared(project).member_visibility for project in projects}


class FileImport:
    """Stores files in the pools in which they were stored before, which have to be within the caller's reach."""

    def __init__(self, pools: PoolStore, archived: ArchivedProjects, limits: Limits) -> None:
        self._pools = pools
        self._archived = archived
        self._limits = limits

    def add(
        self, transaction: Transaction, session: Session, files: Sequence[FileRecord], visibilities: Visibilities
    ) -> ImportedFiles:
        """Add the files that are missing to a session that is locked."""
        added = unchanged = 0
        skipped: list[str] = []
        for project, group in groupby(files, key=lambda file: file.project_id):
            store = self._store(transaction, session, project, visibilities)
            tree = _Tree(store)
            is_divided = project is not None and self._archived.is_divided(project, visibilities[project])
            for file in group:
                if tree.has_same(file):
                    unchanged += file.content is not None
                    continue
                reason = tree.obstacle(file)
                if reason is None:
                    tree.add(file, own_words_only=is_divided)
                    added += file.content is not None
                else:
                    skipped.append(reason)
        limit = UsageStore(transaction).limits().over(self._limits).files if added else None
        if limit is not None:
            refuse_over("files", count_files(transaction) - added, added, limit)
        return ImportedFiles(added, unchanged, skipped)

    def _store(
        self, transaction: Transaction, session: Session, project: ProjectId | None, visibilities: Visibilities
    ) -> FileStore:
        reach = transaction.reach
        scope = Scope(tenant=reach.tenant, project=project, user=session.user_id)
        if not reach.covers(scope):
            raise Forbidden(
                "This key is confined to a project or bound to a user, and the archive has files of others."
            )
        if project is not None:
            scope = Scope(tenant=reach.tenant, project=project, user=session.user_id, visibility=visibilities[project])
        return FileStore(transaction, session.id, self._pools.ensure(scope.pool))


class _Tree:
    """A tree while files are added to it."""

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._sizes = store.sizes()
        self._bytes = sum(size or 0 for size in self._sizes.values())

    def has_same(self, file: FileRecord) -> bool:
        """Whether there is a file, or a directory, at this path, as in the archive."""
        return file.path in self._sizes and (self._sizes[file.path] is None) == (file.content is None)

    def obstacle(self, file: FileRecord) -> str | None:
        """Why a file cannot be added, if it cannot."""
        if file.path in self._sizes or any(self._sizes.get(above) is not None for above in _above(file.path)):
            return NAME_TAKEN
        size = len((file.content or "").encode())
        if len(self._sizes) >= _TREES * MAX_ENTRIES or self._bytes + size > _TREES * MAX_TREE:
            return TREE_FULL
        return None

    def add(self, file: FileRecord, *, own_words_only: bool) -> None:
        text = file.content
        if text and own_words_only:
            text = own_words(text) or QUOTATION_STAYED
        missing = [Stored(above, None) for above in _above(file.path) if above not in self._sizes]
        for change in (*missing, Stored(file.path, text)):
            self._sizes[change.path] = None if change.text is None else len(change.text.encode())
            self._bytes += self._sizes[change.path] or 0
            self._store.apply([change], file.updated_at)


def _above(path: Path) -> list[Path]:
    """The directories that a path is in, the outermost first."""
    return [path[:depth] for depth in range(1, len(path))]
