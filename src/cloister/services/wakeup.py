"""A bell between those who make work and those who wait for it, in one process. A ring that nobody listened to is heard later."""

import threading
from collections.abc import Callable


class WakeUp:
    """Each ring wakes one listener; rings that nobody has heard yet are one."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._notified = False

    def notify(self) -> None:
        with self._condition:
            self._notified = True
            self._condition.notify()

    def wait(self, unless: Callable[[], bool]) -> None:
        """Until it rings, unless there is a reason not to wait; `wake_all` has all listeners look for it."""
        with self._condition:
            self._condition.wait_for(lambda: self._notified or unless())
            self._notified = False

    def wake_all(self) -> None:
        with self._condition:
            self._condition.notify_all()
