"""The web server. A shutdown waits for all answers to end, and ends streams first, since these would not end by themselves."""

import asyncio
import resource
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from cloister.interfaces.http.connections import HEAD_SECONDS, LimitedProtocol, Peers, check_timeouts
from cloister.interfaces.stop_signals import stop_signals

_GRACE_SECONDS = 30
_TICKS_OF_A_SECOND = 10
# File descriptors that are not connections of clients: the database, the log, connections to the model.
_OTHER_FILES = 128
_FEWEST_CONNECTIONS = 64


class Server(uvicorn.Server):
    """Uvicorn with the limits of `connections.py`. `connections_per_peer` is how many one address may have open; 0 for no limit.
    `on_started` is called when requests are answered."""

    def __init__(
        self, app: FastAPI, *, connections_per_peer: int = 0, on_started: Callable[[], None] = lambda: None
    ) -> None:
        peers = Peers(each=connections_per_peer, all=_most_connections())
        protocol = cast(type[asyncio.Protocol], partial(LimitedProtocol, peers=peers))
        config = uvicorn.Config(
            app,
            http=protocol,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            # Longer than clients keep an idle connection (5 s in httpx): one that is closed while it is used breaks a request.
            timeout_keep_alive=round(HEAD_SECONDS),
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        super().__init__(config)
        self._on_started = on_started

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        stopping = stop_signals()
        with super().capture_signals():
            if signal.SIGINT not in stopping and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_OF_A_SECOND == 0:
            check_timeouts(cast(Any, self.server_state.connections), asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state = cast(FastAPI, self.config.app).state
        state.subscribers.close()
        cutting = asyncio.create_task(state.turns.close())
        await super().shutdown(sockets)
        await cutting


def raise_file_limit() -> None:
    """Raise the limit of open files to the hard limit: every connection is a file descriptor, and many systems start with 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _most_connections() -> int:
    """How many connections may be open so that descriptors for everything else remain; 0 for no limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 0 if limit == resource.RLIM_INFINITY else max(_FEWEST_CONNECTIONS, limit - _OTHER_FILES)
