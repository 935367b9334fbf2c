"""Waiting for what happens on another thread, or in another process."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(look: Callable[[], T | None], seconds: float = 10) -> T:
    """What `look` finds, as soon as it finds something."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
    return found
