"""Pools and sessions that changed since a version, for the change poller."""

from typing import NamedTuple, cast

from cloister.domain.identifiers import PoolId, ProjectId
from cloister.storage.interface import Transaction


class PoolVersion(NamedTuple):
    """The version of a pool; `removed` is its version when a session last left."""

    project: ProjectId | None
    version: int
    removed: int


class ChangedSession(NamedTuple):
    """A session whose messages, project or user changed."""

    external_id: str
    project: ProjectId | None
    user_id: str | None


class ChangeStore:
    """Reads the versions of the tenant's pools and sessions. A change of a session's title or tags has no version."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def versions(self) -> dict[PoolId, PoolVersion]:
        rows = cast(list[tuple[PoolId, ProjectId | None, int, int]], self._transaction.rows("pool_versions"))
        return {pool: PoolVersion(project, version, removed) for pool, project, version, removed in rows}

    def sessions(self, pool: PoolId, *, since: int, limit: int) -> list[ChangedSession]:
        rows = self._transaction.rows("sessions_changed", pool_id=pool, version=since, limit=limit)
        return [ChangedSession(*cast(tuple[str, ProjectId | None, str | None], row)) for row in rows]
