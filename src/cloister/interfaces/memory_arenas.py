"""How much freed memory a process keeps: glibc gives threads separate arenas, and each keeps what its thread once needed."""

import ctypes

_M_ARENA_MAX = -8
_ARENAS = 2


def limit_arenas() -> None:
    """Let all threads share two arenas, instead of eight for each processor. Nothing happens where the C library has none. Called
    before threads are started: an arena that exists stays."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_M_ARENA_MAX, _ARENAS)
