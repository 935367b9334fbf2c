"""Turns while they run: each is a task of its own, whoever listens. A client that goes away loses nothing; any number may follow a
turn, from its start, until it ends.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from cloister.bootstrap import Services
from cloister.domain.identifiers import SessionId, TenantId
from cloister.interfaces.http.lanes import Lane
from cloister.interfaces.http.logs import log
from cloister.services.converse import BuildRequest, Finished, Happening
from cloister.services.turns import Turn

T = TypeVar("T")
_QUIET_SECONDS = 15.0


class RunningTurn:
    """What has happened in one turn, and what happens next. Only used on the event loop."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.stop = asyncio.Event()
        self._happened: list[Happening] = []
        self._news = asyncio.Event()

    @property
    def ended(self) -> bool:
        return bool(self._happened) and isinstance(self._happened[-1], Finished)

    def tell(self, happening: Happening) -> None:
        self._happened.append(happening)
        self._news.set()
        self._news = asyncio.Event()

    async def follow(self) -> AsyncGenerator[list[Happening]]:
        """From its start to its end: all that has happened since the last time, or nothing when it was quiet for a while."""
        seen = 0
        while True:
            news, ended = self._news, self.ended
            fresh = self._happened[seen:]
            seen += len(fresh)
            if fresh:
                yield fresh
            if ended:
                return
            if seen == len(self._happened):
                try:
                    await asyncio.wait_for(news.wait(), _QUIET_SECONDS)
                except TimeoutError:
                    yield []


class RunningTurns:
    """The turns of this process."""

    def __init__(self, services: Services, reads: Lane | None) -> None:
        self._services = services
        self._elsewhere = _Elsewhere(reads)
        self._running: dict[tuple[TenantId, SessionId], RunningTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._closing = False

    def start(self, turn: Turn, build: BuildRequest | None = None) -> RunningTurn:
        """Answer it, from now on, to whoever follows."""
        running = RunningTurn(turn)
        if self._closing:
            running.stop.set()
        self._running[_place(turn)] = running
        task = asyncio.create_task(self._run(running, build))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return running

    def find(self, tenant: TenantId, session: SessionId) -> RunningTurn | None:
        return self._running.get((tenant, session))

    def stop(self, running: RunningTurn) -> Future[None]:
        """From any thread: cut it. Done when what it said is stored."""

        async def cut() -> None:
            running.stop.set()
            async for _ in running.follow():
                """Until it has ended."""

        return asyncio.run_coroutine_threadsafe(cut(), self._loop)

    async def close(self) -> None:
        """Cut all turns and store what was said so far; those that begin later are cut at once."""
        self._closing = True
        for running in self._running.values():
            running.stop.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, running: RunningTurn, build: BuildRequest | None) -> None:
        try:
            await self._services.converse.reply(
                running.turn, running.tell, stop=running.stop, elsewhere=self._elsewhere, build=build
            )
        except Exception as error:  # noqa: BLE001 - the outermost handler of a turn: logged, and ended for all who follow
            log(logging.ERROR, "turn", error)
        finally:
            if not running.ended:
                running.tell(Finished(status="failed", message=None, finish_reason="error"))
            if self._running.get(_place(running.turn)) is running:
                del self._running[_place(running.turn)]


class _Elsewhere:
    """Threads for what blocks; the reads of an embedded database follow one another in their lane."""

    def __init__(self, reads: Lane | None) -> None:
        self._reads = reads

    def read(self, call: Callable[[], T]) -> Awaitable[T]:
        return run_in_threadpool(call) if self._reads is None else self._reads.run(call)

    def write(self, call: Callable[[], T]) -> Awaitable[T]:
        return run_in_threadpool(call)


def _place(turn: Turn) -> tuple[TenantId, SessionId]:
    return turn.reach.tenant, turn.session.id
