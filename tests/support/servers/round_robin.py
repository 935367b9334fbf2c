"""A proxy without stickiness: each request goes to the next of several servers, and no connection is used twice."""

import asyncio
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import count
from urllib.parse import urlsplit

_LARGEST_HEAD = 1 << 16


class _Proxy:
    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._next = count()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = await reader.readuntil(b"\r\n\r\n")
            lines = [line for line in head[:-4].split(b"\r\n") if not line.lower().startswith(b"connection:")]
            upstream = await self._open()
            upstream[1].write(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
            ways = (asyncio.create_task(_copy(reader, upstream[1])), asyncio.create_task(_copy(upstream[0], writer)))
            try:
                # Whichever side ends first, the other has nothing more to say.
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                upstream[1].close()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the next server that can be reached."""
        for _ in self._addresses[1:]:
            with suppress(OSError):
                return await self._open_next()
        return await self._open_next()

    async def _open_next(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        parts = urlsplit(self._addresses[next(self._next) % len(self._addresses)])
        return await asyncio.open_connection(parts.hostname or "", parts.port or 80)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()


async def _end(server: asyncio.Server) -> None:
    server.close()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.05)  # transports close in a later round of the loop


@contextmanager
def round_robin(addresses: Sequence[str]) -> Generator[str]:
    """The address of a proxy before these servers, on a thread of this process. They may be replaced in the list meanwhile."""
    loop = asyncio.new_event_loop()
    proxy = _Proxy(addresses)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    # Not run here: Playwright has a running loop on the thread of the tests.
    starting = asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=_LARGEST_HEAD)
    server = asyncio.run_coroutine_threadsafe(starting, loop).result(10)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
