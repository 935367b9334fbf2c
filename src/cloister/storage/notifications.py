"""Other processes that write to the same data: what they say, or where they say nothing, that something changed.

What is told here is a courtesy, never the truth: that is in the tables. PostgreSQL carries whole events (`postgres_neighbours`); of
an SQLite file it is only known that somebody else wrote to it.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from cloister.domain.errors import CloisterError
from cloister.domain.events import Event
from cloister.domain.identifiers import TenantId

Heard = Callable[[TenantId, Sequence[Event]], None]
_LOOK_EVERY_SECONDS = 0.5


class Notifier(Protocol):
    @property
    def publishes(self) -> bool:
        """Whether each change is told by the process that made it."""
        ...

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        """Returns at once; it is sent a little later."""
        ...

    def subscribe(self, heard: Heard, missed: Callable[[], None]) -> None:
        """From when this returns, what others do is heard, or it is noticed that something was missed. Once only."""
        ...

    def close(self) -> None:
        """Sends what was told."""
        ...


class SilentNotifier:
    """Processes on one SQLite file: its version is looked at, which no write of our own changes."""

    publishes = False

    def __init__(self, data_version: Callable[[], int]) -> None:
        self._data_version = data_version
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        """The change itself is what others notice."""

    def subscribe(self, heard: Heard, missed: Callable[[], None]) -> None:
        del heard
        self._thread = threading.Thread(
            target=self._keep_looking, args=(self._data_version(), missed), name="cloister-neighbours", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _keep_looking(self, known: int, missed: Callable[[], None]) -> None:
        while not self._stopping.wait(_LOOK_EVERY_SECONDS):
            try:
                version = self._data_version()
                if version != known:
                    missed()
            except CloisterError:
                continue  # the same change is looked at again
            known = version
