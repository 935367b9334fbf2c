"""Wake a worker thread of this process when there is work. A notification without a waiting thread wakes the next that waits."""

import threading
from collections.abc import Callable


class WakeUp:
    """Each notification wakes one thread; pending notifications are merged into one."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._notified = False

    def notify(self) -> None:
        with self._condition:
            self._notified = True
            self._condition.notify()

    def wait(self, unless: Callable[[], bool]) -> None:
        """Wait for a notification, or until `unless()` is true, which is checked again at `wake_all`."""
        with self._condition:
            self._condition.wait_for(lambda: self._notified or unless())
            self._notified = False

    def wake_all(self) -> None:
        with self._condition:
            self._condition.notify_all()
