"""Every error Cloister raises on purpose, with the stable code that the outside sees.

CloisterError
├── NotFound                 not_found            the id is missing, or foreign: both look the same
├── Unauthenticated          unauthenticated      no credential, or not a valid one
├── Forbidden                forbidden            the credential does not allow it
├── ProjectRequired          project_required     the request must say which project it means
├── InvalidRequest           invalid_request      a field is wrong; nothing was changed
│   ├── InvalidProjectId     invalid_project_id   not of the form proj_ + 16 hex digits
│   └── IdempotencyMismatch  idempotency_mismatch the same key came with another request
├── TooLarge                 too_large            over a size limit; nothing was changed
├── Conflict                 conflict             the request contradicts what is there
│   ├── TurnInProgress       turn_in_progress     the session is being answered now
│   ├── TurnMoved            conflict             the session recalls from another pool than when the turn began
│   └── AccessEnded          conflict             the reader of a stream may not read it any more
├── QuotaExceeded            quota_exceeded       the tenant may not keep more; nothing was changed
├── RateLimited              rate_limited         too many requests of one key or tenant; try again later
├── Overloaded               overloaded           too many requests wait in the server; nothing was done
├── ModelUnavailable         model_unavailable    the model cannot be reached, was too slow, or failed
│   └── ModelAnswerInvalid   model_unavailable    it answered, twice, and neither answer could be used
├── ServerError              server_error         a remote Cloister could not be reached, or failed
├── Closed                   closed               used after close()
├── DamagedRow               damaged_row          the stored text of one row is not what was written
└── StorageError             storage_error        the database could not do it; what was acknowledged is safe
    ├── StorageFull          storage_full         no space left
    ├── StorageBusy          storage_busy         another process had the write lock for too long
    ├── StorageReadOnly      storage_read_only    the directory or file cannot be written
    ├── StorageMissing       storage_missing      the open file is not the one at its path any more
    ├── OutcomeUnknown       outcome_unknown      a commit was not confirmed: it may be stored, or not
    ├── StorageTooNew        storage_too_new      written by a newer Cloister than this one
    └── StorageUnavailable   storage_unavailable  cannot be opened or reached
"""

from typing import Self


class CloisterError(Exception):
    """The base class of all errors that Cloister raises on purpose."""

    code = "error"


class NotFound(CloisterError):
    """There is nothing with this id in the caller's reach. A foreign id and a missing one give the same error."""

    code = "not_found"

    def __init__(self, kind: str, given: str) -> None:
        super().__init__(f"There is no {kind} {given!r} here.")
        self.kind = kind
        self.given = given


class Unauthenticated(CloisterError):
    """There is no credential, or it is not valid. The error does not say which."""

    code = "unauthenticated"

    def __init__(self) -> None:
        super().__init__("A valid API key is needed: Authorization: Bearer <key>.")


class Forbidden(CloisterError):
    """The credential does not allow this."""

    code = "forbidden"


class ProjectRequired(CloisterError):
    """The request must say which project it means."""

    code = "project_required"

    def __init__(self) -> None:
        super().__init__("This request needs a project: name one in X-Project-ID, or use a key that has one.")


class _OfAField(CloisterError):
    """An error in one field: `field` names it, `problem` says what is wrong."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def at(self, path: str) -> Self:
        """The same error with the path of the field in a larger request: `messages[1].content`."""
        field = f"{path}.{self.field}"
        located = type(self).__new__(type(self), f"{field}: {self.problem}")
        located.field, located.problem = field, self.problem
        return located


class InvalidRequest(_OfAField):
    """One field of the request is wrong. `field` names it, `problem` says what is wrong with it."""

    code = "invalid_request"


class InvalidProjectId(InvalidRequest):
    """A project id is `proj_` and 16 hexadecimal digits; this is not."""

    code = "invalid_project_id"

    def __init__(self, given: str) -> None:
        super().__init__("project_id", f"{given!r} is not proj_ followed by 16 hexadecimal digits.")


class IdempotencyMismatch(InvalidRequest):
    """This idempotency key was already used for a different request."""

    code = "idempotency_mismatch"

    def __init__(self, key: str) -> None:
        super().__init__("idempotency_key", f"{key!r} was already used for a different request.")


class TooLarge(_OfAField):
    """A field is over its size limit; nothing was changed. `field` names it, `problem` says by how much."""

    code = "too_large"

    def __init__(self, field: str, size: int, limit: int, unit: str = "characters") -> None:
        super().__init__(field, f"{size:,} {unit}, and the limit is {limit:,}.")


class Conflict(CloisterError):
    """The request contradicts what is already there; nothing was changed."""

    code = "conflict"


class TurnInProgress(Conflict):
    """The assistant is answering in this session now; a session has one turn at a time."""

    code = "turn_in_progress"

    def __init__(self, session: str) -> None:
        super().__init__(
            f"The session {session!r} is being answered just now: follow that reply, stop it, or wait for its end."
        )
        self.session = session


class TurnMoved(Conflict):
    """The session was moved, or its project's visibility changed, after this turn began or a context was recalled: what was
    recalled may not go to another pool."""

    def __init__(self, session: str) -> None:
        super().__init__(
            f"The session {session!r} was moved or created anew, or its project shared or divided, while it was being answered: "
            "ask again."
        )
        self.session = session


class AccessEnded(Conflict):
    """The key, its user, the project or the session changed during a response: the rest of it is not for this caller."""

    def __init__(self) -> None:
        super().__init__(
            "The key, the project or the session has changed meanwhile, and the rest of this is not shown here. "
            "A reply that is kept is kept in its session."
        )


class QuotaExceeded(CloisterError):
    """The tenant's quota is reached; nothing was changed, and nothing is lost."""

    code = "quota_exceeded"

    def __init__(self, kind: str, stored: int, limit: int) -> None:
        super().__init__(
            f"The quota of {limit:,} {kind} is reached ({stored:,} kept): forget some, or have the limit raised."
        )


class RateLimited(CloisterError):
    """Too many requests; `retry_after` is the number of seconds to wait."""

    code = "rate_limited"

    def __init__(self, retry_after: int, reason: str = "too many requests with this key") -> None:
        super().__init__(f"Rate limited: {reason}. Try again in {retry_after} s.")
        self.retry_after = retry_after


class Overloaded(CloisterError):
    """Too many requests wait in the server, so this one was not begun and nothing was changed: repeat it after `retry_after`
    seconds."""

    code = "overloaded"
    retry_after = 1

    def __init__(self) -> None:
        super().__init__(
            f"Too many requests wait in this server. Nothing was done for this one: try again in {self.retry_after} s."
        )


class ModelUnavailable(CloisterError):
    """The model cannot be reached, was too slow, or failed. Nothing was changed."""

    code = "model_unavailable"


class ModelAnswerInvalid(ModelUnavailable):
    """Neither the model's first answer nor its corrected one could be used."""


class ServerError(CloisterError):
    """A remote Cloister could not be reached, or failed."""

    code = "server_error"


class Closed(CloisterError):
    """This Cloister was closed; open a new one."""

    code = "closed"

    def __init__(self) -> None:
        super().__init__("This Cloister was closed; open a new one.")


class DamagedRow(CloisterError):
    """The stored text of a row is not what was written, so it is not shown. `kind` and `given` name the row, where it is known."""

    code = "damaged_row"
    kind: str | None = None
    given: str | None = None

    def __init__(self, kind: str | None = None, given: str | None = None) -> None:
        named = "A row that this needs" if kind is None else f"The {kind} {given!r}"
        super().__init__(
            f"{named} is damaged on the disk, and not shown. Everything else can be read. The operator finds all damaged rows with "
            "`cloister doctor`, and can set them aside or restore a backup."
        )
        self.kind = kind
        self.given = given


class StorageError(CloisterError):
    """The database could not do what was asked. Nothing acknowledged is lost, nothing is half-done."""

    code = "storage_error"


class StorageFull(StorageError):
    """No space is left for the database; free some and try again."""

    code = "storage_full"


class StorageBusy(StorageError):
    """Another process had the write lock, or all connections, for too long; try again."""

    code = "storage_busy"
    retry_after = 1


class StorageReadOnly(StorageError):
    """The database cannot be written: its file system is mounted read-only, it is a standby, or its owner and mode forbid it."""

    code = "storage_read_only"


class StorageMissing(StorageError):
    """The database file was removed, moved or replaced while it was open, so that nothing can be written: put it back, or restore a
    backup, and restart."""

    code = "storage_missing"


class OutcomeUnknown(StorageError):
    """Whether this write was stored is not known, because the database did not confirm its commit: repeat the request with the same
    idempotency key, or look before you repeat it without one."""

    code = "outcome_unknown"
    retry_after = 1


class StorageTooNew(StorageError):
    """The database was written by a newer Cloister; upgrade this one."""

    code = "storage_too_new"


class StorageUnavailable(StorageError):
    """The database cannot be opened or reached."""

    code = "storage_unavailable"
    retry_after = 1
