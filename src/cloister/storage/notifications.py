"""Notifications between processes that write to the same database.

A notification is a hint, never the truth: that is in the tables. PostgreSQL carries whole events by NOTIFY
(`postgres.notifications`), the processes of an SQLite file send them to each other (`sqlite.notifications`).
"""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from cloister.domain.errors import CloisterError
from cloister.domain.events import Event
from cloister.domain.identifiers import TenantId

OnEvents = Callable[[TenantId, Sequence[Event]], None]
_POLL_SECONDS = 0.5


class Publisher(Protocol):
    """Publishes this process's events to other processes."""

    @property
    def is_wanted(self) -> bool:
        """Whether another process may have subscribers. Asked for every event."""
        ...

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        """Queue events for sending, and return at once."""
        ...


class Notifier(Protocol):
    """Receives the events of other processes, or notices that they wrote."""

    @property
    def publisher(self) -> Publisher:
        """What sends events to other processes."""
        ...

    @property
    def polls(self) -> bool:
        """Whether `on_missed` says that another process wrote, so that changes without an event are looked for in the tables. Where
        it is false, whoever may have missed events has to read again."""
        ...

    def subscribe(
        self, on_events: OnEvents, on_missed: Callable[[], None], on_look: Callable[[], None] = lambda: None
    ) -> None:
        """Receive the events of other processes from now on. `on_missed` is called when some may have been missed. `on_look` is
        called about twice a second otherwise: an event that was never sent cannot be missed. Call it once."""
        ...

    def close(self) -> None:
        """Send the events that are queued, and stop."""
        ...


class PollingNotifier:
    """Notices that another process wrote to the database, by polling for something that then changes. Of an SQLite file that is
    `PRAGMA data_version`, which our own writes do not change. After a change it calls `on_missed` twice: an event that says what
    changed may be on its way at the first time."""

    def __init__(self, data_version: Callable[[], object]) -> None:
        self._data_version = data_version
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def subscribe(
        self, on_events: OnEvents, on_missed: Callable[[], None], on_look: Callable[[], None] = lambda: None
    ) -> None:
        del on_events
        self._thread = threading.Thread(
            target=self._poll, args=(self._data_version(), on_missed, on_look), name="cloister-poll", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _poll(self, known: object, on_missed: Callable[[], None], on_look: Callable[[], None]) -> None:
        has_changed = False
        while not self._stopping.wait(_POLL_SECONDS):
            try:
                version = self._data_version()
                if has_changed or version != known:
                    on_missed()
                else:
                    on_look()
            except CloisterError:
                continue  # `known` is unchanged, so the next poll sees the change again
            has_changed, known = version != known, version
