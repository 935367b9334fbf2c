"""The event bus: events of a tenant, published to subscribers in this process and, if the database can notify, in others.

Events are published after the commit, and have ids and names but no content. Each tenant with subscribers has one ring buffer; a
subscription is an offset into it. One whose offset was overwritten gets `reset`. Offsets are encrypted into event ids: plain
numbers would show a confined subscriber how much happens outside its reach.
"""

import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from hashlib import blake2b
from hmac import compare_digest
from itertools import count, islice
from typing import NamedTuple

from cloister.domain.conversation import Message, Session, Status
from cloister.domain.errors import CloisterError
from cloister.domain.events import Event, of_messages, of_move, of_session, reset, visible_to
from cloister.domain.identifiers import ProjectId, TenantId
from cloister.domain.patterns import anchored
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock
from cloister.services.events.change_poller import ChangePoller, TenantChanges
from cloister.services.processes import Processes, Seen
from cloister.storage.interface import Database

BUFFER_SIZE = 1_024
# How long the buffer of a tenant without subscribers is kept, for those that reconnect.
_UNUSED_SECONDS = 300.0
# A change of more sessions at once is published as one reset.
MOST_AT_ONCE = 100
_MOST_READ = 64
_ID = anchored(r"[0-9a-f]{48}")
# Each new buffer starts at another multiple, so that an offset into a dropped buffer is never valid in a later one.
_OFFSETS_PER_BUFFER = 1 << 40
_INVALID_OFFSET = -1

Listener = Callable[[TenantId], None]


class Delivery(NamedTuple):
    """An event for a subscriber. `id` is the offset after it; `event` is None if the subscriber missed some, and has to read
    again."""

    id: str
    event: Event | None


class _RingBuffer:
    """The last events of one tenant. Offsets only increase; `end` is the offset after the last event."""

    def __init__(self, begin: int) -> None:
        self.end = begin
        self.subscribers = 0
        self.unused_since = 0.0
        self.changes = TenantChanges()
        self._events: deque[Event] = deque(maxlen=BUFFER_SIZE)
        self._lock = threading.Lock()

    def add(self, events: Sequence[Event]) -> None:
        with self._lock:
            self._events.extend(events)
            self.end += len(events)

    def since(self, offset: int, most: int) -> list[Event] | None:
        """The events from this offset on; None if some of them were overwritten."""
        with self._lock:
            new = self.end - offset
            if not 0 <= new <= len(self._events):
                return None
            first = len(self._events) - new
            return list(islice(self._events, first, first + most))

    @property
    def is_expired(self) -> bool:
        return not self.subscribers and time.monotonic() - self.unused_since > _UNUSED_SECONDS


class EventBus:
    """Thread-safe. Publishing costs a dictionary lookup, and with subscribers an append to the buffer."""

    def __init__(self, database: Database, clock: Clock, processes: Processes) -> None:
        self._processes = processes
        self._seen = Seen()
        self._notifier = database.notifier
        self._publisher = database.notifier.publisher
        self._polls = database.notifier.polls
        self._change_poller = ChangePoller(database, clock)
        self._clock = clock
        self._buffers: dict[TenantId, _RingBuffer] = {}
        self._first_offsets = count(_OFFSETS_PER_BUFFER, _OFFSETS_PER_BUFFER)
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._polling = threading.Lock()
        self._is_subscribed = False
        self._publish_listeners: list[Listener] = []
        self._change_listeners: list[Listener] = []

    def created(self, session: Session) -> None:
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("session.created", session, self._clock())])

    def changed(self, session: Session) -> None:
        self._note_change(session.tenant)
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("session.changed", session, self._clock())])

    def all_changed(self, sessions: Sequence[Session]) -> None:
        """Sessions of one tenant. If there are more than `MOST_AT_ONCE`, each of their projects gets one reset instead."""
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
        """Sessions of one project, as they were before the move, that are now in `project`."""
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
        """The pools of a project have changed: subscribers have to read again."""
        self._note_change(tenant)
        if self._is_wanted(tenant):
            self._publish(tenant, [reset(self._clock(), project=project)])

    def deleted(self, session: Session) -> None:
        self._note_change(session.tenant)
        if self._is_wanted(session.tenant):
            self._publish(session.tenant, [of_session("session.deleted", session, self._clock())])

    def erased(self, tenant: TenantId, sessions: Sequence[Session], projects: Collection[ProjectId | None]) -> None:
        """Sessions of one user, in these projects, were erased. If there are more than `MOST_AT_ONCE`, not all need be given."""
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
        """Subscribers get a reset, and then find that their key is no longer valid."""
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

    def on_publish(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` when an event of a tenant with subscribers is published; returns a function that ends this. It is called
        on the publishing thread, so it must return at once."""
        self._publish_listeners = [*self._publish_listeners, listener]

        def end() -> None:
            self._publish_listeners = [each for each in self._publish_listeners if each is not listener]

        return end

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` when this process moves, regroups, empties or deletes sessions of a tenant, with subscribers or without;
        returns a function that ends this. It is called on the changing thread, so it must return at once."""
        self._change_listeners = [*self._change_listeners, listener]

        def end() -> None:
            self._change_listeners = [each for each in self._change_listeners if each is not listener]

        return end

    def _note_change(self, tenant: TenantId) -> None:
        for listener in self._change_listeners:
            listener(tenant)

    def subscribe(self, reach: Reach, *, user: str | None = None, after: str | None = None) -> "Subscription":
        """Subscribe to events from now on, or after the event with this id. Every event that occurs after the return is
        delivered."""
        reach.user_of(user)
        buffer = self._join(reach.tenant)
        offset = buffer.end if after is None else self._decode_offset(reach.tenant, after)
        return Subscription(self, buffer, reach, user, offset)

    def unsubscribe(self, buffer: _RingBuffer) -> None:
        with self._lock:
            buffer.subscribers -= 1
            buffer.unused_since = time.monotonic()

    def id_after(self, reach: Reach, user: str | None, offset: int) -> str:
        """The id of the event before this offset, for all subscribers that see it with this reach and user. It is always the same:
        if it depended on who reads it when, two subscribers could tell from equal ids whether they missed the same events."""
        seen_by = repr((reach.tenant, reach.confined_to, reach.user, user, offset)).encode()
        return self.encode_offset(reach.tenant, offset, self._digest(b"seen", seen_by))

    def encode_offset(self, tenant: TenantId, offset: int, nonce: bytes | None = None) -> str:
        """An offset as an event id: encrypted with a nonce (a new one if none is given), and authenticated: it can be neither
        read nor forged."""
        nonce = secrets.token_bytes(8) if nonce is None else nonce
        encrypted = offset ^ int.from_bytes(self._digest(b"veil", nonce), "big")
        body = nonce + encrypted.to_bytes(8, "big")
        return (body + self._digest(b"mark", body + b"%d" % tenant)).hex()

    def _decode_offset(self, tenant: TenantId, given: str) -> int:
        """An invalid offset for an id that this process did not give to this tenant."""
        if not _ID.fullmatch(given):
            return _INVALID_OFFSET
        decoded = bytes.fromhex(given)
        body, mark = decoded[:16], decoded[16:]
        if not compare_digest(mark, self._digest(b"mark", body + b"%d" % tenant)):
            return _INVALID_OFFSET
        return int.from_bytes(body[8:], "big") ^ int.from_bytes(self._digest(b"veil", body[:8]), "big")

    def _digest(self, purpose: bytes, data: bytes) -> bytes:
        return blake2b(data, key=self._secret, person=purpose, digest_size=8).digest()

    def _is_wanted(self, tenant: TenantId) -> bool:
        return tenant in self._buffers or self._publisher.is_wanted

    def _publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        self._deliver(tenant, events)
        if self._publisher.is_wanted:
            self._publisher.publish(tenant, events)

    def _deliver(self, tenant: TenantId, events: Sequence[Event]) -> None:
        """To the subscribers in this process."""
        buffer = self._buffers.get(tenant)
        if buffer is None:
            return
        if buffer.is_expired:
            self._drop_expired()
        buffer.changes.note(events)
        self._add(tenant, buffer, events)

    def _add(self, tenant: TenantId, buffer: _RingBuffer, events: Sequence[Event]) -> None:
        buffer.add(events)
        for listener in self._publish_listeners:
            listener(tenant)

    def _join(self, tenant: TenantId) -> _RingBuffer:
        self._subscribe_to_notifier()
        self._drop_expired()
        with self._lock:
            buffer = self._buffers.get(tenant)
            if buffer is None:
                buffer = self._buffers[tenant] = _RingBuffer(next(self._first_offsets))
            buffer.subscribers += 1
        try:
            self._read_versions(tenant, buffer)
        except BaseException:  # the subscriber was counted, and will not come to unsubscribe
            self.unsubscribe(buffer)
            raise
        return buffer

    def _subscribe_to_notifier(self) -> None:
        with self._polling:
            if not self._is_subscribed:
                if not self._polls:
                    self._look_for_ended()
                look = self._look_on if self._polls else self._look_for_ended
                self._notifier.subscribe(self._deliver, self._catch_up, look)
                self._is_subscribed = True

    def _look_for_ended(self) -> None:
        """Reset all subscribers if another process has ended: if it was killed, its last events were not sent."""
        try:
            has_ended, self._seen = self._processes.ended_since(self._seen)
        except CloisterError:
            return  # the next look sees it, unless the database was closed
        if has_ended:
            self._catch_up()

    def _read_versions(self, tenant: TenantId, buffer: _RingBuffer) -> None:
        """Where changes are polled, remember the present state, so that only later changes are published."""
        if not self._polls or buffer.changes.versions is not None:
            return
        with self._polling:
            if buffer.changes.versions is None:
                buffer.changes.versions = self._change_poller.versions(tenant)

    def _catch_up(self) -> None:
        """Other processes may have published events that did not arrive here: poll for changes, or reset all subscribers."""
        with self._lock:
            buffers = list(self._buffers.items())
        for tenant, buffer in buffers:
            if not self._polls:
                self._deliver(tenant, [reset(self._clock(), wide=True)])
                continue
            self._look_for_changes(tenant, buffer)

    def _look_on(self) -> None:
        """Look at the tables of tenants with events, although no other process wrote since the last look: an event explains a
        change that was made before it, and none that is made later."""
        with self._lock:
            buffers = [(own, buffer) for own, buffer in self._buffers.items() if buffer.changes.delivered]
        for tenant, buffer in buffers:
            self._look_for_changes(tenant, buffer)

    def _look_for_changes(self, tenant: TenantId, buffer: _RingBuffer) -> None:
        with self._polling:
            events = buffer.changes.look(self._change_poller, tenant)
        if events:
            self._add(tenant, buffer, events)

    def _drop_expired(self) -> None:
        with self._lock:
            for tenant in [tenant for tenant, buffer in self._buffers.items() if buffer.is_expired]:
                del self._buffers[tenant]


class Subscription:
    """A subscriber's offset into the ring buffer of a tenant. It delivers the events within the subscriber's reach."""

    def __init__(self, bus: EventBus, buffer: _RingBuffer, reach: Reach, user: str | None, offset: int) -> None:
        self._bus = bus
        self._buffer = buffer
        self._reach = reach
        self._user = user
        self._offset = offset

    @property
    def offset(self) -> int:
        return self._offset

    @property
    def position(self) -> Hashable:
        """All that decides what is read next. Offsets of two buffers never meet, and reach and user say what is visible."""
        return self._reach, self._user, self._offset

    def skip_to(self, offset: int) -> None:
        """Go on behind events that were delivered to a subscription with the same position."""
        self._offset = offset

    @property
    def id(self) -> str:
        """The current offset as an event id: all events before it were delivered."""
        return self._bus.encode_offset(self._reach.tenant, self._offset)

    @property
    def has_events(self) -> bool:
        return self._offset != self._buffer.end

    def read(self) -> list[Delivery]:
        """The next events that the subscriber may see, at most `_MOST_READ` at once."""
        events = self._buffer.since(self._offset, _MOST_READ)
        if events is None:
            self._offset = self._buffer.end
            return [Delivery(self.id, None)]
        deliveries: list[Delivery] = []
        for event in events:
            self._offset += 1
            if (visible := visible_to(event, self._reach, self._user)) is not None:
                deliveries.append(Delivery(self._bus.id_after(self._reach, self._user, self._offset), visible))
        return deliveries

    def close(self) -> None:
        self._bus.unsubscribe(self._buffer)
