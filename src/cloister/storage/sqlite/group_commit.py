"""One writer at a time on the only write connection, which commits for many at once.

Work arrives from any thread and is acknowledged after the commit that made it durable. A caller who finds nobody writing and nobody
waiting writes by himself; all others leave their work to the writer thread. Whatever waits when a commit ends shares the next one:
one fsync for all of it. The callers of one group are told while the next is being synced, so that they and the writer do not fight
for the interpreter; when nothing waits they are told at once.
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
    """What the writer needs of a connection; errors raised by `work` come through unchanged."""

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def abandon(self) -> None:
        """Roll back whatever is open; never raises."""
        ...

    def attempt(self, work: Callable[[Any], Any], item: Any) -> Any:
        """Run in a savepoint, and undo it if it raises."""
        ...

    @property
    def in_transaction(self) -> bool: ...

    def close(self) -> None: ...


class _Job(Generic[T]):
    """One caller's write. Jobs of one `together` run with one call of its `work`; a job without one runs alone."""

    __slots__ = ("done", "error", "item", "result", "together", "work")

    def __init__(self, item: Any, together: "Together[Any, Any, T] | None", work: Callable[[], T] | None) -> None:
        self.item = item
        self.together = together
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()


class Together(Generic[A, B, T]):
    """Many writes of one kind. `prepare` runs before the transaction; it and `work` answer one for each. Work that cannot be done
    for an item answers an exception in its place, before having written anything of it. Equal keys mean that `work` is the same."""

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
    """Runs work on the writer thread and returns when it is durable. `close` finishes what was accepted."""

    def __init__(self, connection: WriteConnection) -> None:
        self._connection = connection
        self._queue: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._accepting = threading.Lock()
        self._writing = threading.Lock()
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

    def run_together(self, items: Sequence[tuple[A, Together[A, B, T]]]) -> list[T | BaseException]:
        """With the items of all that wait to be written in the same way: one answer each, or why it was not done."""
        jobs = [_Job(item, together, None) for item, together in items]
        self._complete(jobs)
        return [cast(T, job.result) if job.error is None else job.error for job in jobs]

    def between_writes(self, work: Callable[[], T]) -> T:
        """Look at the write connection while nobody writes; no transaction is opened for it."""
        with self._writing:
            if self._closed:
                raise Closed
            return work()

    def _complete(self, jobs: Sequence[_Job[Any]]) -> None:
        if threading.get_ident() == self._writer:
            raise RuntimeError("a write inside a write would wait for itself")
        if self._queue.empty() and self._write_alone(jobs):
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
        """How many writes the writer thread has not taken yet."""
        return self._queue.qsize()

    def _write_alone(self, jobs: Sequence[_Job[Any]]) -> bool:
        """On the caller's own thread, which spares two changes of thread; false while another writes."""
        if not self._writing.acquire(blocking=False):
            return False
        try:
            if self._closed:
                raise Closed
            self._write(jobs, meanwhile=lambda: None)
        finally:
            self._writing.release()
        return True

    def close(self) -> None:
        with self._accepting:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        with self._writing:
            self._connection.close()

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            with self._writing:
                group = [job, *self._waiting(LARGEST_GROUP - 1)]
                self._write(group, meanwhile=self._tell)
            self._finished += group
            if self._queue.empty():
                self._tell()
        self._tell()

    def _waiting(self, most: int) -> Iterator[_Job[Any]]:
        while most > 0 and not self._queue.empty():
            job = self._queue.get()
            if job is None:
                self._queue.put(None)
                return
            yield job
            most -= 1

    def _tell(self) -> None:
        for job in self._finished:
            job.done.release()
        self._finished.clear()

    def _write(self, group: Sequence[_Job[Any]], *, meanwhile: Callable[[], None]) -> None:
        """One transaction for all. An error that ends the transaction itself, or the commit's, is everyone's."""
        self._writer = threading.get_ident()
        connection = self._connection
        try:
            batches = self._prepared(group)
            if not self._run_together(batches):
                self._run_apart(batches)
            meanwhile()
            connection.commit()
        except BaseException as error:  # noqa: BLE001 - it is handed to every caller whose work was in the group
            connection.abandon()
            for job in group:
                job.error = job.error or error
        finally:
            self._writer = None

    def _prepared(self, group: Sequence[_Job[Any]]) -> list[list[_Job[Any]]]:
        """The jobs that are ready, in batches that one call can do; one that cannot be prepared fails alone."""
        by_prepare: dict[Any, list[_Job[Any]]] = {}
        for job in group:
            if job.together is not None:
                by_prepare.setdefault(job.together.prepare, []).append(job)
        for prepare, jobs in by_prepare.items():
            try:
                items = prepare([job.item for job in jobs])
            except BaseException:  # noqa: BLE001 - found out below, job by job
                for job in jobs:
                    _prepare_alone(job)
            else:
                for job, item in zip(jobs, items, strict=True):
                    job.item = item
        batches: dict[Hashable, list[_Job[Any]]] = {}
        for job in group:
            if job.error is None:
                batches.setdefault(id(job) if job.together is None else job.together.key, []).append(job)
        return list(batches.values())

    def _run_together(self, batches: Sequence[Sequence[_Job[Any]]]) -> bool:
        """Without savepoints, because almost all work succeeds; false if some did not, and then nothing was done."""
        self._connection.begin()
        try:
            for batch in batches:
                _work(batch)
        except BaseException:  # noqa: BLE001 - found out again, job by job
            self._connection.abandon()
            for batch in batches:
                for job in batch:
                    job.error = None
            return False
        return True

    def _run_apart(self, batches: Sequence[Sequence[_Job[Any]]]) -> None:
        """Each in a savepoint of its own: one that raises fails alone."""
        self._connection.begin()
        for job in chain.from_iterable(batches):
            try:
                self._connection.attempt(_work, [job])
            except BaseException as error:
                if not self._connection.in_transaction:
                    raise
                job.error = error


def _prepare_alone(job: _Job[Any]) -> None:
    assert job.together is not None
    try:
        (job.item,) = job.together.prepare([job.item])
    except BaseException as error:  # noqa: BLE001 - it is handed to the caller
        job.error = error


def _work(batch: Sequence[_Job[Any]]) -> None:
    first = batch[0]
    if first.together is None:
        assert first.work is not None
        first.result = first.work()
        return
    for job, result in zip(batch, first.together.work([job.item for job in batch]), strict=True):
        if isinstance(result, Exception):
            job.error = result
        else:
            job.result = result
