"""Health of an installation: how much is stored, whether it is intact, and whether indexing and extraction keep up. No content."""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from cloister.domain.errors import CloisterError, StorageError
from cloister.domain.timestamps import Clock
from cloister.services.indexing.queue import IndexQueue
from cloister.services.indexing.reindex import IndexCounts, Reindexer
from cloister.services.indexing.vectors import VectorQueue
from cloister.services.memories.claims import Claims
from cloister.storage.interface import Database

_CHECK_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthReport:
    """`waiting` counts messages, memories and entities in the index queue, and removals; `stale` those indexed by another embedder
    or tokeniser. `due` sessions wait for extraction, the longest for `due_seconds`; `failing` ones could not be extracted and will
    be retried, most of them for `failing_because`. `excess_rights` are rights that the database's login does not need; `remains`
    says what the engine's files may still contain of forgotten data. `unembedded` messages have no vector of the additional
    embedder yet; `embedder_problem` says why that embedder cannot be used now."""

    engine: str
    embedder: str
    schema_version: int
    problems: tuple[str, ...]
    excess_rights: str | None
    remains: str | None
    tenants: int
    projects: int
    sessions: int
    messages: int
    waiting: int
    stale: IndexCounts
    extractor: str
    due: int
    due_seconds: int
    failing: int
    failing_because: str | None
    additional_embedder: str | None = None
    unembedded: int = 0
    embedder_problem: str | None = None


class _WriteCheck:
    """Tries a write on a thread of its own: while a database is away or locked, that takes seconds. One at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0

    def start(self, database: Database) -> None:
        if time.monotonic() < self._next or not self._lock.acquire(blocking=False):
            return
        threading.Thread(target=self._run, args=(database,), name="cloister-write-check", daemon=True).start()

    def _run(self, database: Database) -> None:
        try:
            with suppress(CloisterError):  # the database remembers it
                database.maintenance.check_writes()
        finally:
            self._next = time.monotonic() + _CHECK_SECONDS
            self._lock.release()


class Health:
    """Reads only, but for the check of failing writes."""

    def __init__(
        self,
        database: Database,
        queue: IndexQueue,
        reindexer: Reindexer,
        claims: Claims,
        clock: Clock,
        vectors: VectorQueue | None = None,
        *,
        embedder: str,
        extractor: str,
    ) -> None:
        self._database = database
        self._queue = queue
        self._reindexer = reindexer
        self._claims = claims
        self._clock = clock
        self._vectors = vectors
        self._embedder = embedder
        self._extractor = extractor
        self._write_check = _WriteCheck()

    def write_problem(self) -> StorageError | None:
        """Why writes fail now, or None. While they fail, a small write is tried in the background, at most every second, so that
        the answer changes without a caller that writes."""
        problem = self._database.write_problem()
        if problem is not None:
            self._write_check.start(self._database)
        return problem

    def stale(self) -> int:
        """How many messages, memories and entities were indexed by another version, and not yet again; counted lately."""
        return self._reindexer.stale_lately().total

    @property
    def write_failures(self) -> int:
        """How many writes of this process failed because of the database."""
        return self._database.write_status.failures

    def answers(self) -> bool:
        """Whether the database answers a query of one row, though it may not answer those over all tenants: a server of a
        distributed database may be away."""
        try:
            return self.schema_version() > 0
        except StorageError:
            return False

    def schema_version(self) -> int:
        return self._database.maintenance.schema_version()

    def log_bytes(self) -> int | None:
        """The size of the write-ahead log; None where it belongs to a whole server."""
        return self._database.maintenance.log_bytes()

    def health(self) -> HealthReport:
        """Reads every page of the database to find corruption, which takes seconds for a large one."""
        maintenance = self._database.maintenance
        tenants, projects, sessions, messages = cast(tuple[int, int, int, int], maintenance.rows("totals")[0])
        return HealthReport(
            engine=cast(str, maintenance.rows("engine")[0][0]),
            embedder=self._embedder,
            schema_version=self.schema_version(),
            problems=tuple(maintenance.check()),
            excess_rights=maintenance.excess_rights(),
            remains=maintenance.remains(),
            tenants=tenants,
            projects=projects,
            sessions=sessions,
            messages=messages,
            waiting=self._queue.waiting(),
            stale=self._reindexer.stale(),
            extractor=self._extractor,
            due=self._claims.waiting(),
            due_seconds=self._longest_wait(),
            failing=self._claims.failing(),
            failing_because=self._usual_error(),
            additional_embedder=None if self._vectors is None else self._vectors.name,
            unembedded=0 if self._vectors is None else self._vectors.waiting(),
            embedder_problem=None if self._vectors is None else self._vectors.check(),
        )

    def _longest_wait(self) -> int:
        """The longest wait in seconds of a session that was never tried; failed sessions wait for their retry."""
        now = self._clock()
        oldest = cast(int | None, self._database.maintenance.rows("oldest_due", now=now)[0][0])
        return 0 if oldest is None else (now - oldest) // 1_000_000

    def _usual_error(self) -> str | None:
        rows = self._database.maintenance.rows("extraction_errors", limit=1)
        return cast(str, rows[0][0]) if rows else None
