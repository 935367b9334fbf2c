"""Run one function on another thread while the caller goes on; useful where both release the GIL."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def start_in_thread(work: Callable[[], T]) -> Callable[[], T]:
    """Start `work` on a new thread. The function returned waits for it, and gives its result or raises its error.

    There is no thread pool: after a fork its threads would be missing in the child."""
    done = Future[T]()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - `done.result` raises it in the caller's thread
            done.set_exception(error)

    try:
        threading.Thread(target=run, name="cloister-background", daemon=True).start()
    except RuntimeError:  # no thread can be started: run it here, before the caller goes on
        run()
    return done.result
