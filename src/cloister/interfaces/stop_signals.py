"""Which signals stop a long-running command."""

import signal
from collections.abc import Sequence


def stop_signals() -> Sequence[signal.Signals]:
    """SIGTERM always. SIGINT unless it is ignored: so a shell starts a command in the background, for Ctrl-C to reach only the one
    in the foreground."""
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return (signal.SIGTERM,) if is_ignored else (signal.SIGINT, signal.SIGTERM)
