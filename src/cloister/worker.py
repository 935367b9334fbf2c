"""The worker: both queues, drained on threads of one process, beside any number of others.

Threads sleep until the bell rings. It is rung by a reply in this process, by a look at the database every few seconds, which finds
what other processes left and what is to be tried again, and by each thread that found work, for there may be more of it.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeVar

from cloister.bootstrap import Services
from cloister.domain.errors import CloisterError, ModelUnavailable
from cloister.services.memories.extract import Outcome

LOGGER = logging.getLogger("cloister.worker")
_LOOK_EVERY_SECONDS = 2.0
_INDEX_EVERY_SECONDS = 0.5
_EXPIRE_EVERY_SECONDS = 600.0
# Between hearing the bell and looking: a burst of replies is looked at once.
_GATHER_SECONDS = 0.05
_AFTER_TROUBLE_SECONDS = 5.0
_GRACE_SECONDS = 5.0
_NOTICE_SECONDS = 0.2

Report = Callable[[Outcome, float], None]
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What a worker did, in sessions (`succeeded`, `failed`, `lost`), messages and memories; `indexed` counts messages, memories
    and entities together."""

    succeeded: int
    failed: int
    lost: int
    checked_messages: int
    memories: int
    indexed: int


class Worker:
    """Begun once, with `start` or with `drain`, and stopped once. What it begins are daemon threads: the process may always end.

    After each session a thread rests `rest` times as long as that took: rules compute, and would take the interpreter from those
    who are waiting for an answer.
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
        self._trouble: Exception | None = None

    @property
    def done(self) -> Done:
        with self._lock:
            done = dict(self._done)
        fields = ("succeeded", "failed", "lost", "checked_messages", "memories", "indexed")
        return Done(**{field: done.get(field, 0) for field in fields})

    def start(self) -> None:
        """Go on until stopped."""
        self._begin("look", self._keep_looking)
        self._begin("index", self._keep_indexing)
        for number in range(self._at_once):
            self._begin(f"extract-{number}", self._keep_extracting)

    def drain(self) -> None:
        """All that is due now, and no more, unless asked to stop. A session that fails is left for another time; where the database
        or an index cannot be used, that is raised."""
        self._begin("index", lambda: self._once(self._index))
        self._begin("expire", lambda: self._once(self._services.idempotency_expiry.drop))
        for number in range(self._at_once):
            self._begin(f"extract-{number}", lambda: self._once(self._until_nothing_is_due))
        for thread in self._threads:
            while thread.is_alive() and not self._stopping.is_set():
                thread.join(_NOTICE_SECONDS)
        if not self._services.immediate and not self._stopping.is_set():
            self._once(self._index)  # what was extracted meanwhile
        if self._trouble is not None:
            raise self._trouble

    def ask_to_stop(self) -> None:
        """Begin nothing new. It only says so, and waits for nobody: a signal's handler may call it."""
        self._stopping.set()

    def wait_until_asked_to_stop(self) -> None:
        self._stopping.wait()

    def stop(self, grace_seconds: float = _GRACE_SECONDS) -> int:
        """Begin nothing new, and wait a moment for what is under way. Sessions that a model still thinks about are let go, for
        another worker to have at once; gives how many. Their threads may go on, and will keep nothing."""
        self._stopping.set()
        self._services.wake_up.wake_all()
        deadline = time.monotonic() + grace_seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return self._services.claims.release_all()

    def _keep_extracting(self) -> None:
        while not self._stopping.is_set():
            spent = self._in_peace(self._extract_next, after_trouble=0.0)
            if spent is None:
                self._services.wake_up.wait(self._stopping.is_set)
                self._stopping.wait(_GATHER_SECONDS)
            else:
                self._stopping.wait(self._rest * spent)

    def _keep_looking(self) -> None:
        """For sessions that are due, and now and then for idempotency keys that expired where nobody writes any more."""
        next_expiry = time.monotonic()
        while not self._stopping.wait(_LOOK_EVERY_SECONDS):
            if time.monotonic() >= next_expiry:
                next_expiry = time.monotonic() + _EXPIRE_EVERY_SECONDS
                self._in_peace(self._services.idempotency_expiry.drop, after_trouble=0)
            if self._in_peace(self._services.claims.is_any_due, after_trouble=True):
                self._services.wake_up.notify()

    def _keep_indexing(self) -> None:
        """What another process or a slow embedder left in the queue; with the defaults there is never anything in it."""
        self._in_peace(self._warn_of_stale, after_trouble=None)
        while True:
            self._in_peace(self._index, after_trouble=None)
            if self._stopping.wait(None if self._services.immediate else _INDEX_EVERY_SECONDS):
                return

    def _until_nothing_is_due(self) -> None:
        while not self._stopping.is_set() and self._extract_next() is not None:
            """On to the next."""

    def _extract_next(self) -> float | None:
        """The seconds that the next session took; none where nothing was due."""
        claim = self._services.claims.claim_due()
        if claim is None:
            return None
        self._services.wake_up.notify()
        began = time.monotonic()
        outcome = self._services.extraction.run(claim)
        with self._lock:
            self._done[outcome.result] += 1
            self._done["checked_messages"] += outcome.extracted.checked_messages
            self._done["memories"] += outcome.extracted.memories
        spent = time.monotonic() - began
        self._report(outcome, spent)
        return spent

    def _warn_of_stale(self) -> None:
        """What another version indexed is not recalled until it is indexed again, and whoever starts this one should know."""
        stale = self._services.reindex.stale()
        if stale.total:
            _log(
                logging.WARNING,
                "stale index",
                **asdict(stale),
                advice="run `cloister reindex`; what it counts is not recalled",
            )

    def _index(self) -> None:
        indexed = self._services.queue.drain(self._stopping.is_set)
        with self._lock:
            self._done["indexed"] += indexed

    def _once(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - handed to the thread that waits
            self._trouble = error
            self._stopping.set()

    def _in_peace(self, step: Callable[[], _T], after_trouble: _T) -> _T:
        """What the step gives. Trouble is logged and waited out: a database that is away comes back."""
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - nothing may end a worker but being told to
            if not self._stopping.is_set():
                _log(logging.ERROR, "worker trouble", error, problem=_problem(error))
            self._stopping.wait(_AFTER_TROUBLE_SECONDS)
            return after_trouble

    def _begin(self, name: str, work: Callable[[], object]) -> None:
        thread = threading.Thread(target=work, name=f"cloister-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()


def log_start(extractor: str) -> None:
    _log(logging.INFO, "worker started", extractor=extractor)


def log_outcome(outcome: Outcome, seconds: float) -> None:
    """A line for each session, by its number; never what was said in it."""
    fields: dict[str, object] = {"result": outcome.result, "session": outcome.session}
    if outcome.result == "succeeded":
        fields |= {"messages": outcome.extracted.checked_messages, "memories": outcome.extracted.memories}
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
    """The words of a model's failure quote nobody; of other errors only their kind is known to be harmless."""
    if isinstance(error, ModelUnavailable):
        return str(error)
    return error.code if isinstance(error, CloisterError) else type(error).__name__


def _log(level: int, event: str, error: BaseException | None = None, **fields: object) -> None:
    LOGGER.log(level, event, exc_info=error, extra={"fields": fields})
