"""The trees of files that were stored in one project, to be moved to other pools when the project is deleted or changes its
visibility. No file is lost or overwritten."""

from itertools import count
from typing import NamedTuple, cast

from cloister.domain.files.tree import Path, Removed, Stored
from cloister.domain.identifiers import PoolId, ProjectId, SessionId, format_project_id
from cloister.storage.interface import Transaction
from cloister.storage.stores.files.trees import FileStore


class FileSession(NamedTuple):
    """A session with files in the project, and its user. It may be in another project now."""

    id: SessionId
    user: str | None


class ProjectTrees:
    """The trees of all sessions in the pools of one project. Transactions of a narrower reach are refused."""

    def __init__(self, transaction: Transaction, project: ProjectId) -> None:
        if transaction.reach.user is not None or transaction.reach.confined_to not in (None, project):
            raise ValueError("files outside the transaction's reach")
        self._transaction = transaction
        self._project = project

    def count(self) -> int:
        """How many files were stored in the project. Directories are not counted."""
        return cast(int, self._transaction.rows("count_files_of_project", project_id=self._project)[0][0])

    def lock_sessions(self) -> list[FileSession]:
        """Lock the sessions with files in the project, in id order to avoid deadlock."""
        rows = self._transaction.rows("lock_file_sessions", project_id=self._project)
        return [FileSession(SessionId(session), user) for session, user in cast(list[tuple[int, str | None]], rows)]

    def move(self, session: SessionId, target: PoolId, *, with_quotations: bool, now: int) -> None:
        """Move the trees of a session to one pool. If a path is taken there, the whole tree goes into a directory with the id of
        the project. Without `with_quotations` recalled text that a file quotes does not go along (ISO-12)."""
        rows = self._transaction.rows("file_pools", session_id=session, project_id=self._project)
        for pool in [PoolId(cast(int, row[0])) for row in rows]:
            source = FileStore(self._transaction, session, pool)
            if not with_quotations:
                source.remove_quotations()
            if pool != target:
                self._merge(source, FileStore(self._transaction, session, target), now)

    def _merge(self, source: FileStore, target: FileStore, now: int) -> None:
        moved, there = source.sizes(), target.sizes()
        common = moved.keys() & there.keys()
        directory = ""
        if any(moved[path] is not None or there[path] is not None for path in common):
            directory = self._free_name(there)
            target.apply([Stored((directory,), None)], now)
        else:
            source.apply([Removed(path) for path in sorted(common)], now)
        source.move_to(target, directory)

    def _free_name(self, there: dict[Path, int | None]) -> str:
        name = format_project_id(self._project)
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        return next(each for each in names if (each,) not in there)
