"""One writer thread that owns the only write connection, and commits for many at once.

Work arrives from any thread and is acknowledged after the commit that made it durable. Whatever waits when a commit ends shares the
next one: one fsync for all of it. The callers of one group are told while the next is being synced, so that they and the writer do
not fight for the interpreter; when nothing waits they are told at once.
"""

import threading
from collections.abc import Callable, Sequence
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
    """`prepare`, where there is one, turns `item` into what `work` is given; without one `work` is given the item itself."""

    __slots__ = ("done", "error", "item", "prepare", "result", "work")

    def __init__(
        self, item: Any, prepare: Callable[[Sequence[Any]], Sequence[Any]] | None, work: Callable[[Any], T]
    ) -> None:
        self.item = item
        self.prepare = prepare
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()


class GroupCommit:
    """Runs work on the writer thread and returns when it is durable. `close` finishes what was accepted."""

    def __init__(self, connection: WriteConnection) -> None:
        self._connection = connection
        self._queue: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._accepting = threading.Lock()
        self._closed = False
        self._finished: list[_Job[Any]] = []
        self._thread = threading.Thread(target=self._run, name="cloister-writer", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[], T]) -> T:
        return self._submit(_Job(None, None, lambda _: work()))

    def run_prepared(self, item: A, prepare: Callable[[Sequence[A]], Sequence[B]], work: Callable[[B], T]) -> T:
        """Prepare the items of all waiting jobs with one call, before the transaction, then run each."""
        return self._submit(_Job(item, prepare, work))

    def _submit(self, job: _Job[T]) -> T:
        if threading.current_thread() is self._thread:
            raise RuntimeError("a write inside a write would wait for itself")
        with self._accepting:
            if self._closed:
                raise Closed
            self._queue.put(job)
        job.done.acquire()
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    def close(self) -> None:
        with self._accepting:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while group := self._next_group():
            self._write(self._prepared(group))
            self._finished += group
            if self._queue.empty():
                self._tell()
        self._tell()

    def _next_group(self) -> list[_Job[Any]]:
        """All that waits, or the next that comes; empty when closing."""
        group: list[_Job[Any]] = []
        while len(group) < LARGEST_GROUP and not (group and self._queue.empty()):
            job = self._queue.get()
            if job is None:
                self._queue.put(None)
                break
            group.append(job)
        return group

    def _tell(self) -> None:
        for job in self._finished:
            job.done.release()
        self._finished.clear()

    def _prepared(self, group: list[_Job[Any]]) -> list[_Job[Any]]:
        """The jobs that are ready; one that cannot be prepared fails alone."""
        by_prepare: dict[Any, list[_Job[Any]]] = {}
        for job in group:
            if job.prepare is not None:
                by_prepare.setdefault(job.prepare, []).append(job)
        for prepare, jobs in by_prepare.items():
            try:
                items = prepare([job.item for job in jobs])
            except BaseException:  # noqa: BLE001 - found out below, job by job
                for job in jobs:
                    self._prepare_alone(job)
            else:
                for job, item in zip(jobs, items, strict=True):
                    job.item = item
        return [job for job in group if job.error is None]

    def _prepare_alone(self, job: _Job[Any]) -> None:
        assert job.prepare is not None
        try:
            (job.item,) = job.prepare([job.item])
        except BaseException as error:  # noqa: BLE001 - it is handed to the caller
            job.error = error

    def _write(self, group: list[_Job[Any]]) -> None:
        """One transaction for all. An error that ends the transaction itself, or the commit's, is everyone's."""
        if not group:
            return
        connection = self._connection
        try:
            if not self._run_together(group):
                self._run_apart(group)
            self._tell()
            connection.commit()
        except BaseException as error:  # noqa: BLE001 - it is handed to every caller whose work was in the group
            connection.abandon()
            for job in group:
                job.error = job.error or error

    def _run_together(self, group: list[_Job[Any]]) -> bool:
        """Without savepoints, because almost all work succeeds; false if some did not, and then nothing was done."""
        self._connection.begin()
        try:
            for job in group:
                job.result = job.work(job.item)
        except BaseException:  # noqa: BLE001 - found out again, job by job
            self._connection.abandon()
            return False
        return True

    def _run_apart(self, group: list[_Job[Any]]) -> None:
        """Each in a savepoint of its own: one that raises fails alone."""
        self._connection.begin()
        for job in group:
            try:
                job.result = self._connection.attempt(job.work, job.item)
            except BaseException as error:
                if not self._connection.in_transaction:
                    raise
                job.error = error
