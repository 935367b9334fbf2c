"""Which signals stop a long-running command."""

import signal
from collections.abc import Sequence


def stop_signals() -> Sequence[signal.Signals]:
    """SIGTERM, and SIGINT unless it is ignored: a shell ignores SIGINT for commands in the background, so that Ctrl-C stops only
    the one in the foreground."""
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return (signal.SIGTERM,) if is_ignored else (signal.SIGINT, signal.SIGTERM)
