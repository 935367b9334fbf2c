"""Executors for requests: bounded, and tenants are served in turn (decision 088).

On an embedded database, SQLite and numpy release the GIL at every small call, so many threads spend their
time contending for it and do less together than one alone: short reads therefore run one after another on one thread, and writes
are batched into one transaction with one fsync (decision 017).
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from cloister.domain.errors import Overloaded
from cloister.domain.tracing.interface import NO_TRACING, Tracer
from cloister.interfaces.http.queueing.fair_queue import Entry, FairQueue

T = TypeVar("T")
J = TypeVar("J")
_PATIENCE_SECONDS = 0.02
_MOST_THREADS = 64
_MOST_THREADS_OF_ONE = 48
_LARGEST_BATCH = 64
_MOST_DELIVERED = 8


class SerialExecutor:
    """Runs calls one after another while they are short, or `at_once` of them concurrently; tenants in turn. For each call that
    takes longer than `patience`, one more may run; one tenant never takes all threads. Over `most_waiting` calls are refused with
    `Overloaded`. While calls wait, results are delivered to the event loop a few at a time, since a woken loop takes the GIL from
    the next call; no result is delayed longer than `patience`, nor for another tenant's flood. Spans of a call are children of the
    span in which it was given."""

    def __init__(
        self,
        name: str,
        *,
        patience: float = _PATIENCE_SECONDS,
        at_once: int = 1,
        most_waiting: int = 0,
        tracer: Tracer = NO_TRACING,
    ) -> None:
        self._tracer = tracer
        self._patience = patience
        self._at_once = at_once
        self._threads = ThreadPoolExecutor(_MOST_THREADS, name)
        self._lock = threading.Lock()
        self.waiting: FairQueue[tuple[Callable[[], Any], asyncio.Future[Any]]] = FairQueue(most_waiting)
        self._began: dict[object, float] = {}
        self._running: Counter[Hashable] = Counter()
        self._done: list[tuple[asyncio.Future[Any], Any]] = []
        self._watched = False

    async def run(self, call: Callable[[], T], *, tenant: Hashable = None, required: bool = False) -> T:
        """Run a call of a tenant. A `required` one is part of what was accepted already, and is not refused."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        entry = Entry(tenant, (self._tracer.bind(call), future), required)
        with self._lock:
            refused = self.waiting.put(entry)
            if len(self._began) < self._at_once:
                self._start_runner()
        if refused is not None:
            _deliver([(refused.job[1], Overloaded())])
        self._watch()
        return await future

    def close(self) -> None:
        self._threads.shutdown()

    def _watch(self) -> None:
        """Schedule a look at the running calls while others wait. Only called on the event loop."""
        if not self._watched and self.waiting:
            self._watched = True
            asyncio.get_running_loop().call_later(self._patience, self._check)

    def _check(self) -> None:
        self._watched = False
        with self._lock:
            done = self._take_done()
            if self.waiting and len(self._began) < _MOST_THREADS and self._may_start():
                self._start_runner()
        _deliver(done)
        self._watch()

    def _may_start(self) -> bool:
        """Whether fewer short calls run than may."""
        late = time.monotonic() - self._patience
        return sum(began >= late for began in self._began.values()) < self._at_once

    def _start_runner(self) -> None:
        runner = object()
        self._began[runner] = time.monotonic()
        self._threads.submit(self._run, runner)

    def _run(self, runner: object) -> None:
        """Run waiting calls one after another, until none waits or as many short calls are running as may."""
        last: Hashable = None
        while True:
            with self._lock:
                del self._began[runner]
                following = self.waiting.take(self._has_thread_for) if self.waiting and self._may_start() else None
                if following is not None:
                    self._began[runner] = time.monotonic()
                    self._running[following.tenant] += 1
                done = () if self._may_delay_results(last) else self._take_done()
            _hand_over(done)
            if following is None:
                return
            call, future = following.job
            last = following.tenant
            outcome = outcome_of(call)
            with self._lock:
                self._running[last] -= 1
                if not self._running[last]:
                    del self._running[last]
                self._done.append((future, outcome))

    def _may_delay_results(self, tenant: Hashable) -> bool:
        """Whether results may wait for others, the last of which is of this tenant."""
        if self._at_once > 1 or not self.waiting or len(self._done) >= _MOST_DELIVERED:
            return False
        return not self.waiting.has_flood_besides(tenant)

    def _has_thread_for(self, tenant: Hashable) -> bool:
        return self._running[tenant] < _MOST_THREADS_OF_ONE

    def _take_done(self) -> "Sequence[tuple[asyncio.Future[Any], Any]]":
        done, self._done = self._done, []
        return done


class BatchExecutor(Generic[J, T]):
    """Passes the waiting jobs, of tenants in turn, to one call of `work`, on one thread; jobs that arrive meanwhile form the next
    batch. `work` returns one result or exception for each job. Over `most_waiting` jobs are refused with `Overloaded`."""

    def __init__(
        self, name: str, work: Callable[[Sequence[J]], Sequence[T | BaseException]], *, most_waiting: int = 0
    ) -> None:
        self._work = work
        self.waiting: FairQueue[tuple[J, asyncio.Future[T]]] = FairQueue(most_waiting)
        self._change = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def run(self, job: J, *, tenant: Hashable = None) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._change:
            refused = self.waiting.put(Entry(tenant, (job, future)))
            self._change.notify()
        if refused is not None:
            _deliver([(refused.job[1], Overloaded())])
        return await future

    def close(self) -> None:
        with self._change:
            self._closing = True
            self._change.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next_batch():
            self._do(batch)

    def _next_batch(self) -> list[tuple[J, "asyncio.Future[T]"]]:
        """The jobs of the next batch; none once the executor is closed and nothing waits."""
        with self._change:
            while not self.waiting and not self._closing:
                self._change.wait()
            batch: list[tuple[J, asyncio.Future[T]]] = []
            while len(batch) < _LARGEST_BATCH and (entry := self.waiting.take()) is not None:
                batch.append(entry.job)
            return batch

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
