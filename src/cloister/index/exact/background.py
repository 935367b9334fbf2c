"""Two things at once, where both spend their time outside the interpreter's lock."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def beside(work: Callable[[], T]) -> Callable[[], T]:
    """Begin it on a thread of its own. What comes back waits for its end, and gives its result or raises its error.

    No pool of threads is kept: one would be dead in a forked process."""
    done = Future[T]()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            done.set_exception(error)

    try:
        threading.Thread(target=run, name="cloister-beside", daemon=True).start()
    except RuntimeError:  # no thread is to be had: then one after the other
        run()
    return done.result
