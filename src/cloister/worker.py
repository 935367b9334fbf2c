"""The worker: threads that drain the extraction queue and the index queue. Any number of processes may run one.

Extraction threads sleep until `WakeUp` notifies them: after a reply in this process; when polling the database, every few seconds,
finds sessions that are due, left by other processes or to be retried; and when a thread found work, because there may be more.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

from cloister.bootstrap import Services
from cloister.domain.errors import CloisterError, ModelUnavailable
from cloister.services.conversations.retention import AgedSession, OldCounts
from cloister.services.indexing.vectors import VectorQueue
from cloister.services.memories.extract import Outcome

LOGGER = logging.getLogger("cloister.worker")
_POLL_SECONDS = 2.0
_INDEX_SECONDS = 0.5
_EXPIRY_SECONDS = 600.0
_RETENTION_SECONDS = 600.0
_REBUILD_SECONDS = 60.0
_CHECKSUM_SECONDS = 30.0
# Between a notification and the query for due sessions, so that a burst of replies causes one query.
_BATCH_SECONDS = 0.05
_ERROR_PAUSE_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 60.0
# The pause after a poll of the additional embedder's queue, in times of what the poll took.
_POLLS_APART = 20
_SIGNAL_SECONDS = 0.5
_GRACE_SECONDS = 5.0
_NOTICE_SECONDS = 0.2

Report = Callable[[Outcome, float], None]
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerCounts:
    """What a worker did: sessions by result (`succeeded`, `failed`, `lost`), and the messages and memories of these; `indexed`
    counts messages, memories and entities, `embedded` the messages that got a vector of the additional embedder, and `forgotten`
    the messages and memories that were too old (MEM-18)."""

    succeeded: int
    failed: int
    lost: int
    checked_messages: int
    memories: int
    indexed: int
    embedded: int
    forgotten: int


class Worker:
    """Started once, with `start` or with `drain`, and stopped once. Its threads are daemon threads, so the process can always end.

    After each session a thread sleeps `rest` times as long as that took: rules are CPU-bound, and would hold the GIL while requests
    wait.
    """

    def __init__(
        self, services: Services, *, threads: int = 1, rest: float = 0.0, report: Report | None = None
    ) -> None:
        self._services = services
        self._at_once = threads
        self._rest = rest
        self._report = report or log_outcome
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._done: Counter[str] = Counter()
        self._error: Exception | None = None

    @property
    def done(self) -> WorkerCounts:
        with self._lock:
            done = dict(self._done)
        fields = ("succeeded", "failed", "lost", "checked_messages", "memories", "indexed", "embedded", "forgotten")
        return WorkerCounts(**{field: done.get(field, 0) for field in fields})

    def start(self) -> None:
        """Work until stopped."""
        self._start_thread("look", self._poll_due)
        self._start_thread("index", self._keep_indexing)
        self._start_thread("rebuild", self._keep_rebuilding)
        self._start_thread("retention", self._keep_forgetting)
        self._start_thread("checksums", self._keep_summing)
        if self._services.vectors is not None:
            self._start_thread("embed", partial(self._keep_embedding, self._services.vectors))
        for number in range(self._at_once):
            self._start_thread(f"extract-{number}", self._keep_extracting)

    def drain(self) -> None:
        """Work until nothing is due, or until stopped. A session that fails is left to be retried; a failure of the database or an
        index is raised."""
        self._start_thread("index", lambda: self._once(self._index))
        self._start_thread("rebuild", lambda: self._once(self._rebuild))
        self._start_thread("expire", lambda: self._once(self._expire))
        self._start_thread("retention", lambda: self._once(self._forget_old))
        self._start_thread("checksums", lambda: self._once(self._sum))
        if self._services.vectors is not None:
            self._start_thread("embed", lambda: self._once(self._embed))
        for number in range(self._at_once):
            self._start_thread(f"extract-{number}", lambda: self._once(self._until_nothing_is_due))
        for thread in self._threads:
            while thread.is_alive() and not self._stopping.is_set():
                thread.join(_NOTICE_SECONDS)
        if not self._services.immediate and not self._stopping.is_set():
            self._once(self._index)  # what was extracted since the first pass
        if self._error is not None:
            raise self._error

    def ask_to_stop(self) -> None:
        """Start nothing new. It does not wait, so that a signal handler may call it."""
        self._stopping.set()

    def wait_until_asked_to_stop(self) -> None:
        # A signal may reach another thread, and its handler runs only when the main thread wakes.
        while not self._stopping.wait(_SIGNAL_SECONDS):
            pass

    def stop(self, grace_seconds: float = _GRACE_SECONDS) -> int:
        """Start nothing new, and wait for running work, at most `grace_seconds`. The claims of sessions that are still being
        extracted are released, so that another worker may take them at once; returns how many. Their threads may go on, but store
        nothing."""
        self._stopping.set()
        self._services.wake_up.wake_all()
        deadline = time.monotonic() + grace_seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return self._services.claims.release_all()

    def _keep_extracting(self) -> None:
        while not self._stopping.is_set():
            spent = self._with_recovery(self._extract_next, on_error=0.0)
            if spent is None:
                self._services.wake_up.wait(self._stopping.is_set)
                self._stopping.wait(_BATCH_SECONDS)
            else:
                self._stopping.wait(self._rest * spent)

    def _poll_due(self) -> None:
        """Poll for sessions that are due, and remove what has expired at longer intervals."""
        next_expiry = time.monotonic()
        while not self._stopping.wait(_POLL_SECONDS):
            if time.monotonic() >= next_expiry:
                next_expiry = time.monotonic() + _EXPIRY_SECONDS
                self._with_recovery(self._expire, on_error=None)
            self._with_recovery(self._services.claims.cap, on_error=None)
            if self._with_recovery(self._services.claims.is_any_due, on_error=True):
                self._services.wake_up.notify()

    def _expire(self) -> None:
        """Remove expired idempotency keys, entries and receipts, and entities that were deleted too long ago to be restored."""
        self._services.idempotency_expiry.drop()
        self._services.entry_expiry.drop()
        self._services.receipt_expiry.drop()
        self._services.entity_undo.expire()

    def _keep_indexing(self) -> None:
        """Drain the index queue, which has rows only with a slow embedder or an external index."""
        while True:
            self._with_recovery(self._index, on_error=None)
            if self._stopping.wait(None if self._services.immediate else _INDEX_SECONDS):
                return

    def _keep_forgetting(self) -> None:
        while not self._stopping.is_set():
            self._with_recovery(self._forget_old, on_error=None)
            self._stopping.wait(_RETENTION_SECONDS)

    def _keep_summing(self) -> None:
        while not self._stopping.wait(_CHECKSUM_SECONDS):
            self._with_recovery(self._sum, on_error=None)

    def _sum(self) -> None:
        """Compute missing checksums of rows (OPS-1), in small transactions with pauses, so that other writers come first."""
        began = time.monotonic()
        while self._services.integrity.fill() and not self._stopping.wait(time.monotonic() - began):
            began = time.monotonic()

    def _forget_old(self) -> None:
        """Forget what is too old (MEM-18). After each transaction the thread sleeps, so that other writers come first. A
        session that fails does not keep the others."""
        began, forgotten = time.monotonic(), self._with_recovery(self._forget_old_searches, on_error=0)
        for aged in self._services.retention.due():
            forgotten += self._with_recovery(partial(self._forget_old_of, aged), on_error=0)
            if self._stopping.is_set():
                break
        if forgotten:
            self._services.retention.clean_up()
            milliseconds = round((time.monotonic() - began) * 1_000, 3)
            _log(logging.INFO, "retention", forgotten=forgotten, milliseconds=milliseconds)

    def _forget_old_of(self, aged: AgedSession) -> int:
        forgotten, began = 0, time.monotonic()
        for counts in self._services.retention.batches(aged):
            forgotten += self._count_forgotten(counts)
            spent = time.monotonic() - began
            if self._stopping.wait(self._rest * spent):
                break
            began = time.monotonic()
        return forgotten

    def _forget_old_searches(self) -> int:
        return self._count_forgotten(self._services.retention.searches())

    def _count_forgotten(self, counts: OldCounts) -> int:
        forgotten = counts.messages + counts.memories + counts.files + counts.receipts
        with self._lock:
            self._done["forgotten"] += forgotten
        return forgotten

    def _keep_embedding(self, vectors: VectorQueue) -> None:
        """Make the vectors of the additional embedder, a batch at a time. While it fails, the pauses grow; a poll that takes long,
        because there are very many pools, is followed by a longer pause too."""
        failures = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                self._embed()
                vectors.remove_unused()
                failures = 0
                pause = max(_INDEX_SECONDS, _POLLS_APART * (time.monotonic() - began))
            except ModelUnavailable as error:
                failures += 1
                pause = min(_LONGEST_PAUSE_SECONDS, 2.0 ** (failures - 1))
                _log(logging.WARNING, "embedding", problem=str(error), retry_seconds=pause)
            except Exception as error:  # noqa: BLE001 - logged; only `stop` may end a worker
                pause = _ERROR_PAUSE_SECONDS
                if not self._stopping.is_set():
                    _log(logging.ERROR, "worker trouble", error, problem=_problem(error))
            self._stopping.wait(min(pause, _LONGEST_PAUSE_SECONDS))

    def _embed(self) -> None:
        if self._services.vectors is not None:
            embedded = self._services.vectors.drain(self._stopping.is_set)
            with self._lock:
                self._done["embedded"] += embedded

    def _until_nothing_is_due(self) -> None:
        while not self._stopping.is_set() and self._extract_next() is not None:
            pass

    def _extract_next(self) -> float | None:
        """Extract the next due session; returns the seconds it took, or None if nothing was due."""
        claim = self._services.claims.claim_due()
        if claim is None:
            return None
        self._services.wake_up.notify()
        began = time.monotonic()
        outcome = self._services.extraction.run(claim)
        with self._lock:
            self._done[outcome.result] += 1
            self._done["checked_messages"] += outcome.counts.checked_messages
            self._done["memories"] += outcome.counts.memories
        spent = time.monotonic() - began
        self._report(outcome, spent)
        return spent

    def _keep_rebuilding(self) -> None:
        """Rebuild what was indexed by another embedder or tokeniser: after an upgrade, and what an older process beside this one
        records."""
        while not self._stopping.is_set():
            self._with_recovery(self._rebuild, on_error=None)
            self._stopping.wait(_REBUILD_SECONDS)

    def _rebuild(self) -> None:
        """After each transaction the thread sleeps, so that requests come first. If a newer version was used on this database, it
        has to do the rebuilding, and this process only says what is stale for itself."""
        reindex = self._services.reindex
        stale = reindex.stale_lately()
        if not stale.total:
            return
        if not reindex.is_newest():
            advice = "a newer version has been used on this database: upgrade this process, or run `cloister reindex`"
            _log(logging.WARNING, "stale index", **asdict(stale), advice=advice)
            return
        _log(logging.WARNING, "stale index", **asdict(stale), advice="nothing to do: it is being rebuilt")
        began, rebuilt, step = time.monotonic(), 0, time.monotonic()
        for count in reindex.rebuild():
            rebuilt += count
            if self._stopping.wait(self._rest * (time.monotonic() - step)):
                break
            step = time.monotonic()
        self._index()
        milliseconds = round((time.monotonic() - began) * 1_000, 3)
        _log(logging.INFO, "index rebuilt", rebuilt=rebuilt, milliseconds=milliseconds)

    def _index(self) -> None:
        indexed = self._services.queue.drain(self._stopping.is_set)
        with self._lock:
            self._done["indexed"] += indexed

    def _once(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - `drain` raises it in the waiting thread
            self._error = error
            self._stopping.set()

    def _with_recovery(self, step: Callable[[], _T], on_error: _T) -> _T:
        """The result of the step. An error is logged, and followed by a pause: the database may become available again."""
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - logged; only `stop` may end a worker
            if not self._stopping.is_set():
                _log(logging.ERROR, "worker trouble", error, problem=_problem(error))
            self._stopping.wait(_ERROR_PAUSE_SECONDS)
            return on_error

    def _start_thread(self, name: str, work: Callable[[], object]) -> None:
        thread = threading.Thread(target=work, name=f"cloister-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()


def log_start(extractor: str) -> None:
    _log(logging.INFO, "worker started", extractor=extractor)


def log_outcome(outcome: Outcome, seconds: float) -> None:
    """Log one line per session, with its id and no content."""
    fields: dict[str, object] = {"result": outcome.result, "session": outcome.session}
    if outcome.result == "succeeded":
        fields |= {"messages": outcome.counts.checked_messages, "memories": outcome.counts.memories}
    if outcome.error is not None:
        fields["problem"] = _problem(outcome.error)
    expected = outcome.error is None or isinstance(outcome.error, ModelUnavailable)
    _log(
        logging.INFO if outcome.error is None else logging.WARNING,
        "extraction",
        None if expected else outcome.error,
        **fields,
        milliseconds=round(seconds * 1_000, 3),
    )


def _problem(error: Exception) -> str:
    """What may be logged of an error: the text of `ModelUnavailable` quotes no messages; of others, only the code or the type."""
    if isinstance(error, ModelUnavailable):
        return str(error)
    return error.code if isinstance(error, CloisterError) else type(error).__name__


def _log(level: int, event: str, error: BaseException | None = None, **fields: object) -> None:
    LOGGER.log(level, event, exc_info=error, extra={"fields": fields})
