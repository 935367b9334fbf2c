"""Reads who recalls what, or would after a change, for dry runs (PRF-5)."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.erasure import Readers
from cloister.domain.identifiers import PoolId, ProjectId
from cloister.storage.interface import Row, Transaction

MOST_USERS = 100
"""So many users are named; of all of them there is the number."""


class ReaderStore:
    """Sessions of pools and projects that the caller found. `names_users`: whether the ids of users are read, for an admin."""

    def __init__(self, transaction: Transaction, *, names_users: bool) -> None:
        self._transaction = transaction
        self._names_users = names_users

    def of_pool(self, pool: PoolId) -> Readers:
        """The sessions that recall from a pool."""
        row = self._transaction.row("pool_readers", pool_id=pool)
        users = self._transaction.rows("pool_users", pool_id=pool, limit=MOST_USERS) if self._names_users else None
        return _readers(row, users)

    def of_project(self, project: ProjectId) -> Readers:
        """The sessions of a project."""
        row = self._transaction.row("count_project_sessions", project_id=project)
        named = {"project_id": project, "limit": MOST_USERS}
        return _readers(row, self._transaction.rows("project_users", **named) if self._names_users else None)

    def outside_projects(self, project: ProjectId) -> Readers:
        """The sessions outside all projects that would recall the sessions of this project if it were deleted."""
        row = self._transaction.row("readers_outside_projects", project_id=project)
        named = {"project_id": project, "limit": MOST_USERS}
        return _readers(row, self._transaction.rows("users_outside_projects", **named) if self._names_users else None)


def _readers(row: Row | None, users: Sequence[Row] | None) -> Readers:
    sessions, count = cast(tuple[int, int], row or (0, 0))
    ids = None if users is None else tuple(cast(str, found[0]) for found in users)
    return Readers(sessions=sessions, users=count, user_ids=ids)
