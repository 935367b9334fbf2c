"""Processor time, for tests that run on busy machines: what others do meanwhile is not counted."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LONGEST_HOLD = 0.1
"""Seconds of processor time."""


def longest_hold(use: Callable[[T], object], given: T) -> float:
    """How much this process worked, at most, between two moments at which another of its threads could run."""
    ended = threading.Event()
    longest = 0.0

    def look() -> None:
        nonlocal longest
        last = time.process_time()
        while not ended.is_set():
            time.sleep(0.0005)
            now = time.process_time()
            longest, last = max(longest, now - last), now

    looking = threading.Thread(target=look)
    looking.start()
    try:
        use(given)
    finally:
        ended.set()
        looking.join()
    return longest
