"""Examples of all errors."""

import json
from typing import Any

from cloister.domain.errors import (
    CloisterError,
    Closed,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidProjectId,
    InvalidRequest,
    ModelUnavailable,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    ProjectRequired,
    QuotaExceeded,
    RateLimited,
    StorageBusy,
    StorageError,
    StorageFull,
    StorageMissing,
    StorageReadOnly,
    StorageUnavailable,
    TooLarge,
    TurnInProgress,
    Unauthenticated,
)
from cloister.interfaces.http.hosts import WRONG_HOST
from cloister.interfaces.http.openapi.examples import SESSION
from cloister.interfaces.http.problems import CRASH, of_error, problem

_ERRORS: tuple[CloisterError, ...] = (
    ProjectRequired(),
    InvalidProjectId("journeys"),
    Unauthenticated(),
    Forbidden("This key does not have the permission 'write'."),
    NotFound("session", "lisbon-in-june"),
    Conflict(f"The session {SESSION!r} exists already with another title."),
    TurnInProgress(SESSION),
    TooLarge("content", 70_000, 65_536),
    InvalidRequest("title", "must not be empty."),
    IdempotencyMismatch("0b6f1c1e-3f5e-4a51-9a53-0e9b6f3f7f5c"),
    QuotaExceeded("messages", 100_000, 100_000),
    RateLimited(retry_after=1),
    Overloaded(),
    ModelUnavailable("The model cannot be reached: check CLOISTER_MODEL_URL."),
    StorageBusy("Another process holds the write lock; try again."),
    StorageUnavailable("The database cannot be reached."),
    StorageReadOnly("The file system of the data directory is mounted read-only."),
    StorageMissing("The database file was removed while it was open."),
    OutcomeUnknown("The database did not confirm the commit."),
    StorageFull("No space is left for the database; free some and try again."),
    StorageError("The database could not do what was asked."),
    Closed(),
)
_WITHOUT_ERROR = {"internal_error": CRASH, "wrong_host": WRONG_HOST}


def problem_example(code: str) -> Any:
    """The body of an error with this code."""
    error = next((error for error in _ERRORS if error.code == code), None)
    response = problem(code, _WITHOUT_ERROR[code]) if error is None else of_error(error)
    return json.loads(bytes(response.body))
