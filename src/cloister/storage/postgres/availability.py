"""Whether PostgreSQL answers. A statement that gets no answer for a while has the server asked on a connection of its own: if that
is answered, the statement is only slow, and goes on; if not, the server is away. Until it answers again nothing waits for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

from cloister.domain.errors import StorageUnavailable
from cloister.storage.postgres.driver import TupleRow, conninfo_to_dict, errors, make_conninfo, psycopg, translated

LOGGER = logging.getLogger("cloister.storage")

# How often a wait for the server is interrupted, to look whether it is away.
_TICK_SECONDS = 0.1
# Of the seconds in which a caller is answered: how long a statement waits before the server is asked, and how long that takes.
_SILENT_SHARE = 0.35
_ASKING_SHARE = 0.45
_AGAIN_SECONDS = 0.5
# The least that libpq allows.
_CONNECT_SECONDS = 2
# A refused connection has no SQLSTATE, only a text: that of a server which refuses everybody for now.
_REFUSAL = "FATAL:"
_NOT_NOW = ("starting up", "shutting down", "recovery mode", "not yet accepting", "not accepting connections")


class ServerSilent(psycopg.OperationalError):
    """The server did not answer a statement, nor the question whether it is there."""


class WatchedConnection(psycopg.Connection[TupleRow]):
    """A connection that tells `availability` about every answer, and every tenth of a second in which the server sends nothing. If
    the server is away, the connection is closed: an answer may still come."""

    availability: "Availability | None" = None
    commits_early = False
    """Whether the server is set to confirm a commit before it is on disk."""

    def wait(self, gen: Any, interval: float = _TICK_SECONDS, *more: Any, **named: Any) -> Any:
        if self.availability is None:
            return super().wait(gen, interval, *more, **named)
        try:
            answer = super().wait(_watched(gen, self.availability.note_silence, interval), interval, *more, **named)
        except ServerSilent:
            self.pgconn.finish()
            raise
        self.availability.answered = time.monotonic()
        return answer


def _watched(operation: Any, on_silence: Callable[[float], None], interval: float) -> Generator[Any, Any, Any]:
    """The operation of the driver, which is sent zero when nothing came during the interval."""
    silent = 0.0
    try:
        wanted = next(operation)
        while True:
            ready = yield wanted
            if ready:
                silent = 0.0
            else:
                silent += interval
                on_silence(silent)
            wanted = operation.send(ready)
    except StopIteration as end:
        return end.value


class Availability:
    """Whether one server answers; for any number of threads. `seconds` is how long a caller waits at most for a server that is
    away. `answered` is when a statement was last answered."""

    def __init__(self, conninfo: str, server: str, seconds: float) -> None:
        self._conninfo = make_conninfo("", **{**conninfo_to_dict(conninfo), "connect_timeout": str(_CONNECT_SECONDS)})
        self._server = server
        self._seconds = seconds
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._asking_since: float | None = None
        self._next = 0.0
        self._refusal: str | None = None
        self._is_logged = False
        self.answered = 0.0

    def check(self) -> None:
        """Raise `StorageUnavailable` at once if the server is known to be away."""
        if (problem := self._away()) is not None:
            raise StorageUnavailable(problem)

    def note_silence(self, seconds: float) -> None:
        """Called while a statement waits: asks the server after a while, and raises `ServerSilent` if it is away."""
        if seconds < _SILENT_SHARE * self._seconds:
            return
        self.suspect()
        if (problem := self._away()) is not None:
            raise ServerSilent(problem)

    def suspect(self) -> None:
        """Have the server asked on a thread of its own, unless it is being asked or has just answered."""
        with self._lock:
            if self._asking_since is not None or time.monotonic() < self._next or self._closed.is_set():
                return
            self._asking_since = time.monotonic()
        threading.Thread(target=self._ask_until_it_answers, name="cloister-availability", daemon=True).start()

    def ask(self) -> None:
        """Ask the server now; raises `StorageUnavailable` if it does not answer in time."""
        self._next = 0.0
        self.suspect()
        while self._asking_since is not None:
            self.check()
            self._closed.wait(0.01)

    def close(self) -> None:
        self._closed.set()

    def _away(self) -> str | None:
        """Why the server is away: it refuses to be asked, or has answered neither the question nor any statement since."""
        since, problem = self._asking_since, self._refusal
        if since is None:
            return None
        if problem is None:
            if time.monotonic() - max(since, self.answered) < _ASKING_SHARE * self._seconds:
                return None
            problem = f"{self._server} does not answer."
        if not self._is_logged:
            self._is_logged = True
            LOGGER.warning("the database does not answer", extra={"fields": {"problem": problem}})
        return problem

    def _ask_until_it_answers(self) -> None:
        while not self._closed.is_set():
            try:
                self._ask_once()
                break
            except psycopg.Error as error:
                if _is_answer(error):
                    break
                if not isinstance(error, ServerSilent | errors.ConnectionTimeout):
                    self._refusal = translated(error, self._server).args[0]
            self._closed.wait(_AGAIN_SECONDS)
        with self._lock:
            was_away, self._is_logged = self._is_logged, False
            self._asking_since = self._refusal = None
            self._next = time.monotonic() + _AGAIN_SECONDS
        if was_away and not self._closed.is_set():
            LOGGER.warning("the database answers again")

    def _ask_once(self) -> None:
        with WatchedConnection.connect(self._conninfo, autocommit=True) as connection:
            connection.availability = self
            connection.execute(b"SELECT 1", prepare=False)


def _is_answer(error: psycopg.Error) -> bool:
    """Whether a refusal shows that the server is there, such as that it has too many connections."""
    said = str(error)
    return _REFUSAL in said and not any(reason in said for reason in _NOT_NOW)
