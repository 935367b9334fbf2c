"""The files of an archive: those of its sessions, in all trees that are within the archive's target and the caller's reach."""

from collections.abc import Collection, Iterator
from typing import Any, cast

from cloister.domain.archive.stored_records import FileRecord
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.files.tree import from_stored
from cloister.domain.identifiers import PoolId, ProjectId
from cloister.domain.prompts.recalled_text import QUOTATION_STAYED, own_words
from cloister.storage.interface import Transaction
from cloister.storage.stores.archived_rows import ArchivedSession
from cloister.storage.stores.files.trees import FileStore


class ArchivedFiles:
    """The files of one target. `projects` are those of the archive."""

    def __init__(self, transaction: Transaction, target: ArchiveTarget, projects: Collection[ProjectId]) -> None:
        self._transaction = transaction
        self._target = target
        self._projects = projects

    def of_session(self, session: ArchivedSession) -> Iterator[FileRecord]:
        """The trees of a session, in the order of their projects, each directory before its contents. In the archive of a user what
        a file quotes of a pool with several users is left out: it may be others' words."""
        rows = self._transaction.rows("archive_files", session_id=session.record.id, project_id=self._target.project)
        found = [
            (project or 0, from_stored(path), PoolId(pool), pool_user, is_directory, updated_at)
            for project, path, pool, pool_user, is_directory, updated_at in cast(list[tuple[Any, ...]], rows)
            if project is None or project in self._projects
        ]
        user = session.record.user_id
        for project, path, pool, pool_user, is_directory, updated_at in sorted(found, key=lambda row: row[:2]):
            content = None if is_directory else FileStore(self._transaction, session.record.id, pool).text(path)
            if content and self._target.user is not None and pool_user != user:
                content = own_words(content) or QUOTATION_STAYED
            yield FileRecord(
                project_id=ProjectId(project) if project else None, path=path, content=content, updated_at=updated_at
            )
