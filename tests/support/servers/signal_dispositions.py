"""Signals of processes that tests start. A child inherits what its parent ignores, and a suite that runs in the background ignores
SIGINT: what a test sends must arrive whoever started the tests."""

import signal
from collections.abc import Callable, Iterable

_SENT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def dispositions(*, ignored: Iterable[signal.Signals] = ()) -> Callable[[], None]:
    """To be called in the child before it becomes another program: the usual dispositions, but for what is to be ignored."""
    wanted = {sent: signal.SIG_IGN if sent in tuple(ignored) else signal.SIG_DFL for sent in _SENT}

    def set_them() -> None:
        for sent, disposition in wanted.items():
            signal.signal(sent, disposition)

    return set_them
