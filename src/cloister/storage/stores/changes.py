"""What changed since a moment, inside one transaction's reach: read from the versions that pools keep anyway."""

from typing import NamedTuple, cast

from cloister.domain.identifiers import PoolId, ProjectId
from cloister.storage.interface import Transaction


class PoolVersion(NamedTuple):
    """`removed` is the version at which a session last left."""

    project: ProjectId | None
    version: int
    removed: int


class ChangedSession(NamedTuple):
    external_id: str
    project: ProjectId | None
    user_id: str | None


class ChangeStore:
    """The tenant's pools and sessions, by when they changed. The words about a session, its title and tags, have no version."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def versions(self) -> dict[PoolId, PoolVersion]:
        rows = cast(list[tuple[PoolId, ProjectId | None, int, int]], self._transaction.rows("pool_versions"))
        return {pool: PoolVersion(project, version, removed) for pool, project, version, removed in rows}

    def sessions(self, pool: PoolId, *, since: int, limit: int) -> list[ChangedSession]:
        rows = self._transaction.rows("sessions_changed", pool_id=pool, version=since, limit=limit)
        return [ChangedSession(*cast(tuple[str, ProjectId | None, str | None], row)) for row in rows]
