"""Look in the tables for changes of other processes that no event told of: where the database cannot notify, and where a process
was killed before it had sent its events."""

from collections.abc import Collection, Mapping, Sequence

from cloister.domain.events import Event, reset
from cloister.domain.identifiers import PoolId, ProjectId, TenantId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database
from cloister.storage.stores.changes import ChangeStore, PoolVersion

Versions = Mapping[PoolId, PoolVersion]
# If more sessions of one pool have changed, they are published as one reset.
_MOST_EVENTS = 100
_NEVER_SEEN = PoolVersion(None, 0, 0)


class _Delivered:
    """What the events of some time told of: sessions, and projects that a session may have left."""

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.projects: set[ProjectId | None] = set()
        self.everything = False

    def note(self, event: Event) -> None:
        if event.kind != "reset":
            self.sessions.add(event.session)
        if event.kind in ("session.changed", "session.deleted", "reset"):
            self.projects.add(event.project)
        if event.moved:
            self.projects.add(event.origin)
        self.everything = self.everything or event.wide

    def add(self, earlier: "_Delivered") -> None:
        self.sessions |= earlier.sessions
        self.projects |= earlier.projects
        self.everything = self.everything or earlier.everything

    def explains(self, event: Event) -> bool:
        return self.everything or (
            event.project in self.projects if event.kind == "reset" else event.session in self.sessions
        )


class TenantChanges:
    """What is known of the changes of one tenant: the versions of its pools at the last look, the events since, and the changes of
    the last look that no event explained. Events may come after the change, so these wait for the next look."""

    def __init__(self) -> None:
        self.versions: Versions | None = None
        self._delivered = _Delivered()
        self._unexplained: Sequence[Event] = ()

    def note(self, events: Sequence[Event]) -> None:
        """Events were delivered, of this process or another."""
        for event in events:
            self._delivered.note(event)

    @property
    def delivered(self) -> bool:
        """Whether there were events since the last look."""
        return bool(self._delivered.sessions or self._delivered.projects or self._delivered.everything)

    def look(self, poller: "ChangePoller", tenant: TenantId) -> list[Event]:
        """The events for changes that were found at the last look, and that no event has explained since."""
        if self.versions is None:
            return []
        # Events that come while the tables are read may be of changes that are found at the next look.
        delivered, self._delivered = self._delivered, _Delivered()
        waiting = [event for event in self._unexplained if not delivered.explains(event)]
        try:
            found, self.versions = poller.changes(tenant, self.versions, delivered.sessions)
        except BaseException:  # raised again: the next look begins where this one did
            self._delivered.add(delivered)
            raise
        self._unexplained = [event for event in found if not delivered.explains(event)]
        reset_projects = {event.project for event in waiting if event.kind == "reset"}
        return [event for event in waiting if event.kind == "reset" or event.project not in reset_projects]


class ChangePoller:
    """Compares pool versions, and makes an event for each changed session. If sessions have left a pool, the event is a reset."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def versions(self, tenant: TenantId) -> Versions:
        with self._database.read(Reach(tenant=tenant)) as transaction:
            return ChangeStore(transaction).versions()

    def changes(self, tenant: TenantId, seen: Versions, known: Collection[str]) -> tuple[list[Event], Versions]:
        """The events since these versions, but for sessions that are `known` to have changed, and the present versions."""
        at = self._clock()
        found: list[Event] = []
        with self._database.read(Reach(tenant=tenant)) as transaction:
            changes = ChangeStore(transaction)
            current = changes.versions()
            for pool, now in current.items():
                before = seen.get(pool, _NEVER_SEEN)
                if now.version == before.version:
                    continue
                if now.removed > before.version:
                    found.append(reset(at, project=now.project))
                limit = _MOST_EVENTS + len(known) + 1
                sessions = changes.sessions(pool, since=before.version, limit=limit)
                unknown = [each for each in sessions if each.external_id not in known]
                if len(unknown) > _MOST_EVENTS:
                    found.append(reset(at, project=now.project))
                else:
                    found += (Event("session.changed", name, project, user, at) for name, project, user in unknown)
            found += [reset(at, project=gone.project) for pool, gone in seen.items() if pool not in current]
        return found, current
