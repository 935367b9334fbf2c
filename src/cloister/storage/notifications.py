"""Notifications between processes that write to the same database.

A notification is a hint, never the truth: that is in the tables. PostgreSQL carries whole events by NOTIFY
(`postgres.notifications`); of an SQLite file a process only learns that another process wrote to it.
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

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        """Queue events for sending, and return at once."""
        ...


class Notifier(Protocol):
    """Receives the events of other processes, or notices that they wrote."""

    @property
    def publisher(self) -> Publisher | None:
        """What sends events to other processes; None where these have to look for changes in the tables."""
        ...

    @property
    def polls(self) -> bool:
        """Whether this process has to look for changes in the tables when `on_missed` is called, since it receives no events."""
        ...

    def subscribe(
        self, on_events: OnEvents, on_missed: Callable[[], None], on_look: Callable[[], None] = lambda: None
    ) -> None:
        """Receive the events of other processes from now on. `on_missed` is called when some may have been missed. `on_look` is
        called about twice a second where events are received: an event that was never sent cannot be missed. Call it once."""
        ...

    def close(self) -> None:
        """Send the events that are queued, and stop."""
        ...


class PollingNotifier:
    """Notices that another process wrote to the database, by polling for something that then changes. Of an SQLite file that is
    `PRAGMA data_version`, which our own writes do not change."""

    publisher = None
    polls = True

    def __init__(self, data_version: Callable[[], object]) -> None:
        self._data_version = data_version
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def subscribe(
        self, on_events: OnEvents, on_missed: Callable[[], None], on_look: Callable[[], None] = lambda: None
    ) -> None:
        del on_events, on_look
        self._thread = threading.Thread(
            target=self._poll, args=(self._data_version(), on_missed), name="cloister-poll", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _poll(self, known: object, on_missed: Callable[[], None]) -> None:
        while not self._stopping.wait(_POLL_SECONDS):
            try:
                version = self._data_version()
                if version != known:
                    on_missed()
            except CloisterError:
                continue  # `known` is unchanged, so the next poll sees the change again
            known = version
