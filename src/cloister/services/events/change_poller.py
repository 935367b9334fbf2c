"""Poll the database for changes by other processes, where the database cannot notify (SQLite, and PostgreSQL behind a
pooler)."""

from collections.abc import Mapping

from cloister.domain.events import Event, reset
from cloister.domain.identifiers import PoolId, TenantId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database
from cloister.storage.stores.changes import ChangeStore, PoolVersion

Versions = Mapping[PoolId, PoolVersion]
# If more sessions of one pool have changed, they are published as one reset.
_MOST_EVENTS = 100
_NEVER_SEEN = PoolVersion(None, 0, 0)


class ChangePoller:
    """Compares pool versions, and makes an event for each changed session. If sessions have left a pool, the event is a reset."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def versions(self, tenant: TenantId) -> Versions:
        with self._database.read(Reach(tenant=tenant)) as transaction:
            return ChangeStore(transaction).versions()

    def changes(self, tenant: TenantId, seen: Versions) -> tuple[list[Event], Versions]:
        """The events since these versions, and the present versions."""
        at = self._clock()
        found: list[Event] = []
        with self._database.read(Reach(tenant=tenant)) as transaction:
            changes = ChangeStore(transaction)
            current = changes.versions()
            for pool, now in current.items():
                before = seen.get(pool, _NEVER_SEEN)
                if now.version == before.version:
                    continue
                sessions = changes.sessions(pool, since=before.version, limit=_MOST_EVENTS + 1)
                if now.removed > before.version or len(sessions) > _MOST_EVENTS:
                    found.append(reset(at, project=now.project))
                else:
                    found += (Event("session.changed", name, project, user, at) for name, project, user in sessions)
            found += [reset(at, project=gone.project) for pool, gone in seen.items() if pool not in current]
        return found, current
