"""Memory for AI assistants that stays inside its walls."""

from cloister.domain.errors import (
    CloisterError,
    Closed,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    ModelUnavailable,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StorageError,
    TooLarge,
    Unauthenticated,
)
from cloister.interfaces.python.async_library import AsyncCloister
from cloister.interfaces.python.derived_shapes import Appended, Entity, Extraction, Memory, MemoryRevision, Observation
from cloister.interfaces.python.library import Cloister, RemoteCloister
from cloister.interfaces.python.pages import Page
from cloister.interfaces.python.recall.shapes import Context, ContextItem, Hit
from cloister.interfaces.python.shapes import (
    DeletedContents,
    DeletedProject,
    Episode,
    Forgotten,
    Message,
    Project,
    Session,
)
from cloister.interfaces.python.tenant_shapes import ApiKey, CreatedKey, Usage

__all__ = [
    "ApiKey",
    "Appended",
    "AsyncCloister",
    "Cloister",
    "CloisterError",
    "Closed",
    "Conflict",
    "Context",
    "ContextItem",
    "CreatedKey",
    "DeletedContents",
    "DeletedProject",
    "Entity",
    "Episode",
    "Extraction",
    "Forbidden",
    "Forgotten",
    "Hit",
    "IdempotencyMismatch",
    "InvalidRequest",
    "Memory",
    "MemoryRevision",
    "Message",
    "ModelUnavailable",
    "NotFound",
    "Observation",
    "OutcomeUnknown",
    "Overloaded",
    "Page",
    "Project",
    "QuotaExceeded",
    "RateLimited",
    "RemoteCloister",
    "ServerError",
    "Session",
    "StorageError",
    "TooLarge",
    "Unauthenticated",
    "Usage",
]
