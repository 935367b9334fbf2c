"""Whether the writes of this process succeed: the error of the last one is remembered until a write succeeds again (OPS-1)."""

import threading

from cloister.domain.errors import OutcomeUnknown, StorageError, StorageFull, StorageReadOnly, StorageUnavailable

_FAILURES = (StorageFull, StorageReadOnly, StorageUnavailable, OutcomeUnknown)


class WriteStatus:
    """`problem` is None while writes succeed; `failures` counts the writes that failed. Errors of a caller, and a row that another
    transaction has locked, say nothing about the database and are not reported here."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.problem: StorageError | None = None
        self.failures = 0

    def failed(self, problem: StorageError) -> None:
        with self._lock:
            self.problem = problem
            self.failures += 1

    def failed_in_part(self) -> None:
        """Count a write that failed because a part of the database is away: others succeed."""
        with self._lock:
            self.failures += 1

    def failed_with(self, error: BaseException) -> None:
        """Note an error if it is one that concerns every write."""
        if isinstance(error, _FAILURES):
            self.failed(error)

    def succeeded(self) -> None:
        self.problem = None
