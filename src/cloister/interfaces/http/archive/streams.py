"""Archives as streams: lines that are sent while they are read, and lines that are stored while they arrive."""

import asyncio
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import ExitStack

import anyio.from_thread
from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.archive.lines import split_lines
from cloister.domain.errors import AccessEnded
from cloister.interfaces.http.dispatch.access_recheck import StreamGuard

MEDIA_TYPE = "application/x-ndjson"
SLOW_SECONDS = 30.0
"""A client that takes longer to read what it was sent is disconnected: an export keeps a snapshot of the database open."""
_CHUNK = 65_536
_LINES_BETWEEN_CHECKS = 100


class ArchiveStream(Response):
    """The lines of an archive. If the caller may no longer read it, or anything fails, the stream breaks off: without its last
    line an archive is recognised as cut off."""

    media_type = MEDIA_TYPE

    def __init__(self, lines: Iterator[bytes], guard: StreamGuard, limit: ExitStack, filename: str) -> None:
        super().__init__(headers={"Content-Disposition": f'attachment; filename="{filename}"'})
        del self.headers["content-length"]
        self._chunks = _chunks(lines)
        self._guard = guard
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._guard:
                await self._send(send)
        except TimeoutError:
            return  # the response is left incomplete, so the server closes the connection
        finally:
            await self._release()

    async def _release(self) -> None:
        """End the snapshot, and let the next export of the tenant begin. Calling it again does nothing."""
        await run_in_threadpool(self._chunks.close)
        self._limit.close()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while (chunk := await run_in_threadpool(next, self._chunks, None)) is not None:
            if not await self._guard.admits():
                return
            async with asyncio.timeout(SLOW_SECONDS):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        # Before the end: a client that has read all may export again at once.
        await self._release()
        await send({"type": "http.response.body", "body": b""})


def _chunks(lines: Iterator[bytes]) -> Generator[bytes]:
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def received_lines(request: Request, guard: StreamGuard) -> Iterator[bytes]:
    """The lines of a request's body, while it arrives; for a handler, which runs on a thread. Raises if the caller may no longer
    write what arrives."""
    return split_lines(received_chunks(request, guard))


def received_chunks(request: Request, guard: StreamGuard) -> Iterator[bytes]:
    """The bytes of a request's body, as the lines."""
    return _received(request.stream(), guard)


def checked_lines(lines: Iterator[bytes], guard: StreamGuard) -> Iterator[bytes]:
    """Lines that are read on a thread, as long as the caller may write them."""
    for number, line in enumerate(lines):
        if number % _LINES_BETWEEN_CHECKS == 0:
            anyio.from_thread.run(_check, guard)
        yield line


async def _check(guard: StreamGuard) -> None:
    if not await guard.admits():
        raise guard.refusal or AccessEnded


def _received(stream: AsyncIterator[bytes], guard: StreamGuard) -> Iterator[bytes]:
    async def receive() -> bytes | None:
        # Checked after the wait, which is as long as the client likes.
        chunk = await anext(stream, None)
        await _check(guard)
        return chunk

    while (chunk := anyio.from_thread.run(receive)) is not None:
        yield chunk
