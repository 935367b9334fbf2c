"""Running turns: each is an asyncio task, independent of its clients. A client that disconnects loses nothing; any number of
followers can read a turn from its start, until it ends or they may no longer read it (ISO-12).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from starlette.concurrency import run_in_threadpool

from cloister.bootstrap import Services
from cloister.domain.context import Context, Derived
from cloister.domain.errors import AccessEnded, CloisterError
from cloister.domain.identifiers import SessionId, TenantId
from cloister.domain.scope import Reach
from cloister.interfaces.http.dispatch.access_recheck import StreamGuard
from cloister.interfaces.http.dispatch.executors import SerialExecutor
from cloister.interfaces.http.logs import log
from cloister.services.chat.converse import CHECK_SECONDS, BuildRequest, TurnContext, TurnEnd, TurnEvent
from cloister.services.chat.turns import Turn

if TYPE_CHECKING:  # imported with the routes that have such questions
    from cloister.services.chat.unrecorded import UnrecordedQuestion

T = TypeVar("T")
_QUIET_SECONDS = 15.0


ReadAgain = Callable[[Reach, Context], Awaitable[Context]]
"""Reads a context again: what of it still exists and may be shown to a caller of this reach."""


class RunningReply:
    """The events of one reply, past and future. Only used on the event loop."""

    def __init__(self, read_again: ReadAgain) -> None:
        self.stop = asyncio.Event()
        self._read_again = read_again
        self._events: list[TurnEvent] = []
        self._recalled_at = 0.0
        self._news = asyncio.Event()

    @property
    def ended(self) -> bool:
        return bool(self._events) and isinstance(self._events[-1], TurnEnd)

    def publish(self, event: TurnEvent) -> None:
        if isinstance(event, TurnContext):
            self._recalled_at = self._now()
        self._events.append(event)
        self._wake()

    async def follow(self, guard: StreamGuard) -> AsyncGenerator[list[TurnEvent]]:
        """Yields the events of the turn from its start to its end, those since the last time at once, or an empty list after a
        while without events, for a keep-alive. Ends with `AccessEnded` if the guard no longer admits the follower."""
        with guard:
            guard.wake_with(self._wake)
            before, seen, quiet_since = len(self._events), 0, self._now()
            while True:
                news, ended = self._news, self.ended
                fresh = self._events[seen:]
                if guard.seconds_left <= 0 and not await guard.admits():
                    yield [self.end_without_access]
                    return
                shown = fresh
                if seen < before or self._now() - self._recalled_at >= CHECK_SECONDS:
                    shown = await self._read_recalled_again(guard, fresh)
                seen += len(fresh)
                if shown or self._now() - quiet_since >= _QUIET_SECONDS:
                    yield shown
                    quiet_since = self._now()
                if ended:
                    return
                if seen == len(self._events):
                    left = quiet_since + _QUIET_SECONDS - self._now()
                    await guard.wait(news, left)

    @property
    def end_without_access(self) -> TurnEnd:
        """The last event for a follower who may no longer read."""
        return TurnEnd(status="failed", message=None, finish_reason="error", error=AccessEnded())

    async def end(self) -> None:
        """Return when the turn has ended."""
        while not self.ended:
            await self._news.wait()

    async def _read_recalled_again(self, guard: StreamGuard, fresh: Sequence[TurnEvent]) -> list[TurnEvent]:
        """Replace a recalled context that is sent late by what still exists of it: some may have been forgotten since."""
        return [
            TurnContext(context=await self._read_again(guard.reach, event.context))
            if isinstance(event, TurnContext)
            else event
            for event in fresh
        ]

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


class RunningTurn(RunningReply):
    """The reply of one turn."""

    def __init__(self, turn: Turn, read_again: ReadAgain) -> None:
        super().__init__(read_again)
        self.turn = turn

    @property
    def end_without_access(self) -> TurnEnd:
        """The error itself, if the session of a failed request without a name was forgotten: nothing that was stored is in it."""
        last = self._events[-1] if self._events else None
        if self.turn.is_unnamed and isinstance(last, TurnEnd) and last.error is not None:
            return last
        return super().end_without_access


class RunningTurns:
    """The running turns of this process."""

    def __init__(self, services: Services, reads: SerialExecutor) -> None:
        self._services = services
        self._reads = reads
        self._running: dict[tuple[TenantId, SessionId], RunningTurn] = {}
        self._unrecorded: set[RunningReply] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._closing = False

    def start(self, turn: Turn, build: BuildRequest | None = None) -> RunningTurn:
        """Start the task of a turn; its events go to all followers. `build` makes the request to the model."""
        running = RunningTurn(turn, partial(self._still_recalled, turn))
        if self._closing:
            running.stop.set()
        self._running[_key(turn)] = running
        task = asyncio.create_task(self._run(running, build))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return running

    def start_unrecorded(self, asked: "UnrecordedQuestion", build: BuildRequest) -> RunningReply:
        """Start the task of a reply that is not recorded. Nobody can find it; its context is shown to nobody."""

        async def nothing_recalled(_: Reach, context: Context) -> Context:
            return replace(context, current_conversation=(), relevant_history=(), derived=Derived())

        running = RunningReply(nothing_recalled)
        if self._closing:
            running.stop.set()
        self._unrecorded.add(running)
        task = asyncio.create_task(self._run_unrecorded(running, asked, build))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return running

    def find(self, tenant: TenantId, session: SessionId) -> RunningTurn | None:
        return self._running.get((tenant, session))

    def stop(self, running: RunningReply) -> Future[None]:
        """Stop a turn; may be called on any thread. The future is done when what the turn said is stored."""

        async def cut() -> None:
            running.stop.set()
            await running.end()

        return asyncio.run_coroutine_threadsafe(cut(), self._loop)

    async def close(self) -> None:
        """Stop all turns and store what they have said so far; a turn that is started later is stopped at once."""
        self._closing = True
        for running in (*self._running.values(), *self._unrecorded):
            running.stop.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _threads_of(self, reach: Reach) -> "_ThreadRunner":
        return _ThreadRunner(self._reads, reach.tenant)

    async def _still_recalled(self, turn: Turn, reach: Reach, context: Context) -> Context:
        """What of a context still exists; nothing of it if it cannot be read again."""
        try:
            follow = self._services.turn_readers
            return await self._threads_of(turn.reach).read(lambda: follow.still_recalled(reach, turn, context))
        except CloisterError:
            return replace(context, current_conversation=(), relevant_history=(), derived=Derived())

    async def _run(self, running: RunningTurn, build: BuildRequest | None) -> None:
        try:
            await self._services.chat.reply(
                running.turn,
                running.publish,
                stop=running.stop,
                threads=self._threads_of(running.turn.reach),
                build=build,
            )
        except Exception as error:  # noqa: BLE001 - the outermost handler of a task: logged, and ended below
            log(logging.ERROR, "turn", error)
        finally:
            if not running.ended:
                running.publish(TurnEnd(status="failed", message=None, finish_reason="error"))
            if self._running.get(_key(running.turn)) is running:
                del self._running[_key(running.turn)]

    async def _run_unrecorded(self, running: RunningReply, asked: "UnrecordedQuestion", build: BuildRequest) -> None:
        try:
            await self._services.unrecorded.reply(
                asked, running.publish, stop=running.stop, threads=self._threads_of(asked.reach), build=build
            )
        except Exception as error:  # noqa: BLE001 - the outermost handler of a task: logged, and ended below
            log(logging.ERROR, "reply", error)
        finally:
            if not running.ended:
                running.publish(TurnEnd(status="failed", message=None, finish_reason="error"))
            self._unrecorded.discard(running)


class _ThreadRunner:
    """Runs blocking calls of a turn on threads; reads go through the executor of reads, in the turn of their tenant. None is
    refused: the turn was accepted."""

    def __init__(self, reads: SerialExecutor, tenant: TenantId) -> None:
        self._reads = reads
        self._tenant = tenant

    def read(self, call: Callable[[], T]) -> Awaitable[T]:
        return self._reads.run(call, tenant=self._tenant, required=True)

    def write(self, call: Callable[[], T]) -> Awaitable[T]:
        return run_in_threadpool(call)


def _key(turn: Turn) -> tuple[TenantId, SessionId]:
    return turn.reach.tenant, turn.session.id
