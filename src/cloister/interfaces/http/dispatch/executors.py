"""Executors for requests on an embedded database. SQLite and numpy release the GIL at every small call, so many threads spend their
time contending for it and do less together than one alone: short reads therefore run one after another on one thread, and writes
are batched into one transaction with one fsync (decision 017).
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from cloister.domain.tracing.interface import NO_TRACING, Tracer

T = TypeVar("T")
J = TypeVar("J")
_PATIENCE_SECONDS = 0.02
_MOST_THREADS = 64
_LARGEST_BATCH = 64
_MOST_DELIVERED = 8


class SerialExecutor:
    """Runs calls one after another while they are short. For each call that takes longer than `patience`, one more may run
    concurrently. While calls wait, results are delivered to the event loop a few at a time, since a woken loop takes the GIL from
    the next call; no result is delayed longer than `patience`. Spans of a call are children of the span in which it was given."""

    def __init__(self, name: str, *, patience: float = _PATIENCE_SECONDS, tracer: Tracer = NO_TRACING) -> None:
        self._tracer = tracer
        self._patience = patience
        self._threads = ThreadPoolExecutor(_MOST_THREADS, name)
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._began: dict[object, float] = {}
        self._done: list[tuple[asyncio.Future[Any], Any]] = []
        self._watched = False

    async def run(self, call: Callable[[], T]) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append((self._tracer.bind(call), future))
            if not self._began:
                self._start_runner()
        self._watch()
        return await future

    def close(self) -> None:
        self._threads.shutdown()

    def _watch(self) -> None:
        """Schedule a look at the running calls while others wait. Only called on the event loop."""
        if not self._watched and self._waiting:
            self._watched = True
            asyncio.get_running_loop().call_later(self._patience, self._check)

    def _check(self) -> None:
        self._watched = False
        with self._lock:
            done = self._take_done()
            if self._waiting and len(self._began) < _MOST_THREADS and self._only_long_calls_run():
                self._start_runner()
        _deliver(done)
        self._watch()

    def _only_long_calls_run(self) -> bool:
        late = time.monotonic() - self._patience
        return all(began < late for began in self._began.values())

    def _start_runner(self) -> None:
        runner = object()
        self._began[runner] = time.monotonic()
        self._threads.submit(self._run, runner)

    def _run(self, runner: object) -> None:
        """Run waiting calls one after another, until none waits or another short call is running."""
        while True:
            with self._lock:
                del self._began[runner]
                following = self._waiting.popleft() if self._waiting and self._only_long_calls_run() else None
                if following is not None:
                    self._began[runner] = time.monotonic()
                done = () if self._waiting and len(self._done) < _MOST_DELIVERED else self._take_done()
            _hand_over(done)
            if following is None:
                return
            call, future = following
            outcome = outcome_of(call)
            with self._lock:
                self._done.append((future, outcome))

    def _take_done(self) -> "Sequence[tuple[asyncio.Future[Any], Any]]":
        done, self._done = self._done, []
        return done


class BatchExecutor(Generic[J, T]):
    """Passes all waiting jobs to one call of `work`, on one thread; jobs that arrive meanwhile form the next batch. `work` returns
    one result or exception for each job."""

    def __init__(self, name: str, work: Callable[[Sequence[J]], Sequence[T | BaseException]]) -> None:
        self._work = work
        self._waiting: SimpleQueue[tuple[J, asyncio.Future[T]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def run(self, job: J) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.put((job, future))
        return await future

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = [first]
            end = False
            while len(batch) < _LARGEST_BATCH and not end:
                try:
                    entry = self._waiting.get_nowait()
                except Empty:
                    break
                if entry is None:
                    end = True
                else:
                    batch.append(entry)
            self._do(batch)
            if end:
                return

    def _do(self, batch: Sequence[tuple[J, "asyncio.Future[T]"]]) -> None:
        jobs = [job for job, _ in batch]
        done = outcome_of(self._work, jobs)
        outcomes: Sequence[Any] = [done] * len(jobs) if isinstance(done, BaseException) else done
        results = [(future, outcome) for (_, future), outcome in zip(batch, outcomes, strict=True)]
        _hand_over(results)


def outcome_of(call: Callable[..., T], *arguments: Any) -> T | BaseException:
    """The result of a call, or the exception that it raised."""
    try:
        return call(*arguments)
    except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
        return error


def _hand_over(results: Sequence[tuple["asyncio.Future[Any]", Any]]) -> None:
    """Set results from a thread, by one callback on the event loop."""
    if results:
        results[0][0].get_loop().call_soon_threadsafe(_deliver, results)


def _deliver(results: Sequence[tuple["asyncio.Future[Any]", Any]]) -> None:
    for future, outcome in results:
        if future.done():
            continue
        if isinstance(outcome, BaseException):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
