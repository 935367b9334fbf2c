"""Events: what happened in a tenant, told to whoever reads along, in this process and, where the database can carry it, in others.

Told after the commit, in ids and names. Where nobody reads, nothing is kept. Of a tenant with readers the last events are kept,
once for all of them: a reader is a place in that row, not a queue, and one that fell too far behind is told to look again. A place
goes out as an id that says nothing to anybody: numbers would tell a confined reader how much happens where it may not look.
"""

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from hashlib import blake2b
from hmac import compare_digest
from itertools import count, islice
from typing import NamedTuple

from cloister.domain.conversation import Message, Session, Status
from cloister.domain.events import Event, of_messages, of_move, of_session, reset, told
from cloister.domain.identifiers import ProjectId, TenantId
from cloister.domain.patterns import anchored
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.events.change_poller import ChangePoller, Versions
from cloister.storage.interface import Database

KEPT = 1_024
_KEPT_SECONDS = 300.0
# A change of more sessions at once is told as one reset.
MOST_AT_ONCE = 100
_MOST_READ = 64
_ID = anchored(r"[0-9a-f]{48}")
# Rows of different times never share a place.
_ROW_LENGTH = 1 << 40
_NOWHERE = -1

News = Callable[[TenantId], None]


class Delivery(NamedTuple):
    """What a reader gets. `id` is the place behind it; `event` is none where the reader missed some, and has to look again."""

    id: str
    event: Event | None


class _Row:
    """The last events of one tenant. Places count up; `end` is the place behind the last."""

    def __init__(self, begin: int) -> None:
        self.end = begin
        self.readers = 0
        self.left_at = 0.0
        self.seen: Versions | None = None
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def add(self, events: Sequence[Event]) -> None:
        with self._lock:
            self._events.extend(events)
            self.end += len(events)

    def since(self, place: int, most: int) -> list[Event] | None:
        """What came behind the place; none where some of it is no longer here."""
        with self._lock:
            new = self.end - place
            if not 0 <= new <= len(self._events):
                return None
            first = len(self._events) - new
            return list(islice(self._events, first, first + most))

    @property
    def is_forgotten(self) -> bool:
        return not self.readers and time.monotonic() - self.left_at > _KEPT_SECONDS


class EventBus:
    """Safe to use from any thread. Telling takes no longer than a look into a table, and with readers a few steps more."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._notifier = database.notifier
        self._change_poller = ChangePoller(database, clock)
        self._clock = clock
        self._rows: dict[TenantId, _Row] = {}
        self._begins = count(_ROW_LENGTH, _ROW_LENGTH)
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._listening = False
        self._news: list[News] = []
        self._on_change: list[News] = []

    def created(self, session: Session) -> None:
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("session.created", session, self._clock())])

    def changed(self, session: Session) -> None:
        self._note_change(session.tenant)
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("session.changed", session, self._clock())])

    def all_changed(self, sessions: Sequence[Session]) -> None:
        """Sessions of one tenant. More than `MOST_AT_ONCE` are not named: subscribers of their projects look again."""
        if not sessions:
            return
        tenant, at = sessions[0].tenant, self._clock()
        self._note_change(tenant)
        if self._is_wanted(tenant):
            if len(sessions) <= MOST_AT_ONCE:
                events = [of_session("session.changed", session, at) for session in sessions]
            else:
                events = [reset(at, project=project) for project in {session.project for session in sessions}]
            self._publish(tenant, events)

    def moved(self, sessions: Sequence[Session], project: ProjectId | None) -> None:
        """Sessions of one project, as they were before, that are now in this one."""
        if sessions:
            self._note_change(sessions[0].tenant)
        if not sessions or not self._is_wanted(sessions[0].tenant):
            return
        at = self._clock()
        if len(sessions) <= MOST_AT_ONCE:
            events = [of_move(session, project, at) for session in sessions]
        else:
            events = [reset(at, project=each) for each in (sessions[0].project, project)]
        self._publish(sessions[0].tenant, events)

    def regrouped(self, tenant: TenantId, project: ProjectId) -> None:
        """Sessions of a project recall others than before: whoever reads along has to look again."""
        self._note_change(tenant)
        if self._is_wanted(tenant):
            self._publish(tenant, [reset(self._clock(), project=project)])

    def deleted(self, session: Session) -> None:
        self._note_change(session.tenant)
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("session.deleted", session, self._clock())])

    def erased(self, tenant: TenantId, sessions: Sequence[Session], projects: Collection[ProjectId | None]) -> None:
        """Sessions of one user, in these projects, are gone. More than `MOST_AT_ONCE` need not all be named."""
        self._note_change(tenant)
        if not sessions or not self._is_wanted(tenant):
            return
        at = self._clock()
        if len(sessions) <= MOST_AT_ONCE:
            events = [of_session("session.deleted", session, at) for session in sessions]
        else:
            events = [reset(at, project=project) for project in projects]
        self._publish(tenant, events)

    def tenant_erased(self, tenant: TenantId) -> None:
        """Whoever reads along looks again, and finds that its key is not valid any more."""
        self._note_change(tenant)
        if self._is_wanted(tenant):
            self._publish(tenant, [reset(self._clock(), wide=True)])

    def added(self, session: Session, messages: Sequence[Message]) -> None:
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_messages(session, messages, self._clock())])

    def turn_started(self, session: Session) -> None:
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("turn.started", session, self._clock())])

    def turn_finished(self, session: Session, status: Status) -> None:
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("turn.finished", session, self._clock())._replace(status=status)])

    def on_news(self, call: News) -> Callable[[], None]:
        """Whenever a tenant with readers has news: called on the thread that tells, so it must only pass it on. Gives its end."""
        self._news = [*self._news, call]

        def end() -> None:
            self._news = [each for each in self._news if each is not call]

        return end

    def on_change(self, call: News) -> Callable[[], None]:
        """Whenever this process moves, regroups, empties or deletes sessions of a tenant, with readers or without: called on the
        thread that did it, so it must only pass it on. Gives its end."""
        self._on_change = [*self._on_change, call]

        def end() -> None:
            self._on_change = [each for each in self._on_change if each is not call]

        return end

    def _note_change(self, tenant: TenantId) -> None:
        for call in self._on_change:
            call(tenant)

    def read_along(self, reach: Reach, *, user: str | None = None, behind: str | None = None) -> "Reader":
        """From now on, or from behind the event of this id. What happens from when this returns is told."""
        reach.user_of(user)
        row = self._join(reach.tenant)
        place = row.end if behind is None else self._opened(reach.tenant, behind)
        return Reader(self, row, reach, user, _NOWHERE if place is None else place)

    def leave(self, row: _Row) -> None:
        with self._lock:
            row.readers -= 1
            row.left_at = time.monotonic()

    def sealed(self, tenant: TenantId, place: int) -> str:
        """A place as an id: no two are alike, none tells anything, and none can be made up."""
        nonce = secrets.token_bytes(8)
        veiled = place ^ int.from_bytes(self._digest(b"veil", nonce), "big")
        body = nonce + veiled.to_bytes(8, "big")
        return (body + self._digest(b"mark", body + b"%d" % tenant)).hex()

    def _opened(self, tenant: TenantId, given: str) -> int | None:
        """None for what was not given to this tenant by this process."""
        if not _ID.fullmatch(given):
            return None
        whole = bytes.fromhex(given)
        body, mark = whole[:16], whole[16:]
        if not compare_digest(mark, self._digest(b"mark", body + b"%d" % tenant)):
            return None
        return int.from_bytes(body[8:], "big") ^ int.from_bytes(self._digest(b"veil", body[:8]), "big")

    def _digest(self, purpose: bytes, data: bytes) -> bytes:
        return blake2b(data, key=self._secret, person=purpose, digest_size=8).digest()

    def _is_wanted(self, tenant: TenantId) -> bool:
        return self._notifier.publishes or tenant in self._rows

    def _publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        self._keep(tenant, events)
        self._notifier.publish(tenant, events)

    def _keep(self, tenant: TenantId, events: Sequence[Event]) -> None:
        row = self._rows.get(tenant)
        if row is None:
            return
        if row.is_forgotten:
            self._drop_forgotten()
        row.add(events)
        for call in self._news:
            call(tenant)

    def _join(self, tenant: TenantId) -> _Row:
        self._listen()
        self._drop_forgotten()
        with self._lock:
            row = self._rows.get(tenant)
            if row is None:
                row = self._rows[tenant] = _Row(next(self._begins))
            row.readers += 1
        try:
            self._see(tenant, row)
        except BaseException:
            self.leave(row)
            raise
        return row

    def _listen(self) -> None:
        with self._looking:
            if not self._listening:
                self._notifier.subscribe(self._keep, self._missed)
                self._listening = True

    def _see(self, tenant: TenantId, row: _Row) -> None:
        """What is there now need not be told later."""
        if self._notifier.publishes or row.seen is not None:
            return
        with self._looking:
            if row.seen is None:
                row.seen = self._change_poller.versions(tenant)

    def _missed(self) -> None:
        with self._lock:
            rows = list(self._rows.items())
        for tenant, row in rows:
            if self._notifier.publishes:
                self._keep(tenant, [reset(self._clock(), wide=True)])
                continue
            with self._looking:
                if row.seen is None:
                    continue
                events, row.seen = self._change_poller.changes(tenant, row.seen)
            if events:
                self._keep(tenant, events)

    def _drop_forgotten(self) -> None:
        with self._lock:
            for tenant in [tenant for tenant, row in self._rows.items() if row.is_forgotten]:
                del self._rows[tenant]


class Reader:
    """One who reads along: a place in the row of a tenant, and what may be seen from there."""

    def __init__(self, bus: EventBus, row: _Row, reach: Reach, user: str | None, place: int) -> None:
        self._bus = bus
        self._row = row
        self._reach = reach
        self._user = user
        self._place = place

    @property
    def id(self) -> str:
        """The place of now: what was told so far is behind it."""
        return self._bus.sealed(self._reach.tenant, self._place)

    @property
    def has_news(self) -> bool:
        return self._place != self._row.end

    def read(self) -> list[Delivery]:
        """What is new and may be known here, not too much at once."""
        events = self._row.since(self._place, _MOST_READ)
        if events is None:
            self._place = self._row.end
            return [Delivery(self.id, None)]
        seen: list[Delivery] = []
        for event in events:
            self._place += 1
            if (visible := told(event, self._reach, self._user)) is not None:
                seen.append(Delivery(self.id, visible))
        return seen

    def close(self) -> None:
        self._bus.leave(self._row)
