"""Sends the events of this process to others in batches, on a thread of its own, so that no write waits for it."""

import logging
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from cloister.domain.events import Event
from cloister.domain.identifiers import TenantId
from cloister.storage.event_payloads import TenantEvents

LOGGER = logging.getLogger("cloister.events")
_BATCH_SECONDS = 0.02
_WAIT_SECONDS = 5.0


class EventSender:
    """Collects events for 20 ms, and gives them to `send`. If that raises, the batch is lost, and the next one is sent. The thread
    starts with the first event."""

    def __init__(self, name: str, send: Callable[[Sequence[TenantEvents]], None]) -> None:
        self._name = name
        self._send = send
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._queue: SimpleQueue[TenantEvents | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def publish(self, tenant: TenantId, events: Sequence[Event]) -> None:
        self._queue.put((tenant, events))
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._stopping.is_set():
                    self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Send the events that are queued, and stop."""
        with self._lock:
            self._stopping.set()
            self._queue.put(None)
        if self._thread is not None:
            self._thread.join(_WAIT_SECONDS)

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            self._stopping.wait(_BATCH_SECONDS)
            batch, is_last = self._batch(first)
            try:
                self._send(batch)
            except Exception as error:  # noqa: BLE001 - logged; without this thread no event would be sent any more
                LOGGER.warning("events were not sent", extra={"fields": {"problem": str(error)}})
            if is_last:
                return

    def _batch(self, first: TenantEvents) -> tuple[list[TenantEvents], bool]:
        """All that is queued, and whether the sender was closed behind it."""
        batch = [first]
        while True:
            try:
                following = self._queue.get_nowait()
            except Empty:
                return batch, False
            if following is None:
                return batch, True
            batch.append(following)
