"""Group commit: many callers' writes share one transaction, and one fsync, on SQLite's only write connection.

Any thread may submit a write; its call returns after the commit that made the write durable. A caller that finds the write lock
free and the queue empty commits on its own thread; all other writes are queued for the writer thread, which takes all that are
queued into its next transaction. Callers are woken during the next group's fsync, while the writer does not hold the GIL; when the
queue is empty they are woken at once.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import chain
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar, cast

from cloister.domain.errors import Closed

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
LARGEST_GROUP = 256


class WriteConnection(Protocol):
    """The operations that group commit needs of a connection. Errors raised by `work` are passed on unchanged."""

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def abandon(self) -> None:
        """Roll back the open transaction, if there is one; never raises."""
        ...

    def attempt(self, work: Callable[[Any], Any], item: Any) -> Any:
        """Run `work` in a savepoint, which is rolled back if `work` raises."""
        ...

    @property
    def in_transaction(self) -> bool: ...

    def close(self) -> None: ...


class _Job(Generic[T]):
    """One caller's write. Jobs of the same `kind` run in one call of its `work`; a job without a `kind` runs its own `work`. `done`
    is released when the job is finished."""

    __slots__ = ("done", "error", "item", "kind", "result", "work")

    def __init__(self, item: Any, kind: "BatchKind[Any, Any, T] | None", work: Callable[[], T] | None) -> None:
        self.item = item
        self.kind = kind
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()


class BatchKind(Generic[A, B, T]):
    """How writes of one kind are done in a batch. `prepare` runs before the transaction; it and `work` return one result per item.
    For an item that cannot be written, `work` returns an exception and has written nothing of that item. Kinds with equal keys have
    the same `work`."""

    __slots__ = ("key", "prepare", "work")

    def __init__(
        self,
        key: Hashable,
        prepare: Callable[[Sequence[A]], Sequence[B]],
        work: Callable[[Sequence[B]], Sequence[T | Exception]],
    ) -> None:
        self.key = key
        self.prepare = prepare
        self.work = work


class GroupCommit:
    """Runs writes one group at a time, and returns when they are durable. `close` finishes the writes that are queued."""

    def __init__(self, connection: WriteConnection) -> None:
        self._connection = connection
        self._queue: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._accepting = threading.Lock()
        self._write_lock = threading.Lock()
        self._writer: int | None = None
        self._closed = False
        self._finished: list[_Job[Any]] = []
        self._thread = threading.Thread(target=self._run, name="cloister-writer", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[], T]) -> T:
        job = _Job(None, None, work)
        self._complete([job])
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    def run_batch(self, items: Sequence[tuple[A, BatchKind[A, B, T]]]) -> list[T | BaseException]:
        """Write items, batched with queued items of the same kind: one result per item, or the exception why it was not written."""
        jobs = [_Job(item, kind, None) for item, kind in items]
        self._complete(jobs)
        return [cast(T, job.result) if job.error is None else job.error for job in jobs]

    def between_writes(self, work: Callable[[], T]) -> T:
        """Run `work` while no transaction is open on the write connection; none is opened for it."""
        with self._write_lock:
            if self._closed:
                raise Closed
            return work()

    def _complete(self, jobs: Sequence[_Job[Any]]) -> None:
        if threading.get_ident() == self._writer:
            raise RuntimeError("a write inside a write would wait for itself")
        if self._queue.empty() and self._write_inline(jobs):
            return
        with self._accepting:
            if self._closed:
                raise Closed
            for job in jobs:
                self._queue.put(job)
        for job in jobs:
            job.done.acquire()

    @property
    def waiting(self) -> int:
        """The number of writes in the queue."""
        return self._queue.qsize()

    def _write_inline(self, jobs: Sequence[_Job[Any]]) -> bool:
        """Write on the caller's thread, which saves two thread switches; false if another thread has the write lock."""
        if not self._write_lock.acquire(blocking=False):
            return False
        try:
            if self._closed:
                raise Closed
            self._write(jobs, before_commit=lambda: None)
        finally:
            self._write_lock.release()
        return True

    def close(self) -> None:
        with self._accepting:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        with self._write_lock:
            self._connection.close()

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            with self._write_lock:
                group = [job, *self._queued(LARGEST_GROUP - 1)]
                self._write(group, before_commit=self._wake_callers)
            self._finished += group
            if self._queue.empty():
                self._wake_callers()
        self._wake_callers()

    def _queued(self, most: int) -> Iterator[_Job[Any]]:
        while most > 0 and not self._queue.empty():
            job = self._queue.get()
            if job is None:
                self._queue.put(None)
                return
            yield job
            most -= 1

    def _wake_callers(self) -> None:
        for job in self._finished:
            job.done.release()
        self._finished.clear()

    def _write(self, group: Sequence[_Job[Any]], *, before_commit: Callable[[], None]) -> None:
        """Write a group in one transaction. An error of the commit, or one that ends the transaction, fails every job in it."""
        self._writer = threading.get_ident()
        connection = self._connection
        try:
            batches = self._prepared(group)
            if not self._run_all(batches):
                self._run_in_savepoints(batches)
            before_commit()
            connection.commit()
        except BaseException as error:  # noqa: BLE001 - raised in every caller of the group
            connection.abandon()
            for job in group:
                job.error = job.error or error
        finally:
            self._writer = None

    def _prepared(self, group: Sequence[_Job[Any]]) -> list[list[_Job[Any]]]:
        """The prepared jobs in batches, one per call of `work`. A job whose preparation fails does not fail the others."""
        by_prepare: dict[Any, list[_Job[Any]]] = {}
        for job in group:
            if job.kind is not None:
                by_prepare.setdefault(job.kind.prepare, []).append(job)
        for prepare, jobs in by_prepare.items():
            try:
                items = prepare([job.item for job in jobs])
            except BaseException:  # noqa: BLE001 - it is raised again below by the job that caused it
                for job in jobs:
                    _prepare_alone(job)
            else:
                for job, item in zip(jobs, items, strict=True):
                    job.item = item
        batches: dict[Hashable, list[_Job[Any]]] = {}
        for job in group:
            if job.error is None:
                batches.setdefault(id(job) if job.kind is None else job.kind.key, []).append(job)
        return list(batches.values())

    def _run_all(self, batches: Sequence[Sequence[_Job[Any]]]) -> bool:
        """Run all batches without savepoints, because almost all succeed. If one raises, roll all back and return false."""
        self._connection.begin()
        try:
            for batch in batches:
                _work(batch)
        except BaseException:  # noqa: BLE001 - it is raised again by the job that caused it, in its savepoint
            self._connection.abandon()
            for batch in batches:
                for job in batch:
                    job.error = None
            return False
        return True

    def _run_in_savepoints(self, batches: Sequence[Sequence[_Job[Any]]]) -> None:
        """Run each job in its own savepoint, so that a job that raises does not fail the others."""
        self._connection.begin()
        for job in chain.from_iterable(batches):
            try:
                self._connection.attempt(_work, [job])
            except BaseException as error:  # raised in the caller of this job; the others go on
                if not self._connection.in_transaction:
                    raise
                job.error = error


def _prepare_alone(job: _Job[Any]) -> None:
    assert job.kind is not None
    try:
        (job.item,) = job.kind.prepare([job.item])
    except BaseException as error:  # noqa: BLE001 - raised in the caller
        job.error = error


def _work(batch: Sequence[_Job[Any]]) -> None:
    first = batch[0]
    if first.kind is None:
        assert first.work is not None
        first.result = first.work()
        return
    for job, result in zip(batch, first.kind.work([job.item for job in batch]), strict=True):
        if isinstance(result, Exception):
            job.error = result
        else:
            job.result = result
